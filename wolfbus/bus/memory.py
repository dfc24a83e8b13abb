"""``memory://``: the bus inside one process, with the semantics of Redis Streams and none of its network."""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence

from wolfbus.bus import streams
from wolfbus.bus.landing import ascending_ids, check_landed, house_held, land, milliseconds, not_current
from wolfbus.bus.memory_store import MemoryReader, Store, store_named, with_id
from wolfbus.bus.protocol import Commit, Entry, Owner
from wolfbus.bus.streams import Id, join_id, parse_id
from wolfbus.errors import BusDown, BusError


class MemoryBus:
    """See `wolfbus.bus.protocol.Bus`.

    Args:
        name: buses of equal name share their streams; "" for a bus of its own.
    """

    in_process = True

    def __init__(self, name: str = "") -> None:
        self.url = f"memory://{name}"
        self._open_store: Store | None = store_named(name)
        self._readers: weakref.WeakSet[MemoryReader] = weakref.WeakSet()

    @property
    def _store(self) -> Store:
        store = self._open_store
        if store is None:
            raise BusDown(f"{self.url} was closed")
        return store

    def append(self, stream: str, entries: Sequence[Entry], within_s: float | None = None) -> None:  # noqa: ARG002 - nothing here waits
        """Append entries with explicit, ascending ids; see `Bus.append`."""
        ids = ascending_ids(entries)
        with self._store as store:
            stored = store.stream(stream)
            fresh: list[Entry] = []
            for entry_id, entry in zip(ids, entries, strict=True):
                if entry_id <= stored.last:
                    check_landed(stream, entry, stored.find(entry_id), stored.extent())
                else:
                    fresh.append(entry)
            if fresh:
                # ids ascend, so what is new stands behind what had landed
                store.extend(stream, ids[-len(fresh) :], fresh)

    def post(self, stream: str, entry: Entry) -> str:
        """Append to a stream with many writers; returns the id ``MILLISECONDS-n``."""
        with self._store as store:
            last = store.stream(stream).last
            now = (time.time_ns() // 1_000_000, 0)
            entry_id: Id = now if now > last else (last[0], last[1] + 1)
            store.add(stream, entry_id, with_id(entry, entry_id))
            return join_id(entry_id)

    def commit(self, commits: Sequence[Commit]) -> list[BusError | None]:
        """Land each commit atomically, in order; see `Bus.commit`."""
        return land(commits, self._store)

    def claim(self, house: str, holder: str, lease_s: float = 0.0) -> int:
        """Take ownership of a house; returns a new owner epoch; see `Bus.claim`."""
        until = _until(lease_s)
        with self._store as store:
            owner = self.owner(house)
            if owner.left_s > 0 and owner.holder != holder:
                raise house_held(house, owner.holder, owner.left_s)
            name = streams.owner(house)
            epoch = max(owner.epoch + 1, time.time_ns() // 1_000_000)
            store.set_field(name, "epoch", str(epoch))
            store.set_field(name, "holder", holder)
            store.set_field(name, "until", until)
            return epoch

    def renew(self, house: str, holder: str, epoch: int, lease_s: float) -> None:
        """Prolong the lease; see `Bus.renew`."""
        until = _until(lease_s)
        name = streams.owner(house)
        with self._store as store:
            owner = store.hash(name)
            current = owner.get("epoch", ""), owner.get("holder", "")
            if current != (str(epoch), holder):
                raise not_current(house, epoch, *current)
            store.set_field(name, "until", until)

    def release(self, house: str, holder: str, epoch: int) -> None:
        """End the lease; does nothing if this claim is not the current one."""
        name = streams.owner(house)
        with self._store as store:
            owner = store.hash(name)
            if (owner.get("epoch"), owner.get("holder")) == (str(epoch), holder):
                store.set_field(name, "until", _until(0))

    def owner(self, house: str) -> Owner:
        """Return who owns a house."""
        with self._store as store:
            owner = store.hash(streams.owner(house))
            until = float(owner.get("until", "0"))
            left_s = max(0.0, until - time.monotonic())
            return Owner(owner.get("holder", ""), int(owner.get("epoch", "0")), left_s, until > 0)

    def head(self, house: str, game: str) -> str:
        """Return the record head stored for a game, "" if there is none."""
        with self._store as store:
            return store.hash(streams.heads(house)).get(game, "")

    def cursors(self, house: str) -> dict[str, str]:
        """Return the durable cursors that commits have stored in a house."""
        with self._store as store:
            return dict(store.hash(streams.cursors(house)))

    def entries(self, stream: str, after: str = "0-0", limit: int = 1000) -> list[Entry]:
        """Return up to `limit` entries after id `after`, without waiting."""
        cursor = parse_id(after)
        with self._store as store:
            return store.stream(stream).part(cursor, limit)[0]

    def last_id(self, stream: str) -> str:
        """Return the id of the newest entry ever appended, "0-0" if none."""
        with self._store as store:
            return join_id(store.stream(stream).last)

    def trim(self, stream: str, before: str) -> int:
        """Drop entries older than id `before`; returns how many went."""
        cut = parse_id(before)
        with self._store as store:
            return store.shorten(stream, cut)

    def cap(self, stream: str, keep: int) -> int:
        """Drop the oldest entries so that at most `keep` are left; returns how many went."""
        with self._store as store:
            stored = store.stream(stream)
            if len(stored.ids) <= max(keep, 0):
                return 0
            return store.shorten(stream, stored.ids[-keep] if keep > 0 else (stored.last[0], stored.last[1] + 1))

    def length(self, stream: str) -> int:
        """Return how many entries a stream holds, 0 if there is none."""
        with self._store as store:
            return len(store.stream(stream).ids)

    def expire(self, house: str, game: str, after_s: float, head: str | None = None) -> bool:
        """Forget a game's head now and its record and table in `after_s` seconds; see `Bus.expire`."""
        seconds = milliseconds(after_s) / 1000
        with self._store as store:
            heads = store.hashes.get(streams.heads(house), {})
            if head is not None and heads.get(game, head) != head:
                return False
            heads.pop(game, None)
            for name in (streams.record(house, game), streams.table(house, game)):
                store.remove_in(name, seconds)
            return True

    def forget(self, keys: Sequence[str], after_s: float) -> None:
        """Forget streams so long from now; see `Bus.forget`. The rest goes with the process."""
        seconds = milliseconds(after_s) / 1000
        with self._store as store:
            for key in keys:
                store.remove_in(key, seconds)

    def reader(self) -> MemoryReader:
        """Open a reading session."""
        reader = MemoryReader(self._store)
        self._readers.add(reader)
        return reader

    def close(self) -> None:
        """Close this bus and its reading sessions; others of the same name go on."""
        self._open_store = None
        for reader in list(self._readers):
            reader.close()


def _until(lease_s: float) -> str:
    """Return when a lease that begins now ends, by the process's monotonic clock; "0" for no lease."""
    seconds = milliseconds(lease_s) / 1000
    return repr(time.monotonic() + seconds) if seconds else "0"
