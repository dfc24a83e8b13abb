"""What the archive's actor decides, with subscriptions that only write down what is asked of them."""

from __future__ import annotations

import pytest

from analytics.archive.actor import ArchiveActor
from analytics.archive.session import SessionNews, past_sessions
from wolfbus.actors import ActorPool
from wolfbus.bus.protocol import Entry
from wolfbus.messages.codec import encode
from wolfbus.messages.house import GameClosed, GameOpened, HouseClosed, HouseOpened, SessionSoFar

OPEN = HouseOpened(session="s")
CLOSED = HouseClosed(session="s", games=1, failed=0)


def entries(*told, start=None):
    """News as they stand on the stream of games; with ids from a number on."""
    ids = [""] * len(told) if start is None else [f"1-{start + place}" for place in range(len(told))]
    return [Entry(encode(one), one.type, "moderator", id=id_) for one, id_ in zip(told, ids, strict=True)]


class Desk:
    """An archive's actor, and what it asked of its subscriptions."""

    def __init__(self, actor, folder):
        self.actor, self.folder = actor, folder
        self.followed, self.told = [], []
        self.news_again, self.done = 0, False

    def follow(self, game, after):
        self.followed.append((game, after))

    def follow_news(self):
        self.news_again += 1

    def tell(self, message):
        self.told.append(message)

    def unfollow(self, game):
        pass

    def look(self):
        pass

    def over(self):
        self.done = True

    # -- what the actor is told

    def news(self, *told, start=None):
        self.actor.hear(entries(*told, start=start)).get()

    def take(self, record, first=0, last=None):
        self.actor.take(record.game, record.entries[first:last]).get()

    def lost(self, record=None, why="it was cut"):
        self.actor.lost(record.game if record else "", why).get()

    def miss(self, record, why):
        self.actor.miss(record.game, why).get()

    @property
    def results(self):
        return self.actor.results().get()

    @property
    def archived(self):
        """Seal and success of all that was said to be archived."""
        return [(told.hash, told.error) for told in self.told]

    def path(self, record):
        return self.folder / f"{record.game}.ndjson"


@pytest.fixture
def desk(tmp_path):
    desk = Desk(None, tmp_path)
    with ActorPool(1) as pool:
        ref = ArchiveActor.start_in(pool, "fed", tmp_path, SessionNews(), desk)
        desk.actor = ref.proxy()
        yield desk
        ref.stop()


@pytest.fixture
def record(records):
    return records[0]


def opened(record, number=1):
    return GameOpened(game=record.game, number=number)


def closing(record, number=1, lines=None):
    lines = len(record) if lines is None else lines
    return GameClosed(game=record.game, number=number, outcome="ended", lines=lines, hash=record.heads[lines])


def test_games_of_other_sessions_are_none_of_ours(desk, record):
    desk.news(opened(record), OPEN, HouseClosed(session="another", games=1, failed=1))
    assert desk.followed == []
    desk.news(opened(record), opened(record), OPEN, opened(record))
    assert desk.followed == [(record.game, "0-0")]
    assert not desk.done


def test_a_record_is_read_again_after_every_loss_and_what_then_does_not_come_is_told(desk, record):
    desk.news(OPEN, opened(record))
    desk.take(record, 0, 20)
    desk.lost(record)
    # what was on its way when it was decided to read again is not taken for the first line
    desk.take(record, 30, 40)
    desk.take(record, 0, 60)
    desk.lost(record)
    desk.lost(record, "it was cut once more")
    assert desk.followed == [(record.game, "0-0")] * 4
    for times in range(2):
        assert (desk.news_again, desk.told) == (times, [])
        desk.news(OPEN, opened(record), closing(record))
        desk.miss(record, "the record has 60 lines")
    (told,) = desk.told
    assert told.error.endswith("ends with line 60: the record has 60 lines")
    assert (told.lines, told.closed) == (60, record.heads[-1])


def test_lines_that_do_not_go_on_are_read_again_once(desk, record):
    anew = record.done_anew(since=40)
    desk.news(OPEN, opened(record))
    desk.take(record, 0, 60)
    for times in range(1, 3):
        assert len(desk.followed) == times
        desk.actor.take(record.game, [*record.entries[:60], *anew.entries[60:]]).get()
    desk.news(closing(record))
    assert "ends with line 60: entry 61-0: line 61: the hash does not match" in desk.told[0].error


def test_a_game_closed_with_another_seal_is_read_again_to_the_end_before_it_is_given_up(desk, record):
    anew = record.done_anew(since=200)
    desk.news(OPEN, opened(record))
    desk.take(record)
    desk.news(closing(anew))
    assert desk.followed[-1] == (record.game, "0-0")
    for start in range(0, len(anew), 50):
        desk.take(anew, start, start + 50)
    assert desk.archived == [(anew.heads[-1], None)]


@pytest.mark.parametrize("shorter", [1, 2, 0])
def test_a_file_that_is_longer_than_its_game_became_when_it_was_done_anew_is_read_from_the_start(desk, record, shorter):
    anew = record.done_anew(since=len(record) - 60)
    # the game's last lines but one went another way; that these are no end of a game does not matter here
    lines = len(anew) - shorter
    desk.news(OPEN, opened(record))
    desk.take(record)
    desk.news(closing(record))
    assert desk.told.pop().hash == record.heads[-1]
    desk.news(closing(anew, lines=lines))
    # had it been read on behind the file's last line, nothing might ever have come
    assert desk.followed[-1] == (record.game, "0-0")
    desk.take(anew, 0, lines)
    assert desk.archived == [(anew.heads[lines], None)]
    assert desk.path(record).read_bytes() == b"".join(anew.lines[:lines])


def test_news_of_an_end_that_the_bus_has_forgotten_is_not_believed_against_the_record(desk, record):
    anew = record.done_anew(since=200)
    desk.news(OPEN, opened(record))
    desk.take(record, 0, 300)
    # the end is known, its last lines are not, and the bus goes back to before both
    desk.news(closing(record))
    desk.lost(record)
    desk.take(record, 0, 250)
    desk.miss(record, "the record on the bus has 250 lines")
    assert (desk.news_again, desk.told) == (1, [])
    desk.news(OPEN, opened(record))
    # the same word again, from before
    desk.miss(record, "the record on the bus has 250 lines")
    desk.take(anew, 199)
    desk.news(closing(anew))
    assert desk.archived == [(anew.heads[-1], None)]
    desk.news(CLOSED)
    assert desk.done
    assert desk.results.fine


def test_a_game_goes_on_past_the_place_where_it_ended_before_the_bus_forgot_that(desk, record):
    anew = record.done_anew(since=100)
    desk.news(OPEN, opened(record), closing(record, lines=150))
    desk.take(record, 0, 140)
    # nobody says that something was lost, neither of the record nor of the news
    for _ in range(3):
        desk.take(anew, 0, 200)
    assert desk.news_again == 1
    desk.news(OPEN, opened(record))
    desk.take(anew, 200)
    desk.news(closing(anew))
    assert desk.archived == [(anew.heads[-1], None)]


def test_a_record_that_was_given_up_is_begun_again_when_its_game_is_closed_anew(desk, record):
    anew = record.done_anew(since=200)
    desk.path(record).mkdir()
    desk.news(OPEN, opened(record), closing(record), closing(record))
    desk.path(record).rmdir()
    desk.news(closing(record), closing(anew))
    desk.take(anew)
    assert [(told.closed, told.error is None) for told in desk.told] == [
        (record.heads[-1], False),
        (anew.heads[-1], True),
    ]
    desk.news(CLOSED)
    assert desk.results.fine


def test_a_game_of_which_nothing_was_ever_heard_is_missed_at_the_end(desk, record):
    desk.news(OPEN, opened(record, 2))
    desk.take(record)
    desk.news(closing(record, 2), HouseClosed(session="s", games=2, failed=0))
    assert desk.done
    assert not desk.results.fine
    assert desk.results.error == "nothing is known of 1 game of the session; the first is number 1"


def test_a_file_that_was_changed_after_it_was_archived_is_found_before_the_end(desk, records):
    for number, record in enumerate(records, 1):
        desk.news(OPEN, opened(record, number), closing(record, number))
        desk.take(record)
    sizes = [desk.path(record).stat().st_size for record in records]
    cut = b"".join(records[0].lines[:3])
    desk.path(records[0]).write_bytes(cut)
    desk.path(records[1]).unlink()
    desk.news(HouseClosed(session="s", games=2, failed=0))
    assert [game.error.partition("ndjson: ")[2] for game in desk.results.games] == [
        f"was archived with {sizes[0]} bytes, but now: it has {len(cut)} bytes",
        f"was archived with {sizes[1]} bytes, but now: no such file or directory",
    ]
    assert not desk.results.fine


def test_a_game_that_was_closed_anew_is_counted_once(desk, record):
    anew = record.done_anew(since=200)
    desk.news(OPEN, opened(record))
    desk.take(record)
    desk.news(closing(record), closing(record))
    desk.lost()
    assert desk.news_again == 1
    desk.news(OPEN, opened(record), closing(anew))
    for _ in range(2):
        desk.take(anew)
    desk.news(CLOSED)
    assert desk.done
    assert [told.hash for told in desk.told] == [record.heads[-1], anew.heads[-1]]
    assert desk.results.fine
    assert desk.results.metrics["outcomes"]["games"] == 1
    assert desk.path(record).read_bytes() == b"".join(anew.lines)


def test_a_game_that_the_bus_has_forgotten_is_left_out(desk, records):
    first, second = records
    desk.news(OPEN, opened(first), opened(second, 2))
    desk.take(first)
    desk.take(second)
    desk.news(closing(first), closing(second, 2))
    desk.lost()
    desk.news(OPEN, opened(first), closing(first), CLOSED)
    assert [game.game for game in desk.results.games] == [first.game]
    assert desk.results.metrics["outcomes"]["games"] == 1
    # it does not pass for one of the session
    assert {path.name for path in desk.folder.iterdir()} == {f"{first.game}.ndjson", f"{second.game}.ndjson.forgotten"}


def test_a_house_that_closes_before_a_game_does_not_wait_for_ever(desk, record):
    desk.news(OPEN, opened(record))
    desk.take(record, 0, 30)
    desk.news(CLOSED)
    assert not desk.actor.look_around().get().waited_for
    assert desk.actor.look_around().get().waited_for == {record.game: (30, None)}
    for times in range(2):
        assert (desk.news_again, desk.done) == (times, False)
        desk.news(OPEN, opened(record), CLOSED)
        desk.miss(record, "the house closed before this game did")
    assert desk.done
    (game,) = desk.results.games
    assert (game.lines, game.outcome, game.counted) == (30, None, False)
    assert f"Game {record.game}: never closed" in desk.results.report()


def test_only_the_last_session_is_of_concern_and_only_until_its_results_are_there(tmp_path):
    first = (HouseOpened(session="a"), GameOpened(game="g1", number=1), HouseClosed(session="a", games=1, failed=0))
    second = (HouseOpened(session="b"), GameOpened(game="g2", number=1))
    closed = HouseClosed(session="b", games=1, failed=0)
    assert past_sessions([], tmp_path, "") == []
    assert past_sessions(entries(*first, *second), tmp_path, "") == ["a"]
    whole = entries(*first, *second, closed)
    assert past_sessions(whole, tmp_path, "") == ["a", "b"]
    (tmp_path / "g1.ndjson").touch()
    assert past_sessions(whole, tmp_path, "") == ["a", "b"]
    (tmp_path / "g2.ndjson").touch()
    assert past_sessions(whole, tmp_path, "") == ["a"]
    assert past_sessions(whole, tmp_path, "b") == ["a", "b"]


# -- a session whose stream was cut, and summed up


def of_s(number):
    return GameOpened(game=f"s-{number}", number=number)


def failed(number):
    return GameClosed(game=f"s-{number}", number=number, outcome="failed", lines=0, hash="")


def so_far(before, games, ended, failed=0):
    return SessionSoFar(session="s", before=before, games=games, ended=ended, stopped=0, failed=failed, lost=0)


def test_a_cut_session_is_known_by_its_sums(tmp_path):
    cut = (of_s(4), so_far("1-7", 3, 3))
    assert past_sessions(entries(*cut, start=7), tmp_path, "") == []
    assert past_sessions(entries(*cut, HouseClosed(session="s", games=4, failed=0), start=7), tmp_path, "") == ["s"]


def test_sums_are_kept_of_games_nobody_asks_about_and_only_the_others_are_acknowledged(desk):
    desk.news(OPEN, start=1)
    for number in range(1, 2001):
        desk.news(of_s(number), failed(number), start=2 * number)
    desk.news(so_far(f"1-{4002 - 20}", 1990, 0, 1990), start=4002)
    desk.told.clear()
    desk.actor.acknowledge_all().get()
    assert sorted(told.game for told in desk.told) == [f"s-{n}" for n in range(1991, 2001)]
    assert len(desk.results.games) == 1010


def test_news_that_are_read_again_count_nothing_twice(desk, records, monkeypatch):
    names = [*(record.game for record in records), "s-3"]
    monkeypatch.setattr("analytics.archive.index.game_id", lambda _session, number: names[number - 1])
    told = [OPEN]
    for number, record in enumerate(records, 1):
        desk.path(record).write_bytes(b"".join(record.lines))
        told += [opened(record, number), closing(record, number)]
    told += [of_s(3), failed(3), so_far("1-8", 3, 2, 1)]
    for _ in range(3):
        desk.news(*told, start=1)
        desk.lost(why="the stream of games ends earlier")
    desk.news(*told, HouseClosed(session="s", games=3, failed=1), start=1)
    found = desk.results.as_json()
    assert (found["games"], found["archived"], found["settled"], found["failed"]) == (3, 3, 2, 1)
    assert found["metrics"]["outcomes"]["games"] == 2


def test_analytics_that_comes_back_counts_what_it_archived_before_the_cut(desk, record, monkeypatch):
    # records on file have names of their own here
    monkeypatch.setattr(
        "analytics.archive.index.game_id", lambda _session, number: record.game if number == 2 else "none"
    )
    desk.path(record).write_bytes(b"".join(record.lines))
    desk.news(of_s(4), start=500)
    assert desk.followed == []
    desk.news(so_far("1-500", 3, 3), start=501)
    assert desk.followed == [("s-4", "0-0")]
    found = desk.results
    told = found.as_json()
    assert (told["games"], told["archived"], told["settled"]) == (1, 1, 1)
    assert sum(row["k"] for row in found.metrics["outcomes"]["winners"].values()) == 1
