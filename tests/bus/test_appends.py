"""Appending: every entry lands once, however often it is sent, and an older incarnation never gets in."""

from __future__ import annotations

import pytest

from tests.bus.parts import OUT, entries, entry, ids, whole
from wolfbus.bus import Bus, Entry
from wolfbus.errors import BusError, StaleWriter


def test_what_is_appended_is_read_back_byte_for_byte(bus: Bus) -> None:
    strange = Entry(content=bytes(range(256)), type="speak", sender="zoë", game="", number=0, id="5-0")
    bus.append(OUT, [strange])
    assert bus.entries(OUT) == [strange]


@pytest.mark.parametrize("number", [0, -3, 10**15])
def test_numbers_of_any_size_are_recognised_when_sent_again(bus: Bus, number: int) -> None:
    for _ in range(2):
        bus.append(OUT, [entry("1-1", number=number)])
    assert [one.number for one in bus.entries(OUT)] == [number]


def test_appending_nothing_makes_no_stream(bus: Bus) -> None:
    bus.append(OUT, [])
    assert bus.entries(OUT) == []
    assert bus.last_id(OUT) == "0-0"


@pytest.mark.parametrize(("size", "landed"), [(20, 20), (20, 7), (1200, 1200)])
def test_a_batch_sent_again_lands_once_in_order_and_whole(bus: Bus, size: int, landed: int) -> None:
    batch = entries(size)
    bus.append(OUT, batch[:landed])
    bus.append(OUT, batch)
    assert whole(bus, OUT) == batch


@pytest.mark.parametrize(("before", "left"), [("1000-4", 2), ("2000-0", 0)])
def test_an_entry_that_was_trimmed_since_counts_as_landed(bus: Bus, before: str, left: int) -> None:
    batch = entries(5)
    bus.append(OUT, batch)
    bus.trim(OUT, before)
    bus.append(OUT, batch)
    assert bus.entries(OUT) == batch[5 - left :]


def test_an_older_incarnation_is_refused(bus: Bus) -> None:
    bus.append(OUT, [entry("2000-1")])
    with pytest.raises(StaleWriter, match=r"newer incarnation.*2000-1.*1000-9"):
        bus.append(OUT, [entry("1000-9")])
    assert ids(bus.entries(OUT)) == ["2000-1"]


def test_what_an_older_incarnation_had_landed_is_still_recognised(bus: Bus) -> None:
    bus.append(OUT, [entry("1000-1"), entry("2000-1")])
    bus.append(OUT, [entry("1000-1")])
    assert ids(bus.entries(OUT)) == ["1000-1", "2000-1"]


@pytest.mark.parametrize(
    "other",
    [
        Entry(b"other", "bid", "ann", "game-1", 7, "1000-1"),
        Entry(b"\x00\xffwolf\r\n", "vote", "ann", "game-1", 7, "1000-1"),
        Entry(b"\x00\xffwolf\r\n", "bid", "ann", "game-1", 8, "1000-1"),
    ],
)
def test_other_bytes_under_the_same_id_are_refused(bus: Bus, other: Entry) -> None:
    bus.append(OUT, [entry("1000-1")])
    with pytest.raises(StaleWriter, match="another entry under id 1000-1"):
        bus.append(OUT, [other])
    assert bus.entries(OUT) == [entry("1000-1")]


def test_an_id_passed_over_is_refused_not_taken_for_landed(bus: Bus) -> None:
    bus.append(OUT, [entry("1000-1"), entry("1000-3")])
    with pytest.raises(BusError, match="passed over id 1000-2"):
        bus.append(OUT, [entry("1000-2")])


@pytest.mark.parametrize("batch", [["1-2", "1-1"], ["1-1", "1-1"], ["0-0"], [""], ["1"], ["a-b"], ["1-*"]])
def test_ids_that_do_not_ascend_are_refused_before_anything_is_written(bus: Bus, batch: list[str]) -> None:
    with pytest.raises(BusError):
        bus.append(OUT, [entry("0-1"), *map(entry, batch)])
    assert bus.entries(OUT) == []
