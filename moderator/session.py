"""`Session`: the games that a house plays from its opening to its closing, as a fold over its ``games`` stream.

The stream is the one truth of it: a moderator that comes later goes on where the stream ends.
"""

from __future__ import annotations

import logging
import secrets
import time
from dataclasses import dataclass, field
from typing import Final

from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.draws import game_seed
from wolfbus.errors import MessageError
from wolfbus.messages.codec import HOUSE_NEWS, unpack, validate
from wolfbus.messages.house import GameClosed, HouseClosed, HouseOpened

logger = logging.getLogger(__name__)

PAGE: Final = 1000

LONG_SEED: Final = 16
"""Characters from which on a seed counts as one that cannot be found by trying all."""


@dataclass(frozen=True, slots=True)
class End:
    """How a session was closed, and where that stands on the stream."""

    id: str
    news: HouseClosed


@dataclass(slots=True)
class Session:
    """What the stream says of the session that runs, or ran last.

    Attributes:
        name: the session's; "" before the first.
        running: whether it was opened and not closed.
        games: highest number of a game begun in it.
        failed: games that did not end by the rules.
        under_way: games begun and not closed, id to number.
        closed: how games of it were closed, by id; whoever knows a record to be archived takes its game out.
        earlier: the same for sessions before it, as far back as the stream goes.
        end: how it was closed; None while it runs.
        news: entries of the stream that belong to it.
        read: id of the last entry taken in.
    """

    name: str = ""
    running: bool = False
    games: int = 0
    failed: int = 0
    under_way: dict[str, int] = field(default_factory=dict)
    closed: dict[str, GameClosed] = field(default_factory=dict)
    earlier: dict[str, GameClosed] = field(default_factory=dict)
    end: End | None = None
    news: int = 0
    read: str = "0-0"

    def feed(self, entry: Entry) -> None:
        """Take in one entry of the stream; what cannot be read is logged and passed over."""
        self.read = entry.id
        self.news += 1
        try:
            told = validate(HOUSE_NEWS, unpack(entry.body))
        except MessageError as error:
            logger.warning("entry %s of the games stream cannot be read: %s", entry.id, error)
            return
        if isinstance(told, HouseOpened):
            self._open(told.session)
        elif told.type == "game_opened":
            self.games = max(self.games, told.number)
            self.under_way[told.game] = told.number
        elif told.type == "game_closed":
            self.under_way.pop(told.game, None)
            self.closed[told.game] = told
            self.failed += told.outcome != "ended"
        elif told.session == self.name:
            self.running = False
            self.end = End(entry.id, told)

    def _open(self, name: str) -> None:
        # said again of the session that runs, it changes nothing
        if self.running and name == self.name:
            return
        self.name, self.running = name, True
        self.end = None
        self.games = self.failed = 0
        self.under_way.clear()
        self.earlier.update(self.closed)
        self.closed.clear()
        self.news = 1

    def open(self) -> HouseOpened:
        """Begin a session of a fresh name; returns the news of it, still to be told."""
        self._open(fresh_name())
        return HouseOpened(session=self.name)

    def begin(self, number: int) -> str:
        """Count a game in that is about to begin; returns its id, the same whoever begins it."""
        game = f"{self.name}-{number}"
        self.games = max(self.games, number)
        self.under_way[game] = number
        return game

    def catch_up(self, bus: Bus, house: str) -> None:
        """Take in what is new on the stream; raises BusError."""
        stream = streams.games(house)
        while found := bus.entries(stream, self.read, PAGE):
            for entry in found:
                self.feed(entry)


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where the seeds of a session's games come from.

    Args:
        given: the session's seed. Without one every game has a fresh seed of its own, so that a moderator that comes
            back needs to know nothing, and nothing that others can read says what will be drawn.
        alone: whether the session has exactly one game. That one has the session's seed itself, as the same game played
            by itself would; seeds are told when their games end, so of several games none can have it.
    """

    given: str | None = None
    alone: bool = False

    def of(self, number: int) -> str:
        """Return the seed of game `number`, from 1."""
        if self.given is None:
            return secrets.token_hex(16)
        return self.given if self.alone else game_seed(self.given, number)

    @property
    def short(self) -> bool:
        """Whether an agent could find the seed by trying all: names and every draw follow from it."""
        return self.given is not None and len(self.given) < LONG_SEED


def fresh_name() -> str:
    """Return a name for a new session, unlike any other's: the time of day and a random tail; it feeds no draw."""
    return time.strftime("%Y%m%d-%H%M%S-", time.gmtime()) + secrets.token_hex(3)
