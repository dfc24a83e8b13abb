"""Posting, looking up, trimming and dropping."""

from __future__ import annotations

import pytest

from tests.bus.conftest import Place
from tests.bus.parts import GAME, HOUSE, IN_ANN, OUT, RECORD, TABLE, entries, entry, head, ids, one_landing, step
from wolfbus.bus import Bus, streams
from wolfbus.bus.ids import parse_id
from wolfbus.errors import BusDown, BusError

LOBBY = streams.lobby(HOUSE)


def test_posts_of_many_writers_get_ascending_ids(bus: Bus, place: Place) -> None:
    other = place.open()
    given = [writer.post(LOBBY, entry(body=b"%d" % n)) for n, writer in enumerate([bus, other] * 10)]
    assert [parse_id(one) for one in given] == sorted({parse_id(one) for one in given})
    assert ids(bus.entries(LOBBY)) == given
    assert [one.body for one in bus.entries(LOBBY)] == [b"%d" % n for n in range(20)]


def test_entries_can_be_paged_through(bus: Bus) -> None:
    bus.append(OUT, entries(25))
    first = bus.entries(OUT, limit=10)
    second = bus.entries(OUT, after=first[-1].id, limit=10)
    third = bus.entries(OUT, after=second[-1].id, limit=10)
    assert [*first, *second, *third] == entries(25)
    assert bus.entries(OUT, after=third[-1].id) == []


def test_ids_compare_as_numbers_not_as_text(bus: Bus) -> None:
    bus.append(OUT, entries(12))
    assert ids(bus.entries(OUT, after="1000-9")) == ["1000-10", "1000-11", "1000-12"]
    assert ids(bus.entries(OUT, after="999-9", limit=1)) == ["1000-1"]


@pytest.mark.parametrize("cursor", ["", "5", "a-b", "-1-0", "1-0-0", "$", "+"])
def test_a_cursor_that_is_no_id_is_refused(bus: Bus, cursor: str) -> None:
    with pytest.raises(BusError, match="no entry id"):
        bus.entries(OUT, after=cursor)
    with pytest.raises(BusError, match="no entry id"):
        bus.trim(OUT, cursor)
    with pytest.raises(BusError, match="no entry id"):
        bus.reader().follow(OUT, cursor)


def test_trimming_drops_what_is_older_and_says_how_much(bus: Bus) -> None:
    bus.append(OUT, entries(10))
    assert bus.trim(OUT, "1000-4") == 3
    assert bus.trim(OUT, "1000-4") == 0
    assert ids(bus.entries(OUT))[0] == "1000-4"
    assert bus.trim(OUT, "9999-0") == 7
    assert bus.trim("nowhere", "1-0") == 0


def test_the_last_id_survives_trimming(bus: Bus) -> None:
    assert bus.last_id(OUT) == "0-0"
    bus.append(OUT, entries(3))
    assert bus.last_id(OUT) == "1000-3"
    bus.trim(OUT, "9999-0")
    assert bus.last_id(OUT) == "1000-3"


def test_the_head_of_an_unknown_game_is_empty(bus: Bus) -> None:
    assert bus.head(HOUSE, "never") == ""
    assert bus.cursors(HOUSE) == {}


def test_dropping_a_game_removes_its_record_table_and_head_only(bus: Bus) -> None:
    bus.claim(HOUSE, "moderator")
    one_landing(bus.commit([step(1, posts=((TABLE, entry("1-0")), (IN_ANN, entry()))), step(1, game="other")]))
    bus.drop(HOUSE, GAME)
    bus.drop(HOUSE, GAME)
    assert bus.entries(RECORD) == bus.entries(TABLE) == []
    assert bus.last_id(RECORD) == "0-0"
    assert bus.head(HOUSE, GAME) == ""
    assert bus.head(HOUSE, "other") == head(1)
    assert len(bus.entries(IN_ANN)) == 2


def test_what_is_no_stream_is_named(bus: Bus) -> None:
    bus.claim(HOUSE, "moderator")
    name = streams.owner(HOUSE)
    for act in (
        lambda: bus.append(name, entries(1)),
        lambda: bus.post(name, entry()),
        lambda: bus.entries(name),
        lambda: bus.last_id(name),
        lambda: bus.trim(name, "1-0"),
    ):
        with pytest.raises(BusError, match=r"wolf:\{house\}:owner"):
            act()


def test_a_closed_bus_is_down(bus: Bus) -> None:
    bus.close()
    bus.close()
    for act in (
        lambda: bus.append(OUT, entries(1)),
        lambda: bus.post(LOBBY, entry()),
        lambda: bus.commit([step(1)]),
        lambda: bus.claim(HOUSE, "moderator"),
        lambda: bus.entries(OUT),
        lambda: bus.head(HOUSE, GAME),
        bus.reader,
    ):
        with pytest.raises(BusDown, match="closed"):
            act()


def test_closing_one_bus_leaves_others_alone(bus: Bus, place: Place) -> None:
    other = place.open()
    bus.append(OUT, entries(1))
    bus.close()
    assert other.entries(OUT) == entries(1)
