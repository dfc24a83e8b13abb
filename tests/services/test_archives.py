"""No game of a session is left out, and no record counts as archived that is not, whatever the bus has forgotten."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moderator.engine.reexecution import Verifier
from moderator.house.session import Archives, HouseSession
from tests.services import fed
from tests.services.guests import HOUSE, Moderating, guests, until
from wolfbus.bus import streams
from wolfbus.bus.memory import MemoryBus
from wolfbus.bus.protocol import Commit, Entry
from wolfbus.bus.redis.bus import RedisBus
from wolfbus.draws import game_seed
from wolfbus.messages.base import Part
from wolfbus.messages.codec import HOUSE_NEWS, encode, unpack, validate
from wolfbus.messages.house import Archived, GameClosed, GameOpened, HouseClosed, HouseOpened
from wolfbus.record.line import line_of
from wolfbus.record.reader import open_lines, read_record

GAMES = streams.games(HOUSE)


@pytest.fixture
def bus(redis_url: str) -> Iterator[RedisBus]:
    with contextlib.closing(RedisBus(redis_url)) as bus:
        yield bus


def openings(bus: RedisBus) -> dict[int, Entry]:
    """The entries of the games stream that open games, by the game's number."""
    return {int(one.game.rpartition("-")[2]): one for one in bus.entries(GAMES) if one.type == "game_opened"}


def forget(bus: RedisBus, opening: Entry) -> None:
    """Take a game away, as a bus does that dies between the first steps of two games that begin together."""
    commands: list[tuple[str, ...]] = [
        ("DEL", streams.record(HOUSE, opening.game), streams.table(HOUSE, opening.game)),
        ("HDEL", streams.heads(HOUSE), opening.game),
        ("XDEL", GAMES, opening.id),
    ]
    assert all(bus._links.run("", lambda link: link.exchange(commands)))


def test_a_game_that_the_bus_forgot_though_a_later_one_had_begun_is_played_and_its_file_begun_anew(
    redis_url: str, bus: RedisBus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fed, "HOUSE", HOUSE)
    settings: dict[str, Any] = {"games": 2, "at_once": 2, "seed": "7"}
    gate = threading.Event()
    with guests(redis_url, *"abcde", seats=2, gate=gate):
        service = Moderating(redis_url, **settings)
        until(lambda: len(openings(bus)) == 2)
        service.stop()
        gate.set()
    games = {number: opening.game for number, opening in openings(bus).items()}
    files = {number: tmp_path / f"{game}.ndjson" for number, game in games.items()}
    # analytics has read the first step of what is lost
    lines = [line_of(unpack(one.body)) + b"\n" for one in bus.entries(streams.record(HOUSE, games[1]))]
    files[1].write_bytes(b"".join(lines))
    forget(bus, openings(bus)[1])
    with guests(redis_url, *"abcde", seats=2), fed.Service(redis_url, tmp_path) as analytics:
        assert Moderating(redis_url, archive=True, **settings).code(30) == 0
        assert analytics.wait() == 0
    assert sorted(tmp_path.glob("*.ndjson")) == sorted(files.values())
    for number, file in files.items():
        verifier = Verifier()
        for one in read_record(open_lines(file)):
            verifier.feed(one)
        assert verifier.ended is not None
        assert verifier.opened is not None
        assert verifier.opened.seed == game_seed("7", number)
    assert not files[1].read_bytes().startswith(lines[0])
    news = [validate(HOUSE_NEWS, unpack(one.body)) for one in bus.entries(GAMES)]
    assert sorted(one.game for one in news if isinstance(one, GameClosed)) == sorted(games.values())
    assert isinstance(news[-1], HouseClosed)
    assert (news[-1].games, news[-1].failed) == (2, 0)


# -- what analytics says


class Over:
    """A moderator's account of a session with one game that is over, on a bus that may be another than it thinks."""

    def __init__(self) -> None:
        self.bus = MemoryBus()
        self.session = HouseSession()
        self.archives = Archives(self.bus, HOUSE, self.session, 60.0)
        self.closed = GameClosed(game="s-1", number=1, outcome="ended", lines=2, hash="b" * 64)
        epoch = self.bus.claim(HOUSE, "the test")
        self.land(epoch, "", "a" * 64, 1, HouseOpened(session="s"), GameOpened(game="s-1", number=1))
        self.gone_back = MemoryBus()
        self.bus, known = self.gone_back, self.bus
        self.land(self.bus.claim(HOUSE, "the test"), "", "a" * 64, 1)
        self.bus = known
        self.land(epoch, "a" * 64, "b" * 64, 2, self.closed)
        self.session.catch_up(self.bus, HOUSE)

    def land(self, epoch: int, expected: str, head: str, number: int, *news: Part) -> None:
        record = Entry(b"", "", "moderator", "s-1", number, f"{number}-0")
        posts = [(GAMES, Entry(encode(one), getattr(one, "type", ""), "moderator")) for one in news]
        assert self.bus.commit([Commit(HOUSE, "s-1", epoch, expected, head, [record], posts)]) == [None]

    def say(self, **other: Any) -> None:
        closed = self.closed
        said = {"game": "s-1", "lines": closed.lines, "hash": closed.hash, "closed": closed.hash, **other}
        self.archives.take("analytics", Archived(**said))


@pytest.fixture
def over() -> Iterator[Over]:
    found = Over()
    yield found
    found.bus.close()
    found.gone_back.close()


def test_only_the_lines_and_the_seal_that_the_game_was_closed_with_count_as_archived(over: Over) -> None:
    over.say(lines=1)
    over.say(hash="a" * 64)
    over.say(lines=1, hash="a" * 64)
    assert over.archives.missing == ("s-1",)
    assert over.bus.head(HOUSE, "s-1") == "b" * 64
    over.say()
    assert (over.archives.missing, over.archives.failed) == ((), 0)
    assert over.bus.head(HOUSE, "s-1") == ""


def test_a_record_is_not_let_go_of_where_its_game_is_under_way_again(
    over: Over, caplog: pytest.LogCaptureFixture
) -> None:
    # the moderator has not noticed yet that the bus has lost the game's end
    over.archives._bus = over.gone_back
    over.say()
    assert over.gone_back.head(HOUSE, "s-1") == "a" * 64
    assert over.archives.missing == ("s-1",)
    assert caplog.messages == ["the bus has lost the end of a record that is archived"]


def test_why_a_record_could_not_be_kept_counts_for_the_end_that_it_is_about(over: Over) -> None:
    over.say(error="it has 1 of 3 lines", closed="c" * 64)
    assert (len(over.archives.missing), over.archives.failed) == (1, 0)
    over.say(error="it has 1 of 2 lines")
    assert (len(over.archives.missing), over.archives.failed) == (0, 1)
