"""`RequestClock`: which requests of a game run out, and when, by one timer."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from typing import Any

import pytest

from moderator.engine import deadlines as module
from moderator.engine.deadlines import RequestClock
from wolfbus.actors import Timers

WAIT = 5


@pytest.fixture
def looks() -> queue.SimpleQueue[str]:
    return queue.SimpleQueue()


@pytest.fixture
def timers() -> Iterator[Timers]:
    with Timers("test-deadlines") as timers:
        yield timers


def made(timers: Timers, looks: queue.SimpleQueue[str]) -> RequestClock:
    return RequestClock(timers, lambda: looks.put("look"))


def test_requests_run_out_in_their_time_and_are_told_once(timers, looks):
    clock = made(timers, looks)
    clock.start(1, 60, ["slow"])
    clock.start(1, 0.01, ["quick"])
    clock.start(2, 0.02, ["other"])
    found: list[str] = []
    while len(found) < 2:
        looks.get(timeout=WAIT)
        found += clock.due()
    assert found == ["quick", "other"]
    assert clock.due() == []


def test_one_timer_runs_however_many_batches_are_open(timers, looks):
    clock = made(timers, looks)
    for batch in range(50):
        clock.start(batch, 60 + batch, [f"{batch}"])
    assert timers.pending == 1
    clock.start(50, 30, ["sooner"])
    assert timers.pending == 1
    clock.close()
    assert timers.pending == 0


def test_a_closed_batch_runs_out_no_more(timers, looks, monkeypatch):
    now = [1000.0]
    own: Any = type("Own", (), {"monotonic": staticmethod(lambda: now[0])})
    monkeypatch.setattr(module, "time", own)
    clock = made(timers, looks)
    clock.start(1, 10, ["closed"])
    clock.start(2, 10, ["open"])
    clock.drop(1)
    assert clock.due() == []
    now[0] += 10
    assert clock.due() == ["open"]
