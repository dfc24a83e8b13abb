"""`SessionNews`: which games belong to the session whose records are kept, as the ``games`` stream tells it."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Sequence
from pathlib import Path

from wolfbus.bus.protocol import Entry
from wolfbus.errors import MessageError
from wolfbus.messages.codec import HOUSE_NEWS, unpack, validate
from wolfbus.messages.house import GameOpened, HouseClosed, HouseOpened, News

logger = logging.getLogger(__name__)


class SessionNews:
    """Follows one session: the first that is none of `past`.

    Args:
        past: names of sessions that are no concern of ours.

    Attributes:
        session: the session's name, "" until it has begun.
        closed: how it closed, None while it runs.
        another: name of a session that began before this one closed, "" for none: the bus has lost the end of ours.
    """

    def __init__(self, past: Collection[str] = ()) -> None:
        self.session = ""
        self.closed: HouseClosed | None = None
        self.another = ""
        self._past = frozenset(past)
        self._ours = False
        self._announced: set[str] = set()

    def feed(self, entry: Entry) -> News | None:
        """Take in one entry of the stream and return its news, if they are of this session; repeats are harmless."""
        news = read_news(entry)
        if news is None:
            return None
        if isinstance(news, HouseOpened):
            self._begin(news.session)
        elif isinstance(news, HouseClosed):
            if not self._ours or news.session != self.session:
                return None
            self.closed = news
        elif isinstance(news, GameOpened) and self._ours:
            self._announced.add(news.game)
        return news if self._ours else None

    def start_again(self) -> None:
        """Take note that the stream is read anew, from its beginning, since it has lost something."""
        self._ours = False
        self._announced.clear()

    def stands(self, game: str) -> bool:
        """Return whether the stream, as last read, holds the opening of a game."""
        return game in self._announced

    def _begin(self, session: str) -> None:
        if self.session and session != self.session and self.closed is None:
            self.another = session
        self._ours = session == self.session if self.session else session not in self._past
        if self._ours:
            self.session = session


def past_sessions(entries: Sequence[Entry], folder: Path, finished: str) -> list[str]:
    """Return the sessions on the stream that need no analytics any more.

    That is all but the last one; and that one too if it has closed, unless records of it are in `folder` and its
    results are not: then analytics was killed on its last yards.

    Args:
        entries: the whole ``games`` stream.
        folder: where records and results are kept.
        finished: the session whose results are in `folder`, "" for none.
    """
    games: dict[str, list[str]] = {}
    last, closed = "", False
    for entry in entries:
        news = read_news(entry)
        if isinstance(news, HouseOpened):
            last, closed = news.session, False
            games[last] = []
        elif isinstance(news, HouseClosed):
            closed = closed or news.session == last
        elif isinstance(news, GameOpened) and last:
            games[last].append(news.game)
    if last and (not closed or (last != finished and _has_records(folder, games[last]))):
        del games[last]
    return list(games)


def read_news(entry: Entry) -> News | None:
    """Return what an entry of the ``games`` stream says; None, and a line in the log, if it cannot be read."""
    try:
        return validate(HOUSE_NEWS, unpack(entry.body))
    except MessageError as error:
        logger.warning("entry %s of the games stream cannot be read: %s", entry.id, error)
        return None


def _has_records(folder: Path, games: Sequence[str]) -> bool:
    return any(os.path.lexists(folder / f"{game}.ndjson") for game in games)
