"""A few threads that run the turns of thousands of actors."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from queue import SimpleQueue
from typing import Any

from pykka import ActorRef

from wolfbus.closable import Closable

logger = logging.getLogger(__name__)


class _Here(threading.local):
    """Which pool, if any, the current thread works for."""

    pool: ActorPool | None = None


_here = _Here()


def pool_of_this_thread() -> ActorPool | None:
    """Return the pool whose thread calls this, or None on any other thread."""
    return _here.pool


class ActorPool(Closable):
    """Threads that take turns of actors from one queue, first come, first served.

    Threads run while the pool has living actors and end with the last of them; they start again with the next. They are
    no daemons, so a program ends when its actors have stopped, as with pykka's own. A pool with nothing to do uses no
    processor time.

    Used as a context manager, a pool closes at the end of the block.

    Args:
        threads: how many turns may run at once, 1 or more. A handler that must wait lends its place (`blocking`), so
            that there can be more threads than this for a while.
        name: beginning of the threads' names: ``name-0``, ``name-1``, ...

    Raises:
        ValueError: if there is not at least one thread.
    """

    def __init__(self, threads: int = 4, name: str = "actors") -> None:
        if threads < 1:
            raise ValueError(f"a pool needs at least one thread, not {threads}")
        self.name = name
        self._size = threads
        self._blocked = 0
        self._staff = 0
        self._closed = False
        self._numbers = count()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._actors: dict[ActorRef[Any], None] = {}
        self._turns: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.enqueue: Callable[[Callable[[], None]], None] = self._turns.put
        """Put a turn at the back of the queue. Whoever does sees to it that one actor is queued at most once."""
        self._only = threading.Lock() if threads == 1 else None
        """Held while a pool of one thread takes a turn, by whoever takes it."""
        self._taker: int | None = None

    def __repr__(self) -> str:
        return f"<ActorPool {self.name}: {len(self._actors)} actors, {self._size} threads>"

    def actors(self) -> list[ActorRef[Any]]:
        """Return the pool's living actors, oldest first."""
        with self._lock:
            return list(self._actors)

    def admit(self, ref: ActorRef[Any]) -> None:
        """Count an actor in, and start the threads if it is the first.

        Raises:
            RuntimeError: if the pool is closed, or not even one thread can be started.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError(f"the actor pool {self.name} is closed")
            self._actors[ref] = None
            self._level()

    def leave(self, ref: ActorRef[Any]) -> None:
        """Count an actor out; the last one out sends the threads home."""
        with self._lock:
            self._actors.pop(ref, None)
            self._level()

    def take(self, turn: Callable[[], None]) -> None:
        """Take a turn on this thread, whosever it is; queue it where a pool of one thread takes another's."""
        if self._only is None or self._taker == threading.get_ident():
            turn()
        elif self._only.acquire(False):
            self._take_alone(self._only, turn)
        else:
            self.enqueue(turn)

    def _take_alone(self, only: threading.Lock, turn: Callable[[], None]) -> None:
        """Take a turn while no other is taken; called with the lock held, and lets it go."""
        lent, _here.pool, self._taker = _here.pool, self, threading.get_ident()
        try:
            turn()
        finally:
            self._taker, _here.pool = None, lent
            only.release()

    @contextmanager
    def blocking(self) -> Iterator[None]:
        """Lend this thread's place to a spare thread while a handler waits for something another actor must do.

        `PooledFuture.get` does it by itself; a handler needs it only to wait by other means.
        """
        alone = self._only if self._taker == threading.get_ident() else None
        with self._lock:
            self._blocked += 1
            self._level()
        if alone is not None:
            self._taker = None
            alone.release()
        try:
            yield
        finally:
            if alone is not None:
                alone.acquire()
                self._taker = threading.get_ident()
            with self._lock:
                self._blocked -= 1
                self._level()

    def close(self) -> None:
        """Stop the pool's actors, last started first, and return when no thread of the pool is left.

        Messages sent before are handled, as with any stop, and a handler under way is waited for however long it takes.
        Actors that start others while they stop are too late. Closing again does nothing.

        Raises:
            RuntimeError: on one of the pool's own threads, which would wait for itself.
        """
        if _here.pool is self:
            raise RuntimeError(f"the actor pool {self.name} cannot be closed by an actor it runs")
        with self._lock:
            self._closed = True
        for ref in reversed(self.actors()):
            ref.stop(block=False)
        while threads := self._running():
            for thread in threads:
                thread.join()

    def _running(self) -> list[threading.Thread]:
        with self._lock:
            return [thread for thread in self._threads if thread.is_alive()]

    def _level(self) -> None:
        """Bring the staff (threads not yet told to go) to what is wanted, or near it where the system allows no more.

        Called with the lock held.

        Raises:
            RuntimeError: if not even one thread can be started.
        """
        wanted = self._size + self._blocked if self._actors else 0
        if self._staff == wanted:
            return
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        while self._staff < wanted:
            thread = threading.Thread(target=self._work, name=f"{self.name}-{next(self._numbers)}")
            try:
                thread.start()
            except RuntimeError as error:
                if not self._staff:
                    raise
                logger.warning("The actor pool %s makes do with %d threads: %s", self.name, self._staff, error)
                return
            self._threads.append(thread)
            self._staff += 1
        while self._staff > wanted:
            self._turns.put(None)
            self._staff -= 1

    def _work(self) -> None:
        _here.pool = self
        while True:
            turn = self._turns.get()
            if turn is None:
                return
            try:
                if self._only is None:
                    turn()
                else:
                    self._only.acquire()
                    self._take_alone(self._only, turn)
            except BaseException:
                logger.critical("A turn of an actor got past the actor's own error handling.", exc_info=True)
            del turn  # an idle thread must not keep the last actor it ran in memory
