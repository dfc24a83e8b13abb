"""The pump: one reading and one writing thread that nothing a callback does can stop."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Sequence
from typing import cast

import pytest

from tests.bus.conftest import Place, full_memory
from tests.bus.parts import (
    AT_ONCE_S,
    GAME,
    HOUSE,
    IN_ANN,
    IN_BOB,
    OUT,
    RECORD,
    SOON_S,
    claim,
    entries,
    entry,
    head,
    ids,
    message,
    one_landing,
    step,
    whole,
)
from tests.proxy import Proxy
from wolfbus.bus import Bus, BusReader, BusWriter, Commit, Entry, open_bus, streams
from wolfbus.errors import BusDown, BusError, BusFull, Fenced, StaleWriter, StreamLost
from wolfbus.testing.redis_server import RedisServer

News = queue.Queue[tuple[str, list[Entry]]]
Errors = queue.Queue[BusError]
Answers = queue.Queue[BusError | None]


def collect(news: News, count: int) -> list[Entry]:
    collected: list[Entry] = []
    while len(collected) < count:
        collected += news.get(timeout=SOON_S)[1]
    return collected


class SlowBus:
    """A bus whose calls wait for a gate, and that counts them."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.gate = threading.Event()
        self.entered = threading.Semaphore(0)
        self.calls: list[int] = []

    def append(self, stream: str, batch: Sequence[Entry], within_s: float | None = None) -> None:
        self._pass(len(batch))
        self.bus.append(stream, batch, within_s)

    def commit(self, commits: Sequence[Commit]) -> list[BusError | None]:
        self._pass(len(commits))
        return self.bus.commit(commits)

    def _pass(self, size: int) -> None:
        self.calls.append(size)
        self.entered.release()
        assert self.gate.wait(SOON_S)


def as_bus(bus: object) -> Bus:
    return cast("Bus", bus)


def nobody(error: BusError) -> None:
    raise AssertionError(error)


def test_entries_reach_whoever_follows_the_stream(bus: Bus) -> None:
    ann: News = queue.Queue()
    bob: News = queue.Queue()
    bus.append(IN_ANN, entries(3))
    with BusReader(bus, nobody) as reader:
        reader.follow(IN_ANN, lambda *news: ann.put(news), after="1000-1")
        reader.follow(IN_BOB, lambda *news: bob.put(news))
        assert collect(ann, 2) == entries(2, start=2)
        bus.append(IN_BOB, entries(1))
        assert bob.get(timeout=SOON_S) == (IN_BOB, entries(1))
    assert ann.empty()


def test_a_failing_callback_is_logged_and_reading_goes_on(bus: Bus, caplog: pytest.LogCaptureFixture) -> None:
    news: News = queue.Queue()

    def deliver(stream: str, batch: list[Entry]) -> None:
        news.put((stream, batch))
        raise RuntimeError("the handler's own trouble")

    with caplog.at_level(logging.ERROR), BusReader(bus, nobody) as reader:
        reader.follow(OUT, deliver)
        for start in (1, 2):
            bus.append(OUT, entries(1, start=start))
            assert collect(news, 1) == entries(1, start=start)
    assert [record.message for record in caplog.records] == ["a callback of the bus failed"] * 2
    assert "the handler's own trouble" in caplog.text


def test_who_follows_a_stream_may_hear_of_its_loss_and_follow_it_anew(bus: Bus) -> None:
    news: News = queue.Queue()
    losses: queue.Queue[tuple[StreamLost, str]] = queue.Queue()
    bus.append(OUT, entries(2))

    def lost(error: StreamLost) -> None:
        losses.put((error, threading.current_thread().name))
        reader.follow(error.stream, lambda *more: news.put(more))

    with BusReader(bus, nobody, "the-reader") as reader:
        reader.follow(OUT, lambda *more: news.put(more), after="5000-0", lost=lost)
        error, thread = losses.get(timeout=SOON_S)
        assert (error.stream, thread) == (OUT, "the-reader")
        assert collect(news, 2) == entries(2)
    assert losses.empty()


@pytest.mark.usefixtures("one_slice")
def test_closing_a_reader_is_quick_also_from_a_callback(bus: Bus, place: Place) -> None:
    called = threading.Event()

    def deliver(stream: str, batch: list[Entry]) -> None:
        reader.close()
        called.set()

    with BusReader(bus, nobody) as reader:
        reader.follow(OUT, deliver)
        place.wait_blocked()
        bus.append(OUT, entries(1))
        assert called.wait(SOON_S)
    started = time.monotonic()
    with BusReader(bus, nobody) as reader:
        reader.follow(IN_ANN, lambda *news: None)
        place.wait_blocked()
    assert time.monotonic() - started < AT_ONCE_S


def test_a_reader_outlives_an_outage_longer_than_the_patience(proxy: Proxy, redis_bus: Bus) -> None:
    news: News = queue.Queue()
    errors: Errors = queue.Queue()
    bus = open_bus(f"redis://127.0.0.1:{proxy.port}?patience=0.1")
    with BusReader(bus, errors.put) as reader:
        reader.follow(OUT, lambda *more: news.put(more))
        redis_bus.append(OUT, entries(1))
        collect(news, 1)
        proxy.refuse()
        proxy.cut()
        assert isinstance(errors.get(timeout=SOON_S), BusDown)
        redis_bus.append(OUT, entries(1, start=2))
        proxy.refuse(False)
        assert collect(news, 1) == entries(1, start=2)
    bus.close()


def test_appends_and_commits_land_in_the_order_they_were_queued(bus: Bus) -> None:
    claim(bus)
    answers: Answers = queue.Queue()
    outs = [streams.outbox(HOUSE, f"agent-{n}") for n in range(3)]
    with BusWriter(bus, nobody) as writer:
        for number in range(1, 101):
            for out in outs:
                writer.append(out, entries(1, start=number))
            writer.commit(step(number), answers.put)
            writer.commit(message(number), answers.put)
    one_landing([answers.get_nowait() for _ in range(200)])
    assert [whole(bus, out) for out in outs] == [entries(100)] * 3
    assert bus.head(HOUSE, GAME) == head(100)
    assert len(whole(bus, IN_ANN)) == 200


def test_what_queues_up_meanwhile_goes_out_together_also_when_it_is_closed(bus: Bus) -> None:
    claim(bus)
    slow = SlowBus(bus)
    answers: Answers = queue.Queue()
    with BusWriter(as_bus(slow), nobody) as writer:
        writer.commit(step(1), answers.put)
        assert slow.entered.acquire(timeout=SOON_S)
        for number in range(2, 21):
            writer.commit(step(number), answers.put)
        for one in entries(30):
            writer.append(OUT, [one])
        slow.gate.set()
    assert sorted(slow.calls) == [1, 19, 30]
    one_landing([answers.get_nowait() for _ in range(20)])
    assert whole(bus, OUT) == entries(30)
    with pytest.raises(BusDown, match="closed"):
        writer.append(OUT, entries(1, start=31))
    with pytest.raises(BusDown, match="closed"):
        writer.commit(step(21), answers.put)


def test_what_is_appended_at_once_lands_once_and_in_order_among_what_is_queued(bus: Bus) -> None:
    class Watched:
        def append(self, stream: str, batch: Sequence[Entry], within_s: float | None = None) -> None:
            threads.add(threading.get_ident())
            bus.append(stream, batch, within_s)

    threads: set[int] = set()
    order = threading.Lock()
    numbers = iter(range(1, 301))

    def write(writer: BusWriter, at_once: bool) -> None:
        for _ in range(100):
            with order:
                batch = entries(1, start=next(numbers))
                (writer.append_at_once if at_once else writer.append)(OUT, batch)
            time.sleep(0 if at_once else 0.001)

    with BusWriter(as_bus(Watched()), nobody) as writer:
        others = [threading.Thread(target=write, args=(writer, at_once)) for at_once in (True, False)]
        for thread in others:
            thread.start()
        write(writer, True)
        for thread in others:
            thread.join()
        count, until = 300, time.monotonic() + SOON_S
        # as soon as the writing thread has nothing to do, who writes does it himself
        while threading.get_ident() not in threads and time.monotonic() < until:
            time.sleep(0.005)
            count += 1
            writer.append_at_once(OUT, entries(1, start=count))
    assert whole(bus, OUT) == entries(count)
    assert threading.get_ident() in threads


def test_what_the_bus_does_not_take_at_once_is_written_by_the_writing_thread(bus: Bus) -> None:
    class Away:
        def append(self, stream: str, batch: Sequence[Entry], within_s: float | None = None) -> None:
            if within_s is not None:
                landed_all_the_same = batch[:1]
                bus.append(stream, landed_all_the_same)
                raise BusDown("not now")
            bus.append(stream, batch)

    with BusWriter(as_bus(Away()), nobody) as writer:
        for start in range(1, 61, 3):
            writer.append_at_once(OUT, entries(3, start=start))
    assert whole(bus, OUT) == entries(60)
    with pytest.raises(BusDown, match="closed"):
        writer.append_at_once(OUT, entries(1, start=61))


def test_each_commit_hears_its_own_outcome(bus: Bus) -> None:
    claim(bus)
    answers: Answers = queue.Queue()
    with BusWriter(bus, nobody) as writer:
        for commit in (step(1), step(5, game="other"), step(2), step(3, epoch=7)):
            writer.commit(commit, answers.put)
    kinds = [type(answers.get_nowait()) for _ in range(4)]
    assert kinds == [type(None), Fenced, type(None), Fenced]


def test_a_failed_append_is_told_and_others_land(bus: Bus) -> None:
    errors: Errors = queue.Queue()
    bus.append(OUT, [entry("2000-1")])
    with BusWriter(bus, errors.put) as writer:
        writer.append(OUT, [entry("1000-1")])
        writer.append(IN_ANN, [entry("1-1")])
    error = errors.get_nowait()
    assert isinstance(error, StaleWriter)
    assert error.stream == OUT
    assert errors.empty()
    assert ids(bus.entries(IN_ANN)) == ["1-1"]


def test_failing_callbacks_do_not_stop_the_writer(bus: Bus, caplog: pytest.LogCaptureFixture) -> None:
    claim(bus)

    def fail(error: BusError | None) -> None:
        raise RuntimeError("the caller's own trouble")

    bus.append(OUT, [entry("2000-1")])
    with caplog.at_level(logging.ERROR), BusWriter(bus, fail) as writer:
        writer.commit(step(1), fail)
        writer.append(OUT, [entry("1000-1")])
        writer.commit(step(2), fail)
    assert [record.message for record in caplog.records] == ["a callback of the bus failed"] * 3
    assert "the caller's own trouble" in caplog.text
    assert bus.head(HOUSE, GAME) == head(2)


def test_what_cannot_even_be_sent_is_told_and_the_writer_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def append(self, stream: str, batch: Sequence[Entry]) -> None:
            raise TypeError("no such type of body")

        def commit(self, commits: Sequence[Commit]) -> list[BusError | None]:
            raise TypeError("no such type of body")

    errors: Errors = queue.Queue()
    answers: Answers = queue.Queue()
    with caplog.at_level(logging.ERROR), BusWriter(as_bus(Broken()), errors.put) as writer:
        writer.append(OUT, [entry("1-1")])
        writer.commit(step(1), answers.put)
    assert "no such type of body" in str(errors.get_nowait())
    assert "no such type of body" in str(answers.get_nowait())


def test_close_without_flush_gives_up_what_is_queued_and_says_so(bus: Bus) -> None:
    claim(bus)
    slow = SlowBus(bus)
    errors: Errors = queue.Queue()
    answers: Answers = queue.Queue()
    writer = BusWriter(as_bus(slow), errors.put).start()
    writer.commit(step(1), answers.put)
    assert slow.entered.acquire(timeout=SOON_S)
    writer.commit(step(2), answers.put)
    writer.append(OUT, [entry("1-1")])
    closing = threading.Thread(target=writer.close, args=(False,))
    closing.start()
    assert isinstance(answers.get(timeout=SOON_S), BusDown)
    assert isinstance(errors.get(timeout=SOON_S), BusDown)
    slow.gate.set()
    closing.join(SOON_S)
    assert answers.get(timeout=SOON_S) is None
    assert ids(bus.entries(RECORD)) == ["1-0"]
    assert bus.entries(OUT) == []


def test_after_the_patience_every_waiting_commit_is_told_and_appends_are_kept(proxy: Proxy, redis_bus: Bus) -> None:
    claim(redis_bus)
    bus = open_bus(f"redis://127.0.0.1:{proxy.port}?patience=0.1")
    errors: Errors = queue.Queue()
    answers: Answers = queue.Queue()
    with BusWriter(bus, errors.put) as writer:
        proxy.refuse()
        proxy.cut()
        for number in (1, 2, 3):
            writer.commit(step(number), answers.put)
            writer.append(OUT, entries(1, start=number))
        for _ in range(3):
            assert isinstance(answers.get(timeout=SOON_S), BusDown)
        assert isinstance(errors.get(timeout=SOON_S), BusDown)
        proxy.refuse(False)
        for number in (1, 2, 3):
            writer.commit(step(number), answers.put)
        writer.append(OUT, entries(1, start=4))
        one_landing([answers.get(timeout=SOON_S) for _ in range(3)])
    assert whole(redis_bus, OUT) == entries(4)
    assert ids(redis_bus.entries(IN_ANN)) == ["1-0", "1-1", "1-2"]
    bus.close()


def test_a_full_memory_is_said_once_with_what_to_do_and_nothing_queued_is_lost(
    redis_bus: Bus, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    claim(redis_bus)
    errors: Errors = queue.Queue()
    answers: Answers = queue.Queue()
    with full_memory(redis_server), BusWriter(redis_bus, errors.put) as writer:
        writer.append(OUT, entries(1))
        for _ in range(3):
            writer.commit(step(1), answers.put)
            assert isinstance(answers.get(timeout=SOON_S), BusFull)
        redis_server.command("CONFIG", "SET", "maxmemory", "0")
        writer.append(OUT, entries(1, start=2))
        writer.commit(step(1), answers.put)
        one_landing([answers.get(timeout=SOON_S)])
    assert whole(redis_bus, OUT) == entries(2)
    assert errors.empty()
    (line,) = [record.getMessage() for record in caplog.records]
    assert "Redis is out of memory" in line
    assert "redis-cli CONFIG SET maxmemory" in line
    assert line.endswith("trying again until there is room")


def test_a_writer_closing_while_memory_is_full_gives_up_and_says_so(redis_bus: Bus, redis_server: RedisServer) -> None:
    errors: Errors = queue.Queue()
    with full_memory(redis_server), BusWriter(redis_bus, errors.put) as writer:
        writer.append(OUT, entries(1))
    assert isinstance(errors.get_nowait(), BusFull)
    assert errors.empty()
