"""`SessionNews`: which games belong to the session whose records are kept, as the ``games`` stream tells it."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from wolfbus.bus.protocol import Entry
from wolfbus.bus.streams import parse_id
from wolfbus.messages.house import GameOpened, HouseClosed, HouseOpened, News, SessionSoFar
from wolfbus.service.session import Session

logger = logging.getLogger(__name__)


class SessionNews:
    """Follows one session: the first that is none of `past`.

    Args:
        past: names of sessions that are no concern of ours.

    Attributes:
        session: the session's name, "" until it has begun.
        closed: how it closed, None while it runs.
        next_session: a session that began before this one closed, "" for none: the bus has lost the end of ours.
    """

    def __init__(self, past: Collection[str]) -> None:
        self.session = ""
        self.closed: HouseClosed | None = None
        self.next_session = ""
        self._past = frozenset(past)
        self._announced: dict[str, str] = {}
        self.start_again()

    def start_again(self) -> None:
        """Expect the stream from its beginning: at first, and anew when it has lost something."""
        self._fold = Session()
        self._name = ""
        self._pending: list[tuple[str, News]] = []
        self._announced.clear()
        # what the bus has lost does not count any more; what is still there comes again
        self.closed = None

    def feed(self, entry: Entry) -> list[News]:
        """Process one entry of the stream; return what is now known to be news of this session, in order.

        Where the stream was cut, what comes first is of a session whose name comes only further on. Repeats are
        harmless.
        """
        news = self._fold.feed(entry)
        if news is None:
            logger.warning("entry %s of the games stream cannot be read", entry.id)
            return []
        self._pending.append((entry.id, news))
        if not self._fold.name:
            return []
        if self._fold.name != self._name:
            if isinstance(news, HouseOpened):
                # what came before it was of a session of which nothing else is left
                del self._pending[:-1]
            self._name = self._fold.name
            self._enter(self._name)
        pending, self._pending = self._pending, []
        return [news for id_, news in pending if self._name == self.session and self._is_ours(id_, news)]

    def settled(self, summary: SessionSoFar, game: str, number: int) -> bool:
        """Return whether a game is among those that are summed up, and will not be asked about any more."""
        id_ = self._announced.get(game)
        return number <= summary.games if id_ is None else parse_id(id_) < parse_id(summary.before)

    def has_opening(self, game: str) -> bool:
        """Return whether the stream, as last read, holds the opening of a game."""
        return game in self._announced

    def _is_ours(self, id_: str, news: News) -> bool:
        if isinstance(news, HouseClosed):
            if news.session != self.session:
                return False
            self.closed = news
        elif isinstance(news, GameOpened):
            self._announced.setdefault(news.game, id_)
        return True

    def _enter(self, session: str) -> None:
        if self.session and session != self.session and self.closed is None:
            self.next_session = session
        if not self.session and session not in self._past:
            self.session = session


def past_sessions(entries: Iterable[Entry], folder: Path, finished: str) -> list[str]:
    """Return the sessions on the stream that need no analytics any more.

    That is all but the last one; and that one too if it has closed, unless records of it are in `folder` and its
    results are not: then analytics was killed on its last yards.

    Args:
        entries: the whole ``games`` stream.
        folder: where records and results are kept.
        finished: the session whose results are in `folder`, "" for none.
    """
    fold = Session()
    sessions: dict[str, None] = {}
    games: list[str] = []
    for entry in entries:
        news = fold.feed(entry)
        if isinstance(news, HouseOpened):
            games.clear()
        elif isinstance(news, GameOpened):
            games.append(news.game)
        if fold.name:
            sessions[fold.name] = None
    if fold.name and (fold.running or (fold.name != finished and _has_records(folder, games))):
        del sessions[fold.name]
    return list(sessions)


def _has_records(folder: Path, games: Sequence[str]) -> bool:
    return any(os.path.lexists(folder / f"{game}.ndjson") for game in games)
