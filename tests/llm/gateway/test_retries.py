"""What is tried again, and how long the gateway waits before."""

from __future__ import annotations

import asyncio
import socket
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from players.llm.gateway import Tempo
from players.llm.retry import Backoff, wait_wanted
from players.llm.settings import Endpoint, Model, Timeouts
from wolfbus.testing.model_server import ModelServer

from .conftest import FAST, Asking, MakeGateway, model_at, question
from .server import HANG, RESET, ScriptedServer, Step, refuse


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
    came = asking.one(question(model_at(server, timeouts=Timeouts(bid=0.1))))
    assert (came.text, came.attempts) == ('{"bid": 1}', 2)
    server.wait_gone(1)


def test_where_replies_come_soon_half_the_time_is_for_the_first_attempt(asking: Asking, server: ScriptedServer) -> None:
    for _ in range(8):
        asking.one(question(model_at(server)))
    server.plan(HANG)
    came = asking.one(question(model_at(server), seconds=0.6))
    assert (came.text, came.attempts) == ('{"bid": 1}', 2)
    assert 0.25 < came.latency_s < 0.6


def test_a_model_that_needs_most_of_its_time_is_slow_and_not_down(
    make_gateway: MakeGateway, caplog: pytest.LogCaptureFixture
) -> None:
    asking = make_gateway(Tempo(backoff=FAST.backoff))
    with ModelServer(latency=0.3) as server:
        model = Model(model="slow", endpoint=Endpoint(url=server.url))
        came = asking.all(*(question(model, f"{number}?", seconds=0.5) for number in range(12)))
        came += asking.all(*(question(model, f"{number}!", seconds=0.5) for number in range(12)))
    assert {(each.error, each.attempts) for each in came} == {(None, 1)}
    assert "down" not in caplog.text


def test_missing_a_deadline_that_is_shorter_than_usual_says_nothing_of_the_server(
    asking: Asking, server: ScriptedServer
) -> None:
    server.plan(*[HANG] * 12)
    hurried = [replace(question(model_at(server), f"{number}?", seconds=0.1), hurried=True) for number in range(12)]
    assert all(each.timed_out for each in asking.all(*hurried))
    assert asking.one(question(model_at(server))).queue_s < 0.1


def test_a_server_that_asks_for_a_day_is_asked_again_before_that(
    make_gateway: MakeGateway, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("players.llm.calling.LONGEST_PAUSE", 0.05)
    asking = make_gateway()
    server.plan(refuse(429, headers={"retry-after": "86400"}))
    came = asking.one(question(model_at(server), seconds=5))
    assert "86400 s, longer than this call can" in str(came.error)
    assert asking.one(question(model_at(server), seconds=5)).text == '{"bid": 1}'


def test_the_deadline_ends_a_call(asking: Asking, server: ScriptedServer) -> None:
    server.plan(default=HANG)
    began = time.monotonic()
    came = asking.one(question(model_at(server, timeouts=Timeouts(bid=60)), seconds=0.2))
    assert came.timed_out
    assert came.attempts == 1
    assert 0.15 < time.monotonic() - began < 5
    # the connection is given back: the server sees it go
    server.wait_gone(1)


def test_a_deadline_that_has_passed_costs_no_request(asking: Asking, server: ScriptedServer) -> None:
    came = asking.one(question(model_at(server), seconds=-1))
    assert (came.timed_out, came.attempts, server.bodies) == (True, 0, [])


def test_attempts_have_an_end(asking: Asking, server: ScriptedServer) -> None:
    server.plan(default=refuse(500, "broken"))
    came = asking.one(question(model_at(server, endpoint={"attempts": 4})))
    assert (came.attempts, came.error) == (4, f"{server.url}: 500: broken (4 attempts)")


def test_429s_are_not_counted_while_time_is_left(asking: Asking, server: ScriptedServer) -> None:
    server.plan(*[refuse(429, "queue")] * 9)
    came = asking.one(question(model_at(server, endpoint={"attempts": 2})))
    assert (came.text, came.attempts) == ('{"bid": 1}', 10)
    assert came.failures == (f"{server.url}: 429: queue",) * 9
    server.plan(*[refuse(429), refuse(500)] * 2)
    came = asking.one(question(model_at(server, endpoint={"attempts": 2})))
    assert (came.text, came.attempts) == (None, 4)


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "0"}])
def test_429s_without_end_end_with_the_time_and_do_not_spin(
    make_gateway: MakeGateway, server: ScriptedServer, headers: dict[str, str]
) -> None:
    asking = make_gateway(replace(FAST, backoff=Backoff(first=0.1, longest=0.2)))
    server.plan(default=refuse(429, "queue", headers=headers))
    came = asking.one(question(model_at(server, endpoint={"attempts": 2}), seconds=1))
    assert came.error is not None
    assert f"{server.url}: 429: queue" in came.error
    # none after less than half of the first back-off
    assert 3 <= came.attempts == len(server.bodies) <= 20
    total = asking.gateway.accounts.summary()["total"]
    assert (total["failed"], total["tokens_unknown"], total["cost_unknown"]) == (1, 0, 0)


def test_what_the_attempts_before_the_last_one_failed_of_is_kept(asking: Asking, server: ScriptedServer) -> None:
    server.plan(
        refuse(500, "first " + "words " * 100), RESET, refuse(400, "response_format json_schema is not supported")
    )
    came = asking.one(question(model_at(server)))
    assert (came.text, came.attempts, came.url) == ('{"bid": 1}', 4, server.url)
    first, second, third = came.failures
    assert first.startswith(f"{server.url}: 500: first words")
    assert len(first) == 300
    assert second == f"{server.url}: the connection broke before a reply came"
    assert "400: response_format" in third


def test_a_call_that_failed_names_its_server_and_not_its_last_failure_twice(
    asking: Asking, server: ScriptedServer
) -> None:
    server.plan(refuse(500, "one"), refuse(401, "two"))
    came = asking.one(question(model_at(server)))
    assert (came.url, came.failures) == (server.url, (f"{server.url}: 500: one",))
    assert ": two (2 attempts)" in str(came.error)


def test_of_many_failures_the_last_are_kept(asking: Asking, server: ScriptedServer) -> None:
    server.plan(*[refuse(429, f"number {number}") for number in range(40)])
    came = asking.one(question(model_at(server)))
    assert [line.rpartition(" ")[2] for line in came.failures] == [str(number) for number in range(8, 40)]


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


def test_a_wait_beyond_the_deadline_is_given_up_at_once(asking: Asking, server: ScriptedServer) -> None:
    server.plan(default=refuse(503, "busy", headers={"Retry-After": "3600"}))
    began = time.monotonic()
    came = asking.one(question(model_at(server), seconds=60))
    assert time.monotonic() - began < 10
    assert came.attempts == 1
    assert "asks to wait for 3600 s, longer than this call can" in str(came.error)


def test_a_429_pauses_everybody_on_the_endpoint(asking: Asking, server: ScriptedServer) -> None:
    server.plan(refuse(429, headers={"Retry-After": "0.4"}))
    first = asking.begin(question(model_at(server), "first"))
    server.wait_for(1)
    # it is back in its queue only when it has read the refusal: the next call may come before that
    later = asking.begin(*(question(model_at(server), "later", seconds=20) for _ in range(3)))
    assert all(future.result(20).text for future in first + later)
    again = [at for at, text in zip(server.times, server.questions(), strict=True) if text == "first"][1]
    assert again - server.times[0] >= 0.39


def test_who_cannot_wait_for_a_pause_to_end_is_told_at_once(asking: Asking, server: ScriptedServer) -> None:
    server.plan(default=refuse(429, headers={"Retry-After": "3600"}))
    assert asking.one(question(model_at(server))).attempts == 1
    began = time.monotonic()
    came = asking.one(question(model_at(server)))
    assert (came.attempts, came.timed_out, time.monotonic() - began < 5) == (0, False, True)
    assert "asked to be left alone" in str(came.error)
    assert str(came.error).endswith("; it was never sent")
    assert len(server.bodies) == 1


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


def test_parts_of_a_minute_lost_to_waiting_are_no_latency(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    asking = make_gateway(FAST)
    server.plan(refuse(429, headers={"Retry-After": "0.5"}), Step())
    came = asking.one(question(model_at(server)))
    assert came.queue_s > 0.4
    assert came.latency_s < 0.4
