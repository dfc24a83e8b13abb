"""A worker that a run starts itself: it plays games from its parent's agenda, and ends when the parent does.

What it asks of agenda and budget goes to the parent over a pipe, as a verb and what it is about, and the answer comes
back. Either side's death closes the pipe, and so is heard of at once.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from wolfbus.cli import FAILED
from wolfbus.cli.brains import open_brain_context, quiet_brains
from wolfbus.cli.studying.agenda_player import AgendaPlayer, Orders
from wolfbus.errors import WolfError
from wolfbus.service.lifecycle import Stopping
from wolfbus.study.agenda import Taken
from wolfbus.study.journal import GameResult

if TYPE_CHECKING:
    from players.llm.budget import Amount


class WorkerLine:
    """One end of a pipe between two processes; `say` may be called from any thread.

    Args:
        end: the end; closed with the line.
    """

    def __init__(self, end: Connection) -> None:
        self._end = end
        self._lock = threading.Lock()

    def say(self, verb: str, *what: Any) -> None:
        """Send a word; nobody hears it if the other side is gone."""
        with self._lock, contextlib.suppress(OSError):
            self._end.send((verb, *what))

    def heard(self) -> Iterator[Any]:
        """Yield words until the other side is gone."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                yield self._end.recv()

    def close(self) -> None:
        """Close this end."""
        self._end.close()


class ParentAgenda:
    """The agenda, and the budget, of the process that started this one; this one ends when that does.

    Args:
        line: the line to it.
        words: what it says from now on.

    Attributes:
        stopping: asked when the parent wants no more.
        changed: called when there may be something to do; to be set before `listen`.
    """

    def __init__(self, line: WorkerLine, words: Iterator[Any]) -> None:
        self._line = line
        self._words = words
        self._lock = threading.Lock()
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.stopping = Stopping()
        self.is_open = True
        self.changed: Callable[[], None] = lambda: None

    def listen(self) -> None:
        """Hear the parent in a thread of its own: whatever this process is doing, it ends with its parent."""
        threading.Thread(target=self._listen, name="parent", daemon=True).start()

    def _listen(self) -> None:
        try:
            for verb, *what in self._words:
                if verb == "answer":
                    self._answers.put(*what)
                    continue
                if verb == "end":
                    self.stopping.ask(*what)
                self.is_open = self.is_open and verb != "close"
                self.changed()
        finally:
            # the parent is gone, or will take note that we are
            os._exit(1)

    def _ask(self, verb: str, *what: Any) -> Any:
        """Have the parent do something, and return what came of it, or raise it."""
        with self._lock:
            self._line.say(verb, *what)
            answer = self._answers.get()
        if isinstance(answer, WolfError):
            raise answer
        return answer

    # -- the agenda; the parent knows who asks

    def take(self, house: str, at_most: int) -> list[Taken]:  # noqa: ARG002
        """Take games to play."""
        games: list[Taken] = self._ask("take", at_most)
        return games

    def hold(self, house: str, entries: Sequence[str]) -> list[str]:  # noqa: ARG002
        """Need to say nothing: the line stands."""
        return []

    def give_back(self, house: str, entry: str) -> None:  # noqa: ARG002
        """Leave a game to whoever takes it next."""
        self._ask("give back", entry)

    def finish(self, taken: Taken, house: str, result: GameResult) -> bool:  # noqa: ARG002
        """Tell what came of a game; returns whether this counts."""
        return bool(self._ask("finish", taken, result))

    # -- the ledger of the budget; see `players.llm.budget.BudgetLedger`

    def reserve(self, key: int, worst: Amount, what: str) -> bool:
        """Set aside the most that a call could take, if it fits."""
        return bool(self._ask("reserve", key, worst, what))

    def settle(self, key: int, taken: Amount) -> None:
        """Tell what a call took."""
        self._ask("settle", key, taken)


def play_for(parent: int) -> int:
    """Play what a parent has to play, until it has no more or is gone; returns the exit code.

    Args:
        parent: descriptor of this process's end of the pipe.
    """
    # Ctrl-C is the parent's to hear; it says what to do
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line = WorkerLine(Connection(parent))
    words = line.heard()
    try:
        with quiet_brains():
            for _, orders in words:
                _play(line, orders, ParentAgenda(line, words))
                return 0
    except WolfError as error:
        line.say("error", str(error))
        return FAILED
    except Exception as error:
        line.say("error", f"a worker failed: {type(error).__name__}: {error}")
        raise
    return 0


def _play(line: WorkerLine, orders: Orders, agenda: ParentAgenda) -> None:
    with open_brain_context(**orders.brains, probe=False, ledger=agenda) as brain_context:
        player = AgendaPlayer(agenda, orders, brain_context)
        agenda.changed = player.wake
        agenda.listen()
        line.say("ready")
        before = time.process_time()
        halt = player.play(agenda.stopping)
        line.say("closed", halt, time.process_time() - before)
