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

from wolfbus.actors.closable import Closable

logger = logging.getLogger(__name__)


class _Worker(threading.local):
    """Which pool, if any, the current thread works for."""

    pool: ActorPool | None = None


_worker = _Worker()


def pool_of_this_thread() -> ActorPool | None:
    """Return the pool whose thread calls this, or None on any other thread."""
    return _worker.pool


class ActorPool(Closable):
    """Threads that take turns of actors from one queue, first come, first served.

    Threads run while the pool has living actors and end with the last of them; they start again with the next. They are
    no daemons unless a daemon starts them, so a program ends when its actors have stopped, as with pykka's own. A pool
    with nothing to do uses no processor time.

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
        self._workers = 0
        self._closed = False
        self._numbers = count()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._actors: dict[ActorRef[Any], None] = {}
        self._turns: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.enqueue: Callable[[Callable[[], None]], None] = self._turns.put
        """Put a turn at the back of the queue. Whoever does sees to it that one actor is queued at most once."""
        self._turn_lock = threading.Lock() if threads == 1 else None
        """Held while a pool of one thread takes a turn, by whoever takes it."""
        self._turn_thread: int | None = None

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
            self._resize()

    def leave(self, ref: ActorRef[Any]) -> None:
        """Count an actor out; the threads end with the last one."""
        with self._lock:
            self._actors.pop(ref, None)
            self._resize()

    def take_turn(self, turn: Callable[[], None]) -> None:
        """Take a turn on this thread, whosever it is; queue it where a pool of one thread takes another's."""
        if self._turn_lock is None or self._turn_thread == threading.get_ident():
            turn()
        elif self._turn_lock.acquire(False):
            self._take_locked(self._turn_lock, turn)
        else:
            self.enqueue(turn)

    def _take_locked(self, lock: threading.Lock, turn: Callable[[], None]) -> None:
        """Take a turn while no other is taken; called with the lock held, and releases it."""
        outer, _worker.pool, self._turn_thread = _worker.pool, self, threading.get_ident()
        try:
            turn()
        finally:
            self._turn_thread, _worker.pool = None, outer
            lock.release()

    @contextmanager
    def blocking(self) -> Iterator[None]:
        """Lend this thread's place to a spare thread while a handler waits for something another actor must do.

        `PooledFuture.get` does it by itself; a handler needs it only to wait by other means.
        """
        lock = self._turn_lock if self._turn_thread == threading.get_ident() else None
        with self._lock:
            self._blocked += 1
            self._resize()
        if lock is not None:
            self._turn_thread = None
            lock.release()
        try:
            yield
        finally:
            if lock is not None:
                lock.acquire()
                self._turn_thread = threading.get_ident()
            with self._lock:
                self._blocked -= 1
                self._resize()

    def close(self) -> None:
        """Stop the pool's actors, last started first, and return when no thread of the pool is left.

        Messages sent before are handled, as with any stop, and a handler under way is waited for however long it takes.
        Actors that start others while they stop are too late. Closing again does nothing.

        Raises:
            RuntimeError: on one of the pool's own threads, which would wait for itself.
        """
        if _worker.pool is self:
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

    def _resize(self) -> None:
        """Start or end threads until there are as many as are needed, or nearly where the system allows no more.

        Called with the lock held.

        Raises:
            RuntimeError: if not even one thread can be started.
        """
        needed = self._size + self._blocked if self._actors else 0
        if self._workers == needed:
            return
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        while self._workers < needed:
            thread = threading.Thread(target=self._work, name=f"{self.name}-{next(self._numbers)}")
            try:
                thread.start()
            except RuntimeError as error:
                if not self._workers:
                    raise
                logger.warning("The actor pool %s makes do with %d threads: %s", self.name, self._workers, error)
                return
            self._threads.append(thread)
            self._workers += 1
        while self._workers > needed:
            self._turns.put(None)
            self._workers -= 1

    def _work(self) -> None:
        _worker.pool = self
        while True:
            turn = self._turns.get()
            if turn is None:
                return
            try:
                if self._turn_lock is None:
                    turn()
                else:
                    self._turn_lock.acquire()
                    self._take_locked(self._turn_lock, turn)
            except BaseException:
                logger.critical("A turn of an actor got past the actor's own error handling.", exc_info=True)
            del turn  # an idle thread must not keep the last actor it ran in memory
