"""Calls in flight, requests and tokens per minute, and who goes first."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from itertools import pairwise

import pytest

from players.llm.limits import Window
from players.llm.settings import Timeouts

from .conftest import FAST, Asking, MakeGateway, model_at, question
from .server import ScriptedServer, Step, refuse, reply, usage


def test_calls_in_flight_never_exceed_the_limit_and_reach_it(asking: Asking, server: ScriptedServer) -> None:
    gone_on = server.latch()
    server.plan(default=Step(after=gone_on))
    model = model_at(server, endpoint={"at_once": 5})
    futures = asking.begin(*(question(model) for _ in range(40)))
    server.wait_for(5)
    gone_on.set()
    assert all(future.result(30).text for future in futures)
    assert (server.peak, len(server.bodies)) == (5, 40)


def test_two_hundred_calls_at_once_take_no_thread_each(asking: Asking, server: ScriptedServer) -> None:
    asking.one(question(model_at(server, endpoint={"at_once": 200})))
    before = threading.active_count()
    gone_on = server.latch()
    server.plan(default=Step(after=gone_on))
    model = model_at(server, endpoint={"at_once": 200})
    futures = asking.begin(*(question(model) for _ in range(200)))
    server.wait_for(201)
    assert server.peak == 200
    assert threading.active_count() <= before
    gone_on.set()
    assert all(future.result(30).text for future in futures)


def test_what_the_game_waits_for_goes_before_judgements_and_the_early_before_the_late(
    asking: Asking, server: ScriptedServer
) -> None:
    gone_on = server.latch()
    server.plan(default=Step(after=gone_on))
    model = model_at(server, endpoint={"at_once": 1})
    futures = asking.begin(
        question(model, "occupies the place", purpose="assess_other"),
        question(model, "judgement 1", purpose="assess_other"),
        question(model, "label", purpose="assess_own"),
        question(model, "bid 1", purpose="bid"),
        question(model, "judgement 2", purpose="assess_other"),
        question(model, "bid 2", purpose="bid"),
        question(model, "vote", purpose="vote"),
        question(model, "kill", purpose="kill"),
    )
    gone_on.set()
    assert all(future.result(30).text for future in futures)
    urgent, later = ["bid 1", "bid 2", "vote", "kill"], ["judgement 1", "label", "judgement 2"]
    assert server.questions() == ["occupies the place", *urgent, *later]
    waits = [future.result().queue_s for future in futures]
    assert waits[0] < waits[3] < waits[1]


def test_jobs_begin_in_order(asking: Asking, server: ScriptedServer) -> None:
    model = model_at(server, endpoint={"at_once": 1})
    texts = [str(number) for number in range(30)]
    asking.all(*(question(model, text) for text in texts))
    assert server.questions() == texts


def test_requests_per_minute_hold_over_any_minute(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    asking = make_gateway(replace(FAST, minute=1.0))
    model = model_at(server, endpoint={"requests_per_minute": 5.0})
    asking.all(*(question(model) for _ in range(12)))
    # leave is given, and counted, a moment before the server hears of it; on a busy machine a longer one
    assert all(later - first > 0.5 for first, later in zip(server.times, server.times[5:], strict=False))


def test_tokens_per_minute_are_estimated_and_then_corrected(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    asking = make_gateway(replace(FAST, minute=0.5))
    server.plan(default=Step(reply(usage=usage(40, 10))))
    # each is thought to take over 500, and takes 50
    model = model_at(server, endpoint={"tokens_per_minute": 1100.0}, max_tokens=500)
    asking.all(*(question(model) for _ in range(2)))
    asking.all(*(question(model) for _ in range(2)))
    asking.all(*(question(model) for _ in range(2)))
    assert all(later - first < 0.4 for first, later in pairwise(server.times))
    server.plan(default=Step(reply(usage=usage(500, 500))))
    asking.all(*(question(model) for _ in range(2)))
    here = len(server.times)
    asking.one(question(model))
    assert server.times[here] - server.times[here - 1] > 0.3


def test_a_request_beyond_the_limit_of_a_minute_passes_alone(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    asking = make_gateway(replace(FAST, minute=0.8))
    model = model_at(server, endpoint={"tokens_per_minute": 10.0})
    assert all(came.text for came in asking.all(*(question(model) for _ in range(2))))
    # the first one may be a while on its way
    assert server.times[1] - server.times[0] > 0.3


def test_a_call_that_is_cancelled_while_it_waits_leaves_no_gap(asking: Asking, server: ScriptedServer) -> None:
    gone_on = server.latch()
    server.plan(default=Step(after=gone_on))
    model = model_at(server, endpoint={"at_once": 1})
    futures = asking.begin(*(question(model, text) for text in "abcd"))
    server.wait_for(1)
    asking.jobs[1].cancel()
    asking.jobs[2].cancel()
    gone_on.set()
    assert futures[3].result(20).text
    assert server.questions() == ["a", "d"]


def test_calls_that_time_out_in_the_queue_leave_no_gap(asking: Asking, server: ScriptedServer) -> None:
    model = model_at(server, endpoint={"at_once": 1}, timeouts=Timeouts(bid=30))
    asking.one(question(model, "warms up"))
    gone_on = server.latch()
    server.plan(default=Step(after=gone_on))
    futures = asking.begin(
        question(model, "a"), *(question(model, "late", seconds=0.3) for _ in range(20)), question(model, "z")
    )
    late = [future.result(20) for future in futures[1:-1]]
    assert all(came.timed_out and came.attempts == 0 and came.queue_s > 0.1 for came in late)
    gone_on.set()
    assert futures[-1].result(20).text
    assert server.questions() == ["warms up", "a", "z"]


def waits(server: ScriptedServer, what: str) -> str:
    return rf"^waited 0\.\d s for {what} of {server.url}, and was never sent$"


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"requests_per_minute": 1.0}, "requests_per_minute = 1"),
        ({"tokens_per_minute": 1100.0}, "tokens_per_minute = 1100"),
    ],
)
def test_a_call_that_was_never_sent_says_which_limit_of_a_minute_it_waited_for(
    asking: Asking, server: ScriptedServer, settings: dict[str, float], what: str
) -> None:
    model = model_at(server, endpoint=settings)
    assert asking.one(question(model)).text
    came = asking.one(question(model, seconds=0.2))
    assert re.search(waits(server, what), str(came.error)), came.error
    assert (came.timed_out, came.attempts, came.url) == (True, 0, None)
    total = asking.gateway.accounts.summary()["total"]
    assert (total["failed"], total["tokens_unknown"]) == (1, 1), "the first was not counted by its server"


def test_a_call_that_was_never_sent_says_so_of_calls_in_flight(asking: Asking, server: ScriptedServer) -> None:
    gone_on = server.latch()
    server.plan(default=Step(after=gone_on))
    model = model_at(server, endpoint={"at_once": 1})
    [first] = asking.begin(question(model))
    server.wait_for(1)
    came = asking.one(question(model, seconds=0.2))
    assert re.search(waits(server, "at_once = 1"), str(came.error)), came.error
    gone_on.set()
    assert first.result(20).text


def test_long_waits_are_told_once_for_each_limit(
    asking: Asking, server: ScriptedServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("players.llm.limits.LONG_WAIT_S", 0.05)
    gone_on = server.latch()
    server.plan(default=Step(after=gone_on))
    model = model_at(server, endpoint={"at_once": 1, "requests_per_minute": 1.0})
    [first] = asking.begin(question(model))
    server.wait_for(1)
    for _ in range(2):
        asking.all(*(question(model, seconds=0.2) for _ in range(3)))
    gone_on.set()
    assert first.result(20).text
    asking.all(*(question(model, seconds=0.2) for _ in range(3)))
    lines = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert lines == [
        f"{server.url}: calls wait longer than 0.05 s for {what}" for what in ("at_once = 1", "requests_per_minute = 1")
    ]


def test_long_waits_that_the_server_asked_for_are_told(
    asking: Asking, server: ScriptedServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("players.llm.limits.LONG_WAIT_S", 0.05)
    server.plan(refuse(429, headers={"Retry-After": "0.4"}))
    assert asking.one(question(model_at(server))).text
    assert f"{server.url}: calls wait longer than 0.05 s for the server's Retry-After" in caplog.text


def test_a_call_that_was_never_sent_says_so_of_a_server_that_is_down(
    make_gateway: MakeGateway, server: ScriptedServer
) -> None:
    asking = make_gateway(replace(FAST, failures=1, lasting=0.0, first_trial=20.0))
    model = model_at(server, endpoint={"attempts": 1})
    server.shut()
    assert "connection refused" in str(asking.one(question(model)).error)
    came = asking.one(question(model, seconds=0.2))
    line = rf"^waited 0\.\d s for {server.url}, which is down, and was never sent$"
    assert re.search(line, str(came.error)), came.error


def test_short_waits_are_not_told(asking: Asking, server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    model = model_at(server, endpoint={"at_once": 1})
    assert all(came.text for came in asking.all(*(question(model) for _ in range(5))))
    assert not caplog.records


def test_equal_endpoints_share_their_limits_and_different_ones_do_not(asking: Asking, server: ScriptedServer) -> None:
    gone_on = server.latch()
    server.plan(default=Step(after=gone_on))
    equal = [model_at(server, name, endpoint={"at_once": 2}) for name in ("small", "large")]
    other = model_at(server, endpoint={"at_once": 3})
    futures = asking.begin(*(question(model) for _ in range(5) for model in (*equal, other)))
    server.wait_for(5)
    gone_on.set()
    assert all(future.result(20).text for future in futures)
    assert server.peak == 5


@pytest.mark.parametrize("amounts", [[1, 1, 1, 1, 1, 1], [3, 1, 2, 3, 1], [5, 1, 5, 1]])
def test_no_stretch_of_a_window_holds_more_than_its_limit(amounts: list[float]) -> None:
    window, now, spent = Window(4, 10.0), 0.0, []
    for amount in amounts:
        now = max(now, window.free_at(amount, now))
        window.spend(amount, now)
        spent.append((now, amount))
        inside = sum(each for at, each in spent if at > now - 10.0)
        assert inside <= max(4, amount)


def test_a_window_without_a_limit_is_always_free() -> None:
    window = Window(None)
    assert window.spend(1e9, 0.0) is None
    assert window.free_at(1e9, 1.0) == 1.0
