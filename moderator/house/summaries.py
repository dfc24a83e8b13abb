"""`Abridging`: keeps the ``games`` stream of a session that goes on for ever as short as what is still open in it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final

from moderator.house.housekeeping import NEWS_AT_LEAST, Chore, Trim
from moderator.house.session import Session
from wolfbus.bus import streams
from wolfbus.bus.ids import parse_id
from wolfbus.messages.base import Part
from wolfbus.printable import counted

logger = logging.getLogger(__name__)

NEWS_AT_MOST: Final = 20 * NEWS_AT_LEAST
"""Entries of a session that cannot be cut from which on that is worth a warning, and every time they have doubled."""


class Abridging:
    """Sums up what is over, and then has it cut away; the sums are on the stream before anything goes.

    Args:
        house: the house's name.
        session: its news.
        announce: puts news on the stream.
        do: has chores done.
        least: entries of the session that always stay.
    """

    def __init__(
        self,
        house: str,
        session: Session,
        announce: Callable[[Part], None],
        do: Callable[[Sequence[Chore]], None],
        least: int = NEWS_AT_LEAST,
    ) -> None:
        self._stream = streams.games(house)
        self._session = session
        self._announce = announce
        self._do = do
        self._least = least
        self._asked = "0-0"
        self._cut = "0-0"
        self._warn_from = NEWS_AT_MOST

    def look(self) -> None:
        """Do what can be done now, by what was read of the stream."""
        session = self._session
        told = session.so_far
        if told is not None and parse_id(told.before) > parse_id(self._cut):
            self._cut = told.before
            session.cut_at(told.before)
            self._do([Trim(self._stream, told.before)])
        if not session.running or session.news <= self._least:
            return
        sums = session.sum_up(max(self._least // 4, 1))
        if sums is not None and parse_id(sums.before) > parse_id(self._asked):
            # said again at most once for every entry: what was lost on its way is not waited for
            self._asked = sums.before
            self._announce(sums)
        elif session.news > self._warn_from:
            self._warn_from = 2 * session.news
            waiting = counted(len(session.closed), "record")
            logger.warning("the games stream has grown to %d entries: %s not archived yet", session.news, waiting)
