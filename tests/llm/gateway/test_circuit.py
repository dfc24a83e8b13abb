"""What happens while an endpoint is down, and what is said of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from players.llm.gateway import Tempo
from players.llm.provider import Failure
from tests.llm.scripted import URL

from .conftest import HANG, OK, Clock, Mocked, broken

TEMPO = Tempo(failures=4, lasting=0.0, first_trial=1.0, longest_trial=8.0)
DEAD = Failure("connection", f"{URL}: connection refused", again=True)
PATIENT: dict[str, Any] = {"endpoint": {"patience": 600.0, "attempts": 20}, "seconds": 1000}


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


def test_a_dead_endpoint_is_said_once_and_calls_fail_at_once_when_patience_is_over(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    mocked = Mocked(clock, tempo=TEMPO)
    mocked.default = DEAD
    settings: dict[str, Any] = {"endpoint": {"patience": 5.0, "attempts": 20}, "seconds": 60}
    came = mocked.run(*(mocked.question(**settings) for _ in range(40)))
    assert clock.now < 1010
    assert all(URL in str(completion.error) and not completion.timed_out for completion in came)
    assert any(f"{URL} is down since" in str(completion.error) for completion in came)
    # a game of hundreds of calls goes on to its end
    began, requests = clock.now, len(mocked.prompts)
    for _ in range(50):
        assert mocked.one(**settings).error
    assert (clock.now - began, len(mocked.prompts) - requests) < (60, 10)
    (line,) = warnings(caplog)
    assert line.startswith(f"{URL} seems to be down after ")
    assert "connection refused" in line


def test_calls_wait_for_an_endpoint_that_comes_back_and_that_is_said_once(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    mocked = Mocked(clock, *[DEAD] * 25, tempo=TEMPO)
    came = mocked.run(*(mocked.question(**PATIENT) for _ in range(20)))
    assert all(completion.text for completion in came)
    down, back = warnings(caplog)
    assert down.startswith(f"{URL} seems to be down after ")
    assert back.startswith(f"{URL} is back after")


def test_one_trial_at_a_time_goes_to_an_endpoint_that_is_down(clock: Clock) -> None:
    mocked = Mocked(clock, *[broken()] * 4, 100.0, tempo=TEMPO)

    async def steps() -> None:
        ask = mocked.gateway.complete
        trial = asyncio.create_task(ask(mocked.question(**PATIENT)))
        await asyncio.sleep(30)
        others = [asyncio.create_task(ask(mocked.question(**PATIENT))) for _ in range(30)]
        await asyncio.sleep(5)
        assert (len(mocked.prompts), mocked.provider.open) == (5, 1)
        came = await asyncio.gather(trial, *others)
        assert all(completion.text for completion in came)

    mocked.during(steps())
    assert len(mocked.prompts) == 35


@pytest.mark.parametrize("timeouts", [{"bid": 1.0}, {}])
def test_a_server_that_hangs_is_down_too(
    clock: Clock, caplog: pytest.LogCaptureFixture, timeouts: dict[str, float]
) -> None:
    mocked = Mocked(clock, tempo=TEMPO)
    mocked.default = HANG
    settings: dict[str, Any] = {"endpoint": {"patience": 0.0}, "timeouts": timeouts}
    assert all(completion.error for completion in mocked.run(*(mocked.question(**settings) for _ in range(30))))
    assert len(warnings(caplog)) == 1


def test_failures_between_successes_open_nothing(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    mocked = Mocked(clock, *[broken(), broken(), OK] * 10, tempo=TEMPO)
    assert all(mocked.one().text for _ in range(10))
    assert warnings(caplog) == []


def test_a_trial_that_is_cancelled_leaves_room_for_another(clock: Clock) -> None:
    mocked = Mocked(clock, *[broken()] * 4, HANG, tempo=TEMPO)

    async def steps() -> None:
        first = asyncio.create_task(mocked.gateway.complete(mocked.question(**PATIENT)))
        await asyncio.sleep(30)
        second = asyncio.create_task(mocked.gateway.complete(mocked.question(**PATIENT)))
        await asyncio.sleep(1)
        mocked.script = []
        first.cancel()
        assert (await second).text

    mocked.during(steps())


def test_a_server_that_answers_while_other_calls_run_out_of_time_is_slow_and_not_down(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    mocked = Mocked(clock, tempo=TEMPO)
    # one after the other: of many at once it gets to two in their time
    mocked.script = [1.0, 1.0, *[HANG] * 18]
    came = mocked.run(*(mocked.question(seconds=3.0) for _ in range(20)))
    assert sorted(completion.timed_out for completion in came) == [False] * 2 + [True] * 18
    hint = "it is slow, not down; if it serves one at a time, at_once = 1 in its [endpoints] table has calls wait"
    assert warnings(caplog) == [f"{URL} answers some requests while others run out of time: {hint} their turn"]
    # and where nothing is answered any more, it is found to be down all the same
    mocked.script, mocked.default = [], DEAD
    mocked.run(*(mocked.question() for _ in range(20)))
    assert [line.split(" after ")[0] for line in warnings(caplog)[1:]] == [f"{URL} seems to be down"]
