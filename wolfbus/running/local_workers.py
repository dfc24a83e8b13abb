"""`LocalWorkers`: a study's games, played by several processes of this machine: workers of an agenda on the run's own
server.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from wolfbus.errors import BusError, WolfError
from wolfbus.game.vocabulary import SCRIPTS
from wolfbus.running.agenda_executor import AgendaExecutor
from wolfbus.running.child_worker import AGENDA, ChildSettings
from wolfbus.running.results import failed_result
from wolfbus.service.child import end_child, module_words, start_child
from wolfbus.service.redis import LocalRedis, server_program
from wolfbus.study.agenda import FinishedGame
from wolfbus.study.journal import CallsSoFar, GameResult, Spent
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import Halt, StudyNews

if TYPE_CHECKING:
    from players.llm.budget import Amount
    from wolfbus.running.agenda_worker import WorkerSettings
    from wolfbus.running.brains import CallOptions
    from wolfbus.running.loading import LoadedStudy

logger = logging.getLogger(__name__)

_START_S: Final = 120.0
_CLOSE_S: Final = 10.0
_LEASE_S: Final = 5.0
"""Seconds after which the others play what a worker held that is gone."""
_GAMES_PER_WORKER: Final = 25
"""Scripted games that take about as long as a process takes to start."""


def workers_for(brains: Iterable[str], games: int, at_once: int) -> int:
    """Return how many processes best play so many games on this machine: more than one where that takes less time."""
    # their games take a processor's time and nothing else's
    if not SCRIPTS.issuperset(brains):
        return 1
    return max(1, min(_usable_cores(), games // _GAMES_PER_WORKER, at_once))


def can_share() -> bool:
    """Return whether there is a server for an agenda that several processes share."""
    try:
        server_program()
    except BusError:
        return False
    return True


def _usable_cores() -> int:
    # of Python 3.13 on, which heeds PYTHON_CPU_COUNT
    if (count := getattr(os, "process_cpu_count", None)) is not None:
        return count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalWorkers:
    """Has several processes of this machine play the games of a study; a `StudyExecutor`.

    Args:
        settings: how they play together.
        count: how many there are, > 1.
        study: what is played.
        calls: how models are called.
        models: language models by what brains name them by.
        before: what was spent before of the study's budget.
        lock_fd: descriptor of the folder's lock, which a worker holds as long as it lives.
        news: takes all that happens.

    Raises:
        WolfError: a worker does not start, or the server.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        count: int,
        study: LoadedStudy,
        calls: CallOptions,
        models: Mapping[str, Any],
        before: Amount,
        lock_fd: int,
        news: queue.Queue[StudyNews],
    ) -> None:
        self._settings = settings
        self._count = count
        self._calls = calls
        self._models = {name: _share(model, count) for name, model in models.items()}
        self._brains = study.plan().agents
        self._lock_fd = lock_fd
        self._news = news
        self._closing = threading.Event()
        self._calls_of_gone = CallsSoFar()
        self._workers: dict[int, _WorkerProcess] = {}
        with contextlib.ExitStack() as stack:
            self._server = stack.enter_context(LocalRedis(private=True))
            self._agenda = AgendaExecutor(
                self._server.url, AGENDA, study, settings.folder, before, news, collect=_result, lease_s=_LEASE_S
            )
            stack.callback(self.close, hasty=True)
            for key in range(count):
                self._workers[key] = self._start(key)
            for worker in list(self._workers.values()):
                worker.wait_ready()
            stack.pop_all()

    @property
    def spent(self) -> Spent | None:
        """What is spent of the study's budget; None where there is none."""
        return self._agenda.spent

    @property
    def under_way(self) -> int:
        """How many processes still have games to leave in order."""
        return sum(worker.is_alive for worker in list(self._workers.values()))

    @property
    def calls(self) -> CallsSoFar:
        """What the model calls of all processes took."""
        return sum((worker.calls for worker in list(self._workers.values())), self._calls_of_gone)

    @property
    def playing(self) -> int:
        """How many games are under way."""
        with contextlib.suppress(BusError):
            return self._agenda.playing
        return 0

    def drain(self) -> bool:
        """Have no more games begun; returns whether those under way are to be waited for, as they are."""
        with contextlib.suppress(BusError):
            self._agenda.withdraw()
        return True

    def submit(self, games: Iterable[PlannedGame]) -> None:
        """Have games played."""
        self._agenda.submit(games)

    def cancel(self, reason: str) -> None:  # noqa: ARG002 - the run says why
        """Break off all games; nothing more is begun."""
        self._closing.set()
        for worker in list(self._workers.values()):
            worker.terminate()

    def close(self, *, hasty: bool) -> None:
        """Wait until all that is under way is over; in haste, break it off."""
        self._closing.set()
        if hasty:
            self.cancel("")
        else:
            self._agenda.close(hasty=False)
        for worker in list(self._workers.values()):
            worker.close(hasty=hasty)
        if hasty:
            self._agenda.close(hasty=False)
        self._server.close()

    def _start(self, key: int) -> _WorkerProcess:
        share = self._settings.at_once // self._count + (key < self._settings.at_once % self._count)
        settings = ChildSettings(
            server=self._server.url,
            bus=self._settings.url,
            folder=self._settings.folder,
            at_once=max(share, 1),
            brains=self._brains,
            models=self._models,
            calls=self._calls,
        )
        return _WorkerProcess(key, settings, self._lock_fd, self)

    # -- for workers, each from a thread of its own

    def halt(self, halt: Halt) -> None:
        """Report that no more can be played."""
        self._news.put(halt)

    def replace(self, key: int) -> None:
        """Have a new worker play in the place of one that is gone."""
        if (ended_worker := self._workers.pop(key, None)) is not None:
            self._calls_of_gone += ended_worker.calls
        if self._closing.is_set():
            return
        try:
            worker = self._workers[key] = self._start(key)
            if self._closing.is_set():
                # whoever closes may not have seen it
                worker.terminate()
            worker.wait_ready()
        except (WolfError, OSError) as error:
            if (late_worker := self._workers.pop(key, None)) is not None:
                # it may only be slow, and nobody would end it any more
                late_worker.terminate()
                late_worker.close(hasty=True)
            if self._workers:
                logger.warning("the others play on with one worker less: %s", error)
            else:
                self._news.put(Halt(str(error)))


def _result(planned: PlannedGame, finished: FinishedGame) -> GameResult:
    """Return what a worker of our own told of a game whose record it has written into the folder itself."""
    return finished.result or failed_result(planned, finished.error or "its worker told no result", finished.seconds)


def _share(model: Any, workers: int) -> Any:
    """Return a model whose endpoint is limited to the share of one of several workers."""
    endpoint = model.endpoint
    limits: dict[str, Any] = {"at_once": max(1, endpoint.at_once // workers)}
    for name in ("requests_per_minute", "tokens_per_minute"):
        if getattr(endpoint, name) is not None:
            limits[name] = getattr(endpoint, name) / workers
    return model.model_copy(update={"endpoint": endpoint.model_copy(update=limits)})


class _WorkerProcess:
    """A process that plays.

    Args:
        key: its number, counted from 0.
        settings: how it plays.
        lock_fd: descriptor that it holds as long as it lives.
        run: whose it is.

    Attributes:
        calls: what its model calls took, as it told last.
    """

    def __init__(self, key: int, settings: ChildSettings, lock_fd: int, run: LocalWorkers) -> None:
        self._key = key
        self._run = run
        self._ready: queue.Queue[str | None] = queue.Queue()
        self.calls = CallsSoFar()
        self._process = start_child(
            module_words("wolfbus", "worker", "--child"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(lock_fd,),
            text=True,
        )
        try:
            self._stdin.write(settings.model_dump_json() + "\n")
            self._stdin.flush()
        except BrokenPipeError:
            # it has ended already, which is seen below
            pass
        self._receiver = threading.Thread(target=self._receive, name=f"worker {key}", daemon=True)
        self._receiver.start()

    @property
    def _stdin(self) -> Any:
        return self._process.stdin

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended, or not everything is processed that it told."""
        return self._receiver.is_alive()

    def wait_ready(self) -> None:
        """Return once it can play.

        Raises:
            WolfError: it cannot; one line.
        """
        try:
            trouble = self._ready.get(timeout=_START_S)
        except queue.Empty:
            trouble = f"a worker did not start within {_START_S:g} s"
        if trouble is not None:
            raise WolfError(trouble)

    def terminate(self) -> None:
        """Have it give back what it plays, and end."""
        self._process.terminate()

    def close(self, *, hasty: bool) -> None:
        """Wait until it has ended, or kill it, and until all that it has told is processed."""
        end_child(self._process, by_itself_s=_CLOSE_S / 2 if hasty else _CLOSE_S)
        self._receiver.join()

    def _messages(self) -> Iterator[dict[str, Any]]:
        stdout: Any = self._process.stdout
        with stdout as lines:
            yield from map(json.loads, lines)

    def _receive(self) -> None:
        is_playing = False
        for message in self._messages():
            if "ready" in message:
                is_playing = True
                self._ready.put(None)
            elif "calls" in message:
                self.calls = CallsSoFar(*message["calls"])
            elif "halt" in message:
                is_playing = False
                self._run.halt(Halt(message["halt"], message["budget"]))
            elif is_playing:
                is_playing = False
                self._run.halt(Halt(message["error"]))
            else:
                self._ready.put(message["error"])
        self._process.wait()
        self._stdin.close()
        # one that never played is not replaced: another would fare no better
        self._ready.put("a worker ended before it could play")
        # also one that somebody asked to end: were it the last, the run would wait for ever
        if is_playing:
            self._run.replace(self._key)
