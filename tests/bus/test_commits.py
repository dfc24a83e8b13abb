"""Commits: a step lands whole, once, under the current epoch, on the head it was computed on - or not at all."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.bus.conftest import Place
from tests.bus.parts import (
    GAME,
    HOUSE,
    IN_ANN,
    IN_BOB,
    RECORD,
    TABLE,
    claim,
    counted,
    entry,
    epoch_of,
    head,
    ids,
    message,
    one_landing,
    step,
    whole,
)
from wolfbus.bus import Bus, Commit, Entry, streams
from wolfbus.errors import BusError, Fenced


@pytest.fixture
def owned(bus: Bus) -> Bus:
    assert claim(bus) == 1
    return bus


def everything(bus: Bus) -> tuple[object, ...]:
    named = [RECORD, TABLE, IN_ANN, IN_BOB]
    return (*(tuple(whole(bus, name)) for name in named), bus.head(HOUSE, GAME), tuple(bus.cursors(HOUSE).items()))


def refused(bus: Bus, commit: Commit) -> BusError:
    """Commit a step that is refused and leaves no trace, and return why."""
    before = everything(bus)
    (result,) = bus.commit([commit])
    assert isinstance(result, BusError)
    assert everything(bus) == before
    return result


def test_a_step_lands_in_all_its_streams(owned: Bus) -> None:
    posts = ((IN_ANN, entry(body=b"one")), (TABLE, entry("4-0")), (IN_BOB, entry()), (IN_ANN, entry(body=b"two")))
    one_landing(owned.commit([step(1, posts=posts, cursors={"out": "5-6"}, size=3)]))
    assert ids(owned.entries(RECORD)) == ["1-0", "2-0", "3-0"]
    assert owned.entries(RECORD)[1] == entry("2-0", b"record 2", 2)
    assert [(counted(one.id), one.body) for one in owned.entries(IN_ANN)] == [("1-0", b"one"), ("1-1", b"two")]
    assert ids(owned.entries(IN_BOB)) == ["1-0"]
    assert owned.entries(TABLE) == [entry("4-0")]
    assert owned.head(HOUSE, GAME) == head(1)
    assert owned.cursors(HOUSE) == {"out": "5-6"}


def test_steps_of_one_game_travel_together(owned: Bus) -> None:
    one_landing(owned.commit([step(n, size=2) for n in range(1, 301)]))
    assert len(whole(owned, RECORD)) == 600
    assert owned.head(HOUSE, GAME) == head(300)


def test_games_do_not_touch_each_other(owned: Bus) -> None:
    results = owned.commit([step(1), step(2, game="other"), step(2), step(1, game="third")])
    assert [type(result) for result in results] == [type(None), Fenced, type(None), type(None)]
    assert owned.head(HOUSE, GAME) == head(2)
    assert owned.head(HOUSE, "other") == ""
    assert owned.head(HOUSE, "third") == head(1)


def test_what_is_doubled_within_one_call_lands_once_and_a_step_without_record_entries_only_posts(owned: Bus) -> None:
    one_landing(owned.commit([message(0), step(1), step(1), message(1), message(1), step(2), step(2)]))
    assert owned.head(HOUSE, GAME) == head(2)
    assert ids(owned.entries(RECORD)) == ["1-0", "2-0"]
    assert ids(owned.entries(IN_ANN)) == ["1-0", "1-1", "1-2", "1-3", "1-4"]


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: [step(n, size=2) for n in range(1, 6)], slice(None)),
        (lambda: [step(n, size=2) for n in range(1, 6)], slice(1, 3)),
        (lambda: [message(0), step(1), message(1), step(2)], slice(None)),
        (lambda: [message(0, posts=((TABLE, entry("1-0")), (IN_ANN, entry())))], slice(None)),
    ],
    ids=["steps", "some of the steps", "messages between steps", "a message with an id of its own"],
)
def test_what_is_sent_again_is_recognised_below_what_is_newer(
    owned: Bus, make: Callable[[], list[Commit]], part: slice
) -> None:
    call = make()
    one_landing(owned.commit(call))
    before = everything(owned)
    one_landing(owned.commit(call[part]))
    assert everything(owned) == before


def test_a_call_of_which_a_part_had_landed_is_completed(owned: Bus) -> None:
    steps = [step(n) for n in range(1, 6)]
    one_landing(owned.commit(steps[:3]))
    one_landing(owned.commit(steps))
    assert ids(owned.entries(IN_ANN)) == ["1-0", "1-1", "1-2", "1-3", "1-4"]


def test_an_older_epoch_is_fenced(owned: Bus, place: Place) -> None:
    one_landing(owned.commit([step(1)]))
    assert claim(place.open(), "usurper") == 2
    refusal = f"epoch {epoch_of(1)} is not the current one of house house ({epoch_of(2)})"
    late = house_step((IN_ANN, entry()), cursors={"out": "5-6"})
    for result in (refused(owned, commit) for commit in (step(2), message(1), step(1), late)):
        assert isinstance(result, Fenced)
        assert str(result).endswith(refusal)


def test_an_epoch_never_claimed_is_fenced(bus: Bus) -> None:
    assert isinstance(refused(bus, step(1)), Fenced)


def test_two_moderators_under_one_epoch_are_told_apart_by_the_head(owned: Bus) -> None:
    one_landing(owned.commit([step(1), step(2)]))
    result = refused(owned, replace(step(2), head="f" * 64))
    assert isinstance(result, Fenced)
    assert head(2)[:12] in str(result)


def test_after_a_failure_nothing_later_of_that_game_lands(owned: Bus) -> None:
    gap = replace(step(1), record=(entry("2-0"),))
    for call in (
        [gap, step(2)],
        [gap, message(0)],
        [gap, step(1)],
        [replace(message(0), posts=((streams.owner(HOUSE), entry()),)), step(1)],
        [step(1, epoch=9), step(1)],
    ):
        results = owned.commit([*call, step(1, game="calm")])
        assert isinstance(results[0], BusError)
        assert isinstance(results[1], Fenced)
        assert results[2] is None
    assert owned.entries(RECORD) == []
    assert owned.entries(TABLE) == []


@pytest.mark.parametrize("first", ["2-0", "5-0"])
def test_a_gap_in_the_record_is_refused_whole(owned: Bus, first: str) -> None:
    result = refused(owned, replace(step(1), record=(entry(first),)))
    assert not isinstance(result, Fenced)
    assert "ends at 0-0" in str(result)


@pytest.mark.parametrize(
    "commit",
    [
        replace(step(1), record=(entry("1-0"), entry("3-0"))),
        replace(step(1), record=(entry("1-1"),)),
        replace(step(1), record=(entry("0-0"),)),
        replace(step(1), record=(entry("nonsense"),)),
        replace(step(1), head=""),
        replace(message(0), head=head(3)),
        step(1, posts=((TABLE, entry("2-0")), (TABLE, entry("2-0")))),
        step(1, posts=((TABLE, entry("2-0")), (TABLE, entry()))),
        step(1, posts=((TABLE, entry("2")),)),
        step(1, posts=((IN_ANN, entry()), (RECORD, entry()))),
    ],
)
def test_a_step_that_makes_no_sense_is_refused_whole(owned: Bus, commit: Commit) -> None:
    assert GAME in str(refused(owned, commit))


@pytest.mark.parametrize(
    "post", [(TABLE, entry("5-0")), (streams.owner(HOUSE), entry()), (streams.heads(HOUSE), entry())]
)
def test_a_post_to_what_is_no_stream_or_under_an_old_id_refuses_the_step_whole(
    owned: Bus, post: tuple[str, Entry]
) -> None:
    one_landing(owned.commit([step(1, posts=((TABLE, entry("5-0")),))]))
    assert post[0] in str(refused(owned, step(2, posts=((IN_ANN, entry()), post, (IN_BOB, entry())))))


def test_a_mailbox_of_a_lost_newer_epoch_refuses_the_step_whole(owned: Bus) -> None:
    owned.append(IN_BOB, [entry(f"{epoch_of(1) + 1}-4")])
    assert IN_BOB in str(refused(owned, step(1)))


def test_every_claim_gives_a_higher_epoch(bus: Bus, place: Place) -> None:
    other = place.open()
    # at most one of these falls into each millisecond
    epochs = [whose.claim(HOUSE, holder) for whose, holder in ((bus, "a"), (other, "b"), (bus, "a"), (bus, "a"))]
    assert epochs == sorted(set(epochs))
    assert abs(epochs[0] - time.time() * 1000) < 60_000


def house_step(*posts: tuple[str, Entry], epoch: int = 1, cursors: dict[str, str] | None = None) -> Commit:
    return Commit(HOUSE, "", epoch_of(epoch), "", "", (), posts, cursors)


def test_a_step_of_the_house_itself_has_posts_and_cursors_only(owned: Bus) -> None:
    news = streams.games(HOUSE)
    one_landing(owned.commit([house_step((news, entry()), (IN_ANN, entry()), cursors={"out": "5-6"})]))
    one_landing(owned.commit([house_step(cursors={"out": "7-8"})]))
    assert ids(owned.entries(news)) == ids(owned.entries(IN_ANN)) == ["1-0"]
    assert owned.cursors(HOUSE) == {"out": "7-8"}
    assert owned.head(HOUSE, "") == ""
    assert owned.entries(streams.record(HOUSE, "")) == []


def test_steps_of_the_house_stop_nobody_and_are_stopped_by_nobody(owned: Bus) -> None:
    wrong = house_step((streams.owner(HOUSE), entry()))
    fine = house_step((IN_ANN, entry()))
    results = owned.commit([wrong, fine, step(1, posts=()), step(7), fine, step(2), fine, step(1, game="other")])
    kinds = [BusError, None, None, Fenced, None, Fenced, None, None]
    assert [type(result) if result is not None else None for result in results] == kinds
    assert len(owned.entries(IN_ANN)) == 4


@pytest.mark.parametrize(
    "commit",
    [replace(step(1), game=""), replace(house_step(), head=head(1)), replace(house_step(), expected=head(1))],
)
def test_a_step_of_the_house_with_a_record_is_refused(owned: Bus, commit: Commit) -> None:
    assert not isinstance(refused(owned, commit), Fenced)
