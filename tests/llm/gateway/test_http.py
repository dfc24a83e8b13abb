"""What statuses, headers and broken connections of a server mean, over real HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from .conftest import Asking, model_at, question
from .server import RESET, ScriptedServer, refuse


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


def test_a_spent_quota_is_not_tried_again(asking: Asking, server: ScriptedServer) -> None:
    server.plan(refuse(429, "You exceeded your current quota.", type="insufficient_quota", code="insufficient_quota"))
    came = asking.one(question(model_at(server)))
    assert came.attempts == 1
    assert "quota is used up" in str(came.error)


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
