"""Readers: everything once, in order, from where one stopped - or a loud word about what is lost."""

from __future__ import annotations

import threading
import time

import pytest

from tests.bus.conftest import Place
from tests.bus.parts import (
    AT_ONCE_S,
    GAME,
    HOUSE,
    IN_ANN,
    IN_BOB,
    OUT,
    RECORD,
    SOON_S,
    InThread,
    claim,
    entries,
    entry,
    epoch_of,
    following,
    ids,
    one_landing,
    read_all,
    step,
)
from wolfbus.bus import Bus, streams
from wolfbus.errors import BusDown, BusError, StreamLost


def test_a_reader_gets_what_is_there_and_what_comes(bus: Bus) -> None:
    bus.append(OUT, entries(3))
    reader = following(bus, OUT)
    assert reader.read(0) == [(OUT, entries(3))]
    assert reader.read(0) == []
    bus.append(OUT, entries(2, start=4))
    assert reader.read(SOON_S) == [(OUT, entries(2, start=4))]


def test_a_read_returns_at_most_its_limit_per_stream(bus: Bus) -> None:
    bus.append(IN_ANN, entries(5))
    bus.append(IN_BOB, entries(3))
    reader = following(bus, IN_ANN, IN_BOB)
    assert {stream: len(batch) for stream, batch in reader.read(0, limit=3)} == {IN_ANN: 3, IN_BOB: 3}
    assert reader.read(0, limit=3) == [(IN_ANN, entries(2, start=4))]
    assert reader.read(0, limit=3) == []


def test_nothing_to_read_takes_the_time_given(bus: Bus) -> None:
    reader = bus.reader()
    started = time.monotonic()
    assert reader.read(0.05) == []
    reader.follow(OUT)
    assert reader.read(0.05) == []
    assert 0.1 <= time.monotonic() - started < AT_ONCE_S


def test_two_readers_each_get_everything(bus: Bus, place: Place) -> None:
    readers = [bus.reader(), place.open().reader()]
    for reader in readers:
        reader.follow(OUT)
    bus.append(OUT, entries(10))
    for reader in readers:
        assert read_all(reader, 10, limit=4) == {OUT: entries(10)}


def test_following_again_starts_anew(bus: Bus) -> None:
    bus.append(OUT, entries(3))
    reader = following(bus, OUT)
    reader.read(0)
    reader.follow(OUT, after="1000-1")
    assert reader.read(0) == [(OUT, entries(2, start=2))]


def test_a_blocked_read_returns_what_is_appended_and_what_is_committed(bus: Bus, place: Place) -> None:
    claim(bus)
    reader = following(place.open(), OUT, IN_BOB)
    for write, came in (
        (lambda: bus.append(OUT, entries(1)), (OUT, entries(1))),
        (lambda: one_landing(bus.commit([step(1)])), (IN_BOB, [entry(f"{epoch_of(1)}-0")])),
    ):
        reading = InThread(lambda: reader.read(SOON_S))
        place.wait_blocked()
        write()
        assert reading.result() == [came]


@pytest.mark.usefixtures("one_slice")
def test_follow_takes_effect_while_a_read_blocks(bus: Bus, place: Place) -> None:
    bus.append(IN_BOB, entries(2))
    reader = following(bus, OUT)
    reading = InThread(lambda: reader.read(SOON_S))
    place.wait_blocked()
    started = time.monotonic()
    reader.follow(IN_BOB, after="1000-1")
    assert reading.result() == [(IN_BOB, entries(1, start=2))]
    assert time.monotonic() - started < AT_ONCE_S


@pytest.mark.usefixtures("one_slice")
@pytest.mark.parametrize("whole_bus", [False, True])
def test_close_ends_a_blocked_read_at_once(bus: Bus, place: Place, whole_bus: bool) -> None:
    reader = following(bus, OUT)
    reading = InThread(lambda: reader.read(SOON_S))
    place.wait_blocked()
    started = time.monotonic()
    if whole_bus:
        bus.close()
    reader.close()
    reader.close()
    assert reading.result() == []
    assert time.monotonic() - started < AT_ONCE_S
    with pytest.raises(BusDown, match="closed"):
        reader.read(SOON_S)
    reader.unfollow(OUT)


@pytest.mark.parametrize(
    ("size", "after", "cut", "lost"),
    [
        (0, "1000-1", "0-0", "it is gone"),
        (3, "1000-4", "0-0", "it now ends at 1000-3"),
        (5, "1000-3", "9999-0", "all its entries up to 1000-5 were cut away"),
    ],
)
def test_a_cursor_that_the_stream_does_not_reach_is_lost_at_once(
    bus: Bus, size: int, after: str, cut: str, lost: str
) -> None:
    bus.append(OUT, entries(size))
    bus.trim(OUT, cut)
    with pytest.raises(StreamLost, match=rf"wolf:\{{house\}}:out:ann was read up to {after}, but {lost}$"):
        following(bus, OUT, after=after).read(SOON_S)


@pytest.mark.parametrize("rewritten", [False, True])
def test_a_stream_that_vanishes_is_noticed_and_the_others_go_on(bus: Bus, rewritten: bool) -> None:
    claim(bus)
    one_landing(bus.commit([step(1), step(2)]))
    reader = following(bus, RECORD, OUT)
    read_all(reader, 2)
    bus.expire(HOUSE, GAME, 0)
    if rewritten:
        one_landing(bus.commit([step(1)]))
    with pytest.raises(StreamLost, match="record:game-1 was read up to 2-0" + ", but it now ends at 1-0" * rewritten):
        reader.read(0.05)
    bus.append(OUT, entries(1))
    assert reader.read(SOON_S) == [(OUT, entries(1))]


def test_a_key_that_is_no_stream_is_told_once_and_silences_no_other(bus: Bus) -> None:
    claim(bus)
    reader = following(bus, streams.owner(HOUSE), OUT)
    with pytest.raises(BusError, match=r"wolf:\{house\}:owner"):
        reader.read(0.05)
    bus.append(OUT, entries(1))
    assert reader.read(SOON_S) == [(OUT, entries(1))]


def test_a_stream_cut_beyond_the_cursor_is_noticed_before_newer_entries_are_handed_out(bus: Bus) -> None:
    bus.append(OUT, entries(5))
    reader = following(bus, OUT, after="1000-2")
    assert reader.read(0, limit=1) == [(OUT, entries(1, start=3))]
    bus.append(OUT, entries(5, start=6))
    bus.trim(OUT, "1000-6")
    with pytest.raises(StreamLost, match="read up to 1000-3, but it was cut and now begins at 1000-6"):
        reader.read(SOON_S)


def test_trimming_what_was_read_loses_nothing(bus: Bus) -> None:
    bus.append(OUT, entries(5))
    reader = following(bus, OUT)
    read_all(reader, 5)
    bus.trim(OUT, "1000-5")
    assert reader.read(0.01) == []
    # nor is a new incarnation a loss
    bus.append(OUT, [entry("1000-6"), entry("2000-1"), entry("3000-1")])
    assert ids(read_all(reader, 3, limit=1)[OUT]) == ["1000-6", "2000-1", "3000-1"]


def test_hundreds_of_streams_are_read_in_one_session(bus: Bus) -> None:
    names = [streams.record(HOUSE, f"game-{n}") for n in range(200)]
    reader = bus.reader()
    for name in names:
        reader.follow(name)
    claim(bus)
    for number in (1, 2):
        one_landing(bus.commit([step(number, posts=(), game=f"game-{n}") for n in range(200)]))
        by_stream = read_all(reader, 200)
        assert sorted(by_stream) == sorted(names)
        assert {tuple(ids(news)) for news in by_stream.values()} == {(f"{number}-0",)}


def test_writers_and_a_reader_in_many_threads_lose_and_double_nothing(bus: Bus, place: Place) -> None:
    names = [streams.outbox(HOUSE, f"agent-{n}") for n in range(4)]
    reader = bus.reader()
    for name in names:
        reader.follow(name)
    start = threading.Barrier(4)

    def write(name: str) -> None:
        writer = place.open()
        start.wait()
        for one in entries(200):
            writer.append(name, [one])

    writing = [InThread(write, name) for name in names]
    by_stream = read_all(reader, 800, limit=50)
    for thread in writing:
        thread.result()
    assert by_stream == {name: entries(200) for name in names}
