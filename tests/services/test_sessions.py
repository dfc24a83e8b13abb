"""A house that never closes stays small, a session that was closed stays closed, and one bad mailbox is one's own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analytics.archive.actor import ArchiveActor
from analytics.archive.results import Results
from analytics.archive.session import SessionNews, past_sessions
from moderator.house.housekeeping import GameSummaries, Trim
from moderator.house.session import HouseSession
from tests.services.fed import Record
from tests.services.guests import HOUSE, Moderating, archive, guests, until
from tests.services.test_archive_actor import Notes
from wolfbus import session as fold
from wolfbus.actors import ActorPool
from wolfbus.bus import open_bus, streams
from wolfbus.bus.memory import MemoryBus
from wolfbus.bus.protocol import Bus, Commit, Entry, every_entry
from wolfbus.messages.base import Part
from wolfbus.messages.codec import HOUSE_NEWS, encode, unpack, validate
from wolfbus.messages.house import (
    GameClosed,
    GameOpened,
    Goodbye,
    HouseClosed,
    HouseOpened,
    SessionSoFar,
)

GAMES = streams.games(HOUSE)


def entry(message: Part, id_: str = "") -> Entry:
    return Entry(encode(message), message.type, "moderator", id=id_)


def opened(number: int, session: str = "s") -> GameOpened:
    return GameOpened(game=f"{session}-{number}", number=number)


def closed(number: int, outcome: Any = "ended", session: str = "s") -> GameClosed:
    return GameClosed(game=f"{session}-{number}", number=number, outcome=outcome, lines=3, hash="ab")


class Told:
    """A house on a bus of this process, whose news a test tells."""

    def __init__(self, least: int = 40) -> None:
        self.bus: Bus = MemoryBus()
        self.epoch = self.bus.claim(HOUSE, "the test")
        self.session = HouseSession()
        self.summaries = GameSummaries(HOUSE, self.session, self.tell, self.do, least)

    def tell(self, *news: Part) -> None:
        posts = [(GAMES, entry(one)) for one in news]
        assert self.bus.commit([Commit(HOUSE, "", self.epoch, "", "", posts=posts)]) == [None]

    def do(self, chores: Any) -> None:
        for chore in chores:
            assert isinstance(chore, Trim)
            self.bus.trim(chore.stream, chore.before)

    def look(self) -> None:
        self.session.catch_up(self.bus, HOUSE)
        self.summaries.look()

    def sums(self, session: fold.Session) -> tuple[object, ...]:
        session.read = "0-0"
        for one in every_entry(self.bus, GAMES):
            session.feed(one)
        return (session.name, session.running, session.games, session.outcomes, session.lost, session.under_way)


@pytest.fixture
def told() -> Iterator[Told]:
    house = Told()
    yield house
    house.bus.close()


def test_a_game_that_is_closed_twice_counts_once() -> None:
    session = HouseSession()
    news = (HouseOpened(session="s"), opened(1), closed(1, "failed"))
    for place, one in enumerate(news, 1):
        session.feed(entry(one, f"1-{place}"))
    session.settle("s-1")
    session.feed(entry(news[-1], "1-4"))
    assert (session.failed, session.closed) == (1, {})


def test_three_thousand_games_leave_a_short_stream_and_a_small_state_and_all_sums(told: Told) -> None:
    told.tell(HouseOpened(session="s"))
    longest = 0
    for number in range(1, 3001):
        outcome = "failed" if number % 100 == 0 else "ended"
        told.tell(opened(number), closed(number, outcome))
        if number % 10 == 0:
            told.session.catch_up(told.bus, HOUSE)
            for game in list(told.session.closed):
                # one is not archived for a long time
                if game != "s-1500" or number > 1700:
                    told.session.settle(game, lost=number % 1000 == 0 and game.endswith("001"))
            told.look()
            if not 1500 <= number <= 1710:
                longest = max(longest, told.bus.length(GAMES), len(told.session._told))
    assert longest < 100
    assert told.session.news < 100
    assert (told.session.games, told.session.failed) == (3000, 30)
    expected = ("s", True, 3000, {"ended": 2970, "stopped": 0, "failed": 30}, told.session.lost, {})
    for _ in range(2):
        # another moderator, and whoever looks on, come to the same sums; again after one more cut
        assert told.sums(HouseSession()) == expected
        assert told.sums(fold.Session()) == expected
        told.look()
        told.look()


def test_sums_hold_wherever_the_stream_is_cut_between_games_that_overlap(told: Told) -> None:
    told.summaries._least = 4
    told.tell(HouseOpened(session="s"))
    for number in range(1, 60):
        told.tell(opened(number))
        if number > 3:
            told.tell(closed(number - 3, "stopped" if number % 7 == 0 else "ended"))
        told.session.catch_up(told.bus, HOUSE)
        for game in list(told.session.closed)[: 3 if number % 5 == 0 else 0]:
            told.session.settle(game)
        told.look()
        now = told.sums(fold.Session())
        assert now[2:] == (
            number,
            told.session.outcomes,
            0,
            {f"s-{one}": one for one in range(max(number - 2, 1), number + 1)},
        )
    assert told.bus.length(GAMES) < 80


def test_without_an_archive_nothing_is_cut_and_that_is_said(told: Told, caplog: pytest.LogCaptureFixture) -> None:
    told.summaries._warn_from = 50
    told.tell(HouseOpened(session="s"))
    for number in range(1, 60):
        told.tell(opened(number), closed(number))
    told.look()
    told.look()
    assert told.bus.length(GAMES) == 119
    assert [record.getMessage() for record in caplog.records] == [
        "the games stream has grown to 119 entries: 59 records not archived yet"
    ]


# -- games that were left out


def fed(*news: Part) -> HouseSession:
    session = HouseSession()
    for place, one in enumerate(news, 1):
        session.feed(entry(one, f"1-{place}"))
    session.find_untold()
    return session


def test_a_game_of_which_nothing_landed_is_begun_before_any_other() -> None:
    session = fed(HouseOpened(session="s"), opened(1), opened(4), opened(2), closed(4), opened(6))
    assert (session.games, session.left_out, session.next_number) == (6, [3, 5], 3)
    assert session.begin(3) == "s-3"
    assert (session.left_out, session.next_number) == ([5], 5)
    session.begin(5)
    assert (session.left_out, session.next_number) == ([], 7)
    session.begin(7)
    assert session.next_number == 8
    session.feed(entry(opened(5), "1-7"))
    session.feed(entry(opened(3), "1-8"))
    session.feed(entry(closed(7, "failed"), "1-9"))
    assert (session.untold, session.next_number, session.failed) == (set(), 8, 1)


def test_a_game_that_failed_before_it_could_be_opened_was_not_left_out() -> None:
    news = (HouseOpened(session="s"), opened(2), closed(1, "failed"), closed(1, "failed"), closed(2))
    session = fed(*news)
    assert (session.left_out, session.failed, session.outcomes["ended"]) == ([], 1, 1)


def test_nothing_is_summed_up_past_a_game_that_was_left_out(told: Told) -> None:
    told.tell(HouseOpened(session="s"), opened(1), closed(1))
    for number in range(3, 63):
        told.tell(opened(number), closed(number))
    told.session.catch_up(told.bus, HOUSE)
    told.session.find_untold()
    for game in list(told.session.closed):
        told.session.settle(game)
    told.look()
    assert told.session.sum_up() is None
    told.session.begin(told.session.next_number)
    assert told.session.sum_up() is None
    told.tell(opened(2), closed(2))
    told.look()
    told.session.settle("s-2")
    told.look()
    told.look()
    told.session.find_untold()
    assert told.session.left_out == []
    assert told.bus.length(GAMES) < 10
    for fresh in (HouseSession(), fold.Session()):
        assert told.sums(fresh)[2] == 62
        assert fresh.outcomes["ended"] == 62
        if isinstance(fresh, HouseSession):
            fresh.find_untold()
            assert fresh.next_number == 63


# -- analytics


@contextlib.contextmanager
def archiving(folder: Path, notes: Notes) -> Iterator[Any]:
    with ActorPool(1) as pool:
        ref = ArchiveActor.start_in(pool, "fed", folder, SessionNews(), notes)
        yield ref.proxy()
        ref.stop()


def of_long_session(*news: Part, start: int = 1) -> list[Entry]:
    return [entry(one, f"1-{place}") for place, one in enumerate(news, start)]


def test_analytics_keeps_sums_of_games_nobody_asks_about_and_acknowledges_only_the_others(tmp_path: Path) -> None:
    notes = Notes()
    empty = [GameClosed(game=f"s-{n}", number=n, outcome="failed", lines=0, hash="") for n in range(1, 2001)]
    with archiving(tmp_path, notes) as actor:
        actor.hear(of_long_session(HouseOpened(session="s"))).get()
        place = 2
        for one in empty:
            actor.hear(of_long_session(opened(one.number), one, start=place)).get()
            place += 2
        so_far = SessionSoFar(
            session="s", before=f"1-{place - 20}", games=1990, ended=0, stopped=0, failed=1990, lost=0
        )
        actor.hear(of_long_session(so_far, start=place)).get()
        notes.told.clear()
        actor.acknowledge_all().get()
        assert sorted(told.game for told in notes.told) == [f"s-{n}" for n in range(1991, 2001)]
        results: Results = actor.results().get()
    assert len(results.games) == 1010


def test_news_that_are_read_again_count_nothing_twice(
    tmp_path: Path, records: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = Notes()
    names = [*(record.game for record in records), "s-3"]
    monkeypatch.setattr("analytics.archive.index.game_id", lambda _session, number: names[number - 1])
    told: list[Part] = [HouseOpened(session="s")]
    for number, record in enumerate(records, 1):
        (tmp_path / f"{record.game}.ndjson").write_bytes(b"".join(record.lines))
        told.append(GameOpened(game=record.game, number=number))
        end = {"lines": len(record), "hash": record.heads[-1]}
        told.append(GameClosed(game=record.game, number=number, outcome="ended", **end))
    told += [opened(3), GameClosed(game="s-3", number=3, outcome="failed", lines=0, hash="")]
    told.append(SessionSoFar(session="s", before="1-8", games=3, ended=2, stopped=0, failed=1, lost=0))
    with archiving(tmp_path, notes) as actor:
        for _ in range(3):
            actor.hear(of_long_session(*told)).get()
            actor.lost("", "the stream of games ends earlier").get()
        actor.hear(of_long_session(*told, HouseClosed(session="s", games=3, failed=1))).get()
        results: Results = actor.results().get()
    found = results.as_json()
    assert (found["games"], found["archived"], found["settled"], found["failed"]) == (3, 3, 2, 1)
    assert found["metrics"]["outcomes"]["games"] == 2


def test_analytics_that_comes_back_counts_what_it_archived_before_the_cut(
    tmp_path: Path, records: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, record = Notes(), records[0]
    # records on file have names of their own here
    monkeypatch.setattr(
        "analytics.archive.index.game_id", lambda _session, number: record.game if number == 2 else "none"
    )
    (tmp_path / f"{record.game}.ndjson").write_bytes(b"".join(record.lines))
    so_far = SessionSoFar(session="s", before="1-500", games=3, ended=3, stopped=0, failed=0, lost=0)
    with archiving(tmp_path, notes) as actor:
        actor.hear(of_long_session(opened(4), start=500)).get()
        assert notes.followed == []
        actor.hear(of_long_session(so_far, start=501)).get()
        assert notes.followed == [("s-4", "0-0")]
        results: Results = actor.results().get()
    told = results.as_json()
    assert (told["games"], told["archived"], told["settled"]) == (1, 1, 1)
    assert sum(row["k"] for row in results.metrics["outcomes"]["winners"].values()) == 1


def test_a_cut_session_is_known_by_its_sums(tmp_path: Path) -> None:
    so_far = SessionSoFar(session="s", before="1-7", games=3, ended=3, stopped=0, failed=0, lost=0)
    entries = [entry(opened(4), "1-7"), entry(so_far, "1-8")]
    assert past_sessions(entries, tmp_path, "") == []
    end = entry(HouseClosed(session="s", games=4, failed=0), "1-9")
    assert past_sessions([*entries, end], tmp_path, "") == ["s"]


# -- closing


def news(bus: Bus) -> list[Any]:
    return [validate(HOUSE_NEWS, unpack(one.body)) for one in bus.entries(GAMES)]


@pytest.mark.parametrize("wait", [False, True], ids=["held-still", "run-out"])
def test_a_moderator_after_one_that_broke_off_closing_finishes_that_session(redis_url: str, wait: bool) -> None:
    bus = open_bus(redis_url)
    epoch = bus.claim(HOUSE, "dead", 0.05 if wait else 0.5)
    with guests(redis_url, "ada") as [ada]:
        told = [HouseOpened(session="s"), HouseClosed(session="s", games=1, failed=1, reason="all games are over")]
        posts = [(GAMES, entry(one)) for one in told]
        assert bus.commit([Commit(HOUSE, "", epoch, "", "", posts=posts)]) == [None]
        if wait:
            until(lambda: bus.owner(HOUSE).left_s == 0)
        moderating = Moderating(redis_url, games=1)
        assert moderating.code() == 1
        ada.hear(Goodbye)
    assert [one.type for one in news(bus)] == ["house_opened", "house_closed"]
    assert not bus.owner(HOUSE).unreleased
    bus.close()


def test_after_a_session_that_was_closed_and_released_another_opens(redis_url: str) -> None:
    bus = open_bus(redis_url)
    assert Moderating(redis_url, games=0).code() == 0
    assert Moderating(redis_url, games=0).code() == 0
    assert [one.type for one in news(bus)] == ["house_opened", "house_closed"] * 2
    bus.close()


def test_little_is_left_of_a_house_that_closed(redis_url: str) -> None:
    bus = open_bus(redis_url)
    with guests(redis_url, *"abcde") as five, guests(redis_url, "books", service="analytics") as [books]:
        moderating = Moderating(redis_url, games=5, archive=True, keep_s=0.0)
        done: set[str] = set()
        for _ in range(5):
            moderating.result()
            for one in news(bus):
                if isinstance(one, GameClosed) and one.game not in done:
                    done.add(one.game)
                    archive(books, one)
        assert moderating.code() == 0
        boxes = [bus.length(streams.inbox(HOUSE, guest.name)) for guest in five]
        outs = [bus.length(guest.out) for guest in five]
        assert max(boxes) <= 4
        assert max(outs) <= 4
        assert all(bus.length(streams.record(HOUSE, game)) == 0 for game in done)
    bus.close()
