"""Posting, looking up, shortening and expiring."""

from __future__ import annotations

import pytest

from tests.bus.conftest import Place
from tests.bus.parts import (
    GAME,
    HOUSE,
    IN_ANN,
    OUT,
    RECORD,
    TABLE,
    claim,
    entries,
    entry,
    epoch_of,
    head,
    ids,
    message,
    one_landing,
    step,
)
from tests.waiting import wait_until
from wolfbus.bus import Bus, streams
from wolfbus.errors import BusDown, BusError

LOBBY = streams.lobby(HOUSE)


def test_posts_of_many_writers_get_ascending_ids(bus: Bus, place: Place) -> None:
    other = place.open()
    posted = [writer.post(LOBBY, entry(body=b"%d" % n)) for n, writer in enumerate([bus, other] * 10)]
    assert [streams.parse_id(one) for one in posted] == sorted({streams.parse_id(one) for one in posted})
    assert ids(bus.entries(LOBBY)) == posted
    assert [one.body for one in bus.entries(LOBBY)] == [b"%d" % n for n in range(20)]


def test_entries_can_be_paged_through(bus: Bus) -> None:
    bus.append(OUT, entries(25))
    first = bus.entries(OUT, limit=10)
    second = bus.entries(OUT, after=first[-1].id, limit=10)
    third = bus.entries(OUT, after=second[-1].id, limit=10)
    assert [*first, *second, *third] == entries(25)
    assert bus.entries(OUT, after=third[-1].id) == []


@pytest.mark.parametrize("cursor", ["", "5", "a-b", "-1-0", "1-0-0", "$", "+"])
def test_a_cursor_that_is_no_id_is_refused(bus: Bus, cursor: str) -> None:
    with pytest.raises(BusError, match="no entry id"):
        bus.entries(OUT, after=cursor)
    with pytest.raises(BusError, match="no entry id"):
        bus.trim(OUT, cursor)
    with pytest.raises(BusError, match="no entry id"):
        bus.reader().follow(OUT, cursor)


def test_trimming_drops_what_is_older_says_how_much_and_leaves_the_last_id(bus: Bus) -> None:
    assert (bus.last_id(OUT), bus.length(OUT)) == ("0-0", 0)
    bus.append(OUT, entries(10))
    assert bus.trim(OUT, "1000-4") == 3
    assert bus.trim(OUT, "1000-4") == 0
    assert (ids(bus.entries(OUT))[0], bus.length(OUT)) == ("1000-4", 7)
    assert bus.trim(OUT, "9999-0") == 7
    assert bus.last_id(OUT) == "1000-10"
    assert bus.trim("nowhere", "1-0") == 0


def test_a_cap_drops_the_oldest_and_says_how_many(bus: Bus) -> None:
    bus.append(OUT, entries(10))
    assert bus.cap(OUT, 10) == bus.cap(OUT, 11) == 0
    assert bus.cap(OUT, 4) == 6
    assert bus.cap(OUT, 4) == 0
    assert bus.entries(OUT) == entries(4, start=7)
    assert bus.cap(OUT, 0) == 4
    assert bus.last_id(OUT) == "1000-10"
    assert bus.cap("nowhere", 3) == 0


def one_game(bus: Bus) -> None:
    claim(bus)
    one_landing(bus.commit([step(1, posts=((TABLE, entry("1-0")), (IN_ANN, entry()))), step(1, game="other")]))


def test_expiring_a_game_at_once_removes_its_record_table_and_head_only(bus: Bus) -> None:
    one_game(bus)
    for _ in range(2):
        bus.expire(HOUSE, GAME, 0)
    assert bus.entries(RECORD) == bus.entries(TABLE) == []
    assert bus.last_id(RECORD) == "0-0"
    assert bus.head(HOUSE, GAME) == ""
    assert bus.head(HOUSE, "other") == head(1)
    assert len(bus.entries(IN_ANN)) == 2


def test_an_expiring_game_can_be_read_until_its_time_but_not_be_gone_on_with(bus: Bus) -> None:
    one_game(bus)
    bus.expire(HOUSE, GAME, 60)
    assert bus.head(HOUSE, GAME) == ""
    assert bus.length(RECORD) == bus.length(TABLE) == 1
    for late in (step(2), message(1), step(1, size=2)):
        (result,) = bus.commit([late])
        assert isinstance(result, BusError)
    assert bus.length(RECORD) == 1
    bus.expire(HOUSE, GAME, 0.02)
    wait_until(lambda: bus.length(RECORD) == 0)
    wait_until(lambda: bus.length(TABLE) == 0)
    assert bus.head(HOUSE, "other") == head(1)


def test_a_later_expiry_goes_before_an_earlier_one(bus: Bus) -> None:
    one_game(bus)
    # long enough that a busy machine comes to the second before the first is due
    bus.expire(HOUSE, GAME, 1)
    bus.expire(HOUSE, GAME, 60)
    bus.claim("probe", "a", 1)
    wait_until(lambda: bus.owner("probe").left_s == 0)
    assert bus.length(RECORD) == bus.length(TABLE) == 1


def test_a_game_rewritten_after_its_expiry_stays(bus: Bus) -> None:
    one_game(bus)
    bus.claim("probe", "a", 0.05)
    bus.expire(HOUSE, GAME, 0.02)
    bus.expire(HOUSE, GAME, 0)
    one_landing(bus.commit([step(1)]))
    wait_until(lambda: bus.owner("probe").left_s == 0)
    assert bus.length(RECORD) == 1


def test_expiring_what_never_was_does_nothing(bus: Bus) -> None:
    bus.expire(HOUSE, "never", 0)
    bus.expire(HOUSE, "never", 60)
    with pytest.raises(BusError, match="no number of seconds"):
        bus.expire(HOUSE, "never", -1)
    assert bus.length(streams.record(HOUSE, "never")) == 0


def test_a_game_with_another_head_than_was_exported_is_left_alone(bus: Bus) -> None:
    one_game(bus)
    assert not bus.expire(HOUSE, GAME, 0, head(2))
    assert not bus.expire(HOUSE, GAME, 0.02, head(2))
    assert bus.head(HOUSE, GAME) == head(1)
    one_landing(bus.commit([step(2)]))
    for _ in range(2):
        assert bus.expire(HOUSE, GAME, 0, head(2))
    assert bus.head(HOUSE, GAME) == ""
    assert bus.length(RECORD) == 0


def test_what_is_no_stream_is_named(bus: Bus) -> None:
    claim(bus)
    name = streams.owner(HOUSE)
    for act in (
        lambda: bus.append(name, entries(1)),
        lambda: bus.post(name, entry()),
        lambda: bus.entries(name),
        lambda: bus.last_id(name),
        lambda: bus.trim(name, "1-0"),
        lambda: bus.cap(name, 1),
        lambda: bus.length(name),
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
        lambda: claim(bus),
        lambda: bus.renew(HOUSE, "first", epoch_of(1), 5),
        lambda: bus.release(HOUSE, "first", epoch_of(1)),
        lambda: bus.owner(HOUSE),
        lambda: bus.cap(OUT, 1),
        lambda: bus.length(OUT),
        lambda: bus.expire(HOUSE, GAME, 0),
        lambda: bus.entries(OUT),
        lambda: bus.head(HOUSE, GAME),
        bus.reader,
    ):
        with pytest.raises(BusDown, match="closed"):
            act()
