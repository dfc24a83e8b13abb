"""`SharedPlayers`: a study's games, put on an agenda on Redis for processes on any machine to play.

What was played is on the bus until it is in the study's folder. So a run that is killed leaves the agenda and its
workers to the run that resumes.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wolfbus.bus import open_bus
from wolfbus.cli.studying.news import KEPT_S, Done, Halt, StudyNews
from wolfbus.cli.studying.reading import PlayedElsewhere, bring_home
from wolfbus.errors import BusError, WolfError
from wolfbus.study.plan import PlannedGame
from wolfbus.study.shared_agenda import Finished, SharedAgenda

if TYPE_CHECKING:
    from players.llm.budget import Amount
    from players.llm.redis_budget import RedisBudget
    from wolfbus.cli.studying.loading import LoadedStudy

_LOOK_S: Final = 0.2


class SharedPlayers:
    """Hands games to whoever takes them from the agenda; a `StudyPlayers`.

    Args:
        url: the bus; a Redis.
        name: the agenda's name.
        study: what is played.
        folder: the study's.
        before: what was spent before of the study's budget.
        news: where all that happens is told.

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
        self._asked: dict[int, PlannedGame] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._bus = open_bus(url)
        self._agenda = SharedAgenda(url, name)
        self._budget: RedisBudget | None = None
        self._spent = before
        try:
            usd, tokens = study.settings.budget, study.settings.budget_tokens
            has_budget = usd is not None or tokens is not None
            self._agenda.open(study.plan().study, study.text(), budget=has_budget)
            if has_budget:
                from players.llm.redis_budget import RedisBudget

                self._budget = RedisBudget(url, name, usd, tokens)
                self._spent = self._budget.open(before).spent
        except BaseException:
            self._hang_up()
            raise
        self._thread = threading.Thread(target=self._run, name="agenda", daemon=True)
        self._thread.start()

    @property
    def spent(self) -> Amount:
        """What workers have spent of the study's budget."""
        return self._spent

    @property
    def under_way(self) -> int:
        """None that would have to be broken off."""
        return 0

    def post(self, games: Iterable[PlannedGame]) -> None:
        """Put games on the agenda; raises BusError."""
        asked = {game.number: game for game in games}
        with self._lock:
            self._asked |= asked
        self._agenda.post(asked)

    def end(self, reason: str) -> None:  # noqa: ARG002 - whoever resumes finds all on the agenda
        """Leave all games on the agenda, to the run that resumes."""
        self._ended.set()
        with self._lock:
            self._asked.clear()

    def close(self, *, hasty: bool) -> None:
        """Remove the agenda, so that its workers end; in haste, leave it to the run that resumes."""
        self._ended.set()
        self._thread.join()
        try:
            if self._budget is not None:
                with contextlib.suppress(BusError):
                    self._spent = self._budget.look().spent
            if not hasty:
                self._agenda.remove()
                if self._budget is not None:
                    self._budget.remove()
        finally:
            self._hang_up()

    def _hang_up(self) -> None:
        if self._budget is not None:
            self._budget.close()
        self._agenda.close()
        self._bus.close()

    def _run(self) -> None:
        try:
            self._look()
        except (WolfError, OSError) as error:
            self._news.put(Halt(" ".join(str(error).split())))
        except Exception as error:
            self._news.put(Halt(f"what was played cannot be taken in: {type(error).__name__}: {error}"))
            raise

    def _look(self) -> None:
        after = "0-0"
        while not self._ended.wait(_LOOK_S):
            for entry, finished in self._agenda.results(after):
                after = entry
                if not self._put_by(finished):
                    break
            if self._budget is not None:
                verdict = self._budget.look()
                self._spent = verdict.spent
                if verdict.why is not None:
                    self._news.put(Halt(verdict.why, budget=True))
                    return
            if not self._agenda.is_open:
                raise BusError("the agenda is gone: its Redis has lost its data, or somebody has removed it")

    def _put_by(self, finished: Finished) -> bool:
        """Bring a game's record home and report it; returns whether there is more to do."""
        with self._lock:
            planned = self._asked.get(finished.number)
        if planned is None:
            return not self._ended.is_set()
        played = PlayedElsewhere(planned, finished.house, finished.error, finished.seconds)
        result = bring_home(self._bus, played, self._folder, self._config)
        with self._lock:
            told = self._asked.pop(finished.number, None) is not None
        if told:
            self._bus.expire(finished.house, planned.game, KEPT_S)
            self._news.put(Done(result))
        return not self._ended.is_set()
