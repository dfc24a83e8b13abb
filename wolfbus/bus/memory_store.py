"""What a memory bus holds: streams and hashes, under one lock; and the sessions that read it.

Sessions are notified of what changed, so that a read does not cost what is merely followed.
"""

from __future__ import annotations

import threading
import time
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Self

from wolfbus.bus import streams
from wolfbus.bus.landing import LANDED, Verdict
from wolfbus.bus.protocol import Commit, Entry
from wolfbus.bus.streams import START, Extent, Id, check_loss, join_id, parse_id
from wolfbus.errors import BusDown, BusError


class Stream:
    """Entries in order of their ids.

    Attributes:
        ids: ids of the entries, ascending.
        entries: the entries themselves.
        last: id of the newest entry ever appended.
        shortened: whether entries were ever taken away.
        heads: record entry id to the head its step brought about.
    """

    __slots__ = ("entries", "heads", "ids", "last", "shortened")

    def __init__(self) -> None:
        self.ids: list[Id] = []
        self.entries: list[Entry] = []
        self.last: Id = START
        self.shortened = False
        self.heads: dict[str, str] = {}

    def extend(self, ids: Sequence[Id], entries: Sequence[Entry]) -> None:
        """Append entries, one or more; the caller has checked that their ids ascend from `last`."""
        self.ids += ids
        self.entries += entries
        self.last = ids[-1]

    def part(self, cursor: Id, limit: int) -> tuple[list[Entry], Id]:
        """Return up to `limit` entries after `cursor`, and the id of the last of them, `cursor` if there are none."""
        start = bisect_right(self.ids, cursor)
        entries = self.entries[start : start + limit]
        return entries, self.ids[start + len(entries) - 1] if entries else cursor

    def find(self, entry_id: Id) -> Entry | None:
        """Return the entry with this id, None if it is not there."""
        index = bisect_left(self.ids, entry_id)
        return self.entries[index] if index < len(self.ids) and self.ids[index] == entry_id else None

    def cut(self, before: Id) -> int:
        """Drop entries older than `before`; return how many went."""
        count = bisect_left(self.ids, before)
        for entry in self.entries[:count]:
            self.heads.pop(entry.id, None)
        del self.ids[:count], self.entries[:count]
        self.shortened = self.shortened or count > 0
        return count

    def extent(self) -> Extent:
        """Say how far the stream reaches."""
        return Extent(first=self.ids[0] if self.ids else None, last=self.last, shortened=self.shortened)


class Store:
    """Streams, hashes and who follows what, and a `StepLedger`.

    All but a ledger's calls are made ``with`` the store, which holds its lock.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.streams: dict[str, Stream] = {}
        self.hashes: dict[str, dict[str, str]] = {}
        self.followers: dict[str, set[MemoryReader]] = {}
        self._due: list[tuple[float, str]] = []  # a heap; `_ends` says which of its pairs still hold
        self._ends: dict[str, float] = {}

    def __enter__(self) -> Self:
        self.lock.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.lock.release()

    def stream(self, name: str) -> Stream:
        """Return a stream, an empty one if it does not exist.

        Raises:
            BusError: this name holds a hash.
        """
        if name in self.hashes:
            raise BusError(f"{name} holds a hash, not a stream")
        if self._due:
            self._expire_due()
        return self.streams.get(name) or Stream()

    def extent(self, name: str) -> Extent | None:
        """Say how far a stream reaches, None if it does not exist; raises as `stream` does."""
        stream = self.stream(name)
        return stream.extent() if name in self.streams else None

    def hash(self, name: str) -> dict[str, str]:
        """Return the fields of a hash, none if it does not exist.

        Raises:
            BusError: this name holds a stream.
        """
        if name in self.streams:
            raise BusError(f"{name} holds a stream, not a hash")
        return self.hashes.get(name, {})

    def set_field(self, name: str, field: str, value: str) -> None:
        """Set one field of a hash."""
        self.hashes.setdefault(name, {})[field] = value

    def add(self, name: str, entry_id: Id, entry: Entry) -> None:
        """Append an entry to a stream, creating it, and notify its followers."""
        self.extend(name, [entry_id], [entry])

    def extend(self, name: str, ids: Sequence[Id], entries: Sequence[Entry]) -> None:
        """Append entries to a stream, creating it, and notify its followers once."""
        stream = self.streams.get(name)
        if stream is None:
            stream = self.streams[name] = Stream()
        stream.extend(ids, entries)
        if name in self.followers:
            self.notify(name)

    def notify(self, name: str) -> None:
        """Notify the followers of a stream that it changed."""
        for follower in self.followers.get(name, ()):
            follower.changed(name)

    def shorten(self, name: str, before: Id) -> int:
        """Drop a stream's entries older than an id and notify its followers; returns how many went."""
        count = self.stream(name).cut(before)
        if count:
            self.notify(name)
        return count

    def remove(self, name: str) -> None:
        """Delete a stream and notify its followers."""
        self._ends.pop(name, None)
        if self.streams.pop(name, None) is not None:
            self.notify(name)

    def remove_in(self, name: str, seconds: float) -> None:
        """Delete a stream when that time has passed and somebody looks at any stream; 0 for now."""
        if seconds <= 0:
            self.remove(name)
        elif name in self.streams:
            self._ends[name] = time.monotonic() + seconds
            heappush(self._due, (self._ends[name], name))

    def _expire_due(self) -> None:
        now = time.monotonic()
        while self._due and self._due[0][0] <= now:
            end, name = heappop(self._due)
            if self._ends.get(name) == end:
                self.remove(name)

    def send(self, steps: Sequence[Commit]) -> list[Verdict]:
        """Land each step in order, each one whole or not at all."""
        with self:
            return [self._land(step) for step in steps]

    def _land(self, step: Commit) -> Verdict:
        try:
            return self._refusal(step) or self._write(step)
        except BusError as error:
            return Verdict("refused", str(error))

    def _refusal(self, step: Commit) -> Verdict | None:
        """Say why the step cannot be written, or that it was written before; None if it can."""
        epoch = self.hash(streams.owner(step.house)).get("epoch", "")
        if epoch != str(step.epoch):
            return Verdict("epoch", epoch)
        head = self.hash(streams.heads(step.house)).get(step.game, "")
        if step.record and head == step.head:
            return LANDED
        if head != step.expected:
            return Verdict("head", head)
        if step.cursors:
            self.hash(streams.cursors(step.house))
        if step.record:
            name = streams.record(step.house, step.game)
            last = self.stream(name).last
            first = parse_id(step.record[0].id)
            if last != ((first[0] - 1, 0) if first[0] > 1 else START):
                return Verdict("order", f"{name} ends at {join_id(last)}, this step begins at {join_id(first)}")
        seen: set[str] = set()
        for name, entry in step.posts:
            if name not in seen:
                seen.add(name)
                last = self.stream(name).last
                if (parse_id(entry.id) <= last) if entry.id else (last[0] > step.epoch):
                    return Verdict("order", f"{name} ends at {join_id(last)}, this step posts {entry.id or step.epoch}")
        return None

    def _write(self, step: Commit) -> Verdict:
        name = streams.record(step.house, step.game)
        if step.record:
            # numbers without gaps, as the step was checked to have
            first = parse_id(step.record[0].id)[0]
            self.extend(name, [(first + n, 0) for n in range(len(step.record))], step.record)
            self.streams[name].heads[step.record[-1].id] = step.head
            self.set_field(streams.heads(step.house), step.game, step.head)
        for stream, entry in step.posts:
            if entry.id:
                self.add(stream, parse_id(entry.id), entry)
            else:
                last = self.stream(stream).last
                entry_id = (step.epoch, last[1] + 1 if last[0] == step.epoch else 0)
                self.add(stream, entry_id, with_id(entry, entry_id))
        for stream, cursor in (step.cursors or {}).items():
            self.set_field(streams.cursors(step.house), stream, cursor)
        return LANDED

    def head_at(self, house: str, game: str, entry_id: str) -> str:
        """Return the head that the step ending in a record entry brought about, "" if there is none."""
        with self.lock:
            return self.stream(streams.record(house, game)).heads.get(entry_id, "")

    def find(self, stream: str, entry_id: str) -> Entry | None:
        """Return the entry that stands on a stream under an id."""
        with self.lock:
            return self.stream(stream).find(parse_id(entry_id))


def with_id(entry: Entry, entry_id: Id) -> Entry:
    """Return the same entry under an id."""
    return Entry(entry.content, entry.type, entry.sender, entry.game, entry.number, join_id(entry_id))


_named: weakref.WeakValueDictionary[str, Store] = weakref.WeakValueDictionary()
_named_lock = threading.Lock()


def store_named(name: str) -> Store:
    """Return the store that all buses ``memory://NAME`` share until the last is closed; "" gives a new one."""
    if not name:
        return Store()
    with _named_lock:
        store = _named.get(name)
        if store is None:
            store = _named[name] = Store()
        return store


class MemoryReader:
    """See `wolfbus.bus.protocol.Reader`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._news = threading.Condition(store.lock)
        self._cursors: dict[str, Id] = {}
        self._dirty: dict[str, None] = {}  # a dict keeps the order in which streams changed
        self._asleep = False
        self._closed = False

    def changed(self, stream: str) -> None:
        """Take in that a followed stream changed; called by the store under its lock."""
        changed = self._store.streams.get(stream)
        if changed is None or changed.last != self._cursors[stream]:
            # else it was cut behind what was read
            self._dirty[stream] = None
            self._wake()

    def _wake(self) -> None:
        if self._asleep:
            self._asleep = False
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
                if batches := self._collect(limit):
                    return batches
                left = until - time.monotonic()
                if left <= 0:
                    break
                self._asleep = True
                self._news.wait(left)
                self._asleep = False
            return []

    def _collect(self, limit: int) -> list[tuple[str, list[Entry]]]:
        for name in list(self._dirty):
            try:
                check_loss(name, self._cursors[name], self._store.extent(name))
            except BusError:
                self.unfollow(name)
                raise
        batches: list[tuple[str, list[Entry]]] = []
        for name in list(self._dirty):
            entries, last = self._store.stream(name).part(self._cursors[name], limit)
            if entries:
                self._cursors[name] = last
                batches.append((name, entries))
            if len(entries) < limit:
                del self._dirty[name]
        return batches

    def close(self) -> None:
        """End the session; a blocked `read` returns an empty list."""
        with self._news:
            for stream in list(self._cursors):
                self.unfollow(stream)
            self._closed = True
            self._wake()
