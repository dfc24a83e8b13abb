"""What an archive makes of a session, whatever the bus has forgotten and whatever lies in its folder; its subscriptions
only write down what is asked of them.
"""

from __future__ import annotations

import logging
from functools import partial

import pytest

from analytics.archive.archive import SessionArchive
from wolfbus.bus.protocol import Entry
from wolfbus.messages.codec import encode
from wolfbus.messages.house import GameClosed, GameOpened, HouseClosed, HouseOpened, SessionSoFar

OPEN = HouseOpened(session="s")
CLOSED = HouseClosed(session="s", games=1, failed=0)


class Desk:
    """An archive, and what it asked of its subscriptions."""

    def __init__(self, folder):
        self.folder = folder
        self.followed, self.told = [], []
        self.news_again, self.done = 0, False
        self.archive = SessionArchive("fed", folder, (), self)
        self.lost = partial(self.archive.lost, "")

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

    # -- what the archive is told

    def news(self, *told, start=None):
        """News as they stand on the stream of games; with ids from a number on."""
        ids = [""] * len(told) if start is None else [f"1-{start + place}" for place in range(len(told))]
        self.archive.hear([Entry(encode(one), one.type, "x", id=id_) for one, id_ in zip(told, ids, strict=True)])

    def take(self, record, first=0, last=None):
        self.archive.take(record.game, record.entries[first:last])

    @property
    def results(self):
        return self.archive.results()

    @property
    def archived(self):
        """Seal and success of all that was said to be archived."""
        return [(told.hash, told.error) for told in self.told]

    def path(self, record):
        return self.folder / f"{record.game}.ndjson"

    def assert_keeps(self, record):
        """It is said to be archived, its file is whole, and it is counted."""
        assert self.archived[-1] == (record.heads[-1], None)
        assert self.path(record).read_bytes() == b"".join(record.lines)
        assert self.results.metrics["outcomes"]["games"] == 1


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


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
    desk.archive.lost(record.game, "it was cut")
    # what was on its way when it was decided to read again is not taken for the first line
    desk.take(record, 30, 40)
    desk.take(record, 0, 60)
    desk.archive.lost(record.game, "it was cut")
    desk.archive.lost(record.game, "it was cut once more")
    assert desk.followed == [(record.game, "0-0")] * 4
    for times in range(2):
        assert (desk.news_again, desk.told) == (times, [])
        desk.news(OPEN, opened(record), closing(record))
        desk.archive.miss(record.game, "the record has 60 lines")
    (told,) = desk.told
    assert told.error.endswith("ends with line 60: the record has 60 lines")
    assert (told.lines, told.closed) == (60, record.heads[-1])


@pytest.mark.parametrize(
    ("unfit", "why"),
    [
        (lambda record: record.entries[61:], "entry 62-0: line 62 came where line 61 was expected"),
        (lambda record: record.done_anew(since=40).entries[60:], "entry 61-0: line 61: the hash does not match"),
    ],
    ids=["a gap", "another story"],
)
def test_lines_that_do_not_go_on_are_read_again_once_and_never_written(desk, record, unfit, why):
    desk.news(OPEN, opened(record))
    desk.take(record, 0, 60)
    for times in range(1, 3):
        assert len(desk.followed) == times
        desk.archive.take(record.game, [*record.entries[:60], *unfit(record)])
    desk.news(closing(record))
    assert f"ends with line 60: {why}" in desk.told[0].error
    assert desk.path(record).read_bytes() == b"".join(record.lines[:60])


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
    desk.archive.lost(record.game, "it was cut")
    desk.take(record, 0, 250)
    desk.archive.miss(record.game, "the record on the bus has 250 lines")
    assert (desk.news_again, desk.told) == (1, [])
    desk.news(OPEN, opened(record))
    # the same word again, from before
    desk.archive.miss(record.game, "the record on the bus has 250 lines")
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
    desk.lost("it was cut")
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
    desk.lost("it was cut")
    desk.news(OPEN, opened(first), closing(first), CLOSED)
    assert [game.game for game in desk.results.games] == [first.game]
    assert desk.results.metrics["outcomes"]["games"] == 1
    # it does not pass for one of the session
    assert {path.name for path in desk.folder.iterdir()} == {f"{first.game}.ndjson", f"{second.game}.ndjson.forgotten"}


def test_a_house_that_closes_before_a_game_does_not_wait_for_ever(desk, record):
    desk.news(OPEN, opened(record))
    desk.take(record, 0, 30)
    desk.news(CLOSED)
    assert not desk.archive.look_around().waited_for
    assert desk.archive.look_around().waited_for == {record.game: (30, None)}
    for times in range(2):
        assert (desk.news_again, desk.done) == (times, False)
        desk.news(OPEN, opened(record), CLOSED)
        desk.archive.miss(record.game, "the house closed before this game did")
    assert desk.done
    (game,) = desk.results.games
    assert (game.lines, game.outcome, game.counted) == (30, None, False)
    assert f"Game {record.game}: never closed" in desk.results.report()


# -- a session whose stream was cut, and summed up


def of_s(number):
    return GameOpened(game=f"s-{number}", number=number)


def failed(number):
    return GameClosed(game=f"s-{number}", number=number, outcome="failed", lines=0, hash="")


def so_far(before, games, ended, failed=0):
    return SessionSoFar(session="s", before=before, games=games, ended=ended, stopped=0, failed=failed, lost=0)


def test_sums_are_kept_of_games_nobody_asks_about_and_only_the_others_are_acknowledged(desk):
    desk.news(OPEN, start=1)
    for number in range(1, 2001):
        desk.news(of_s(number), failed(number), start=2 * number)
    desk.news(so_far(f"1-{4002 - 20}", 1990, 0, 1990), start=4002)
    desk.told.clear()
    desk.archive.acknowledge_all()
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
        desk.lost("the stream of games ends earlier")
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


# -- what lies in the folder


def test_a_file_left_after_any_line_is_gone_on_with_and_ends_up_the_same(tmp_path, record):
    for kept in range(0, len(record) + 1, 41):
        desk = Desk(tmp_path / str(kept))
        desk.folder.mkdir()
        torn = record.lines[kept][: 3 * kept] if kept < len(record) else b""
        desk.path(record).write_bytes(b"".join(record.lines[:kept]) + torn[:-1])
        desk.news(OPEN, opened(record))
        # the last line comes once more, and proves that the bus still tells the same story
        assert desk.followed == [(record.game, f"{max(kept - 1, 0)}-0")]
        for start in range(max(kept - 1, 0), len(record), 100):
            desk.take(record, start, start + 100)
        desk.news(closing(record))
        desk.assert_keeps(record)


def test_what_comes_twice_or_late_changes_nothing(desk, record):
    desk.news(OPEN, opened(record))
    for start, stop in ((0, 50), (0, 50), (20, 70), (10, 11), (60, 200), (0, 1), (0, None), (5, 9)):
        desk.take(record, start, stop)
    desk.archive.take(record.game, [*record.entries[-2:], *record.entries[-2:]])
    desk.news(closing(record))
    desk.assert_keeps(record)


def test_a_line_done_anew_takes_the_place_of_the_old_one_and_of_all_behind_it(desk, record, caplog):
    anew = record.done_anew(since=101)
    desk.news(OPEN, opened(record))
    desk.take(record, 0, 150)
    # the first of these are known, then the story changes, and changes once more within the batch
    desk.archive.take(record.game, [*anew.entries[80:120], *record.entries[100:130], *anew.entries[100:]])
    desk.news(closing(anew))
    desk.assert_keeps(anew)
    (warning,) = (each.getMessage() for each in caplog.records if each.levelno == logging.WARNING)
    assert "the bus holds another line 101" in warning
    assert "the last 50 lines here are cut off" in warning


def damaged(record):
    return [*record.lines[:30], record.lines[30].replace(b'"n":31', b'"n":32'), *record.lines[31:]]


@pytest.mark.parametrize(
    ("there", "kept"),
    [(lambda _: b"", 0), (lambda record: record.lines[0][:40], 0), (lambda record: b"".join(damaged(record)), 30)],
    ids=["empty", "half a line", "damaged"],
)
def test_a_file_is_taken_up_before_its_damage_and_mended_from_the_bus(desk, record, there, kept):
    desk.path(record).write_bytes(there(record))
    desk.news(OPEN, opened(record))
    # nothing is cut off before there is something better
    assert desk.path(record).read_bytes() == there(record)
    after = max(kept - 1, 0)
    assert desk.followed == [(record.game, f"{after}-0")]
    desk.take(record, after)
    desk.news(closing(record))
    desk.assert_keeps(record)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (lambda _: b"shopping list\n", "not a wolfbus record"),
        (lambda other: other.path.read_bytes(), "holds the record of game"),
        (lambda _: b"x" * (2 << 20), "longer than 1 MiB"),
    ],
)
def test_a_file_that_is_no_record_of_this_game_is_left_alone(desk, records, content, reason):
    record, other = records
    there = content(other)
    desk.path(record).write_bytes(there)
    desk.news(OPEN, opened(record))
    desk.take(record)
    desk.news(closing(record))
    (told,) = desk.told
    assert told.error.startswith(f"{desk.path(record)}: ")
    assert reason in told.error
    assert told.error.endswith("; it is left alone")
    assert desk.path(record).read_bytes() == there
