"""What an archive makes of a session, whatever the bus has forgotten and whatever lies in its folder."""

from __future__ import annotations

import errno
import os
import tomllib
from pathlib import Path

import pytest

from tests.services.fed import Record
from tests.services.probe import OPEN, ArchiveProbe, closing, opened
from wolfbus.messages.codec import pack
from wolfbus.messages.house import GameClosed, GameOpened, HouseClosed, SessionSoFar
from wolfbus.record.line import Recorded, bus_members, seal
from wolfbus.record.reader import read_record

STORIES = tomllib.loads(Path(__file__).with_name("archive.toml").read_text("utf-8"))["story"]


@pytest.fixture
def probe(tmp_path):
    return ArchiveProbe(tmp_path)


@pytest.fixture
def record(records):
    return records[0]


class Story:
    """Does what the lines of ``archive.toml`` say, and sees whether it is as they say."""

    def __init__(self, probe, records, anew, caplog):
        self.probe, self.caplog = probe, caplog
        self.a, other = records
        self.records = {"A": self.a, "B": self.a.done_anew(anew) if anew else self.a, "C": other}

    def cut(self, span, what):
        """What there is of each line of a span, and its record."""
        name, _, lines = span.partition(":")
        first, _, last = lines.partition("-")
        return getattr(self.records[name], what)[int(first or 0) : int(last) if last else None]

    def message(self, word):
        kind, game, lines = [*word.split(":"), "", ""][:3]
        if kind == "open":
            return OPEN
        if kind == "over":
            games = int(game) if game.isdigit() else 1
            return HouseClosed(session="other" if game == "other" else "s", games=games, failed=0)
        make = opened if kind == "begun" else closing
        return make(self.records[game], 2 if game == "C" else 1, **({"lines": int(lines)} if lines else {}))

    def news(self, *words):
        self.probe.news(*map(self.message, words))

    def take(self, *spans):
        game = self.records[spans[0][0]].game
        self.probe.archive.receive_record(game, [entry for span in spans for entry in self.cut(span, "entries")])

    def lost(self):
        self.probe.archive.reread(self.a.game, "it was cut")

    def forgotten(self):
        self.probe.archive.reread("", "it was cut")

    def miss(self, *why):
        self.probe.archive.declare_missing(self.a.game, " ".join(why))

    def blocked(self):
        self.probe.path(self.a).mkdir()

    def unblocked(self):
        self.probe.path(self.a).rmdir()

    def removed(self, game):
        self.probe.path(self.records[game]).unlink()

    # -- what then must be so

    def followed(self, times, after=None):
        assert [where for _, where in self.probe.followed] == [after] * int(times)

    def news_asked(self, times):
        assert self.probe.news_again == int(times)

    def reported(self, *ends):
        messages = [(one.closed, one.error is None and one.hash == one.closed) for one in self.probe.messages]
        assert messages == [(self.records[end[-1]].heads[-1], end[0] != "!") for end in ends]

    def error(self, *words):
        assert " ".join(words) in self.probe.messages[-1].error

    def logged(self, *words):
        assert any(message.endswith(" ".join(words)) for message in self.caplog.messages)

    def file_has(self, span):
        assert self.probe.path(self.records[span[0]]).read_bytes() == b"".join(self.cut(span, "lines"))

    def aside(self, game):
        path = self.probe.path(self.records[game])
        assert (path.exists(), path.with_name(f"{path.name}.forgotten").exists()) == (False, True)

    def waits(self, game=None, lines=0):
        expected = {self.records[game].game: (int(lines), None)} if game else {}
        assert self.probe.archive.view().waited_for == expected

    def going(self):
        assert not self.probe.done

    def done(self):
        assert self.probe.done

    def counted(self, games):
        results = self.probe.results
        assert results.metrics["outcomes"]["games"] == sum(game.counted for game in results.games) == int(games)

    def fine(self, games):
        assert self.probe.results.fine
        self.counted(games)

    def failed(self, *words):
        assert not self.probe.results.fine
        assert " ".join(words) in self.probe.results.report


@pytest.mark.parametrize("story", STORIES, ids=[story["claim"] for story in STORIES])
def test_what_an_archive_makes_of_what_it_is_told(probe, records, story, caplog):
    told_story = Story(probe, records, story.get("anew"), caplog)
    for line in story["steps"].strip().splitlines():
        verb, *words = line.split()
        if verb != "#":
            getattr(told_story, verb)(*words)


@pytest.mark.parametrize("shorter", [1, 2, 0])
def test_a_file_that_is_longer_than_its_game_became_when_done_anew_is_read_from_the_start(probe, record, shorter):
    anew = record.done_anew(since=len(record) - 60)
    # the game's last lines but one went another way; that these are no end of a game does not matter here
    lines = len(anew) - shorter
    probe.news(OPEN, opened(record))
    probe.take(record)
    probe.news(closing(record))
    assert probe.messages.pop().hash == record.heads[-1]
    probe.news(closing(anew, lines=lines))
    # had it been read on behind the file's last line, nothing might ever have come
    assert probe.followed[-1] == (record.game, "0-0")
    probe.take(anew, 0, lines)
    assert probe.archived == [(anew.heads[lines], None)]
    assert probe.path(record).read_bytes() == b"".join(anew.lines[:lines])


def test_a_file_that_was_changed_after_it_was_archived_is_found_before_the_end(probe, records):
    for number, record in enumerate(records, 1):
        probe.news(OPEN, opened(record, number), closing(record, number))
        probe.take(record)
    sizes = [probe.path(record).stat().st_size for record in records]
    cut = b"".join(records[0].lines[:3])
    probe.path(records[0]).write_bytes(cut)
    probe.path(records[1]).unlink()
    probe.news(HouseClosed(session="s", games=2, failed=0))
    assert [game.error.partition("ndjson: ")[2] for game in probe.results.games] == [
        f"was archived with {sizes[0]} bytes, but now: it has {len(cut)} bytes",
        f"was archived with {sizes[1]} bytes, but now: no such file or directory",
    ]
    assert not probe.results.fine


# -- a session whose stream was cut, and summed up


def of_s(number):
    return GameOpened(game=f"s-{number}", number=number)


def failed(number):
    return GameClosed(game=f"s-{number}", number=number, outcome="failed", lines=0, hash="")


def so_far(before, games, ended, failed=0, stopped=0):
    return SessionSoFar(session="s", before=before, games=games, ended=ended, stopped=stopped, failed=failed, lost=0)


def test_sums_are_kept_of_games_nobody_asks_about_and_only_the_others_are_acknowledged(probe):
    probe.news(OPEN, start=1)
    for number in range(1, 2001):
        probe.news(of_s(number), failed(number), start=2 * number)
    probe.news(so_far(f"1-{4002 - 20}", 1990, 0, 1990), start=4002)
    probe.messages.clear()
    probe.archive.acknowledge_all()
    assert sorted(message.game for message in probe.messages) == [f"s-{n}" for n in range(1991, 2001)]
    assert len(probe.results.games) == 1010


def test_news_that_are_read_again_count_nothing_twice(probe, records, monkeypatch):
    names = [*(record.game for record in records), "s-3"]
    monkeypatch.setattr("analytics.archive.index.game_id", lambda _session, number: names[number - 1])
    messages = [OPEN]
    for number, record in enumerate(records, 1):
        probe.path(record).write_bytes(b"".join(record.lines))
        messages += [opened(record, number), closing(record, number)]
    messages += [of_s(3), failed(3), so_far("1-8", 3, 2, 1)]
    for _ in range(3):
        probe.news(*messages, start=1)
        probe.lost("the stream of games ends earlier")
    probe.news(*messages, HouseClosed(session="s", games=3, failed=1), start=1)
    results = probe.results.as_json()
    assert (results["games"], results["archived"], results["settled"], results["failed"]) == (3, 3, 2, 1)
    assert results["metrics"]["outcomes"]["games"] == 2


def spoilt(record):
    """The same game, with a seat of which too many answers are defaults."""
    made = Record(record.path)
    *_, last = read_record(made.lines)
    event = last.event.model_copy(update={"spoilt": ("Ada",)})
    sealed, line = seal(made.heads[-2], Recorded(last.n, last.time, last.audience, event))
    made.lines[-1], made.heads[-1] = line + b"\n", sealed.hash
    made.entries[-1] = made.entries[-1]._replace(content=pack(bus_members(sealed)))
    return made


@pytest.mark.parametrize("earlier", [False, True], ids=["now", "in an earlier life"])
def test_a_spoilt_game_is_archived_and_told_and_in_no_figure(probe, records, monkeypatch, earlier):
    bad, good = spoilt(records[0]), records[1]
    monkeypatch.setattr(
        "analytics.archive.index.game_id",
        lambda _session, number: (bad, good)[number - 1].game if number < 3 else "none",
    )
    for record in (bad, good):
        probe.path(record).write_bytes(b"".join(record.lines))
    if earlier:
        probe.news(of_s(3), so_far("1-500", 2, 2), start=500)
    else:
        probe.news(OPEN, *(news(record, n) for n, record in ((1, bad), (2, good)) for news in (opened, closing)))
    results = probe.results
    assert (results.count, results.spoilt, results.metrics["outcomes"]["games"]) == (2, 1, 1)
    assert [(game.game, game.counted) for game in results.games if game.spoilt] == [(bad.game, False)]


def test_analytics_that_comes_back_counts_what_it_archived_before_the_cut(probe, record, monkeypatch):
    # records on file have names of their own here
    monkeypatch.setattr(
        "analytics.archive.index.game_id", lambda _session, number: record.game if number == 2 else "none"
    )
    probe.path(record).write_bytes(b"".join(record.lines))
    probe.news(of_s(4), start=500)
    assert probe.followed == []
    probe.news(so_far("1-500", 3, 3), start=501)
    assert probe.followed == [("s-4", "0-0")]
    results = probe.results
    values = results.as_json()
    assert (values["games"], values["archived"], values["settled"]) == (1, 1, 1)
    assert sum(row["k"] for row in results.metrics["outcomes"]["winners"].values()) == 1


@pytest.mark.parametrize(
    ("told", "failed", "error"),
    [
        (0, 0, "nothing is known of 2 games of the session; the first is number 1"),
        (1, 0, "nothing is known of 1 game of the session; the first is number 3"),
        (0, 2, None),
    ],
)
def test_games_before_the_cut_whose_records_are_not_here_are_missing_unless_games_failed(
    probe, records, monkeypatch, told, failed, error
):
    other, record = records
    names = [other.game, record.game, "s-3"]
    monkeypatch.setattr("analytics.archive.index.game_id", lambda _session, number: names[number - 1])
    probe.path(record).write_bytes(b"".join(record.lines))
    probe.news(so_far("1-500", 3, 3 - failed, failed), start=500)
    if told:
        # the bus came back with what had been cut away
        probe.lost("the stream of games ends earlier")
        probe.news(OPEN, opened(other, 1), closing(other, 1), start=1)
        probe.take(other)
    probe.news(HouseClosed(session="s", games=3, failed=failed), start=501)
    results = probe.results
    assert (results.count, results.error) == (1 + told, error)
    assert results.fine == (error is None and not failed)


@pytest.mark.parametrize("recount", [False, True])
def test_a_record_from_before_the_cut_that_has_no_end_is_neither_whole_nor_counted(
    probe, records, monkeypatch, recount
):
    half, other = records
    names = [half.game, other.game, "s-3"]
    monkeypatch.setattr("analytics.archive.index.game_id", lambda _session, number: names[number - 1])
    probe.path(half).write_bytes(b"".join(half.lines[:100]))
    probe.path(other).write_bytes(b"".join(other.lines))
    probe.news(so_far("1-500", 3, 3), start=500)
    if recount:
        probe.lost("the stream of games ends earlier")
        probe.news(OPEN, opened(other, 2), closing(other, 2), start=1)
    probe.news(HouseClosed(session="s", games=3, failed=0), start=501)
    results = probe.results
    assert results.error == "nothing is known of 2 games of the session; the first is number 1"
    assert (results.as_json()["archived"], results.metrics["outcomes"]["games"]) == (1, 1)


def test_a_game_told_one_by_one_that_cannot_be_counted_again_is_told_as_such(probe, records):
    stopped, other = records
    probe.news(OPEN, opened(stopped), opened(other, 2), start=1)
    probe.take(stopped)
    probe.take(other)
    end = closing(stopped).model_copy(update={"outcome": "stopped"})
    probe.news(end, closing(other, 2), so_far("1-3", 1, 0, stopped=1), start=4)
    assert [(game.game, game.counted) for game in probe.results.games] == [(stopped.game, True), (other.game, True)]
    probe.path(stopped).write_bytes(b"no record\n")
    anew = other.done_anew(since=200)
    probe.news(closing(anew, 2), start=7)
    probe.take(anew)
    results = probe.results
    assert [(game.game, game.counted) for game in results.games] == [(stopped.game, False), (other.game, True)]
    assert results.metrics["outcomes"]["games"] == 1


# -- what lies in the folder


def test_a_file_left_after_any_line_is_gone_on_with_and_ends_up_the_same(tmp_path, record):
    for count in range(0, len(record) + 1, 41):
        probe = ArchiveProbe(tmp_path / str(count))
        probe.folder.mkdir()
        torn = record.lines[count][: 3 * count] if count < len(record) else b""
        probe.path(record).write_bytes(b"".join(record.lines[:count]) + torn[:-1])
        probe.news(OPEN, opened(record))
        # the last line comes once more, and proves that the bus still tells the same story
        assert probe.followed == [(record.game, f"{max(count - 1, 0)}-0")]
        for start in range(max(count - 1, 0), len(record), 100):
            probe.take(record, start, start + 100)
        probe.news(closing(record))
        probe.assert_keeps(record)


def damaged(record):
    return [*record.lines[:30], record.lines[30].replace(b'"n":31', b'"n":32'), *record.lines[31:]]


@pytest.mark.parametrize(
    ("damaged", "whole"),
    [(lambda _: b"", 0), (lambda record: record.lines[0][:40], 0), (lambda record: b"".join(damaged(record)), 30)],
    ids=["empty", "half a line", "damaged"],
)
def test_a_file_is_taken_up_before_its_damage_and_mended_from_the_bus(probe, record, damaged, whole):
    probe.path(record).write_bytes(damaged(record))
    probe.news(OPEN, opened(record))
    # nothing is cut off before there is something better
    assert probe.path(record).read_bytes() == damaged(record)
    after = max(whole - 1, 0)
    assert probe.followed == [(record.game, f"{after}-0")]
    probe.take(record, after)
    probe.news(closing(record))
    probe.assert_keeps(record)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda path: path.write_bytes(b"{}\n{}\nhalf"), "it has 2 whole lines, not 40"),
        (lambda path: (path.unlink(), path.mkdir()), "is a directory"),
        (lambda path: (path.unlink(), path.symlink_to("/dev/full")), "that is no ordinary file"),
    ],
    ids=["shorter", "a folder", "a device"],
)
def test_a_file_that_changes_before_it_is_gone_on_with_is_left_as_it_is(probe, record, spoil, reason):
    path = probe.path(record)
    path.write_bytes(b"".join(record.lines[:40]))
    probe.news(OPEN, opened(record))
    spoil(path)
    probe.take(record, 39)
    probe.news(closing(record))
    assert [message.error for message in probe.messages] == [f"{path}: cannot be continued: {reason}"]


def test_no_step_is_written_behind_one_that_did_not_fit(probe, record, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    probe.news(OPEN, opened(record))
    probe.take(record, 0, 30)
    with monkeypatch.context() as disk:
        disk.setattr(os, "write", full)
        probe.take(record, 30, 60)
    probe.take(record, 60)
    probe.news(closing(record))
    assert [message.error for message in probe.messages] == [
        f"{probe.path(record)}: cannot be written: no space left on device"
    ]
    assert probe.path(record).read_bytes() == b"".join(record.lines[:30])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (lambda _: b"shopping list\n", "not a wolfbus record"),
        (lambda other: other.path.read_bytes(), "holds the record of game"),
        (lambda _: b"x" * (2 << 20), "longer than 1 MiB"),
    ],
)
def test_a_file_that_is_no_record_of_this_game_is_left_alone(probe, records, content, reason):
    record, other = records
    foreign = content(other)
    probe.path(record).write_bytes(foreign)
    probe.news(OPEN, opened(record))
    probe.take(record)
    probe.news(closing(record))
    (message,) = probe.messages
    assert message.error.startswith(f"{probe.path(record)}: ")
    assert reason in message.error
    assert message.error.endswith("; it is left alone")
    assert probe.path(record).read_bytes() == foreign
