"""`AgendaPlayer`: takes games from an agenda and plays them in a house of this process; the same for any agenda."""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from wolfbus.cli.studying.playing import Broken, Done, Halt, Playing, Word
from wolfbus.cli.studying.reading import failed
from wolfbus.study.agenda import StudyAgenda, Taken
from wolfbus.study.plan import PlannedGame

if TYPE_CHECKING:
    from wolfbus.service.stop import Stopping

logger = logging.getLogger(__name__)

DEATHS: Final = 3
"""Players that may die under a game before it counts as failed."""

_GLANCE_S: Final = 0.1
_HOLDS: Final = 3
"""How often a player says that it lives in the time after which it counts as dead."""
_BREAK_S: Final = 5.0

BeginPlaying: TypeAlias = Callable[[Callable[[Word | None], None]], Playing]
"""Opens the house, told where to tell what happens."""


class AgendaPlayer:
    """Plays what it takes from an agenda, and tells what came of it.

    Args:
        agenda: where games are.
        planned: returns a game that was taken, by its number.
        at_once: games under way at a time, > 0.
        begin: opens the house in which they are played.
        forget: has the bus forget a game (house, id) that nobody wants from it.
        lease_s: seconds after which the agenda takes a silent player for dead, > 0.
    """

    def __init__(
        self,
        agenda: StudyAgenda,
        planned: Callable[[int], PlannedGame],
        at_once: int,
        begin: BeginPlaying,
        forget: Callable[[str, str], object] = lambda _house, _game: None,
        lease_s: float = 15.0,
    ) -> None:
        self._agenda = agenda
        self._planned = planned
        self._at_once = at_once
        self._forget = forget
        self._every_s = lease_s / _HOLDS
        self._held: dict[int, tuple[Taken, PlannedGame]] = {}
        self._words: queue.SimpleQueue[Word | None] = queue.SimpleQueue()
        self._halt: Halt | None = None
        self._playing = begin(self._words.put)
        self._house = self._playing.house

    def wake(self) -> None:
        """Have a look at the agenda now; any thread may call it."""
        self._words.put(None)

    def play(self, stopping: Stopping) -> Halt | None:
        """Play until the agenda is closed, somebody asks to stop, or no more can be played.

        Returns:
            Why no more can be played; None otherwise.
        """
        hold_at = time.monotonic()
        hasty = True
        try:
            while not stopping.asked and self._halt is None:
                if not self._held and not self._agenda.is_open:
                    break
                if time.monotonic() >= hold_at:
                    self._agenda.hold(self._house, [taken.entry for taken, _ in self._held.values()])
                    hold_at = time.monotonic() + self._every_s
                self._take()
                self._hear(_GLANCE_S)
            self._break_off(self._halt.why if self._halt is not None else stopping.why)
            hasty = self._halt is not None or bool(self._held)
        finally:
            self._playing.close(hasty=hasty)
        return self._halt

    def _take(self) -> None:
        room = self._at_once - len(self._held)
        for taken in self._agenda.take(self._house, room) if room else ():
            if taken.number in self._held:
                # silent for so long that it was thought dead, and quick enough to take it again
                continue
            game = self._planned(taken.number)
            if taken.house not in {"", self._house}:
                self._forget(taken.house, game.game)
            if taken.times >= DEATHS:
                error = f"{DEATHS} workers died while they played it"
                self._agenda.finish(taken, self._house, failed(game, error, 0.0))
                continue
            self._held[taken.number] = taken, game
            self._playing.play(game)

    def _hear(self, patience_s: float) -> None:
        """Take in what has happened; wait a moment for something."""
        try:
            word = self._words.get(timeout=patience_s)
            while True:
                self._take_in(word)
                word = self._words.get_nowait()
        except queue.Empty:
            return

    def _take_in(self, word: Word | None) -> None:
        if isinstance(word, Done):
            taken, game = self._held.pop(word.result.number)
            if not self._agenda.finish(taken, self._house, word.result):
                logger.info("another worker was first", extra={"game": game.game})
                self._forget(self._house, game.game)
        elif isinstance(word, Broken):
            taken, game = self._held.pop(word.number)
            self._forget(self._house, game.game)
            self._agenda.give_back(self._house, taken.entry)
        elif word is not None:
            self._halt = self._halt or word

    def _break_off(self, reason: str) -> None:
        """Give back what is under way."""
        if self._held:
            self._playing.end(reason)
        until = time.monotonic() + _BREAK_S
        while self._held and time.monotonic() < until:
            self._hear(_GLANCE_S)
