"""The bus that mistreats its readers: late, doubled and read again, but nothing is lost and no stream changes order."""

from __future__ import annotations

import time

import pytest

from tests.bus.parts import (
    AT_ONCE_S,
    IN_ANN,
    IN_BOB,
    OUT,
    SOON_S,
    entries,
    following,
    ids,
)
from tests.faulty_bus import FaultyBus
from tests.faulty_reader import Reading
from wolfbus.bus import Bus


def faulty(bus: Bus, among: tuple[str, ...] = ("",), **shares: float) -> FaultyBus:
    readings: dict[Reading, float] = {}
    for name in ("again", "reread", "delayed"):
        readings[name] = shares.get(name, 0.0)
    return FaultyBus(bus, "seed", {}, readings, among)


def read_to(bus: Bus, last: dict[str, str]) -> dict[str, list[str]]:
    """Read some streams until the entry with the last id came of each, and a little on."""
    reader = bus.reader()
    by_stream: dict[str, list[str]] = {stream: [] for stream in last}
    for stream in last:
        reader.follow(stream)
    until = time.monotonic() + SOON_S
    while any(one not in by_stream[stream] for stream, one in last.items()):
        assert time.monotonic() < until
        for stream, news in reader.read(SOON_S, limit=7):
            by_stream[stream] += ids(news)
    reader.close()
    return by_stream


def first_times(entry_ids: list[str]) -> list[str]:
    return list(dict.fromkeys(entry_ids))


def test_late_entries_hold_back_their_own_stream_only(bus: Bus) -> None:
    bus.append(IN_ANN, entries(50))
    bus.append(IN_BOB, entries(50))
    mistreated = faulty(bus, (":in:ann",), delayed=1.0)
    reader = following(mistreated, IN_ANN, IN_BOB)
    assert reader.read(0) == [(IN_BOB, entries(50))]
    started = time.monotonic()
    assert reader.read(SOON_S) == [(IN_ANN, entries(50))]
    assert time.monotonic() - started < AT_ONCE_S


@pytest.mark.parametrize("seed", range(3))
def test_under_all_faults_every_stream_arrives_whole_and_in_order(bus: Bus, seed: int) -> None:
    bus.append(IN_ANN, entries(60))
    bus.append(OUT, entries(60))
    mistreated = FaultyBus(bus, f"seed-{seed}", {}, {"again": 0.1, "reread": 0.1, "delayed": 0.1})
    by_stream = read_to(mistreated, {IN_ANN: "1000-60", OUT: "1000-60"})
    assert [first_times(one) for one in by_stream.values()] == [ids(entries(60))] * 2
    assert all(mistreated.injected[fault] for fault in ("again", "reread", "delayed"))
