"""What a pool promises beyond pykka: few threads, one message of an actor at a time, fair turns, a clean end."""

import logging
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pykka import ActorDeadError, ActorRegistry, Timeout

import wolfbus
from tests.waiting import PATIENCE_S
from wolfbus.actors import ActorPool, PooledActor

WAIT = PATIENCE_S


class Caller(PooledActor):
    """Calls what it is sent."""

    def on_receive(self, message: Callable[[], Any]) -> Any:
        return message()


def threads_of(pool: ActorPool) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(f"{pool.name}-")]


class Ledger(PooledActor):
    """Counts (sender, number) messages, and notices when two are handled at once or out of order."""

    def __init__(self, expected: int) -> None:
        super().__init__()
        self.expected = expected
        self.busy = threading.Lock()
        self.last: dict[int, int] = {}
        self.faults: list[str] = []
        self.seen_by: set[int] = set()
        self.done = threading.Event()

    def on_receive(self, message: Any) -> None:
        if not self.busy.acquire(blocking=False):
            self.faults.append("two messages at once")
            return
        sender, number = message
        if number != self.last.get(sender, -1) + 1:
            self.faults.append(f"sender {sender}: {number} after {self.last.get(sender)}")
        self.last[sender] = number
        self.seen_by.add(threading.get_ident())
        self.expected -= 1
        self.busy.release()
        if not self.expected:
            self.done.set()


@pytest.mark.usefixtures("hasty_switches")
def test_an_actor_handles_one_message_at_a_time_in_each_senders_order_under_contention():
    senders, messages = 8, 500
    with ActorPool(threads=4) as pool:
        ledgers = [Ledger(senders * messages) for _ in range(2)]
        done = [ledger.done for ledger in ledgers]
        for ledger in ledgers:
            ledger._pool = pool
            ActorRegistry.register(ledger.actor_ref)
            ledger._start_actor_loop()
        refs = [ledger.actor_ref for ledger in ledgers]

        def send(sender: int) -> None:
            for number in range(messages):
                for ref in refs:
                    ref.tell((sender, number))

        with ThreadPoolExecutor(senders) as threads:
            list(threads.map(send, range(senders)))
        assert all(event.wait(WAIT) for event in done)
    for ledger in ledgers:
        assert ledger.faults == []
        assert ledger.last == dict.fromkeys(range(senders), messages - 1)


def test_an_actor_with_a_full_inbox_takes_turns_with_one_that_has_a_single_message(one_thread):
    gate, count = threading.Event(), []
    blocked, flooded, patient = (Caller.start_in(one_thread) for _ in range(3))
    blocked.tell(gate.wait)
    for _ in range(5_000):
        flooded.tell(lambda: count.append(1))
    answer = patient.ask(lambda: len(count), block=False)
    gate.set()
    assert answer.get(timeout=WAIT) <= 64
    flooded.stop()
    assert len(count) == 5_000


def test_actors_may_wait_for_each_other_twenty_deep_and_the_spare_threads_go_again(one_thread):
    refs = [Caller.start_in(one_thread) for _ in range(20)]

    def go_deeper(depth: int) -> int:
        return 1 if depth == len(refs) else 1 + refs[depth].ask(lambda: go_deeper(depth + 1), timeout=WAIT)

    assert go_deeper(0) == 21
    assert one_thread._workers == 1


def test_a_wait_that_times_out_gives_its_place_back(one_thread):
    word, busy = threading.Event(), Caller.start_in(one_thread)

    def wait_for_the_word() -> bool:
        with one_thread.blocking():
            return word.wait(WAIT)

    def wait_in_vain() -> str:
        with pytest.raises(Timeout):
            busy.ask(wait_for_the_word, timeout=0.001)
        word.set()
        return "gave up"

    ref = Caller.start_in(one_thread)
    assert ref.ask(wait_in_vain, timeout=WAIT) == "gave up"
    assert busy.ask(word.is_set, timeout=WAIT)
    assert one_thread._workers == 1


def test_a_handler_may_lend_its_place_while_it_waits_by_other_means(one_thread):
    word = threading.Event()

    def wait_for_the_word() -> bool:
        with one_thread.blocking():
            return word.wait(WAIT)

    answer = Caller.start_in(one_thread).ask(wait_for_the_word, block=False)
    Caller.start_in(one_thread).tell(word.set)
    assert answer.get(timeout=WAIT) is True


def test_five_thousand_actors_live_on_four_threads():
    class Counter(PooledActor):
        def on_receive(self, message: int) -> None:
            totals.append(message)
            idents.add(threading.get_ident())

    totals: list[int] = []
    idents: set[int] = set()
    with ActorPool(threads=4, name="crowd") as pool:
        refs = [Counter.start_in(pool) for _ in range(5_000)]
        assert len(threads_of(pool)) == 4
        for n in range(3):
            for ref in refs:
                ref.tell(n)
        for ref in refs:  # oldest first: pykka's registry looks for an actor from the front
            ref.stop(block=False)
    assert sorted(totals) == [0] * 5_000 + [1] * 5_000 + [2] * 5_000
    assert len(idents) <= 4
    assert threads_of(pool) == []


def test_a_pool_has_named_threads_while_it_has_actors_and_none_otherwise():
    with ActorPool(threads=2, name="named") as pool:
        assert threads_of(pool) == []
        ref = Caller.start_in(pool)
        threads = threads_of(pool)
        assert [thread.name for thread in threads] == ["named-0", "named-1"]
        assert not any(thread.daemon for thread in threads)
        assert repr(pool) == "<ActorPool named: 1 actors, 2 threads>"
        ref.stop()
        for thread in threads:
            thread.join(WAIT)
        assert threads_of(pool) == []
        assert Caller.start_in(pool).ask(lambda: "awake again", timeout=WAIT) == "awake again"
        assert len(threads_of(pool)) == 2


@pytest.mark.usefixtures("hasty_switches")
def test_actors_that_come_and_go_never_find_the_pool_asleep():
    def come_and_go(pool: ActorPool) -> None:
        for n in range(30):
            ref = Caller.start_in(pool)
            assert ref.ask(lambda n=n: n, timeout=WAIT) == n
            ref.stop(block=False)

    with ActorPool(threads=2) as pool, ThreadPoolExecutor(3) as threads:
        list(threads.map(come_and_go, [pool] * 3))


def test_close_handles_the_mail_that_was_there_and_joins_every_thread():
    handled = []
    pool = ActorPool(threads=3, name="closing")
    refs = [Caller.start_in(pool) for _ in range(10)]
    for n in range(100):
        refs[n % 10].tell(lambda n=n: handled.append(n))
    pool.close()
    assert sorted(handled) == list(range(100))
    assert threads_of(pool) == []
    assert not any(ref.is_alive() for ref in refs)
    assert pool.actors() == []


def test_close_waits_for_a_handler_under_way():
    gate, begun, finished = threading.Event(), threading.Event(), []
    pool = ActorPool(threads=1)

    def take_long() -> None:
        begun.set()
        gate.wait(WAIT)
        finished.append(True)

    Caller.start_in(pool).tell(take_long)
    assert begun.wait(WAIT)
    with ThreadPoolExecutor(2) as threads:
        for _ in range(2):
            threads.submit(pool.close)
        gate.set()
    assert finished == [True]
    pool.close()


def test_a_closed_pool_takes_no_actors_and_leaves_no_trace_of_them():
    class Eager(Caller):
        def __init__(self, answers: list[Any]) -> None:
            super().__init__()
            answers.append(self.actor_ref.ask("told too early", block=False))
            answers.append(self.actor_ref)

    pool = ActorPool()
    pool.close()
    answers: list[Any] = []
    with pytest.raises(RuntimeError, match="the actor pool actors is closed"):
        Eager.start_in(pool, answers)
    assert ActorRegistry.get_all() == []
    question, ref = answers
    with pytest.raises(ActorDeadError):
        question.get(timeout=0)
    with pytest.raises(ActorDeadError):
        ref.tell("anybody there?")


def test_an_actor_cannot_close_the_pool_it_runs_in(pool):
    with pytest.raises(RuntimeError, match="cannot be closed by an actor it runs"):
        Caller.start_in(pool).ask(pool.close, timeout=WAIT)
    assert Caller.start_in(pool).ask(lambda: "open", timeout=WAIT) == "open"


@pytest.mark.parametrize("threads", [0, -1])
def test_a_pool_needs_a_thread(threads):
    with pytest.raises(ValueError, match="at least one thread"):
        ActorPool(threads)


def test_a_pool_makes_do_with_the_threads_the_system_allows(monkeypatch, log):
    begin = threading.Thread.start
    allowance = [None]

    def scarce(thread: threading.Thread) -> None:
        if not allowance:
            raise RuntimeError("can't start new thread")
        allowance.pop()
        begin(thread)

    with ActorPool(threads=3, name="scarce") as pool:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", scarce)
            ref = Caller.start_in(pool)
            assert ref.ask(lambda: "served", timeout=WAIT) == "served"
        assert len(threads_of(pool)) == 1
        (warning,) = log.at(logging.WARNING)
        assert warning.getMessage() == "The actor pool scarce makes do with 1 threads: can't start new thread"
        Caller.start_in(pool)
        assert len(threads_of(pool)) == 3


def test_without_a_single_thread_the_start_fails_and_leaves_no_trace(monkeypatch):
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with ActorPool() as pool:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            with pytest.raises(RuntimeError, match="can't start new thread"):
                Caller.start_in(pool)
        assert ActorRegistry.get_all() == []
        assert pool.actors() == []
        assert Caller.start_in(pool).ask(lambda: "served", timeout=WAIT) == "served"


def test_a_program_ends_when_its_actors_have_stopped():
    program = """
from wolfbus.actors import ActorPool, PooledActor, Timers

class Last(PooledActor):
    def on_receive(self, message):
        print(message, flush=True)
        self.stop()

timers = Timers()
timers.after(3600, print)
Last.start_in(ActorPool()).tell("the last word")
"""
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(wolfbus.__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert (ended.stdout, ended.stderr) == ("the last word\n", "")
