"""A study's games, played on this machine: by this process itself, or by workers that it starts, from one agenda."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from multiprocessing import Pipe
from typing import TYPE_CHECKING, Any, Final

from wolfbus.cli.studying.agenda_worker import AgendaWorker, WorkerSettings
from wolfbus.cli.studying.child_worker import WorkerPipe
from wolfbus.errors import WolfError
from wolfbus.service.lifecycle import Stopping
from wolfbus.study.agenda import LocalAgenda
from wolfbus.study.journal import Spent
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import Halt, StudyNews
from wolfbus.vocabulary import SCRIPTS

if TYPE_CHECKING:
    from players.llm.budget import LocalBudget
    from players.spec import BrainContext

logger = logging.getLogger(__name__)

_START_S: Final = 120.0
_CLOSE_S: Final = 10.0
_END: Final = "the study ends"

_GAMES_PER_WORKER: Final = 25
"""Scripted games that take about as long as a process takes to start."""


def workers_for(brains: Iterable[str], games: int, at_once: int) -> int:
    """Return how many processes best play so many games on this machine: more than one where that takes less time."""
    # their games take a processor's time and nothing else's
    if not SCRIPTS.issuperset(brains):
        return 1
    return max(1, min(_usable_cores(), games // _GAMES_PER_WORKER, at_once))


def _usable_cores() -> int:
    # of Python 3.13 on, which heeds PYTHON_CPU_COUNT
    if (count := getattr(os, "process_cpu_count", None)) is not None:
        return count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def divide_limits(models: Mapping[str, Any], workers: int) -> dict[str, Any]:
    """Return models whose endpoints are limited to the share of one of several workers."""
    return {name: _share(model, workers) for name, model in models.items()}


def _share(model: Any, workers: int) -> Any:
    endpoint = model.endpoint
    limits: dict[str, Any] = {"at_once": max(1, endpoint.at_once // workers)}
    for name in ("requests_per_minute", "tokens_per_minute"):
        if getattr(endpoint, name) is not None:
            limits[name] = getattr(endpoint, name) / workers
    return model.model_copy(update={"endpoint": endpoint.model_copy(update=limits)})


class LocalExecutor:
    """Plays the games of a study on this machine, in this process or in several; a `StudyExecutor`.

    Args:
        settings: how.
        brain_context: what the brains of this process share, and what is spent so far; None for a fresh one.
        set_aside: called with a game that was broken off, before anybody plays it again.
        news: takes all that happens.

    Raises:
        WolfError: the bus cannot be used, or a worker does not start.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        brain_context: BrainContext | None,
        set_aside: Callable[[PlannedGame], None],
        news: queue.SimpleQueue[StudyNews],
    ) -> None:
        self._settings = settings
        self._brain_context = brain_context
        self._news = news
        self._closing = threading.Event()
        self._agenda = LocalAgenda(news.put, set_aside)
        self._workers: dict[int, _WorkerProcess] = {}
        self._thread: _WorkerThread | None = None
        self._budget: LocalBudget | None = None
        if settings.workers == 1:
            self._thread = _WorkerThread(AgendaWorker(self._agenda, settings, brain_context), news)
            return
        usd, tokens = settings.brains.get("budget"), settings.brains.get("budget_tokens")
        if usd is not None or tokens is not None:
            from players.llm.budget import NOTHING, LocalBudget

            before = brain_context.spent if brain_context is not None else None
            self._budget = LocalBudget(usd, tokens, before or NOTHING)
        try:
            for key in range(settings.workers):
                self._workers[key] = _WorkerProcess(key, settings, self)
            for worker in list(self._workers.values()):
                worker.wait_ready()
        except BaseException:
            self.close(hasty=True)
            raise

    @property
    def spent(self) -> Spent | None:
        """What is spent of the study's budget; None where there is none."""
        by_brains = self._brain_context.spent if self._brain_context is not None else None
        amount = self._budget.spent if self._budget is not None else by_brains
        return None if amount is None else Spent(spent_usd=float(amount.usd), spent_tokens=amount.tokens)

    @property
    def cpu_s(self) -> float:
        """Seconds of CPU that the processes took which played and have ended, without their start."""
        return sum(worker.cpu_s for worker in self._workers.values())

    @property
    def under_way(self) -> int:
        """How many games are under way."""
        return self._agenda.under_way

    def submit(self, games: Iterable[PlannedGame]) -> None:
        """Have games played."""
        self._agenda.post(games)
        if self._thread is not None:
            self._thread.worker.wake()

    def cancel(self, reason: str) -> None:
        """Break off all games; nothing more is begun."""
        self._agenda.close()
        if self._thread is not None:
            self._thread.cancel(reason)
        for worker in list(self._workers.values()):
            worker.pipe.send("end", reason)

    def close(self, *, hasty: bool) -> None:
        """End the workers; in haste, without waiting for the bus."""
        self._closing.set()
        self._agenda.close()
        if self._thread is not None:
            self._thread.close(hasty=hasty)
        for worker in list(self._workers.values()):
            worker.pipe.send("close")
            if hasty:
                worker.pipe.send("end", _END)
        for worker in list(self._workers.values()):
            worker.close(hasty=hasty)
        self._agenda.release()

    # -- for workers, each from a thread of its own

    def services(self, worker: int) -> dict[str, Callable[..., Any]]:
        """Return what a worker may request, by the verbs that it sends."""
        name, agenda, budget = str(worker), self._agenda, self._budget
        services: dict[str, Callable[..., Any]] = {
            "take": partial(agenda.take, name),
            "give back": partial(agenda.give_back, name),
            "finish": lambda claimed, result: agenda.finish(claimed, name, result),
        }
        if budget is not None:
            services["reserve"] = partial(budget.reserve, holder=worker)
            services["settle"] = partial(budget.settle, holder=worker)
        return services

    def halt(self, halt: Halt) -> None:
        """Report that no more can be played."""
        self._news.put(halt)

    def release(self, worker: int) -> None:
        """Have others play what a worker held that is gone, and count as spent what it had reserved."""
        if self._budget is not None:
            self._budget.lose(worker)
        self._agenda.release(str(worker))

    def replace(self, key: int) -> None:
        """Have a new worker play in the place of one that is gone."""
        self._workers.pop(key, None)
        if self._closing.is_set():
            return
        try:
            worker = self._workers[key] = _WorkerProcess(key, self._settings, self)
            if self._closing.is_set():
                # whoever closes may not have seen it
                worker.pipe.send("end", _END)
            worker.wait_ready()
        except (WolfError, OSError) as error:
            self._workers.pop(key, None)
            if self._workers:
                logger.warning("the others play on with one worker less: %s", error)
            else:
                self._news.put(Halt(str(error)))


class _WorkerThread:
    """Has a worker play in a thread of this process, which has the agenda."""

    def __init__(self, worker: AgendaWorker, news: queue.SimpleQueue[StudyNews]) -> None:
        self.worker = worker
        self._news = news
        self._stopping = Stopping()
        self._thread = threading.Thread(target=self._play, name="player")
        self._thread.start()

    def cancel(self, reason: str) -> None:
        """Break off all games."""
        self._stopping.ask(reason)
        self.worker.wake()

    def close(self, *, hasty: bool) -> None:
        """Wait until it ends, since the agenda is closed; in haste, end it now."""
        if hasty:
            self._stopping.ask(_END)
        self.worker.wake()
        self._thread.join()

    def _play(self) -> None:
        try:
            halt = self.worker.play(self._stopping)
        except Exception as error:
            halt = Halt(f"the games cannot be played: {error}")
            if not isinstance(error, WolfError):
                logger.exception("playing failed")
        if halt is not None:
            self._news.put(halt)


class _WorkerProcess:
    """A process that plays.

    Args:
        key: its number, counted from 0.
        settings: how all workers play.
        executor: whose it is.

    Attributes:
        pipe: the pipe to it.
        cpu_s: seconds of CPU that it took to play, once it has ended by itself.
    """

    def __init__(self, key: int, settings: WorkerSettings, executor: LocalExecutor) -> None:
        self._key = key
        self._executor = executor
        self.cpu_s = 0.0
        self._ready: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        end, child_end = Pipe()
        lock = () if settings.lock_fd is None else (settings.lock_fd,)
        with child_end:
            # a session of its own: Ctrl-C ends the parent's games first, which then ends the workers
            self._process = subprocess.Popen(  # noqa: S603 - words of our own, and no shell
                [sys.executable, "-m", "wolfbus", "worker", "--parent", str(child_end.fileno())],
                pass_fds=(child_end.fileno(), *lock),
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.pipe = WorkerPipe(end)
        self.pipe.send("settings", settings.share(key))
        self._receiver = threading.Thread(target=self._receive, name=f"worker {key}", daemon=True)
        self._receiver.start()

    def wait_ready(self) -> None:
        """Return once it can play.

        Raises:
            WolfError: it cannot; one line.
        """
        trouble: str | None = f"a worker did not start within {_START_S:g} s"
        with contextlib.suppress(queue.Empty):
            trouble = self._ready.get(timeout=_START_S)
        if trouble is not None:
            raise WolfError(trouble)

    def close(self, *, hasty: bool) -> None:
        """Wait until it has ended, or kill it, and until all that it has sent is processed."""
        try:
            self._process.wait(1.0 if hasty else _CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._receiver.join()

    def _receive(self) -> None:
        services = self._executor.services(self._key)
        is_playing = False
        try:
            for verb, *arguments in self.pipe.receive():
                if verb == "ready":
                    is_playing = True
                    self._ready.put(None)
                elif verb == "error":
                    (trouble,) = arguments
                    if is_playing:
                        self._executor.halt(Halt(trouble))
                    else:
                        self._ready.put(trouble)
                    is_playing = False
                elif verb == "closed":
                    is_playing = False
                    halt, self.cpu_s = arguments
                    if halt is not None:
                        self._executor.halt(halt)
                else:
                    self.pipe.send("answer", _answer(services[verb], arguments))
        except Exception:
            # what it sends cannot be understood: it is of no use, and its games are played again
            logger.exception("a worker cannot be understood")
            self._process.kill()
        self._process.wait()
        self.pipe.close()
        self._executor.release(self._key)
        # one that never played is not replaced: another would fare no better
        self._ready.put("a worker ended before it could play")
        if is_playing:
            self._executor.replace(self._key)


def _answer(service: Callable[..., Any], arguments: Iterable[Any]) -> Any:
    try:
        return service(*arguments)
    except WolfError as error:
        return error
