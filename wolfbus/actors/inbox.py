"""The inbox of a pooled actor: its mail, and the one turn that may be waiting or running at a time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pykka import ActorDeadError

if TYPE_CHECKING:
    from pykka._envelope import Envelope


class TurnOver(Exception):  # noqa: N818 - no error: it is how an inbox takes the thread back from pykka's receive loop
    """The turn has used its share of messages, or there is no more mail."""


class Inbox:
    """Unbounded mail of one actor, in pykka's inbox protocol (``put``, ``get``, ``empty``).

    The lock ``_taken`` is held from the moment a turn is put on the pool's queue until that turn has ended, so an actor
    is queued at most once and handles one message at a time. Whoever adds mail while the lock is free takes it and
    queues the turn. Nobody ever waits for it.

    Life: *new* (mail gathers, nothing runs) → `open` → turns → `close` (mail that still comes is answered with
    ``ActorDeadError``).
    """

    __slots__ = ("_enqueue", "_left", "_mail", "_owner", "_taken", "_turn")

    def __init__(self) -> None:
        self._mail: deque[Envelope[Any]] = deque()
        self._taken = threading.Lock()
        self._taken.acquire()  # a new inbox is taken until `open`: an actor may be told something before it runs
        self._turn: Callable[[], None] | None = None
        self._enqueue: Callable[[Callable[[], None]], None] | None = None
        self._left = 0
        self._owner = ""

    def put(self, envelope: Envelope[Any], /) -> None:
        """Add mail, and queue a turn unless one is queued or running. Never blocks."""
        self._mail.append(envelope)
        if self._taken.acquire(False):
            self._queue_turn()

    def get(self) -> Envelope[Any]:
        """Take the oldest mail.

        Raises:
            TurnOver: if there is none, or the turn has had its share. The pool's threads wait, an inbox never does.
        """
        if self._left and self._mail:
            self._left -= 1
            return self._mail.popleft()
        raise TurnOver

    def empty(self) -> bool:
        """Say whether no mail is waiting."""
        return not self._mail

    def open(
        self, enqueue: Callable[[Callable[[], None]], None], first: Callable[[], None], turn: Callable[[], None]
    ) -> None:
        """Queue the first turn, and from then on a turn whenever there is mail.

        Args:
            enqueue: puts a turn on the pool's queue.
            first: the first turn, which runs even without mail.
            turn: every later one.
        """
        self._enqueue, self._turn = enqueue, turn
        enqueue(first)

    def share(self, messages: int) -> None:
        """Let `get` hand out so many messages from here on (1 or more)."""
        self._left = messages

    def end_turn(self) -> None:
        """Go to the back of the pool's queue if there is mail, else rest until there is."""
        if not self._mail:
            self._taken.release()
            # Mail that came between the look and the release found the lock taken, and relies on this second look.
            if not self._mail or not self._taken.acquire(False):
                return
        self._queue_turn()

    def close(self, owner: str) -> None:
        """Let go of the dead actor; turn away the mail that is left, and all that comes.

        Args:
            owner: the actor as its reference prints it, for the error its askers get.
        """
        self._owner = owner
        self._turn = self._enqueue = None
        self._turn_away()

    def _queue_turn(self) -> None:
        if self._enqueue is not None and self._turn is not None:
            self._enqueue(self._turn)
        else:
            self._turn_away()

    def _turn_away(self) -> None:
        """Answer askers who saw the actor alive a moment too long; ends with the lock released and no mail left."""
        while True:
            while self._mail:
                reply_to = self._mail.popleft().reply_to
                if reply_to is not None:
                    reply_to.set_exception((ActorDeadError, ActorDeadError(f"{self._owner} not found"), None))
            self._taken.release()
            if not self._mail or not self._taken.acquire(False):
                return
