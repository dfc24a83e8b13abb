"""pykka actors that share the threads of a pool, their inboxes, and the future they answer with."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from typing import Any, Self, TypeVar

from pykka import Actor, ActorDeadError, ActorRef, ActorRegistry, Future, ThreadingFuture
from pykka._envelope import Envelope
from pykka.messages import _ActorStop

from wolfbus.actors.pool import ActorPool, pool_of_this_thread

T = TypeVar("T")

logger = logging.getLogger(__name__)

MESSAGES_PER_TURN = 32
"""Messages an actor may handle before others get their turn: enough to make the queue cheap, few enough to be fair."""


class TurnOver(Exception):  # noqa: N818 - no error: it is how an inbox takes the thread back from pykka's receive loop
    """The turn has used its share of messages, or there is no more mail."""


class Inbox:
    """Unbounded mail of one actor, in pykka's inbox protocol (``put``, ``get``, ``empty``).

    ``_turn_lock`` is held from the moment a turn is put on the pool's queue until that turn has ended, so an actor is
    queued at most once and handles one message at a time. Whoever adds mail while the lock is free takes it and queues
    the turn. Nobody ever waits for it.

    Life: *new* (mail gathers, nothing runs) → `open` → turns → `close` (mail that still comes is answered with
    ``ActorDeadError``).
    """

    __slots__ = ("_left", "_mail", "_owner", "_turn_lock", "_turns")

    def __init__(self) -> None:
        # a list: there are thousands of inboxes, few of them hold more than a message, and a deque is ten times larger
        self._mail: list[Envelope[Any]] = []
        self._turn_lock = threading.Lock()
        self._turn_lock.acquire()  # a new inbox is locked until `open`: an actor may be told something before it runs
        self._turns: tuple[ActorPool, Callable[[], None]] | None = None
        self._left = 0
        self._owner = ""

    def put(self, envelope: Envelope[Any], /) -> None:
        """Add mail, and queue a turn unless one is queued or running. Never blocks."""
        self._mail.append(envelope)
        if self._turn_lock.acquire(False):
            self._queue_turn()

    def put_here(self, envelope: Envelope[Any], /) -> None:
        """Add mail, and take the turn on this thread unless one is queued or running."""
        self._mail.append(envelope)
        if self._turn_lock.acquire(False):
            if self._turns is None:
                self._reject_mail()
            else:
                pool, turn = self._turns
                pool.take_turn(turn)

    def get(self) -> Envelope[Any]:
        """Take the oldest mail.

        Raises:
            TurnOver: if there is none, or the turn has had its share. The pool's threads wait, an inbox never does.
        """
        if self._left and self._mail:
            self._left -= 1
            return self._mail.pop(0)
        raise TurnOver

    def empty(self) -> bool:
        """Say whether no mail is waiting."""
        return not self._mail

    def open(self, pool: ActorPool, first: Callable[[], None], turn: Callable[[], None]) -> None:
        """Queue the first turn, and from then on a turn whenever there is mail.

        Args:
            pool: takes the turns.
            first: the first turn, which runs even without mail.
            turn: every later one.
        """
        self._turns = pool, turn
        pool.enqueue(first)

    def share(self, messages: int) -> None:
        """Let `get` hand out so many messages from here on (1 or more)."""
        self._left = messages

    def end_turn(self) -> None:
        """Go to the back of the pool's queue if there is mail, else rest until there is."""
        if not self._mail:
            self._turn_lock.release()
            # Mail that came between the look and the release found the lock taken, and relies on this second look.
            if not self._mail or not self._turn_lock.acquire(False):
                return
        self._queue_turn()

    def close(self, owner: str) -> None:
        """Release the dead actor; reject the mail that is left, and all that comes.

        Args:
            owner: the actor as its reference prints it, for the error its askers get.
        """
        self._owner = owner
        self._turns = None
        self._reject_mail()

    def _queue_turn(self) -> None:
        if self._turns is None:
            self._reject_mail()
        else:
            pool, turn = self._turns
            pool.enqueue(turn)

    def _reject_mail(self) -> None:
        """Answer askers who saw the actor alive a moment too long; ends with the lock released and no mail left."""
        while True:
            while self._mail:
                reply_to = self._mail.pop(0).reply_to
                if reply_to is not None:
                    reply_to.set_exception((ActorDeadError, ActorDeadError(f"{self._owner} not found"), None))
            self._turn_lock.release()
            if not self._mail or not self._turn_lock.acquire(False):
                return


class PooledFuture(ThreadingFuture[T]):
    """pykka's `ThreadingFuture`, except that a spare thread replaces a pool's thread that waits in `get`.

    Without that, as many actors as the pool has threads could all wait for an actor that no thread is left to run: one
    in which ``SystemExit`` is raised waits for all others, as pykka has it.
    """

    def get(self, *, timeout: float | None = None) -> Any:
        """Return the value, or raise the exception, that was set.

        Args:
            timeout: seconds to wait; None waits for ever, 0 does not wait.

        Raises:
            pykka.Timeout: if nothing was set in that time.
        """
        pool = pool_of_this_thread()
        # A hook does its waiting in the futures it asks, which see to themselves.
        if pool is None or self._result is not None or self._get_hook is not None:
            return super().get(timeout=timeout)
        with pool.blocking():
            return super().get(timeout=timeout)


_stopping = threading.Condition()
"""Told whenever an actor has stopped: few wait for that at a time, and a condition each is a kilobyte an actor."""


class StopFlag(threading.Event):
    """pykka's flag of an actor that has stopped, without a lock of its own."""

    def __init__(self) -> None:
        self._flag = False

    def set(self) -> None:
        """Set the flag, and wake whoever waits for it."""
        with _stopping:
            self._flag = True
            _stopping.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the flag is set, for so many seconds or for ever; returns whether it is."""
        with _stopping:
            return _stopping.wait_for(self.is_set, timeout)


def tell_if_alive(ref: ActorRef[Any], message: Any) -> bool:
    """Tell an actor something that no longer matters once it has stopped; returns whether it was still there."""
    try:
        ref.tell(message)
    except ActorDeadError:
        return False
    return True


def tell_here(ref: ActorRef[Any], message: Any) -> bool:
    """Do as `tell_if_alive`, but have an actor of one's own pool that is at rest handle it before this returns.

    It saves a hand-over between threads; for actors whose handlers are short.
    """
    if not ref.is_alive():
        return False
    inbox: Inbox = ref.actor_inbox  # type: ignore[assignment]
    inbox.put_here(Envelope(message))
    return True


class PooledActor(Actor):
    """A pykka actor without a thread of its own; `start_in` starts it.

    Everything pykka says of an actor holds, since pykka's own loop handles every message: one message at a time,
    messages of one sender in their order, ``on_start`` before the first and ``on_stop`` after the last, an exception
    raised to the asker or, under ``tell``, the end of the actor by ``on_failure``. Different messages may be handled on
    different threads, so a handler must not keep state in thread-locals.

    A handler should not wait. One that waits for another pooled actor's future gets a spare thread to stand in for it,
    which costs a thread's start; one that waits by other means holds up its pool unless it does so within
    `ActorPool.blocking`.

    Two things end better than in pykka, where both leave somebody waiting for ever: an exception of any kind that
    escapes the loop (``SystemExit`` in ``on_start``, say) ends the actor with a logged error, and a question that
    arrives while the actor dies is answered with ``ActorDeadError``.
    """

    actor_inbox: Inbox
    _pool: ActorPool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.actor_stopped = self._actor_ref.actor_stopped = StopFlag()

    @classmethod
    def start_in(cls, pool: ActorPool, *args: Any, **kwargs: Any) -> ActorRef[Self]:
        """Start an actor in a pool.

        Args:
            pool: whose threads run the actor until it stops.
            args: positional arguments of the constructor.
            kwargs: keyword arguments of the constructor.

        Raises:
            RuntimeError: if the pool is closed.
        """
        actor = cls(*args, **kwargs)
        actor._pool = pool
        ActorRegistry.register(actor.actor_ref)
        logger.debug("Starting %s", actor)
        actor._start_actor_loop()
        return actor.actor_ref

    @staticmethod
    def _create_actor_inbox() -> Inbox:
        return Inbox()

    @staticmethod
    def _create_future() -> Future[Any]:
        return PooledFuture()

    def _start_actor_loop(self) -> None:
        try:
            self._pool.admit(self.actor_ref)
        except RuntimeError:
            ActorRegistry.unregister(self.actor_ref)
            self.actor_stopped.set()
            self._leave_pool()
            raise
        self.actor_inbox.open(self._pool, self._first_turn, self._take_turn)

    def _handle_receive(self, message: Any) -> Any:
        # nobody here makes proxies, for whose messages pykka would look first
        return self._stop() if message.__class__ is _ActorStop else self.on_receive(message)

    def _first_turn(self) -> None:
        try:
            self._actor_loop_setup()
        except BaseException:  # noqa: BLE001 - logged by pykka; a pool's thread outlives what its actors raise
            self._fail()
        else:
            self._take_turn()

    def _take_turn(self) -> None:
        self.actor_inbox.share(MESSAGES_PER_TURN)
        try:
            self._actor_loop_running()
        except TurnOver:
            self.actor_inbox.end_turn()
        except BaseException:  # noqa: BLE001 - as above
            self._fail()
        else:
            self._finish()

    def _fail(self) -> None:
        """End an actor whose exception got through pykka's loop. Called from an except clause."""
        try:
            self._handle_failure(*sys.exc_info())
        finally:
            self._finish()

    def _finish(self) -> None:
        """Answer the mail that is left, and leave the pool."""
        if not self.actor_stopped.is_set():  # the failure's report failed itself, in the actor's __str__ for example
            ActorRegistry.unregister(self.actor_ref)
            self.actor_stopped.set()
        self.actor_inbox.share(sys.maxsize)
        try:
            self._actor_loop_teardown()
        finally:
            self._leave_pool()

    def _leave_pool(self) -> None:
        try:
            self.actor_inbox.close(str(self.actor_ref))
        finally:
            self._pool.leave(self.actor_ref)
