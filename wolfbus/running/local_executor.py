"""`LocalExecutor`: a study's games, played by this very process."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from wolfbus.errors import WolfError
from wolfbus.running.agenda_worker import AgendaWorker, WorkerSettings
from wolfbus.running.brains import calls_of, spent_of
from wolfbus.service.lifecycle import Stopping
from wolfbus.study.agenda import LocalAgenda
from wolfbus.study.journal import CallsSoFar, Spent
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import Halt, StudyNews

if TYPE_CHECKING:
    from players.spec import BrainContext

logger = logging.getLogger(__name__)


class LocalExecutor:
    """Plays the games of a study in a thread of this process; a `StudyExecutor`.

    Args:
        settings: how.
        brain_context: what the brains of this process share, and what is spent so far; None for a fresh one.
        news: takes all that happens.

    Raises:
        WolfError: the bus cannot be used.
    """

    def __init__(
        self, settings: WorkerSettings, brain_context: BrainContext | None, news: queue.Queue[StudyNews]
    ) -> None:
        self._brain_context = brain_context
        self._news = news
        self._agenda = LocalAgenda(news.put)
        self._worker = AgendaWorker(self._agenda, settings, brain_context)
        self._stopping = Stopping()
        self._thread = threading.Thread(target=self._play, name="player")
        self._thread.start()

    @property
    def spent(self) -> Spent | None:
        """What is spent of the study's budget; None where there is none."""
        return None if self._brain_context is None else spent_of(self._brain_context.spent)

    @property
    def under_way(self) -> int:
        """How many games are under way."""
        return self._agenda.under_way

    @property
    def calls(self) -> CallsSoFar:
        """What the model calls of this process took."""
        return calls_of(self._brain_context)

    @property
    def playing(self) -> int:
        """How many games are under way."""
        return self._agenda.under_way

    def drain(self) -> bool:
        """Have no more games begun; returns whether those under way are to be waited for, as they are."""
        self._agenda.withdraw()
        return True

    def submit(self, games: Iterable[PlannedGame]) -> None:
        """Have games played."""
        self._agenda.post(games)
        self._worker.wake()

    def cancel(self, reason: str) -> None:
        """Break off all games; nothing more is begun."""
        self._agenda.close()
        self._stopping.ask(reason)
        self._worker.wake()

    def close(self, *, hasty: bool) -> None:
        """Wait until all that is under way is over; in haste, end it now, without waiting for the bus."""
        self._agenda.close()
        if hasty:
            self._stopping.ask("the study ends")
        self._worker.wake()
        self._thread.join()

    def _play(self) -> None:
        try:
            halt = self._worker.play(self._stopping)
        except Exception as error:
            halt = Halt(f"the games cannot be played: {error}")
            if not isinstance(error, WolfError):
                logger.exception("playing failed")
        if halt is not None:
            self._news.put(halt)
