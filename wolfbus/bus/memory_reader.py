"""A reading session on a memory bus: it hears what changed, so a read does not cost what is merely followed."""

from __future__ import annotations

import threading
import time

from wolfbus.bus.checks import loss, what_was_lost
from wolfbus.bus.ids import Id, parse_id
from wolfbus.bus.memory_store import Store
from wolfbus.bus.protocol import Entry
from wolfbus.errors import BusDown


class MemoryReader:
    """See `wolfbus.bus.protocol.Reader`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._news = threading.Condition(store.lock)
        self._cursors: dict[str, Id] = {}
        self._dirty: dict[str, None] = {}  # a dict keeps the order in which streams changed
        self._woken = False
        self._closed = False

    def changed(self, stream: str) -> None:
        """Hear that a followed stream changed; called by the store under its lock."""
        self._dirty[stream] = None
        self._news.notify()

    def follow(self, stream: str, after: str = "0-0") -> None:
        """Add `stream`, from the entry after id `after`; a stream already followed starts anew from there."""
        with self._news:
            self._cursors[stream] = parse_id(after)
            self._store.followers.setdefault(stream, set()).add(self)
            self.changed(stream)

    def unfollow(self, stream: str) -> None:
        """Stop reading `stream`; unknown streams are ignored."""
        with self._news:
            self._cursors.pop(stream, None)
            self._dirty.pop(stream, None)
            followers = self._store.followers.get(stream, set())
            followers.discard(self)
            if not followers:
                self._store.followers.pop(stream, None)

    def read(self, block_s: float, limit: int = 1000) -> list[tuple[str, list[Entry]]]:
        """Return new entries per stream; see `Reader.read`."""
        until = time.monotonic() + block_s
        with self._news:
            if self._closed:
                raise BusDown("this reading session was closed")
            while not self._closed:
                if found := self._collect(limit):
                    return found
                left = until - time.monotonic()
                if self._woken or left <= 0:
                    break
                self._news.wait(left)
            self._woken = False
            return []

    def _collect(self, limit: int) -> list[tuple[str, list[Entry]]]:
        for name in list(self._dirty):
            stream = self._store.stream(name)
            extent = stream.extent() if stream is not None else None
            lost = what_was_lost(self._cursors[name], extent)
            if lost:
                error = loss(name, self._cursors[name], lost, extent)
                self.unfollow(name)
                raise error
        found: list[tuple[str, list[Entry]]] = []
        for name in list(self._dirty):
            stream = self._store.stream(name)
            entries = stream.after(self._cursors[name], limit) if stream is not None else []
            if entries:
                self._cursors[name] = parse_id(entries[-1].id)
                found.append((name, entries))
            if len(entries) < limit:
                del self._dirty[name]
        return found

    def wake(self) -> None:
        """Make a blocked `read` return now, or else the next one at once."""
        with self._news:
            self._woken = True
            self._news.notify()

    def close(self) -> None:
        """End the session; a blocked `read` returns an empty list."""
        with self._news:
            for stream in list(self._cursors):
                self.unfollow(stream)
            self._closed = True
            self._news.notify()
