"""A worker that a run starts itself: it plays games from its parent's agenda, and ends when the parent does.

What it requests of agenda and budget goes to the parent over a pipe, as a verb and its arguments, and the answer comes
back. Either side's death closes the pipe, and so is noticed at once.
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
from wolfbus.cli.studying.agenda_worker import AgendaWorker, WorkerSettings
from wolfbus.errors import WolfError
from wolfbus.printable import error_in_words
from wolfbus.service.lifecycle import Stopping
from wolfbus.study.agenda import ClaimedGame
from wolfbus.study.journal import GameResult

if TYPE_CHECKING:
    from players.llm.budget import Amount


class WorkerPipe:
    """One end of a pipe between two processes; `send` may be called from any thread.

    Args:
        end: the end; closed with this.
    """

    def __init__(self, end: Connection) -> None:
        self._end = end
        self._lock = threading.Lock()

    def send(self, verb: str, *arguments: Any) -> None:
        """Send a message; it is lost if the other side is gone."""
        with self._lock, contextlib.suppress(OSError):
            self._end.send((verb, *arguments))

    def receive(self) -> Iterator[Any]:
        """Yield messages until the other side is gone."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                yield self._end.recv()

    def close(self) -> None:
        """Close this end."""
        self._end.close()


class ParentAgenda:
    """The agenda, and the budget, of the process that started this one; this one ends when that does.

    Args:
        pipe: this process's end of the pipe to it.
        messages: what it sends from now on.

    Attributes:
        stopping: asked when the parent wants no more.
        changed: called when there may be something to do; to be set before `listen`.
    """

    def __init__(self, pipe: WorkerPipe, messages: Iterator[Any]) -> None:
        self._pipe = pipe
        self._messages = messages
        self._lock = threading.Lock()
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.stopping = Stopping()
        self.is_open = True
        self.changed: Callable[[], None] = lambda: None

    def listen(self) -> None:
        """Receive from the parent in a thread of its own: whatever this process is doing, it ends with its parent."""
        threading.Thread(target=self._listen, name="parent", daemon=True).start()

    def _listen(self) -> None:
        try:
            for verb, *arguments in self._messages:
                if verb == "answer":
                    self._answers.put(*arguments)
                    continue
                if verb == "end":
                    self.stopping.ask(*arguments)
                self.is_open = self.is_open and verb != "close"
                self.changed()
        finally:
            # the parent is gone, or will notice that this process is
            os._exit(1)

    def _request(self, verb: str, *arguments: Any) -> Any:
        """Have the parent do something, and return its result, or raise it."""
        with self._lock:
            self._pipe.send(verb, *arguments)
            answer = self._answers.get()
        if isinstance(answer, WolfError):
            raise answer
        return answer

    # -- the agenda; the parent knows which worker this is

    def take(self, house: str, at_most: int) -> list[ClaimedGame]:  # noqa: ARG002
        """Take games to play."""
        games: list[ClaimedGame] = self._request("take", at_most)
        return games

    def renew(self, house: str, entries: Sequence[str]) -> list[str]:  # noqa: ARG002
        """Need to send nothing: the pipe stands."""
        return []

    def give_back(self, house: str, entry: str) -> None:  # noqa: ARG002
        """Leave a game to whoever takes it next."""
        self._request("give back", entry)

    def finish(self, claimed: ClaimedGame, house: str, result: GameResult) -> bool:  # noqa: ARG002
        """Report the result of a game; returns whether this counts."""
        return bool(self._request("finish", claimed, result))

    # -- the ledger of the budget; see `players.llm.budget.BudgetLedger`

    def reserve(self, key: int, worst: Amount, what: str) -> bool:
        """Set aside the most that a call could take, if it fits."""
        return bool(self._request("reserve", key, worst, what))

    def settle(self, key: int, cost: Amount) -> None:
        """Report what a call took."""
        self._request("settle", key, cost)


def play_for(parent: int) -> int:
    """Play what a parent has to play, until it has no more or is gone; returns the exit code.

    Args:
        parent: descriptor of this process's end of the pipe.
    """
    # the parent handles Ctrl-C, and says what to do
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe = WorkerPipe(Connection(parent))
    messages = pipe.receive()
    try:
        with quiet_brains():
            for _, settings in messages:
                _play(pipe, settings, ParentAgenda(pipe, messages))
                return 0
    except WolfError as error:
        pipe.send("error", str(error))
        return FAILED
    except Exception as error:
        pipe.send("error", f"a worker failed: {error_in_words(error)}")
        raise
    return 0


def _play(pipe: WorkerPipe, settings: WorkerSettings, agenda: ParentAgenda) -> None:
    with open_brain_context(**settings.brains, probe=False, ledger=agenda) as brain_context:
        worker = AgendaWorker(agenda, settings, brain_context)
        agenda.changed = worker.wake
        agenda.listen()
        pipe.send("ready")
        before = time.process_time()
        halt = worker.play(agenda.stopping)
        pipe.send("closed", halt, time.process_time() - before)
