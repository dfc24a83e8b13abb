"""`Agenda`: games that are asked of a moderator one by one, each with its id, its seed and the brains of its seats; in
place of a number of games whose seats go to whoever is there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass

from wolfbus.messages.base import GameId


@dataclass(frozen=True, slots=True)
class AgendaItem:
    """A game that is asked for.

    Attributes:
        game: its id.
        seed: its seed.
        brains: what is to play each seat, in seating order, as `Roster.brain` names agents; None
            seats whoever has joined.
    """

    game: GameId
    seed: str
    brains: tuple[str, ...] | None


class Agenda:
    """The games that are asked for and not over, in the order in which they were asked for. Any thread may call it.

    Args:
        session: name of the session to open, where none of `ours` goes on.
        ours: names of sessions that were opened for these games before.
        kept: tells whether a game's record is safe, so that the bus may forget it.
        waits: told what is waited for, in one line, now and then.
    """

    def __init__(
        self, session: str, ours: Collection[str], kept: Callable[[str], bool], waits: Callable[[str], None]
    ) -> None:
        self.session = session
        self.kept = kept
        self.waits = waits
        self._ours = {session, *ours}
        self._items: dict[str, AgendaItem] = {}
        self._closed = False
        self._lock = threading.Lock()

    def is_ours(self, session: str) -> bool:
        """Return whether a session was opened for these games."""
        return session in self._ours

    def ask(self, item: AgendaItem) -> None:
        """Ask for one more game."""
        with self._lock:
            self._items[item.game] = item

    def close(self) -> None:
        """Ask for no more; the house closes once all that was asked for is over."""
        with self._lock:
            self._closed = True

    def strike(self, game: str) -> None:
        """Take note that a game is over, however it went."""
        with self._lock:
            self._items.pop(game, None)

    @property
    def over(self) -> bool:
        """Whether everything is played, and nothing more will be asked for."""
        with self._lock:
            return self._closed and not self._items

    def next(self, is_begun: Callable[[str], bool]) -> AgendaItem | None:
        """Return the first game that is not begun; None if all are."""
        with self._lock:
            return next((item for game, item in self._items.items() if not is_begun(game)), None)
