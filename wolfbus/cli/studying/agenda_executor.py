"""A study's games, played by the workers of an agenda on a Redis, in any number of processes on any machine."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wolfbus.bus import open_bus
from wolfbus.cli.studying.results import fetch_result
from wolfbus.errors import BusError, WolfError
from wolfbus.printable import error_in_words
from wolfbus.service.lifecycle import drain
from wolfbus.study.agenda import FinishedGame
from wolfbus.study.journal import Spent
from wolfbus.study.plan import PlannedGame
from wolfbus.study.redis_agenda import RedisAgenda
from wolfbus.study.scheduler import KEPT_S, Halt, StudyNews

if TYPE_CHECKING:
    from players.llm.budget import Amount
    from players.llm.redis_budget import RedisBudget
    from wolfbus.cli.studying.loading import LoadedStudy

_POLL_S: Final = 0.2


class AgendaExecutor:
    """Puts games on the agenda and collects what its workers make of them; a `StudyExecutor`.

    A run that is killed leaves the agenda to its workers, and to the run that resumes.

    Args:
        url: the bus; a Redis.
        name: the agenda's name.
        study: what is played.
        folder: the study's.
        before: what was spent before of the study's budget.
        news: takes all that happens.

    Raises:
        ConfigError: the agenda is another study's.
        BusError: the bus cannot be reached.
    """

    def __init__(
        self,
        url: str,
        name: str,
        study: LoadedStudy,
        folder: Path,
        before: Amount,
        news: queue.SimpleQueue[StudyNews],
    ) -> None:
        self._folder = folder
        self._config = study.config
        self._news = news
        self._requested: dict[int, PlannedGame] = {}
        self._unposted: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._budget: RedisBudget | None = None
        self._spent = before
        with contextlib.ExitStack() as stack:
            self._bus = stack.enter_context(contextlib.closing(open_bus(url)))
            self._agenda = stack.enter_context(contextlib.closing(RedisAgenda(url, name)))
            settings = study.settings
            self._agenda.open(study.plan().study, study.text(), budget=settings.has_budget)
            if settings.has_budget:
                from players.llm.redis_budget import RedisBudget

                budget = RedisBudget(url, name, settings.budget, settings.budget_tokens)
                self._budget = stack.enter_context(contextlib.closing(budget))
                self._spent = self._budget.open(before)
            self._stack = stack.pop_all()
        self._thread = threading.Thread(target=self._run, name="agenda", daemon=True)
        self._thread.start()

    @property
    def spent(self) -> Spent | None:
        """What workers have spent of the study's budget; None where there is none."""
        amount = self._spent
        return None if self._budget is None else Spent(spent_usd=float(amount.usd), spent_tokens=amount.tokens)

    @property
    def under_way(self) -> int:
        """None that would have to be broken off."""
        return 0

    def submit(self, games: Iterable[PlannedGame]) -> None:
        """Have games put on the agenda."""
        for game in games:
            self._requested[game.number] = game
            self._unposted.put(game.number)

    def cancel(self, reason: str) -> None:  # noqa: ARG002 - whoever resumes finds all on the agenda
        """Leave all games on the agenda, to the run that resumes."""
        self._ended.set()

    def close(self, *, hasty: bool) -> None:
        """Remove the agenda, so that its workers end; in haste, leave it to the run that resumes."""
        self._ended.set()
        self._thread.join()
        with self._stack:
            if self._budget is not None:
                with contextlib.suppress(BusError):
                    self._spent, _ = self._budget.look()
            if not hasty:
                self._agenda.remove()
                if self._budget is not None:
                    self._budget.remove()

    def _run(self) -> None:
        try:
            self._poll()
        except (WolfError, OSError) as error:
            self._news.put(Halt(str(error)))
        except Exception as error:
            self._news.put(Halt(f"what was played cannot be taken in: {error_in_words(error)}"))
            raise

    def _poll(self) -> None:
        """Post games and collect results until the run ends, the budget is spent or the agenda is gone."""
        after = "0-0"
        results: dict[int, FinishedGame] = {}
        while not self._ended.wait(_POLL_S):
            self._agenda.post(drain(self._unposted, 0.0))
            for entry, finished in self._agenda.results(after):
                after, results[finished.number] = entry, finished
            # an earlier run may have put games on the agenda that this one has not requested yet
            for number in [number for number in results if number in self._requested]:
                self._collect(results.pop(number))
                if self._ended.is_set():
                    return
            if self._budget is not None:
                self._spent, refusal = self._budget.look()
                if refusal is not None:
                    self._news.put(Halt(refusal, budget=True))
                    return
            if not self._agenda.is_open:
                raise BusError("the agenda is gone: its Redis has lost its data, or somebody has removed it")

    def _collect(self, finished: FinishedGame) -> None:
        """Collect a game's record and report its result."""
        planned = self._requested.pop(finished.number)
        result = fetch_result(self._bus, planned, finished, self._folder, self._config)
        self._bus.expire(finished.house, planned.game, KEPT_S)
        self._news.put(result)
