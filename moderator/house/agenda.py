"""`Agenda`: games that are asked of a moderator one by one, each with its id, its seed and the brains of its seats; in
place of a number of games whose seats go to whoever is there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass

from wolfbus.messages.base import GameId
from wolfbus.messages.events import Opened
from wolfbus.record.writer import RecordFile


@dataclass(frozen=True, slots=True)
class AgendaItem:
    """A game that is asked for.

    Attributes:
        game: its id.
        seed: its seed.
        brains: what is to play each seat, in seating order, as `Roster.brain` names agents; None
            seats whoever has joined.
        opened: its opening event, where agents of the moderator's own process play it; None where
            its seats are for agents that have joined.
        file: NDJSON record to write beside that on the bus; None for none.
    """

    game: GameId
    seed: str
    brains: tuple[str, ...] | None
    opened: Opened | None = None
    file: RecordFile | None = None


class Agenda:
    """The games that are asked for and not over, in the order in which they were asked for. Any thread may call it.

    Args:
        session: name of the session to open, where none of `ours` goes on.
        ours: names of sessions that were opened for these games before.
        kept: tells whether a game's record is safe, so that the bus may forget it.
        waits: told what is waited for, in one line, now and then.
        agents: names of agents of the moderator's own process: they play without having joined.

    Attributes:
        changed: called whenever something is to be done at once; by the moderator's host, once
            there is one.
    """

    def __init__(
        self,
        session: str,
        ours: Collection[str],
        kept: Callable[[str], bool],
        waits: Callable[[str], None],
        agents: Collection[str] = (),
    ) -> None:
        self.session = session
        self.kept = kept
        self.waits = waits
        self.agents = frozenset(agents)
        self.changed: Callable[[], None] = lambda: None
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
        self.changed()

    def close(self) -> None:
        """Ask for no more; the house closes once all that was asked for is over."""
        with self._lock:
            self._closed = True
        self.changed()

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
