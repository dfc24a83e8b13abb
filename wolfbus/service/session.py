"""`Session`: the games that a house plays from its opening to its closing, as a fold over its ``games`` stream.

The stream is the one truth of it. It may be cut where it is long: what stood before the cut is summed up by a
`SessionSoFar` further on, so that whoever reads from the cut comes to the same sums as who read all.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry, every_entry
from wolfbus.bus.streams import parse_id
from wolfbus.errors import BusError, MessageError, NotAllowed
from wolfbus.messages.codec import HOUSE_NEWS, unpack, validate
from wolfbus.messages.house import GameClosed, GameOpened, HouseClosed, HouseOpened, News, SessionSoFar

logger = logging.getLogger(__name__)

Outcome: TypeAlias = Literal["ended", "stopped", "failed"]

OUTCOMES: Final[tuple[Outcome, ...]] = ("ended", "stopped", "failed")


@dataclass(frozen=True, slots=True)
class End:
    """How a session was closed, and where that stands on the stream."""

    id: str
    news: HouseClosed


@dataclass
class Session:
    """What the stream says of the session that runs, or ran last. Entries that come again change nothing.

    Attributes:
        name: the session's; "" before the first, and before the name of one whose beginning was cut away is told.
        running: whether it was opened and not closed.
        games: highest number of a game begun in it.
        outcomes: how many of its games were closed in which way.
        lost: games of it that ended, but whose record could not be kept; only those before a cut are told.
        under_way: games begun and not closed, id to number.
        end: how it was closed; None while it runs.
        read: id of the last entry taken in.
        cut: id of the first entry, where the session's beginning is not on the stream; None where it is.
    """

    name: str = ""
    running: bool = False
    games: int = 0
    outcomes: dict[Outcome, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    lost: int = 0
    under_way: dict[str, int] = field(default_factory=dict)
    end: End | None = None
    read: str = "0-0"
    cut: str | None = None
    _fed: bool = False
    _before: SessionSoFar | None = None

    @property
    def failed(self) -> int:
        """Games that did not end by the rules."""
        return self.outcomes["stopped"] + self.outcomes["failed"]

    def feed(self, entry: Entry) -> News | None:
        """Take in one entry of the stream and return what it says; None if it cannot be read."""
        self.read = entry.id
        if not self._fed:
            self._fed, self.cut = True, entry.id
        news = read_news(entry)
        if isinstance(news, HouseOpened):
            self._open(news.session)
        elif isinstance(news, SessionSoFar):
            self._sum_up(news)
        elif isinstance(news, GameOpened):
            self._begin(news, entry.id)
        elif isinstance(news, GameClosed):
            self._finish(news)
        elif isinstance(news, HouseClosed) and news.session == (self.name or news.session):
            self.name, self.running = news.session, False
            self.end = End(entry.id, news)
        return news

    def catch_up(self, bus: Bus, house: str) -> None:
        """Take in what is new on a house's stream; raises BusError."""
        for entry in every_entry(bus, streams.games(house), self.read):
            self.feed(entry)

    def _open(self, name: str) -> None:
        # said again of the session that runs, it changes nothing
        if self.running and name == self.name:
            return
        self.name, self.running = name, True
        self.end = self.cut = self._before = None
        self.games = self.lost = 0
        self.outcomes = dict.fromkeys(OUTCOMES, 0)
        self.under_way.clear()

    def _sum_up(self, summary: SessionSoFar) -> None:
        if self.cut is None or self.name not in {"", summary.session} or not _reaches(summary.before, self.cut):
            # what it sums up was read one by one
            return
        before, self._before = self._before, summary
        for outcome in OUTCOMES:
            self.outcomes[outcome] += getattr(summary, outcome) - (
                getattr(before, outcome) if before is not None else 0
            )
        self.lost += summary.lost - (before.lost if before is not None else 0)
        self.games = max(self.games, summary.games)
        if not self.name:
            self.name, self.running = summary.session, True

    def _begin(self, opened: GameOpened, _entry_id: str) -> None:
        self.games = max(self.games, opened.number)
        self.under_way[opened.game] = opened.number

    def _finish(self, closed: GameClosed) -> bool:
        """Count a game out; returns whether it was in: the news may come twice, or be of a game that was cut away."""
        # of one that failed before it could be opened there is this news alone
        unopened = bool(self.name) and closed.number > self.games
        if self.under_way.pop(closed.game, None) is None and not unopened:
            return False
        self.games = max(self.games, closed.number)
        self.outcomes[closed.outcome] += 1
        return True


def lost_data(house: str) -> str:
    """Return why everybody leaves a house of which the bus has lost everything: nobody goes on with it."""
    return f"the bus lost its data: it knows nothing of house {house} any more"


def is_lost(bus: Bus, house: str) -> bool:
    """Return whether the bus knows nothing of a house; not so for who may not look. Raises BusError."""
    try:
        return not bus.owner(house).epoch and bus.last_id(streams.games(house)) == "0-0"
    except NotAllowed:
        return False


def game_id(session: str, number: int) -> str:
    """Return the id of a session's game, from its number."""
    return f"{session}-{number}"


def read_news(entry: Entry) -> News | None:
    """Return what an entry of the ``games`` stream says; None if it cannot be read."""
    try:
        return validate(HOUSE_NEWS, unpack(entry.body))
    except MessageError as error:
        logger.debug("entry %s of the games stream cannot be read: %s", entry.id, error)
        return None


def _reaches(before: str, cut: str) -> bool:
    """Return whether sums of all before one id go no further than to where the stream was cut."""
    try:
        return parse_id(before) <= parse_id(cut)
    except BusError:
        return False
