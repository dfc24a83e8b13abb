"""`HouseSession`: the games of a house as their moderator sees them: which records are waited for, and what of the
``games`` stream nobody needs any more. `GameSummaries` has that summed up and cut away. `Archives`: which records
analytics has safe on disk, so that they expire.

The stream is the one truth of it: a moderator that comes later goes on where it ends.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.streams import Id, parse_id
from wolfbus.files.printable import counted
from wolfbus.game.fresh import fresh_id
from wolfbus.messages.base import Part
from wolfbus.messages.house import Archived, GameClosed, GameOpened, HouseOpened, News, SessionSoFar
from wolfbus.service import session
from wolfbus.service.session import Outcome

logger = logging.getLogger(__name__)

NEWS_AT_LEAST: Final = 1000
"""Entries of the games stream that are kept, whichever session they belong to."""

NEWS_AT_MOST: Final = 20 * NEWS_AT_LEAST
"""Entries of a session that cannot be cut from which on that is worth a warning, and every time they have doubled."""


@dataclass(slots=True)
class _OpenedGame:
    """A game whose opening is on the stream: under which id, and what came of it."""

    id: str
    number: int
    outcome: Outcome | None = None
    lost: bool = False


@dataclass
class HouseSession(session.Session):
    """What the stream says of the session that runs, or ran last.

    Attributes:
        opens: name of the session that `open` begins; None for a fresh one.
        closed: how games of it were closed whose record is not known to be archived, by id.
        earlier: the same for sessions before it, as far back as the stream goes.
        summary: the latest summary of it on the stream.
        missing: numbers of games that are to be played though a later one has begun: the stream tells nothing of them
            yet. Games begun together land in any order, so whoever breaks off in between, or a bus that forgets its
            last moments, leaves such gaps.
    """

    opens: str | None = None
    closed: dict[str, GameClosed] = field(default_factory=dict)
    earlier: dict[str, GameClosed] = field(default_factory=dict)
    summary: SessionSoFar | None = None
    missing: set[int] = field(default_factory=set)
    _opened_games: dict[str, _OpenedGame] = field(default_factory=dict)
    # ids of the session's entries that are still on the stream, and the highest number of a game before them
    _ids: list[Id] = field(default_factory=list)
    _cut_number: int = 0

    @property
    def news(self) -> int:
        """Entries of the stream that belong to the session."""
        return len(self._ids)

    def feed(self, entry: Entry) -> News | None:
        """Process one entry of the stream; returns what it says."""
        self._ids.append(parse_id(entry.id))
        news = super().feed(entry)
        if news is None:
            logger.warning("entry %s of the games stream cannot be read", entry.id)
        return news

    def _open(self, name: str) -> None:
        if self.running and name == self.name:
            return
        super()._open(name)
        self.earlier.update(self.closed)
        self.closed.clear()
        self.summary = None
        self.missing.clear()
        self._opened_games.clear()
        # the last is the opening itself
        del self._ids[:-1]
        self._cut_number = 0

    def _sum_up(self, summary: SessionSoFar) -> None:
        super()._sum_up(summary)
        if summary.session == self.name:
            self.summary = summary
            self._cut_number = max(self._cut_number, summary.games)

    def _begin(self, news: GameOpened, entry_id: str) -> None:
        super()._begin(news, entry_id)
        self._add_opened(news, entry_id)

    def _add_opened(self, news: GameOpened | GameClosed, entry_id: str) -> None:
        self.missing.discard(news.number)
        self._opened_games.setdefault(news.game, _OpenedGame(entry_id, news.number))

    def _finish(self, news: GameClosed) -> bool:
        # of a game that has a record the opening was cut away, and a summary further on counts it
        unopened = not news.hash or news.game in self.under_way
        if self.name and unopened and news.game not in self._opened_games and news.number > self._cut_number:
            # it failed before it could be opened, perhaps after later ones began
            self.under_way[news.game] = news.number
            self._add_opened(news, self.read)
        if not super()._finish(news):
            return False
        if news.hash:
            # a game that never was opened has no record
            self.closed[news.game] = news
        if news.game in self._opened_games:
            self._opened_games[news.game].outcome = news.outcome
        return True

    def settle(self, game: str, *, lost: bool = False) -> None:
        """Wait no more for the record of a game that is over.

        Args:
            game: its id.
            lost: whether its record could not be kept, though it ended by the rules.
        """
        self.closed.pop(game, None)
        self.earlier.pop(game, None)
        if lost:
            self.lost += 1
            if game in self._opened_games:
                self._opened_games[game].lost = True

    def sum_up(self, at_least: int = 1) -> SessionSoFar | None:
        """Return the sums of all games before the oldest one that is under way, or whose record is waited for; None if
        fewer than `at_least` entries stand before it, or if a number among them is `missing`.
        """
        done = [*takewhile(lambda game: game not in self.under_way and game not in self.closed, self._opened_games)]
        remaining = [*self._opened_games.values()][len(done) :]
        games = max([self._cut_number, *(self._opened_games[game].number for game in done)])
        before = remaining[0].id if remaining else self.read
        if self._count_before(before) < at_least or any(number <= games for number in self.missing):
            return None
        left = [opened.outcome for opened in remaining]
        return SessionSoFar(
            session=self.name,
            before=before,
            games=games,
            ended=self.outcomes["ended"] - left.count("ended"),
            stopped=self.outcomes["stopped"] - left.count("stopped"),
            failed=self.outcomes["failed"] - left.count("failed"),
            lost=self.lost - sum(opened.lost for opened in remaining),
        )

    def cut_at(self, before: str) -> None:
        """Forget what stood on the stream before this id: it is summed up, and is cut away."""
        del self._ids[: self._count_before(before)]
        until = parse_id(before)
        for game, opened in list(self._opened_games.items()):
            if parse_id(opened.id) >= until:
                return
            self._cut_number = max(self._cut_number, opened.number)
            del self._opened_games[game]

    def _count_before(self, id_: str) -> int:
        """Return how many of the session's entries stand on the stream before this id."""
        return bisect_left(self._ids, parse_id(id_))

    def open(self) -> HouseOpened:
        """Begin a session; returns the news of it, still to be told."""
        self._open(self.opens or fresh_id())
        return HouseOpened(session=self.name)

    def find_missing(self) -> None:
        """Find gaps among the numbers; to be called once all that is on the stream was read."""
        numbers = {opened.number for opened in self._opened_games.values()}
        self.missing = set(range(self._cut_number + 1, self.games + 1)) - numbers if self.running else set()

    @property
    def left_out(self) -> list[int]:
        """Numbers of games that were left out, and are not begun again yet."""
        return sorted(self.missing.difference(self.under_way.values())) if self.missing else []

    @property
    def next_number(self) -> int:
        """Number of the game to begin next: one that was left out, or else one more than ever before."""
        return next(iter(self.left_out), self.games + 1)

    def begin(self, number: int, game: str) -> None:
        """Add a game that is about to begin, by its number in the session and its id."""
        self.games = max(self.games, number)
        self.under_way[game] = number
        self.missing.add(number)


class GameSummaries:
    """Sums up what is over, and then has it cut away; the sums are on the stream before anything goes.

    Args:
        session: its news.
        announce: puts news on the stream.
        cut: has the stream cut before an id.
        least: entries of the session that always stay.
    """

    def __init__(
        self,
        session: HouseSession,
        announce: Callable[[Part], None],
        cut: Callable[[str], None],
        least: int = NEWS_AT_LEAST,
    ) -> None:
        self._session = session
        self._announce = announce
        self._cut = cut
        self._least = least
        self._announced = "0-0"
        self._cut_to = "0-0"
        self._warn_from = NEWS_AT_MOST

    def update(self) -> None:
        """Do what can be done now, by what was read of the stream."""
        session = self._session
        summary = session.summary
        if summary is not None and parse_id(summary.before) > parse_id(self._cut_to):
            self._cut_to = summary.before
            session.cut_at(summary.before)
            self._cut(summary.before)
        if not session.running or session.news <= self._least:
            return
        sums = session.sum_up(max(self._least // 4, 1))
        if sums is not None and parse_id(sums.before) > parse_id(self._announced):
            # said again at most once for every entry: what was lost on its way is not waited for
            self._announced = sums.before
            self._announce(sums)
        elif session.news > self._warn_from:
            self._warn_from = 2 * session.news
            waiting = counted(len(session.closed), "record")
            logger.warning("the games stream has grown to %d entries: %s not archived yet", session.news, waiting)


class Archives:
    """Keeps the account of one session's records, by what analytics says.

    A game whose record was archived has no head on the bus any more, so a moderator that comes later knows it too.

    Args:
        bus: where the records are.
        house: the house's name.
        session: its news; games that are accounted for leave its `closed`.
        keep_s: seconds that a record stays on the bus after it was archived, >= 0; None for ever.
    """

    def __init__(self, bus: Bus, house: str, session: HouseSession, keep_s: float | None) -> None:
        self._bus = bus
        self._house = house
        self.session = session
        self._keep_s = keep_s

    def recall(self) -> None:
        """Settle what earlier moderators have seen archived; raises BusError."""
        for game in list(self.session.closed):
            if not self._bus.head(self._house, game):
                self.session.settle(game)

    def release(self, game: str, head: str) -> bool:
        """Let the bus forget the record of a game that is over, where that is not to stay.

        Args:
            game: its id.
            head: seal of its last line.

        Returns:
            Whether that is how it ends on the bus, or nobody asks for that.

        Raises:
            BusError: the bus is away.
        """
        if self._keep_s is not None and not self._bus.expire(self._house, game, self._keep_s, head):
            return False
        self.session.settle(game)
        return True

    def receive(self, agent: str, archived: Archived) -> None:
        """Receive what an analytics service says of a record; raises BusError."""
        if archived.game in self.session.under_way:
            # analytics read of the game's end before we did
            self.session.catch_up(self._bus, self._house)
        closed = self.session.closed.get(archived.game)
        earlier = self.session.earlier.get(archived.game)
        if closed is None and earlier is None:
            logger.debug("%s archived a game that is not waited for", agent, extra={"game": archived.game})
        elif archived.error is not None:
            if archived.closed not in {"", *(one.hash for one in (closed, earlier) if one is not None)}:
                logger.warning(
                    "%s could not archive a record that the bus has lost since; this is not counted: %s",
                    agent,
                    archived.error,
                    extra={"game": archived.game},
                )
                return
            if closed is not None:
                self.session.settle(archived.game, lost=closed.outcome == "ended")
            logger.error("%s could not archive the record: %s", agent, archived.error, extra={"game": archived.game})
        elif _is_whole(archived, closed or earlier):
            # of a bus that has gone backwards unnoticed the game may be under way again: then its head is another
            if not self.release(archived.game, archived.hash):
                logger.warning("the bus has lost the end of a record that is archived", extra={"game": archived.game})
                return
            logger.debug("%s archived %d lines", agent, archived.lines, extra={"game": archived.game})
        else:
            logger.warning(
                "%s says it has archived %d lines, but its last seal is not the record's; this is not counted",
                agent,
                archived.lines,
                extra={"game": archived.game},
            )


def _is_whole(archived: Archived, closed: GameClosed | None) -> bool:
    return closed is not None and (archived.lines, archived.hash) == (closed.lines, closed.hash)
