"""Timers: in order, cancellable by the thousand, undisturbed by what their callbacks raise, gone when closed."""

import logging
import queue
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.waiting import PATIENCE_S
from wolfbus.actors import PooledActor, Timers

WAIT = PATIENCE_S
HOUR = 3600


@pytest.fixture
def timers() -> Iterator[Timers]:
    with Timers("test-timers") as timers:
        yield timers


@pytest.fixture
def fired() -> queue.SimpleQueue[Any]:
    return queue.SimpleQueue()


def timer_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "test-timers"]


def test_a_timer_fires_once_and_not_before_its_time(timers, fired):
    begun = time.monotonic()
    timer = timers.after(0.01, lambda: fired.put(time.monotonic()))
    assert timer.pending
    assert fired.get(timeout=WAIT) - begun >= 0.01
    assert not timer.pending
    assert timers.pending == 0


def test_timers_fire_by_due_time_whatever_the_order_they_were_set_in(timers, fired):
    # far enough apart that a busy machine sets all of them before the first is due
    for n in (3, 1, 4, 2, 0):
        timers.after(0.1 + n * 0.03, lambda n=n: fired.put(n))
    assert [fired.get(timeout=WAIT) for _ in range(5)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("seconds", [0, -5])
def test_timers_due_at_once_fire_in_the_order_they_were_set(timers, fired, seconds):
    for n in range(200):
        timers.after(seconds, lambda n=n: fired.put(n))
    assert [fired.get(timeout=WAIT) for _ in range(200)] == list(range(200))


def test_a_cancelled_timer_does_not_fire(timers, fired):
    # far enough away that a busy machine gets to cancel it
    cancelled = timers.after(0.25, lambda: fired.put("cancelled"))
    timers.after(0.26, lambda: fired.put("kept"))
    assert cancelled.cancel() is True
    assert not cancelled.pending
    assert fired.get(timeout=WAIT) == "kept"


def test_cancelling_again_or_too_late_prevents_nothing(timers, fired):
    timer = timers.after(HOUR, fired.put)
    assert [timer.cancel(), timer.cancel()] == [True, False]
    late = timers.after(0, lambda: fired.put(late.cancel()))
    assert fired.get(timeout=WAIT) is False
    assert late.cancel() is False


def test_a_cancelled_timer_lets_go_of_its_callback_at_once(timers):
    class Seat:
        def deadline(self) -> None: ...

    seat = Seat()
    collected = weakref.ref(seat)
    timer = timers.after(HOUR, seat.deadline)
    timer.cancel()
    del seat
    assert collected() is None


def test_thousands_of_cancelled_timers_do_not_stay_in_the_heap(timers, fired):
    pending = [timers.after(HOUR, fired.put) for _ in range(100)]
    largest = 0
    for _ in range(10_000):
        timers.after(HOUR, fired.put).cancel()
        largest = max(largest, len(timers._heap))
    assert largest <= 2 * len(pending) + 2
    assert timers.pending == 100


def test_sweeping_keeps_the_order_of_those_that_stay(timers, fired):
    gate, begun = threading.Event(), threading.Event()
    timers.after(0, begun.set)
    timers.after(0, lambda: gate.wait(WAIT))
    assert begun.wait(WAIT)
    number = {timers.after(0.0001 * (n * 37 % 101), lambda n=n: fired.put(n)): n for n in range(500)}
    for timer, n in number.items():
        if n % 5:
            timer.cancel()
    due = [number[timer] for _, _, timer in sorted(timers._heap) if timer in number and timer.pending]
    gate.set()
    assert [fired.get(timeout=WAIT) for _ in due] == due
    assert sorted(due) == list(range(0, 500, 5))


@pytest.mark.parametrize("error", [ValueError("a bug"), SystemExit(1)], ids=repr)
def test_an_exception_in_a_callback_is_logged_and_the_next_timer_fires(timers, fired, log, error):
    def fail() -> None:
        raise error

    timers.after(0, fail)
    timers.after(0, lambda: fired.put("next"))
    assert fired.get(timeout=WAIT) == "next"
    (record,) = log.at(logging.ERROR)
    assert record.getMessage() == "Unhandled exception in a timer's callback:"
    assert record.exc_info[1] is error


def test_a_deadline_for_a_dead_actor_is_no_error(timers, fired, log, pool):
    ref = PooledActor.start_in(pool)
    ref.stop()
    timers.after(0, lambda: ref.tell("too late"))
    timers.after(0, lambda: fired.put("next"))
    assert fired.get(timeout=WAIT) == "next"
    assert not log.at(logging.ERROR)
    assert any(record.getMessage() == f"A timer came too late: {ref} not found" for record in log.at(logging.DEBUG))


@pytest.mark.usefixtures("hasty_switches")
def test_timers_set_and_cancelled_from_many_threads_fire_exactly_if_cancel_did_not_prevent_it(timers, fired):
    prevented: list[int] = []

    def set_some(thread: int) -> None:
        for n in range(200):
            number = thread * 200 + n
            timer = timers.after(0.0001 * (n % 3), lambda number=number: fired.put(number))
            if n % 2 and timer.cancel():
                prevented.append(number)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(set_some, range(4)))
    came = [fired.get(timeout=WAIT) for _ in range(800 - len(prevented))]
    assert sorted([*came, *prevented]) == list(range(800))
    assert timers.pending == 0


def test_the_thread_starts_with_the_first_timer_and_is_a_daemon(timers, fired):
    assert timer_threads() == []
    timers.after(HOUR, fired.put)
    (thread,) = timer_threads()
    assert thread.daemon
    timers.after(HOUR, fired.put)
    assert timer_threads() == [thread]


def test_closing_drops_what_is_pending_and_joins_the_thread(fired):
    with Timers("test-timers") as timers:
        timer = timers.after(HOUR, lambda: fired.put("fired"))
    assert timer_threads() == []
    assert fired.empty()
    assert not timer.pending
    assert timer.cancel() is False
    assert timers.pending == 0


def test_closing_waits_for_the_callback_that_runs(fired):
    gate, begun = threading.Event(), threading.Event()

    def take_long() -> None:
        begun.set()
        gate.wait(WAIT)
        fired.put("finished")

    timers = Timers("test-timers")
    timers.after(0, take_long)
    timers.after(0, lambda: fired.put("dropped"))
    assert begun.wait(WAIT)
    closing = threading.Thread(target=timers.close)
    closing.start()
    gate.set()
    closing.join(WAIT)
    assert fired.get(timeout=WAIT) == "finished"
    assert timer_threads() == []


def test_a_callback_may_close_its_own_timers(fired):
    timers = Timers("test-timers")
    timers.after(HOUR, lambda: fired.put("dropped"))

    def close() -> None:
        timers.close()
        fired.put("closed")

    timers.after(0, close)
    assert fired.get(timeout=WAIT) == "closed"
    timers.close()
    assert timer_threads() == []
    assert fired.empty()


def test_closed_timers_refuse_more():
    timers = Timers("evening")
    timers.close()
    with pytest.raises(RuntimeError, match="the timers evening are closed"):
        timers.after(1, print)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), float("-inf")])
def test_a_duration_must_be_finite(timers, seconds):
    with pytest.raises(ValueError, match="finite"):
        timers.after(seconds, print)


def test_a_timer_may_be_set_for_longer_than_a_thread_can_wait(timers, fired):
    timers.after(1e15, lambda: fired.put("never"))
    timers.after(0.001, lambda: fired.put("soon"))
    assert fired.get(timeout=WAIT) == "soon"
    assert timers.pending == 1


def test_a_timer_whose_thread_cannot_start_is_not_left_behind(timers, fired, monkeypatch):
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            timers.after(0, lambda: fired.put("left behind"))
    timers.after(0, lambda: fired.put("second try"))
    assert fired.get(timeout=WAIT) == "second try"
