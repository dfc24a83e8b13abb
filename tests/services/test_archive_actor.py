"""What the archive's actor decides, with subscriptions that only write down what is asked of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analytics.archive.actor import ArchiveActor
from analytics.archive.results import Results
from analytics.archive.session import SessionNews, past_sessions
from tests.services.fed import Record
from wolfbus.actors import ActorPool
from wolfbus.bus.protocol import Entry
from wolfbus.messages.base import Part
from wolfbus.messages.codec import encode
from wolfbus.messages.house import Archived, GameClosed, GameOpened, HouseClosed, HouseOpened


class Notes:
    def __init__(self) -> None:
        self.followed: list[tuple[str, str]] = []
        self.told: list[Archived] = []
        self.news_again = 0
        self.done = False

    def follow(self, game: str, after: str) -> None:
        self.followed.append((game, after))

    def unfollow(self, game: str) -> None:
        pass

    def follow_news(self) -> None:
        self.news_again += 1

    def tell(self, message: Archived) -> None:
        self.told.append(message)

    def look(self) -> None:
        pass

    def over(self) -> None:
        self.done = True


def news(*told: Part) -> list[Entry]:
    return [Entry(encode(one), one.type, "moderator") for one in told]


def closing(record: Record, number: int = 1) -> GameClosed:
    return GameClosed(game=record.game, number=number, outcome="ended", lines=len(record), hash=record.heads[-1])


OPEN = HouseOpened(session="s")
CLOSED = HouseClosed(session="s", games=1, failed=0)


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def actor(notes: Notes, tmp_path: Path) -> Iterator[Any]:
    with ActorPool(1) as pool:
        ref = ArchiveActor.start_in(pool, "fed", tmp_path, SessionNews(), notes)
        yield ref.proxy()
        ref.stop()


def results(actor: Any) -> Results:
    found: Results = actor.results().get()
    return found


def test_games_of_other_sessions_are_none_of_ours(actor: Any, notes: Notes, records: list[Record]) -> None:
    game = GameOpened(game=records[0].game, number=1)
    actor.hear(news(game, OPEN, HouseClosed(session="another", games=1, failed=1))).get()
    assert notes.followed == []
    actor.hear(news(game, game, OPEN, game)).get()
    assert notes.followed == [(records[0].game, "0-0")]
    assert not notes.done


def test_a_record_is_read_again_after_every_loss_and_what_then_does_not_come_is_told(
    actor: Any, notes: Notes, records: list[Record]
) -> None:
    record = records[0]
    told = news(OPEN, GameOpened(game=record.game, number=1), closing(record))
    actor.hear(news(OPEN, GameOpened(game=record.game, number=1))).get()
    actor.take(record.game, record.entries[:20]).get()
    actor.lost(record.game, "it was cut").get()
    assert notes.followed == [(record.game, "0-0")] * 2
    # what was on its way when it was decided to read again is not taken for the first line
    actor.take(record.game, record.entries[30:40]).get()
    actor.take(record.game, record.entries[:60]).get()
    actor.lost(record.game, "it was cut").get()
    actor.lost(record.game, "it was cut once more").get()
    assert notes.followed == [(record.game, "0-0")] * 4
    for times in range(2):
        assert (notes.news_again, notes.told) == (times, [])
        actor.hear(told).get()
        actor.miss(record.game, "the record has 60 lines").get()
    (told_of,) = notes.told
    assert told_of.error is not None
    assert told_of.error.endswith("ends with line 60: the record has 60 lines")
    assert (told_of.lines, told_of.closed) == (60, record.heads[-1])


def test_lines_that_do_not_go_on_are_read_again_once(actor: Any, notes: Notes, records: list[Record]) -> None:
    record, anew = records[0], records[0].done_anew(since=40)
    actor.hear(news(OPEN, GameOpened(game=record.game, number=1))).get()
    actor.take(record.game, record.entries[:60]).get()
    for times in range(1, 3):
        assert len(notes.followed) == times
        actor.take(record.game, [*record.entries[:60], *anew.entries[60:]]).get()
    actor.hear(news(closing(record))).get()
    assert notes.told[0].error is not None
    assert "ends with line 60: entry 61-0: line 61: the hash does not match" in notes.told[0].error


def test_a_game_closed_with_another_seal_is_read_again_to_the_end_before_it_is_given_up(
    actor: Any, notes: Notes, records: list[Record]
) -> None:
    record, anew = records[0], records[0].done_anew(since=200)
    actor.hear(news(OPEN, GameOpened(game=record.game, number=1))).get()
    actor.take(record.game, record.entries).get()
    actor.hear(news(closing(anew))).get()
    assert notes.followed[-1] == (record.game, "0-0")
    for start in range(0, len(anew), 50):
        actor.take(record.game, anew.entries[start : start + 50]).get()
    assert [(told.hash, told.error) for told in notes.told] == [(anew.heads[-1], None)]


@pytest.mark.parametrize("shorter", [1, 2, 0])
def test_a_file_that_is_longer_than_its_game_became_when_it_was_done_anew_is_read_from_the_start(
    actor: Any, notes: Notes, records: list[Record], shorter: int, tmp_path: Path
) -> None:
    record = records[0]
    anew = record.done_anew(since=len(record) - 60)
    # the game's last lines but one went another way; that these are no end of a game does not matter here
    lines = len(anew) - shorter
    end = GameClosed(game=record.game, number=1, outcome="ended", lines=lines, hash=anew.heads[lines])
    actor.hear(news(OPEN, GameOpened(game=record.game, number=1))).get()
    actor.take(record.game, record.entries).get()
    actor.hear(news(closing(record))).get()
    assert notes.told.pop().hash == record.heads[-1]
    actor.hear(news(end)).get()
    # had it been read on behind the file's last line, nothing might ever have come
    assert notes.followed[-1] == (record.game, "0-0")
    actor.take(record.game, anew.entries[:lines]).get()
    assert [(told.lines, told.hash, told.error) for told in notes.told] == [(lines, anew.heads[lines], None)]
    assert (tmp_path / f"{record.game}.ndjson").read_bytes() == b"".join(anew.lines[:lines])


def test_news_of_an_end_that_the_bus_has_forgotten_is_not_believed_against_the_record(
    actor: Any, notes: Notes, records: list[Record]
) -> None:
    record, anew = records[0], records[0].done_anew(since=200)
    opened = GameOpened(game=record.game, number=1)
    actor.hear(news(OPEN, opened)).get()
    actor.take(record.game, record.entries[:300]).get()
    # the end is known, its last lines are not, and the bus goes back to before both
    actor.hear(news(closing(record))).get()
    actor.lost(record.game, "it now ends at 250-0").get()
    actor.take(record.game, record.entries[:250]).get()
    actor.miss(record.game, "the record on the bus has 250 lines").get()
    assert (notes.news_again, notes.told) == (1, [])
    actor.hear(news(OPEN, opened)).get()
    # the same word again, from before
    actor.miss(record.game, "the record on the bus has 250 lines").get()
    actor.take(record.game, anew.entries[199:]).get()
    actor.hear(news(closing(anew))).get()
    assert [(told.hash, told.error) for told in notes.told] == [(anew.heads[-1], None)]
    actor.hear(news(CLOSED)).get()
    assert notes.done
    assert results(actor).fine


def test_a_game_goes_on_past_the_place_where_it_ended_before_the_bus_forgot_that(
    actor: Any, notes: Notes, records: list[Record]
) -> None:
    record, anew = records[0], records[0].done_anew(since=100)
    early = GameClosed(game=record.game, number=1, outcome="ended", lines=150, hash=record.heads[150])
    opened = GameOpened(game=record.game, number=1)
    actor.hear(news(OPEN, opened, early)).get()
    actor.take(record.game, record.entries[:140]).get()
    # nobody says that something was lost, neither of the record nor of the news
    for _ in range(3):
        actor.take(record.game, anew.entries[:200]).get()
    assert notes.news_again == 1
    actor.hear(news(OPEN, opened)).get()
    actor.take(record.game, anew.entries[200:]).get()
    actor.hear(news(closing(anew))).get()
    assert [(told.lines, told.error) for told in notes.told] == [(len(anew), None)]


def test_a_record_that_was_given_up_is_begun_again_when_its_game_is_closed_anew(
    actor: Any, notes: Notes, records: list[Record], tmp_path: Path
) -> None:
    record, anew = records[0], records[0].done_anew(since=200)
    path = tmp_path / f"{record.game}.ndjson"
    path.mkdir()
    actor.hear(news(OPEN, GameOpened(game=record.game, number=1), closing(record), closing(record))).get()
    path.rmdir()
    actor.hear(news(closing(record), closing(anew))).get()
    actor.take(record.game, anew.entries).get()
    assert [(told.closed, told.error is None) for told in notes.told] == [
        (record.heads[-1], False),
        (anew.heads[-1], True),
    ]
    actor.hear(news(CLOSED)).get()
    assert results(actor).fine


def test_a_game_of_which_nothing_was_ever_heard_is_missed_at_the_end(
    actor: Any, notes: Notes, records: list[Record]
) -> None:
    record = records[0]
    actor.hear(news(OPEN, GameOpened(game=record.game, number=2))).get()
    actor.take(record.game, record.entries).get()
    actor.hear(news(closing(record, 2), HouseClosed(session="s", games=2, failed=0))).get()
    assert notes.done
    found = results(actor)
    assert not found.fine
    assert found.error == "nothing is known of 1 game of the session; the first is number 1"


def test_a_file_that_was_changed_after_it_was_archived_is_found_before_the_end(
    actor: Any, notes: Notes, records: list[Record], tmp_path: Path
) -> None:
    for number, (record, spoil) in enumerate(zip(records, (b"".join(records[0].lines[:3]), None), strict=True), 1):
        actor.hear(news(OPEN, GameOpened(game=record.game, number=number), closing(record, number))).get()
        actor.take(record.game, record.entries).get()
        path = tmp_path / f"{record.game}.ndjson"
        path.unlink() if spoil is None else path.write_bytes(spoil)
    actor.hear(news(HouseClosed(session="s", games=2, failed=0))).get()
    found = results(actor)
    size = [len(b"".join(record.lines)) for record in records]
    assert [game.error and game.error.partition("ndjson: ")[2] for game in found.games] == [
        f"was archived with {size[0]} bytes, but now: it has {len(b''.join(records[0].lines[:3]))} bytes",
        f"was archived with {size[1]} bytes, but now: no such file or directory",
    ]
    assert not found.fine


def test_a_game_that_was_closed_anew_is_counted_once(
    actor: Any, notes: Notes, records: list[Record], tmp_path: Path
) -> None:
    record, anew = records[0], records[0].done_anew(since=200)
    actor.hear(news(OPEN, GameOpened(game=record.game, number=1))).get()
    actor.take(record.game, record.entries).get()
    actor.hear(news(closing(record), closing(record))).get()
    actor.lost("", "the stream of games now ends earlier").get()
    assert notes.news_again == 1
    actor.hear(news(OPEN, GameOpened(game=record.game, number=1), closing(anew))).get()
    for _ in range(2):
        actor.take(record.game, anew.entries).get()
    actor.hear(news(CLOSED)).get()
    assert notes.done
    assert [told.hash for told in notes.told] == [record.heads[-1], anew.heads[-1]]
    found = results(actor)
    assert found.fine
    assert found.metrics["outcomes"]["games"] == 1
    assert (tmp_path / f"{record.game}.ndjson").read_bytes() == b"".join(anew.lines)


def test_a_game_that_the_bus_has_forgotten_is_left_out(
    actor: Any, notes: Notes, records: list[Record], tmp_path: Path
) -> None:
    first, second = records
    opened = [GameOpened(game=record.game, number=number) for number, record in enumerate(records, 1)]
    actor.hear(news(OPEN, *opened)).get()
    actor.take(first.game, first.entries).get()
    actor.take(second.game, second.entries).get()
    actor.hear(news(closing(first), closing(second, 2))).get()
    actor.lost("", "the stream of games now ends earlier").get()
    actor.hear(news(OPEN, opened[0], closing(first), CLOSED)).get()
    found = results(actor)
    assert [game.game for game in found.games] == [first.game]
    assert found.metrics["outcomes"]["games"] == 1
    # it does not pass for one of the session
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [f"{first.game}.ndjson", f"{second.game}.ndjson.forgotten"]
    )


def test_a_house_that_closes_before_a_game_does_not_wait_for_ever(
    actor: Any, notes: Notes, records: list[Record]
) -> None:
    record = records[0]
    actor.hear(news(OPEN, GameOpened(game=record.game, number=1))).get()
    actor.take(record.game, record.entries[:30]).get()
    actor.hear(news(CLOSED)).get()
    assert not actor.look_around().get().waited_for
    assert actor.look_around().get().waited_for == {record.game: (30, None)}
    assert not notes.done
    for times in range(2):
        assert (notes.news_again, notes.done) == (times, False)
        actor.hear(news(OPEN, GameOpened(game=record.game, number=1), CLOSED)).get()
        actor.miss(record.game, "the house closed before this game did").get()
    assert notes.done
    (game,) = results(actor).games
    assert (game.lines, game.outcome, game.counted) == (30, None, False)
    assert "Game " + record.game + ": never closed" in results(actor).report()


def test_only_the_last_session_is_of_concern_and_only_until_its_results_are_there(tmp_path: Path) -> None:
    def entries(*told: Part) -> list[Entry]:
        return [Entry(encode(one), one.type, "moderator") for one in told]

    first = (HouseOpened(session="a"), GameOpened(game="g1", number=1), HouseClosed(session="a", games=1, failed=0))
    second = (HouseOpened(session="b"), GameOpened(game="g2", number=1))
    closed = HouseClosed(session="b", games=1, failed=0)
    assert past_sessions([], tmp_path, "") == []
    assert past_sessions(entries(*first, *second), tmp_path, "") == ["a"]
    assert past_sessions(entries(*first, *second, closed), tmp_path, "") == ["a", "b"]
    (tmp_path / "g1.ndjson").touch()
    assert past_sessions(entries(*first, *second, closed), tmp_path, "") == ["a", "b"]
    (tmp_path / "g2.ndjson").touch()
    assert past_sessions(entries(*first, *second, closed), tmp_path, "") == ["a"]
    assert past_sessions(entries(*first, *second, closed), tmp_path, "b") == ["a", "b"]
