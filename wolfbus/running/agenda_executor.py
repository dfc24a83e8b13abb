"""A study's games, played by the workers of an agenda on a Redis, in any number of processes on any machine."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wolfbus.bus import open_bus
from wolfbus.errors import BusError, WolfError, reason_of
from wolfbus.files.printable import counted, error_in_words
from wolfbus.running.brains import open_shared_budget, spent_of
from wolfbus.running.results import failed_result, fetch_record
from wolfbus.service.lifecycle import Stopping, drain
from wolfbus.service.outage import AWAY, OutageNotice
from wolfbus.study.agenda import AGENDA_GONE, FinishedGame
from wolfbus.study.folder import ASIDE, set_aside
from wolfbus.study.journal import GameResult, Spent
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import KEPT_S, Halt, StudyExecutor, StudyNews

if TYPE_CHECKING:
    from players.llm.budget import Amount
    from wolfbus.running.loading import LoadedStudy

logger = logging.getLogger(__name__)

_POLL_S: Final = 0.2
_CHECK_S: Final = 2.0
"""Seconds between two looks at who plays, and at what the agenda still has."""
_ALONE_S: Final = 30.0
"""Longest time without a worker until that is told, and told again."""
_JOIN_S: Final = 5.0
"""Longest time that a question to the bus may still take when nobody waits for its answer."""
_TRIES: Final = 3
"""Results of a game that may turn out not to hold before it counts as failed."""
_NOTED: Final = 20
"""Lines of what else came over the agenda that are shown; a file has more."""
_NOTED_IN_FILE: Final = 1000

NOTES: Final = Path(ASIDE, "agenda.txt")
"""In the study's folder: what came over the agenda and does not count, a line each."""


class AgendaExecutor(StudyExecutor):
    """Puts games on the agenda and collects what its workers make of them, whose calls are their own.

    Nothing that comes from there is believed: each record is re-executed before its game counts, and what does not hold
    is set aside, and its game played again. A run that is killed leaves the agenda to its workers, and to the run that
    resumes.

    A Redis that is away, or takes no writes, is waited for as long as it takes; one that has lost the agenda, or games
    of it, is told them again. Neither holds where all of it is this run's own server: without that no game is played.

    Args:
        url: the bus; a Redis.
        name: the agenda's name.
        study: what is played.
        folder: the study's.
        before: what was spent before of the study's budget.
        news: takes all that happens.
        say: called with what came over the agenda beside results, in one line, from another thread; None to log it.
        collect: returns the result of a game that a worker of our own has finished, who is believed; None to fetch its
            record from the bus, and to believe what follows from it.
        lease_s: seconds after which what a silent worker holds is taken by another; None for the usual.

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
        news: queue.Queue[StudyNews],
        say: Callable[[str], None] | None = None,
        *,
        collect: Callable[[PlannedGame, FinishedGame], GameResult] | None = None,
        lease_s: float | None = None,
    ) -> None:
        # a run of one process has no agenda on a Redis
        from wolfbus.bus.redis.pool import warn_of_eviction
        from wolfbus.study.redis_agenda import RedisAgenda

        self._collect_result: Callable[[PlannedGame, FinishedGame], GameResult | None] = collect or self._fetch
        self._folder = folder
        self._config = study.config
        self._news = news
        self._say = say or logger.warning
        self._notes = 0
        self._refuted: Counter[int] = Counter()
        self._collected: set[int] = set()
        self._last = study.settings.games
        self._requested: dict[int, PlannedGame] = {}
        self._unposted: queue.Queue[int] = queue.Queue()
        self._posted: set[int] = set()
        self._posting = threading.Lock()
        self._is_shared = collect is None
        self._notice = OutageNotice(self._say)
        self._next_check = self._alone_since = 0.0
        self._workers = 0
        self._is_withdrawn = False
        self._goes_on = False
        self._after = "0-0"
        self._uncollected: list[tuple[str, FinishedGame]] = []
        self._ended = threading.Event()
        self._spent = before
        with contextlib.ExitStack() as stack:
            self._bus = stack.enter_context(contextlib.closing(open_bus(url)))
            if self._is_shared:
                warn_of_eviction(url)
            self._agenda = stack.enter_context(contextlib.closing(RedisAgenda(url, name, lease_s)))
            self._study = study
            settings = study.settings
            limits = settings.budget, settings.budget_tokens
            self._budget = stack.enter_context(open_shared_budget(url, name, *limits))
            self._open()
            if lease_s is not None:
                self._agenda.agree_lease()
            self._stack = stack.pop_all()
        self._thread = threading.Thread(target=self._run, name="agenda", daemon=True)
        self._thread.start()

    def _open(self) -> None:
        """Put the study on the agenda, and its budget beside it; raises as the class does."""
        study = self._study
        for note in self._agenda.open(
            study.plan().study, study.text(addresses=False), budget=study.settings.has_budget
        ):
            self._note(note)
        if self._budget is not None:
            self._spent = self._budget.open(self._spent)

    @property
    def spent(self) -> Spent | None:
        """What workers have spent of the study's budget; None where there is none."""
        return None if self._budget is None else spent_of(self._spent)

    @property
    def under_way(self) -> int:
        """None that would have to be broken off."""
        return 0

    @property
    def playing(self) -> int:
        """How many games workers hold; raises BusError."""
        return self._agenda.under_way

    def withdraw(self) -> None:
        """Take games off the agenda that no worker has begun; raises BusError."""
        with self._posting:
            self._is_withdrawn = True
            self._agenda.withdraw()

    def submit(self, games: Iterable[PlannedGame]) -> None:
        """Have games put on the agenda."""
        for game in games:
            self._requested[game.number] = game
            self._unposted.put(game.number)

    def cancel(self, reason: str) -> None:  # noqa: ARG002 - whoever resumes finds all on the agenda
        """Leave all games on the agenda, to the run that resumes."""
        self._ended.set()

    def close(self, *, hasty: bool) -> None:
        """Remove the agenda, so that its workers end, as soon as its Redis takes writes; in haste, leave it to the run
        that resumes.
        """
        self._ended.set()
        if hasty:
            # a bus that is away is not waited for
            self._thread.join(_POLL_S)
            self._agenda.close()
            self._bus.close()
        self._thread.join(_JOIN_S if hasty else None)
        with self._stack:
            if hasty:
                with contextlib.suppress(BusError):
                    self._look_at_budget()
            elif not self._is_shared:
                # with this run's own server all of it is gone
                with contextlib.suppress(BusError):
                    self._remove()
            else:
                with Stopping() as stopping:
                    self._notice.wait_for(self._remove, stopping)
                    if stopping.requested:
                        self._say("the agenda stays on its Redis, and its workers wait: all is played, nothing is lost")

    def _remove(self) -> None:
        """Take in what came last, and remove agenda and budget; may be repeated."""
        self._look_at_budget()
        self.look()
        self._agenda.remove(goes_on=self._goes_on)
        if self._budget is not None:
            self._budget.remove()

    def _look_at_budget(self) -> str | None:
        """Ask what is spent, and open the budget again where its Redis has lost it.

        Returns:
            Why no more may be spent; None while more may.
        """
        if self._budget is None:
            return None
        state = self._budget.look()
        if state is None:
            self._spent = self._budget.open(self._spent)
            return None
        self._spent, refusal = state
        return refusal

    def _run(self) -> None:
        try:
            self._poll()
        except OSError as error:
            self._halt(f"{error.filename or self._folder}: {reason_of(error)}")
        except WolfError as error:
            self._halt(str(error))
        except Exception as error:
            self._news.put(Halt(f"what was played cannot be taken in: {error_in_words(error)}"))
            raise

    def _halt(self, why: str) -> None:
        # whoever ends this closes what it asks
        if not self._ended.is_set():
            self._news.put(Halt(why))

    def _poll(self) -> None:
        """Post games and collect results until the run ends or the budget is spent."""
        while not self._ended.wait(_POLL_S):
            try:
                goes_on = self._step()
                self._notice.back()
            except AWAY as error:
                if not self._is_shared or self._ended.is_set():
                    raise
                self._notice.away(error)
            else:
                if not goes_on:
                    return

    def _step(self) -> bool:
        """Post and collect once; returns whether to go on."""
        with self._posting:
            if not self._is_withdrawn:
                self._post()
        self.look(hasty=True)
        if self._ended.is_set():
            return False
        if (refusal := self._look_at_budget()) is not None:
            self._news.put(Halt(refusal, budget=True))
            return False
        if not self._agenda.is_open:
            if not self._is_shared:
                raise BusError(AGENDA_GONE)
            self._open()
            self._note(f"{AGENDA_GONE}; what is not over is put on it again")
            self._next_check = 0.0
        if self._is_shared and time.monotonic() >= self._next_check:
            self._next_check = time.monotonic() + _CHECK_S
            self._check()
        return True

    def _post(self) -> None:
        numbers = list(drain(self._unposted, 0.0))
        try:
            self._agenda.post(numbers)
        except BusError:
            for number in numbers:
                self._unposted.put(number)
            raise
        self._posted.update(numbers)

    def _check(self) -> None:
        """Put games on the agenda again that it has lost, and tell who plays."""
        outstanding = self._posted - self._collected
        if outstanding and self._agenda.games < len(outstanding):
            uncollected = {finished.number for _, finished in self._uncollected}
            if lost := self._agenda.post_lost(sorted(outstanding - uncollected)):
                logger.info("put on the agenda again: %s", ", ".join(map(str, lost)))
        workers, now = self._agenda.workers, time.monotonic()
        if workers != self._workers:
            self._workers = workers
            self._say(f"{counted(workers, 'worker')} on the agenda")
        if workers or not outstanding:
            self._alone_since = 0.0
        elif not self._alone_since:
            self._alone_since = now
        elif now - self._alone_since >= _ALONE_S:
            self._alone_since = now
            self._say(f"no worker for {_ALONE_S:g} s: {counted(len(outstanding), 'game')} wait for one")

    def look(self, *, hasty: bool = False) -> None:
        """Report the results of games that workers have finished since the last look; in haste, not all of them."""
        for entry, message in self._agenda.results(self._after):
            self._after = entry
            if (fault := self._fault_of(message)) is not None:
                self._note(fault)
                self._agenda.discard(entry)
            elif isinstance(message, FinishedGame):
                self._uncollected.append((entry, message))
        for entry, finished in tuple(self._uncollected):
            planned = self._requested.get(finished.number)
            # an earlier run may have put games on the agenda that this one has not requested yet
            if planned is None or (hasty and self._ended.is_set()):
                continue
            result = self._collect_result(planned, finished)
            if result is not None:
                del self._requested[finished.number]
                self._collected.add(finished.number)
                self._news.put(result)
            self._uncollected.remove((entry, finished))
            self._agenda.discard(entry)

    def _fault_of(self, message: FinishedGame | str) -> str | None:
        """Return what is to be told of what came over the agenda and is no result to collect; None if it is one."""
        if isinstance(message, str):
            return message
        if message.number > self._last:
            return f"a result of game {message.number} came over the agenda, and the study has {self._last} games"
        if message.number in self._collected:
            return f"a result of game {message.number} came over the agenda that was collected before"
        return None

    def _fetch(self, planned: PlannedGame, finished: FinishedGame) -> GameResult | None:
        """Fetch a game's record from the bus and re-execute it; returns its result, None to have it played again."""
        from moderator.engine.reexecution import Verifier

        result = fetch_record(self._bus, planned, finished.house, self._folder, self._config, Verifier())
        if not isinstance(result, GameResult) and finished.error is not None:
            return self._unfinished(planned, finished, finished.error)
        self._bus.expire(finished.house, planned.game, KEPT_S)
        if isinstance(result, GameResult):
            return result
        self._refuted[finished.number] += 1
        set_aside(self._folder / planned.record)
        self._note(f"game {planned.game}: what worker {finished.house} played does not hold: {result}")
        if self._refuted[finished.number] < _TRIES:
            self._agenda.put_back(finished.number)
            return None
        return failed_result(planned, f"{_TRIES} records of it did not hold, the last since {result}", finished.seconds)

    def _unfinished(self, planned: PlannedGame, finished: FinishedGame, why: str) -> GameResult:
        """Return the result of a game that failed, or that halted, and is kept on the bus to be gone on with."""
        if finished.result is None or finished.result.state != "halted":
            self._bus.expire(finished.house, planned.game, KEPT_S)
            return failed_result(planned, why, finished.seconds)
        self._goes_on = True
        return failed_result(planned, why, finished.seconds, "halted")

    def _note(self, line: str) -> None:
        """Say what came over the agenda and does not count, and keep it in the folder; of very much, the first of it.

        Raises:
            OSError: it cannot be written.
        """
        self._notes += 1
        if self._notes <= _NOTED:
            self._say(line)
        if self._notes == _NOTED:
            self._say(f"more of this is kept in {self._folder / NOTES}, and not shown")
        if self._notes <= _NOTED_IN_FILE:
            notes = self._folder / NOTES
            notes.parent.mkdir(exist_ok=True)
            if notes.is_symlink() or not notes.is_file():
                # the folder may be somebody else's: a link would lead to any file of this user's, a pipe be waited for
                notes.unlink(missing_ok=True)
            with notes.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
