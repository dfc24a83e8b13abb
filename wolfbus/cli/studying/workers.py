"""Who plays a study's games on one machine: this process itself, or workers that it starts, from one agenda."""

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

from wolfbus.cli.studying.agenda_player import AgendaPlayer, Orders
from wolfbus.cli.studying.own_worker import WorkerLine
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

_WORTH_A_WORKER: Final = 25
"""Scripted games that take about as long as a process takes to start."""


def workers_for(brains: Iterable[str], games: int, at_once: int) -> int:
    """Return how many processes best play so many games on this machine: more than one where that takes less time."""
    # their games take a processor's time and nothing else's
    if not SCRIPTS.issuperset(brains):
        return 1
    count = getattr(os, "process_cpu_count", None) or _usable_cores
    return max(1, min(count() or 1, games // _WORTH_A_WORKER, at_once))


def _usable_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def divided(models: Mapping[str, Any], workers: int) -> dict[str, Any]:
    """Return models whose endpoints may be pressed by one of several workers as hard as its share allows."""
    return {name: _share(model, workers) for name, model in models.items()}


def _share(model: Any, workers: int) -> Any:
    endpoint = model.endpoint
    limits: dict[str, Any] = {"at_once": max(1, endpoint.at_once // workers)}
    for name in ("requests_per_minute", "tokens_per_minute"):
        if getattr(endpoint, name) is not None:
            limits[name] = getattr(endpoint, name) / workers
    return model.model_copy(update={"endpoint": endpoint.model_copy(update=limits)})


class LocalPlayers:
    """Plays the games of a study on this machine, in this process or in several.

    Args:
        orders: how.
        brain_context: what the brains of this process share, and what is spent so far; None for a fresh one.
        back: called with a game that was broken off, before anybody plays it again.
        news: where all that happens is told.

    Raises:
        WolfError: the bus cannot be used, or a worker does not start.
    """

    def __init__(
        self,
        orders: Orders,
        brain_context: BrainContext | None,
        back: Callable[[PlannedGame], None],
        news: queue.SimpleQueue[StudyNews],
    ) -> None:
        self._orders = orders
        self._brain_context = brain_context
        self._news = news
        self._closing = threading.Event()
        self._agenda = LocalAgenda(news.put, back)
        self._workers: dict[int, _WorkerProcess] = {}
        self._player: _OwnPlayer | None = None
        self._budget: LocalBudget | None = None
        if orders.workers == 1:
            self._player = _OwnPlayer(orders, brain_context, self._agenda, news)
            return
        usd, tokens = orders.brains.get("budget"), orders.brains.get("budget_tokens")
        if usd is not None or tokens is not None:
            from players.llm.budget import NOTHING, LocalBudget

            before = brain_context.spent if brain_context is not None else None
            self._budget = LocalBudget(usd, tokens, before or NOTHING)
        try:
            for key in range(orders.workers):
                self._workers[key] = _WorkerProcess(key, orders, self)
            for worker in list(self._workers.values()):
                worker.wait_ready()
        except BaseException:
            self.close(hasty=True)
            raise

    @property
    def spent(self) -> Spent | None:
        """What is spent of the study's budget; None where there is none."""
        own = self._brain_context.spent if self._brain_context is not None else None
        amount = self._budget.spent if self._budget is not None else own
        return None if amount is None else Spent(spent_usd=float(amount.usd), spent_tokens=amount.tokens)

    @property
    def cpu_s(self) -> float:
        """Seconds of CPU that the processes took which played and have ended, without their start."""
        return sum(worker.cpu_s for worker in self._workers.values())

    @property
    def under_way(self) -> int:
        """How many games are under way."""
        return self._agenda.under_way

    def post(self, games: Iterable[PlannedGame]) -> None:
        """Have games played."""
        self._agenda.post(games)
        if self._player is not None:
            self._player.player.wake()

    def end(self, reason: str) -> None:
        """Break off all games; nothing more is begun."""
        self._agenda.close()
        if self._player is not None:
            self._player.end(reason)
        for worker in list(self._workers.values()):
            worker.line.say("end", reason)

    def close(self, *, hasty: bool) -> None:
        """Be through; in haste, without waiting for the bus."""
        self._closing.set()
        self._agenda.close()
        if self._player is not None:
            self._player.close(hasty=hasty)
        for worker in list(self._workers.values()):
            worker.line.say("close")
            if hasty:
                worker.line.say("end", "the study ends")
        for worker in list(self._workers.values()):
            worker.close(hasty=hasty)
        self._agenda.lose()

    # -- for workers, each from a thread of its own

    def services(self, worker: int) -> dict[str, Callable[..., Any]]:
        """Return what a worker may have done here, by the verbs that it says."""
        name, agenda, budget = str(worker), self._agenda, self._budget
        found: dict[str, Callable[..., Any]] = {
            "take": partial(agenda.take, name),
            "give back": partial(agenda.give_back, name),
            "finish": lambda taken, result: agenda.finish(taken, name, result),
        }
        if budget is not None:
            found |= {
                "reserve": partial(budget.reserve, holder=worker),
                "settle": partial(budget.settle, holder=worker),
            }
        return found

    def halt(self, halt: Halt) -> None:
        """Tell that no more can be played."""
        self._news.put(halt)

    def lose(self, worker: int) -> None:
        """Have others play what a worker held that is gone, and count as spent what it had set aside."""
        if self._budget is not None:
            self._budget.lose(worker)
        self._agenda.lose(str(worker))

    def replace(self, lost: int) -> None:
        """Have a new worker play in the place of one that is gone."""
        self._workers.pop(lost, None)
        if self._closing.is_set():
            return
        try:
            worker = self._workers[lost] = _WorkerProcess(lost, self._orders, self)
            if self._closing.is_set():
                # whoever closes may not have seen it
                worker.line.say("end", "the study ends")
            worker.wait_ready()
        except (WolfError, OSError) as error:
            self._workers.pop(lost, None)
            if self._workers:
                logger.warning("the others play on with one worker less: %s", error)
            else:
                self._news.put(Halt(str(error)))


class _OwnPlayer:
    """The very process that holds the agenda plays, in a thread of its own."""

    def __init__(
        self,
        orders: Orders,
        brain_context: BrainContext | None,
        agenda: LocalAgenda,
        news: queue.SimpleQueue[StudyNews],
    ) -> None:
        self._news = news
        self._stopping = Stopping()
        self.player = AgendaPlayer(agenda, orders, brain_context)
        self._thread = threading.Thread(target=self._play, name="player")
        self._thread.start()

    def end(self, reason: str) -> None:
        """Break off all games."""
        self._stopping.ask(reason)
        self.player.wake()

    def close(self, *, hasty: bool) -> None:
        """Be through once the agenda is closed; in haste, now."""
        if hasty:
            self._stopping.ask("the study ends")
        self.player.wake()
        self._thread.join()

    def _play(self) -> None:
        try:
            halt = self.player.play(self._stopping)
        except Exception as error:
            halt = Halt(f"the games cannot be played: {' '.join(str(error).split())}")
            if not isinstance(error, WolfError):
                logger.exception("playing failed")
        if halt is not None:
            self._news.put(halt)


class _WorkerProcess:
    """A process that plays.

    Args:
        key: which it is, counted from 0.
        orders: what it is told.
        players: to whom it belongs.

    Attributes:
        key: as told.
        line: the line to it.
        cpu_s: seconds of CPU that it took to play, once it has ended by itself.
    """

    def __init__(self, key: int, orders: Orders, players: LocalPlayers) -> None:
        self.key = key
        self._players = players
        self.cpu_s = 0.0
        self._ready: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        ours, its = Pipe()
        lock = () if orders.lock_fd is None else (orders.lock_fd,)
        with its:
            # a session of its own: Ctrl-C ends the parent's games first, which then ends the workers
            self._process = subprocess.Popen(  # noqa: S603 - words of our own, and no shell
                [sys.executable, "-m", "wolfbus", "worker", "--parent", str(its.fileno())],
                pass_fds=(its.fileno(), *lock),
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.line = WorkerLine(ours)
        self.line.say("orders", orders.share(key))
        self._listener = threading.Thread(target=self._listen, name=f"worker {key}", daemon=True)
        self._listener.start()

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
        """See that it ends, and that all was heard that it has said."""
        try:
            self._process.wait(1.0 if hasty else _CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._listener.join()

    def _listen(self) -> None:
        services = self._players.services(self.key)
        is_playing = False
        try:
            for verb, *what in self.line.heard():
                if verb == "ready":
                    is_playing = True
                    self._ready.put(None)
                elif verb == "error":
                    (trouble,) = what
                    if is_playing:
                        self._players.halt(Halt(trouble))
                    else:
                        self._ready.put(trouble)
                    is_playing = False
                elif verb == "closed":
                    is_playing = False
                    halt, self.cpu_s = what
                    if halt is not None:
                        self._players.halt(halt)
                else:
                    self.line.say("answer", _answer(services[verb], what))
        except Exception:
            # it speaks another language than we do: it is of no use, and its games are played again
            logger.exception("a worker cannot be understood")
            self._process.kill()
        self._process.wait()
        self.line.close()
        self._players.lose(self.key)
        # one that never played is not replaced: another would fare no better
        self._ready.put("a worker ended before it could play")
        if is_playing:
            self._players.replace(self.key)


def _answer(service: Callable[..., Any], what: Iterable[Any]) -> Any:
    try:
        return service(*what)
    except WolfError as error:
        return error
