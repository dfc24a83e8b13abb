"""A worker that a run starts itself: it plays games from its parent's agenda, and ends when the parent does.

The agenda, and the budget, travel between the two as pickled words over a pair of sockets: a verb and what it is about.
Either side's death closes the sockets, and so is heard of at once.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wolfbus.cli import FAILED
from wolfbus.cli.brains import open_cassette, quiet_brains
from wolfbus.cli.embedded import tune_garbage_collection
from wolfbus.cli.studying.agenda_player import AgendaPlayer, Orders
from wolfbus.errors import BudgetSpent, WolfError
from wolfbus.service.lifecycle import Stopping
from wolfbus.study.agenda import Taken
from wolfbus.study.journal import GameResult

if TYPE_CHECKING:
    from players.context import BrainContext
    from players.llm.budget import Amount


class Wire:
    """One end of the line.

    Args:
        end: the socket; closed with the wire.
    """

    def __init__(self, end: socket.socket) -> None:
        from multiprocessing.connection import Connection

        self._end = end
        self._line = Connection(os.dup(end.fileno()))
        self._lock = threading.Lock()

    def say(self, verb: str, *what: Any) -> bool:
        """Send a word, from any thread; returns whether the other side may still hear it."""
        try:
            with self._lock:
                self._line.send((verb, *what))
        except OSError:
            return False
        return True

    def heard(self) -> Iterator[Any]:
        """Yield words until the other side is gone."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                yield self._line.recv()

    def close(self) -> None:
        """Close this end, and wake whoever waits at it."""
        with self._end, contextlib.suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)


class ParentAgenda:
    """The agenda, and the budget, of the process that started this one; this one ends when that does.

    Args:
        wire: the line to it.
        words: what it says from now on.

    Attributes:
        stopping: asked when the parent wants no more.
        changed: called when there may be something to do; to be set before `listen`.
    """

    def __init__(self, wire: Wire, words: Iterator[Any]) -> None:
        self._wire = wire
        self._words = words
        self._taken: queue.SimpleQueue[list[Taken]] = queue.SimpleQueue()
        self.stopping = Stopping()
        self.is_open = True
        self.changed: Callable[[], None] = lambda: None
        self._answers: queue.SimpleQueue[tuple[bool, str | None]] = queue.SimpleQueue()

    def listen(self) -> None:
        """Hear the parent in a thread of its own: whatever this process is doing, it ends with its parent."""
        threading.Thread(target=self._listen, name="parent", daemon=True).start()

    def _listen(self) -> None:
        try:
            for verb, *what in self._words:
                if verb == "taken":
                    self._taken.put(*what)
                elif verb == "answer":
                    self._answers.put((what[0], what[1]))
                else:
                    if verb == "end":
                        self.stopping.ask(*what)
                    self.is_open = self.is_open and verb != "close"
                    self.changed()
        finally:
            # the parent is gone, or will take note that we are
            os._exit(1)

    # -- the agenda

    def take(self, house: str, at_most: int) -> list[Taken]:  # noqa: ARG002 - the parent knows who asks
        """Take games to play."""
        if not self.is_open:
            return []
        self._wire.say("take", at_most)
        return self._taken.get()

    def hold(self, house: str, entries: Sequence[str]) -> None:
        """Need to say nothing: the line stands."""

    def give_back(self, house: str, entry: str) -> None:  # noqa: ARG002
        """Leave a game to whoever takes it next."""
        self._wire.say("give back", entry)

    def finish(self, taken: Taken, house: str, result: GameResult) -> bool:  # noqa: ARG002
        """Tell what came of a game; as long as the line stands, that counts."""
        return self._wire.say("finish", taken, result)

    # -- the ledger of the budget

    def reserve(self, key: int, worst: Amount, what: str) -> bool:
        """Ask for leave to make a call that could take so much; see `BudgetLedger`."""
        self._wire.say("reserve", key, worst, what)
        fits, refusal = self._answers.get()
        if refusal is not None:
            raise BudgetSpent(refusal)
        return fits

    def settle(self, key: int, taken: Amount) -> None:
        """Tell what a call took."""
        self._wire.say("settle", key, taken)


def play_for(parent: int) -> int:
    """Play what a parent has to play, until it has no more or is gone; returns the exit code.

    Args:
        parent: descriptor of this process's end of a pair of sockets.
    """
    # Ctrl-C is the parent's to hear; it says what to do
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tune_garbage_collection()
    wire = Wire(socket.socket(fileno=parent))
    words = wire.heard()
    try:
        with quiet_brains():
            for _, orders in words:
                _play(wire, orders, ParentAgenda(wire, words))
                return 0
    except WolfError as error:
        wire.say("error", str(error))
        return FAILED
    except Exception as error:
        wire.say("error", f"a worker failed: {type(error).__name__}: {error}")
        raise
    return 0


def _play(wire: Wire, orders: Orders, agenda: ParentAgenda) -> None:
    with _brain_context(orders, agenda) as brain_context:
        player = AgendaPlayer(agenda, orders, brain_context)
        agenda.changed = player.wake
        agenda.listen()
        wire.say("ready")
        before = time.process_time()
        halt = player.play(agenda.stopping)
        if halt is not None:
            wire.say("halt", halt)
        wire.say("closed", time.process_time() - before)


def _brain_context(orders: Orders, agenda: ParentAgenda) -> BrainContext:
    from players.context import BrainContext as Shared
    from players.spec import check

    budget = None
    if orders.budget is not None or orders.budget_tokens is not None:
        from players.llm.budget import Budget

        budget = Budget(orders.budget, orders.budget_tokens, ledger=agenda)
    tape = open_cassette(orders.cassette, orders.replay_cassette)
    models = divided(orders.models, orders.workers)
    brain_context = Shared(models, budget, tape, orders.logs, give_up=orders.give_up)
    check(orders.brains, brain_context)
    return brain_context


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
