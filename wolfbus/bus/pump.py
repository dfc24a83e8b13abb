"""One reader and one batching writer per process, so that no actor blocks on the bus for more than a moment.

Both own one thread, call back from it, and outlive any exception a callback raises (it is logged). The threads are no
daemons unless a daemon starts them: leave the ``with`` block, or call `close`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Self

from wolfbus.actors.closable import Closable
from wolfbus.bus.protocol import Bus, Commit, Entry
from wolfbus.errors import BusDown, BusError, BusFull, StreamLost

logger = logging.getLogger(__name__)

Deliver = Callable[[str, list[Entry]], None]
"""Called with a stream's name and its new entries, in order."""

Done = Callable[[BusError | None], None]
"""Called once with the outcome of a commit: None if it landed."""

OnError = Callable[[BusError], None]

Lost = Callable[[StreamLost], None]
"""Called with the loss of one stream, which is followed no more."""

FULL_AGAIN_S = 60.0
"""A memory that was not full for so long and is full again is logged again."""

READ_S = 60.0
AT_ONCE_S = 0.25
"""Longest wait of whoever writes without the writing thread."""

REST_S = 0.5
"""Pause after an error that may last."""


class BusReader(Closable):
    """Reads all streams of a process in one session and hands entries to whoever follows the stream.

    Args:
        bus: where to read.
        on_error: called with `StreamLost` of a stream whose follower takes no `lost` (the stream is
            followed no more), or with another `BusError`, after which reading goes on by itself: `BusDown` comes once
            per patience while the bus is away.
        name: name of the thread.
        forget: trim a stream behind what was handed out, where no other reader will ever want it.
        on_recovery: called when reading succeeds again after such another `BusError`.
    """

    def __init__(
        self,
        bus: Bus,
        on_error: OnError,
        name: str = "bus-reader",
        *,
        forget: bool = False,
        on_recovery: Callable[[], None] | None = None,
    ) -> None:
        self._bus = bus
        self._forget = forget
        self._session = bus.reader()
        self._on_error = on_error
        self._on_recovery = on_recovery
        self._failing = False
        self._followers: dict[str, tuple[Deliver, Lost | None]] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name)

    def follow(self, stream: str, deliver: Deliver, after: str = "0-0", lost: Lost | None = None) -> None:
        """Hand entries of `stream` after id `after` to `deliver`, from the reading thread.

        If the stream loses what was not read yet, `lost` is called with that, from the same thread, instead of
        `on_error`; it may follow the stream again. A stream already followed starts anew from `after`, with the new
        `deliver` and `lost`; entries that were just being handed out may still reach it.
        """
        with self._lock:
            self._followers[stream] = deliver, lost
            self._session.follow(stream, after)

    def unfollow(self, stream: str) -> None:
        """Stop handing out entries of `stream`; unknown streams are ignored."""
        with self._lock:
            self._followers.pop(stream, None)
            self._session.unfollow(stream)

    def start(self) -> Self:
        """Start reading."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop reading and wait for the thread; when called from a callback, the thread ends after that callback."""
        self._closed.set()
        self._session.close()
        _join(self._thread)

    def __enter__(self) -> Self:
        return self.start()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                # a recovery is reported soon, whether or not there is anything to read
                batches = self._session.read(REST_S if self._failing else READ_S)
            except BusError as error:
                if not self._closed.is_set():
                    self._report(error)
                continue
            except Exception:
                logger.exception("reading from the bus failed")
                self._closed.wait(REST_S)
                continue
            if self._failing:
                self._failing = False
                if self._on_recovery is not None:
                    _call(self._on_recovery)
            for stream, entries in batches:
                deliver, _ = self._followers.get(stream, (None, None))
                if deliver is not None and not self._closed.is_set():
                    _call(deliver, stream, entries)
                    if self._forget:
                        _call(self._bus.trim, stream, entries[-1].id)

    def _report(self, error: BusError) -> None:
        if not isinstance(error, StreamLost):
            self._failing = True
            _call(self._on_error, error)
            self._closed.wait(REST_S)
            return
        with self._lock:
            _, lost = self._followers.get(error.stream, (None, None))
        _call(lost or self._on_error, error)


class BusWriter(Closable):
    """Writes for a whole process: what queues up while one round trip is under way goes out with the next.

    A lone append or commit leaves at once. Entries of one stream, and all commits, land in the order they were queued.

    Args:
        bus: where to write.
        on_error: called with the error of an append. After `BusDown` the entries stay queued and are tried again
            (appending is safe to repeat); after `BusFull` too, and then it is only logged, once; after any other error
            they are given up. `StaleWriter` and `NotAllowed` name the stream.
    """

    def __init__(self, bus: Bus, on_error: OnError) -> None:
        self._bus = bus
        self._on_error = on_error
        self._appends: dict[str, list[Entry]] = {}
        self._commits: deque[tuple[Commit, Done]] = deque()
        self._news = threading.Condition()
        self._closing = self._asleep = self._borrowed = False
        self._full_at: float | None = None
        self._thread = threading.Thread(target=self._run, name="bus-writer")

    def append(self, stream: str, entries: Iterable[Entry]) -> None:
        """Queue entries with explicit ids; see `Bus.append`.

        Raises:
            BusDown: the writer was closed.
        """
        with self._news:
            self._check_open()
            self._appends.setdefault(stream, []).extend(entries)
            self._wake()

    def append_at_once(self, stream: str, entries: Sequence[Entry]) -> None:
        """Do as `append`, but write here and now if nothing else is to be written and the bus takes it in a moment.

        Whatever else comes of it comes of the writing thread's trying again: appending is safe to repeat.
        """
        with self._news:
            self._check_open()
            if not self._asleep:
                self._appends.setdefault(stream, []).extend(entries)
                return
            # what others queue meanwhile waits for its turn
            self._asleep, self._borrowed = False, True
        landed = False
        try:
            self._bus.append(stream, entries, AT_ONCE_S)
            landed = True
        except Exception as error:  # noqa: BLE001 - the writing thread finds the same, and tells it
            logger.debug("an append is tried again: %s", error)
        finally:
            with self._news:
                self._borrowed = False
                if not landed:
                    self._appends[stream] = [*entries, *self._appends.get(stream, ())]
                if self._appends or self._commits or self._closing:
                    self._news.notify()
                else:
                    self._asleep = True

    def commit(self, commit: Commit, done: Done) -> None:
        """Queue a step; `done` is called from the writing thread with its outcome, see `Bus.commit`.

        With `BusDown`, the step may have landed or not: every step waiting then gets that error too, and committing
        them all again, in order, is safe. After `BusFull`, which is logged once, the writer rests a moment, so a step
        may be tried again at once.

        Raises:
            BusDown: the writer was closed.
        """
        with self._news:
            self._check_open()
            self._commits.append((commit, done))
            self._wake()

    def start(self) -> Self:
        """Start writing."""
        self._thread.start()
        return self

    def close(self, flush: bool = True) -> None:
        """Write out what is queued (or give it up, if not `flush`) and wait for the thread.

        What is given up, or cannot be written while closing, is reported to `on_error` and each `done` as `BusDown`.
        When called from a callback, the thread ends by itself afterwards.
        """
        with self._news:
            self._closing = True
            running = self._thread.ident is not None
            appends, commits = ({}, []) if flush and running else self._take_queued()
            self._news.notify()
        self._give_up(appends, commits, BusDown("the writer was closed before this was written"))
        _join(self._thread)

    def __enter__(self) -> Self:
        return self.start()

    def _wake(self) -> None:
        if self._asleep:
            self._asleep = False
            self._news.notify()

    def _check_open(self) -> None:
        if self._closing:
            raise BusDown("the writer was closed")

    def _take_queued(self) -> tuple[dict[str, list[Entry]], list[tuple[Commit, Done]]]:
        appends, self._appends = self._appends, {}
        commits = list(self._commits)
        self._commits.clear()
        return appends, commits

    def _run(self) -> None:
        while True:
            with self._news:
                while self._borrowed or not (self._appends or self._commits or self._closing):
                    self._asleep = not self._borrowed
                    self._news.wait()
                self._asleep = False
                appends, commits = self._take_queued()
            if not appends and not commits:
                return
            try:
                full = self._write_appends(appends)
                full = self._write_commits(commits) or full
            except BusDown as error:
                self._requeue(appends, commits, error)
            else:
                if full is not None:
                    self._warn_full(full)
                    self._requeue(appends, [], full)

    def _write_appends(self, appends: dict[str, list[Entry]]) -> BusFull | None:
        """Append what is in `appends`, and empty it but for what memory was short for.

        After `BusDown` it holds what may not have landed.
        """
        full: BusFull | None = None
        for stream, entries in list(appends.items()):
            try:
                self._bus.append(stream, entries)
            except BusDown:
                raise
            except BusFull as error:
                full = error
                continue
            except BusError as error:
                _call(self._on_error, error)
            except Exception as error:
                logger.exception("an append failed")
                _call(self._on_error, BusError(f"stream {stream}: {error!r}"))
            del appends[stream]
        return full

    def _write_commits(self, commits: list[tuple[Commit, Done]]) -> BusFull | None:
        """Commit; returns the error if memory was short for any of it."""
        if not commits:
            return None
        try:
            results = self._bus.commit([commit for commit, _ in commits])
        except BusDown:
            raise
        except Exception as error:
            logger.exception("a commit failed")
            results = [BusError(f"commit: {error!r}")] * len(commits)
        for (_, done), result in zip(commits, results, strict=True):
            _call(done, result)
        return next((result for result in results if isinstance(result, BusFull)), None)

    def _warn_full(self, error: BusFull) -> None:
        """Log that memory is short, unless that was so a moment ago."""
        now = time.monotonic()
        if self._full_at is None or now - self._full_at > FULL_AGAIN_S:
            logger.warning("%s; trying again until there is room", error)
        self._full_at = now

    def _requeue(
        self, appends: dict[str, list[Entry]], commits: list[tuple[Commit, Done]], error: BusDown | BusFull
    ) -> None:
        """Queue appends again, before those that came meanwhile, unless this writer closes.

        While the bus is away, give up waiting commits.
        """
        with self._news:
            if isinstance(error, BusDown):
                commits += self._commits
                self._commits.clear()
            lost = self._closing and bool(appends)
            if not self._closing:
                for stream, entries in self._appends.items():
                    appends.setdefault(stream, []).extend(entries)
                self._appends = appends
        self._give_up({}, commits, error)
        if lost or isinstance(error, BusDown):
            _call(self._on_error, error)
        with self._news:
            self._news.wait_for(lambda: self._closing, REST_S)

    def _give_up(
        self, appends: dict[str, list[Entry]], commits: list[tuple[Commit, Done]], error: BusDown | BusFull
    ) -> None:
        for _, done in commits:
            _call(done, error)
        if appends:
            _call(self._on_error, error)


def _call(callback: Callable[..., object], *args: object) -> None:
    try:
        callback(*args)
    except Exception:
        logger.exception("a callback of the bus failed")


def _join(thread: threading.Thread) -> None:
    if thread.ident is not None and thread is not threading.current_thread():
        thread.join()
