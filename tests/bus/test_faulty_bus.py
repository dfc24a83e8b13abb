"""The bus that mistreats its readers: late, doubled and read again, but nothing is lost and no stream changes order."""

from __future__ import annotations

import queue
import time
from itertools import groupby, pairwise

import pytest

from tests.bus.conftest import Place
from tests.bus.parts import (
    HOUSE,
    IN_ANN,
    IN_BOB,
    OUT,
    RECORD,
    SOON_S,
    InThread,
    claim,
    entries,
    epoch_of,
    ids,
    owner_of,
)
from tests.faulty_bus import FaultyBus
from tests.faulty_reader import DELAY_S, REREAD, Reading
from wolfbus.bus import Bus, Entry
from wolfbus.bus.protocol import Owner
from wolfbus.bus.pump import BusReader
from wolfbus.errors import BusError, StreamLost


def faulty(bus: Bus, among: tuple[str, ...] = ("",), **shares: float) -> FaultyBus:
    readings: dict[Reading, float] = {}
    for name in ("again", "reread", "delayed"):
        readings[name] = shares.get(name, 0.0)
    return FaultyBus(bus, "seed", {}, readings, among)


def read_to(bus: Bus, last: dict[str, str]) -> dict[str, list[str]]:
    """Read some streams until the entry with the last id came of each, and a little on."""
    reader = bus.reader()
    found: dict[str, list[str]] = {stream: [] for stream in last}
    for stream in last:
        reader.follow(stream)
    until = time.monotonic() + SOON_S
    while any(one not in found[stream] for stream, one in last.items()):
        assert time.monotonic() < until
        for stream, news in reader.read(SOON_S, limit=7):
            found[stream] += ids(news)
    reader.close()
    return found


def first_times(found: list[str]) -> list[str]:
    return list(dict.fromkeys(found))


def test_entries_come_twice_in_a_row(bus: Bus) -> None:
    bus.append(IN_ANN, entries(200))
    mistreated = faulty(bus, again=0.3)
    found = read_to(mistreated, {IN_ANN: "1000-200"})[IN_ANN]
    assert [one for one, _ in groupby(found)] == ids(entries(200))
    assert len(found) == 200 + mistreated.injected["again"]
    assert 30 < mistreated.injected["again"] < 90


def test_entries_are_read_again_from_a_little_before(bus: Bus) -> None:
    bus.append(IN_ANN, entries(200))
    mistreated = faulty(bus, reread=0.1)
    found = [int(one.split("-")[1]) for one in read_to(mistreated, {IN_ANN: "1000-200"})[IN_ANN]]
    assert list(dict.fromkeys(found)) == list(range(1, 201))
    steps = {after - before for before, after in pairwise(found)}
    assert steps <= {1, *range(-REREAD, 1)}
    assert mistreated.injected["reread"] > 5


def test_late_entries_hold_back_their_own_stream_only(bus: Bus) -> None:
    bus.append(IN_ANN, entries(50))
    bus.append(IN_BOB, entries(50))
    mistreated = faulty(bus, (":in:ann",), delayed=1.0)
    reader = mistreated.reader()
    reader.follow(IN_ANN)
    reader.follow(IN_BOB)
    assert reader.read(0) == [(IN_BOB, entries(50))]
    started = time.monotonic()
    assert reader.read(SOON_S) == [(IN_ANN, entries(50))]
    assert time.monotonic() - started < DELAY_S + 1


@pytest.mark.parametrize("seed", range(3))
def test_under_all_faults_every_stream_arrives_whole_and_in_order(bus: Bus, seed: int) -> None:
    bus.append(IN_ANN, entries(60))
    bus.append(OUT, entries(60))
    mistreated = FaultyBus(bus, f"seed-{seed}", {}, {"again": 0.1, "reread": 0.1, "delayed": 0.1})
    found = read_to(mistreated, {IN_ANN: "1000-60", OUT: "1000-60"})
    assert [first_times(one) for one in found.values()] == [ids(entries(60))] * 2
    assert all(mistreated.injected[fault] for fault in ("again", "reread", "delayed"))


def test_the_same_seed_mistreats_alike(bus: Bus) -> None:
    bus.append(IN_ANN, entries(100))
    first, second = (read_to(faulty(bus, again=0.2, reread=0.2), {IN_ANN: "1000-100"}) for _ in range(2))
    assert first == second


def test_streams_not_meant_are_left_alone(bus: Bus) -> None:
    bus.append(RECORD, entries(100))
    mistreated = FaultyBus(bus, "seed", {}, {"again": 0.5, "delayed": 0.5})
    assert read_to(mistreated, {RECORD: "1000-100"})[RECORD] == ids(entries(100))
    assert not mistreated.injected


def test_what_is_late_comes_also_after_another_stream_was_lost(bus: Bus) -> None:
    bus.append(IN_ANN, entries(5))
    mistreated = faulty(bus, delayed=1.0)
    reader = mistreated.reader()
    reader.follow(IN_ANN)
    assert reader.read(0) == []
    reader.follow(IN_BOB, after="5-0")
    with pytest.raises(StreamLost):
        reader.read(SOON_S)
    assert reader.read(SOON_S) == [(IN_ANN, entries(5))]


def test_what_is_late_is_forgotten_when_its_stream_is_followed_anew(bus: Bus) -> None:
    bus.append(IN_ANN, entries(5))
    mistreated = faulty(bus, delayed=1.0)
    reader = mistreated.reader()
    reader.follow(IN_ANN)
    assert reader.read(0) == []
    reader.follow(IN_ANN, after="1000-4")
    assert reader.read(SOON_S) == [(IN_ANN, entries(1, start=5))]


def test_a_mistreated_reader_is_woken_and_closed_at_once(bus: Bus, place: Place) -> None:
    for end in ("wake", "close"):
        reader = faulty(bus, delayed=1.0).reader()
        reader.follow(OUT)
        reading = InThread(lambda reader=reader: reader.read(SOON_S))
        place.wait_blocked()
        started = time.monotonic()
        getattr(reader, end)()
        assert reading.result() == []
        assert time.monotonic() - started < 1


def test_a_pump_goes_on_over_a_faulty_bus(bus: Bus) -> None:
    news: queue.Queue[list[Entry]] = queue.Queue()
    mistreated = faulty(bus, again=0.2, reread=0.1, delayed=0.05)

    def fail(error: BusError) -> None:
        raise AssertionError(error)

    found: list[Entry] = []
    with BusReader(mistreated, fail) as reader:
        reader.follow(OUT, lambda _stream, more: news.put(more))
        for start in range(1, 101, 10):
            bus.append(OUT, entries(10, start=start))
        while entries(1, start=100)[0] not in found:
            found += news.get(timeout=SOON_S)
    assert first_times(ids(found)) == ids(entries(100))


def test_what_is_no_delivery_passes_through(bus: Bus) -> None:
    mistreated = faulty(bus, again=1.0)
    assert claim(mistreated, "first", 60) == 1
    mistreated.renew(HOUSE, "first", epoch_of(1), 60)
    assert mistreated.owner(HOUSE).left_s > 50
    mistreated.release(HOUSE, "first", epoch_of(1))
    assert owner_of(mistreated) == Owner("first", 1, 0.0)
    assert mistreated.houses() == [HOUSE]
    bus.append(OUT, entries(5))
    assert (mistreated.cap(OUT, 3), mistreated.length(OUT)) == (2, 3)
    mistreated.expire(HOUSE, "never", 0)
