"""What statuses, headers and broken connections of a server mean, over real HTTP."""

from __future__ import annotations

import asyncio
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from players.llm.endpoint import Backoff
from players.llm.providers.wire import wait_wanted
from players.llm.settings import Endpoint, Model, Timeouts

from .conftest import Asking, MakeGateway, model_at, question
from .server import HANG, RESET, ScriptedServer, refuse


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_a_status_that_may_pass_is_tried_again(asking: Asking, server: ScriptedServer, status: int) -> None:
    server.plan(refuse(status), refuse(status))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.attempts, came.error) == ('{"bid": 1}', 3, None)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 413, 422, 501])
def test_a_status_that_will_not_pass_is_not_tried_again(asking: Asking, server: ScriptedServer, status: int) -> None:
    server.plan(refuse(status, "so it is"))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.attempts) == (None, 1)
    assert f"{status}" in str(came.error)
    assert "so it is" in str(came.error)


def test_a_broken_connection_is_tried_again(asking: Asking, server: ScriptedServer) -> None:
    server.plan(RESET, RESET)
    assert asking.one(question(model_at(server))).attempts == 3
    server.plan(default=RESET)
    came = asking.one(question(model_at(server)))
    assert came.attempts == 6
    assert "the connection broke before a reply came (6 attempts)" in str(came.error)


def test_a_refused_connection_says_so(asking: Asking, server: ScriptedServer) -> None:
    server.shut()
    came = asking.one(question(model_at(server)))
    assert came.error == f"{server.url}: connection refused (6 attempts)"


def test_a_host_that_does_not_answer_is_given_up_in_time(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        model = model_at(server, endpoint={"attempts": 2}, timeouts=Timeouts(bid=0.1))
        model = model.model_copy(update={"endpoint": model.endpoint.model_copy(update={"url": url})})
        came = make_gateway().one(question(model))
    assert came.error == f"{url}: no reply within 0.1 s (2 attempts)"


def test_an_attempt_that_hangs_is_tried_again(asking: Asking, server: ScriptedServer) -> None:
    server.plan(HANG)
    came = asking.one(question(model_at(server, timeouts=Timeouts(bid=0.5))))
    assert (came.text, came.attempts) == ('{"bid": 1}', 2)
    server.wait_gone(1)


def test_a_spent_quota_is_not_tried_again(asking: Asking, server: ScriptedServer) -> None:
    server.plan(refuse(429, "You exceeded your current quota.", type="insufficient_quota", code="insufficient_quota"))
    came = asking.one(question(model_at(server)))
    assert came.attempts == 1
    assert "quota is used up" in str(came.error)


def test_a_missing_model_is_named(asking: Asking, server: ScriptedServer) -> None:
    server.plan(refuse(404, "not here"))
    line = str(asking.one(question(model_at(server))).error)
    assert line == f"{server.url}: 404: there is no model 'tiny', or the URL is wrong: not here"


def test_a_url_without_its_version_is_put_right(asking: Asking, server: ScriptedServer) -> None:
    root = server.url.removesuffix("/v1")
    came = asking.one(question(Model(model="tiny", endpoint=Endpoint(url=root))))
    assert str(came.error).endswith(f"; did you mean {root}/v1?")


@pytest.mark.parametrize("form", ["seconds", "date", "milliseconds"])
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_honoured_in_all_its_forms(
    asking: Asking, server: ScriptedServer, form: str, status: int
) -> None:
    # a date has whole seconds, so that it may be in the past already: only that it is read is claimed of it
    headers = {
        "seconds": {"Retry-After": "0.3"},
        "milliseconds": {"retry-after-ms": "300"},
        "date": {"Retry-After": format_datetime(datetime.now(UTC) + timedelta(seconds=1.5), usegmt=True)},
    }[form]
    server.plan(refuse(status, headers=headers))
    came = asking.one(question(model_at(server)))
    assert came.attempts == 2
    waited = server.times[1] - server.times[0]
    assert 0.29 <= waited < 5


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_what_is_no_time_is_not_waited_for(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_wanted(headers) == seconds


def test_back_off_grows_to_a_bound_and_is_never_the_same() -> None:
    backoff = Backoff(first=1, factor=2, longest=10)
    assert [backoff.bound(failures) for failures in range(1, 7)] == [1, 2, 4, 8, 10, 10]
    assert backoff.bound(10_000) == 10
    delays = [backoff.delay(4) for _ in range(200)]
    assert all(0 <= delay <= 8 for delay in delays)
    assert len(set(delays)) > 100


def test_a_cancelled_call_gives_its_connection_back(asking: Asking, server: ScriptedServer) -> None:
    server.plan(HANG)
    [future] = asking.begin(question(model_at(server)))
    server.wait_for(1)
    asking.jobs[0].cancel()
    server.wait_gone(1)
    with pytest.raises(asyncio.CancelledError):
        future.result(10)
    assert asking.one(question(model_at(server))).text
    assert asking.gateway.accounts.summary()["total"]["calls"] == 2
