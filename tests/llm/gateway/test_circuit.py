"""What happens while an endpoint is down, and what is said of it."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from players.llm import circuit as circuit_module
from players.llm.circuit import Circuit, Down
from players.llm.settings import Timeouts

from .conftest import FAST, MakeGateway, model_at, question
from .server import HANG, ScriptedServer, Step, refuse

TEMPO = replace(FAST, failures=4, lasting=0.0, first_trial=0.05, longest_trial=0.2)


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_dead_endpoint_is_said_once_and_calls_fail_at_once_when_patience_is_over(
    make_gateway: MakeGateway, server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    asking = make_gateway(TEMPO)
    server.shut()
    model = model_at(server, endpoint={"patience": 0.5, "attempts": 20})
    began = time.monotonic()
    came = asking.all(*(question(model, seconds=60) for _ in range(40)))
    assert time.monotonic() - began < 10
    assert all(f"{server.url}" in str(each.error) and not each.timed_out for each in came)
    assert any(f"{server.url} is down since" in str(each.error) for each in came)
    assert len(said(caplog)) == 1
    assert said(caplog)[0].startswith(f"{server.url} seems to be down after ")
    assert "connection refused" in said(caplog)[0]
    # a game of hundreds of calls goes on to its end
    began = time.monotonic()
    for _ in range(50):
        assert asking.one(question(model, seconds=60)).error
    assert time.monotonic() - began < 10
    assert len(said(caplog)) == 1


def test_calls_wait_for_an_endpoint_that_comes_back_and_that_is_said_once(
    make_gateway: MakeGateway,
    server: ScriptedServer,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asking = make_gateway(TEMPO)
    model = model_at(server, endpoint={"patience": 60, "attempts": 20})
    asking.one(question(model))
    server.shut()
    warned = threading.Event()
    monkeypatch.setattr(caplog.handler, "emit", lambda record, emit=caplog.handler.emit: (emit(record), warned.set()))
    futures = asking.begin(*(question(model) for _ in range(20)))
    assert warned.wait(20)
    server.open()
    assert all(future.result(30).text for future in futures)
    assert len(said(caplog)) == 2
    assert said(caplog)[1].startswith(f"{server.url} is back after")


def test_one_trial_at_a_time_goes_to_an_endpoint_that_is_down(
    make_gateway: MakeGateway, server: ScriptedServer
) -> None:
    asking = make_gateway(TEMPO)
    gone_on = server.latch()
    server.plan(*[refuse(500)] * 4, default=Step(after=gone_on))
    model = model_at(server, endpoint={"patience": 60, "attempts": 20})
    trial = asking.begin(question(model))
    server.wait_for(5)
    others = asking.begin(*(question(model) for _ in range(30)))
    all_have_begun = threading.Event()

    async def last() -> None:
        all_have_begun.set()

    asking.gateway.start([last()])
    assert all_have_begun.wait(20)
    assert (len(server.bodies), server.flying) == (5, 1)
    gone_on.set()
    assert all(future.result(30).text for future in trial + others)
    assert len(server.bodies) == 35


def test_an_endpoint_that_is_back_after_patience_was_over_is_found_out(
    make_gateway: MakeGateway, server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    asking = make_gateway(TEMPO)
    server.shut()
    model = model_at(server, endpoint={"patience": 0.0, "attempts": 20})
    for _ in range(10):
        assert asking.one(question(model)).error
    server.open()
    until = time.monotonic() + 20
    while asking.one(question(model)).error:
        assert time.monotonic() < until
    assert [asking.one(question(model)).error for _ in range(20)] == [None] * 20
    assert len(said(caplog)) == 2


def test_a_server_that_hangs_opens_the_circuit_too(
    make_gateway: MakeGateway, server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    asking = make_gateway(TEMPO)
    server.plan(default=HANG)
    model = model_at(server, endpoint={"patience": 0.2}, timeouts=Timeouts(bid=0.05))
    began = time.monotonic()
    came = asking.all(*(question(model, seconds=60) for _ in range(30)))
    assert all(each.error for each in came)
    assert time.monotonic() - began < 20
    assert len(said(caplog)) == 1


def test_deadlines_that_pass_without_a_reply_count(
    make_gateway: MakeGateway, server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    asking = make_gateway(TEMPO)
    model = model_at(server, endpoint={"patience": 0.0}, timeouts=Timeouts(bid=60))
    # making the client takes longer than the calls below have
    assert asking.one(question(model)).text
    server.plan(default=HANG)
    asking.all(*(question(model, seconds=0.5) for _ in range(6)))
    assert len(said(caplog)) == 1


@pytest.mark.parametrize("status", [400, 404, 422, 429])
def test_a_server_that_refuses_is_not_down(
    make_gateway: MakeGateway, server: ScriptedServer, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    asking = make_gateway(TEMPO)
    server.plan(default=refuse(status, "so it is"))
    # 429s are asked again until the time is over: the last of them is cut off under way, and that says nothing either
    asking.all(
        *(question(model_at(server), seconds=3.0 if status == 429 else 30.0) for _ in range(5 if status == 429 else 20))
    )
    assert said(caplog) == []


def test_failures_between_successes_open_nothing(
    make_gateway: MakeGateway, server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    asking = make_gateway(TEMPO)
    server.plan(*[refuse(500), refuse(503), Step()] * 10)
    assert all(asking.one(question(model_at(server))).text for _ in range(10))
    assert said(caplog) == []


def test_a_trial_that_is_cancelled_leaves_room_for_another(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    asking = make_gateway(TEMPO)
    server.plan(*[refuse(500)] * 4, HANG)
    model = model_at(server, endpoint={"patience": 60, "attempts": 20})
    asking.begin(question(model))
    server.wait_for(5)
    [second] = asking.begin(question(model))
    asking.jobs[0].cancel()
    assert second.result(20).text


def test_failures_that_overtake_replies_open_nothing(
    make_gateway: MakeGateway, server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    asking = make_gateway(TEMPO)
    gone_on = server.latch()
    server.plan(*[refuse(500)] * 12, default=Step(after=gone_on))
    futures = asking.begin(*(question(model_at(server)) for _ in range(60)))
    server.wait_for(72)
    gone_on.set()
    assert all(future.result(30).text for future in futures)
    assert said(caplog) == []


def test_a_short_row_of_failures_opens_nothing(
    make_gateway: MakeGateway, server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    asking = make_gateway(replace(TEMPO, lasting=600.0))
    server.plan(*[refuse(500)] * 30)
    model = model_at(server, endpoint={"attempts": 20})
    assert [asking.one(question(model)).error is None for _ in range(3)] == [False, True, True]
    assert all(asking.one(question(model)).text for _ in range(3))
    assert said(caplog) == []


def test_a_server_that_answers_while_other_calls_run_out_of_time_is_slow_and_not_down(
    make_gateway: MakeGateway, server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    asking = make_gateway(TEMPO)
    all_came = server.latch()
    # one after the other: of many at once it gets to two in their time
    server.plan(*[Step(after=all_came)] * 2, default=HANG)
    futures = asking.begin(*(question(model_at(server), seconds=3.0) for _ in range(20)))
    server.wait_for(20)
    all_came.set()
    came = [future.result(30) for future in futures]
    assert sorted(each.timed_out for each in came) == [False] * 2 + [True] * 18
    (hint,) = said(caplog)
    assert hint == (
        f"{server.url} answers some requests while others run out of time: it is slow, not down; if it serves one at a "
        "time, at_once = 1 in its [endpoints] table has calls wait their turn"
    )
    # and where nothing is answered any more, it is found to be down all the same
    server.shut()
    asking.all(*(question(model_at(server, endpoint={"patience": 0.0})) for _ in range(20)))
    assert [line.split(" (")[0] for line in said(caplog)[1:]] == [
        f"{server.url} seems to be down after {said(caplog)[1].split()[6]} failures in a row"
    ]


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time passes only where it would wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.faults: list[dict[str, Any]] = []
        select = self._selector.select

        def pass_time(timeout: float | None = None) -> Any:
            assert timeout is not None, "nothing is left to wait for"
            self.now += timeout
            return select(0)

        self._selector.select = pass_time
        self.set_exception_handler(lambda _, context: self.faults.append(context))

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(circuit_module, "time", SimpleNamespace(monotonic=clock.time))
    yield clock
    clock.close()


def test_a_call_whose_deadline_passes_while_it_waits_leaves_no_timer_behind(clock: Clock) -> None:
    async def main() -> None:
        circuit = Circuit("http://x/v1", patience=30.0, failures=1, lasting=0.0, first=5.0)
        circuit.failed("broken", trial=False)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2.0):
                await circuit.ready((0, 1))
        await asyncio.sleep(60)
        # patience is long over: this one may make the trial, and the next has nothing to wait for
        assert await circuit.ready((0, 2))
        with pytest.raises(Down):
            await circuit.ready((0, 3))

    clock.run_until_complete(main())
    assert clock.faults == []


def test_of_two_calls_that_wait_one_may_run_out_of_time_and_the_other_makes_the_trial(clock: Clock) -> None:
    async def main() -> None:
        circuit = Circuit("http://x/v1", patience=30.0, failures=1, lasting=0.0, first=5.0)
        circuit.failed("broken", trial=False)
        other = asyncio.create_task(circuit.ready((0, 2)))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2.0):
                await circuit.ready((0, 1))
        assert await other
        assert clock.now == pytest.approx(1005.0)

    clock.run_until_complete(main())
    assert clock.faults == []
