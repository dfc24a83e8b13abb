"""A reading session on Redis: blocking XREADs in short slices, on a connection of its own.

Only the reading thread touches that connection. Other threads wake it through a socket pair, so
`follow` and `close` take effect at once, whatever the server does. To get out of a blocked XREAD the reading
thread has the server end it (CLIENT UNBLOCK, from another connection). A named user mostly may not do that, and trying
would leave a denial in the server's ACL LOG: there it disconnects and connects anew.
"""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from redis.exceptions import AskError, MovedError, NoPermissionError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from wolfbus.bus.protocol import Entry
from wolfbus.bus.redis.connection import BROKEN, RedisLink, Word, refusal
from wolfbus.bus.redis.pool import QUICKEST_S, Links, Outage, slot_of
from wolfbus.bus.redis.wire import entry_of, extent_of
from wolfbus.bus.streams import START, Id, check_loss, follows_directly, join_id, parse_id
from wolfbus.bus.url import Address
from wolfbus.errors import BusDown, BusError

SLICE_S = 2.0
"""Longest time one XREAD blocks."""

GRACE_S = 5.0
"""How much longer than its slice a reply may take before the connection counts as broken."""

AUDIT = 64
"""Most streams looked at for losses after one slice; with more, they take turns."""

UNBLOCK_AGAIN_S = 0.005


class _Followed:
    """A stream and how far it was read; another object stands for each `follow`, so stale replies are told apart."""

    __slots__ = ("cursor",)

    def __init__(self, cursor: Id) -> None:
        self.cursor = cursor


class RedisReader:
    """See `wolfbus.bus.protocol.Reader`.

    Args:
        links: the bus's other connections.
        forget: called with this reader once it is closed.
    """

    def __init__(self, links: Links, forget: Callable[[RedisReader], None]) -> None:
        self._links = links
        self._forget = forget
        self._link: RedisLink | None = None
        self._redirect: Address | None = None
        self._lock = threading.Lock()
        self._followed: dict[str, _Followed] = {}
        self._unchecked: dict[str, None] = {}
        self._closed = False
        self._reading = False
        self._woken = False
        self._audited = time.monotonic()
        self._turn = 0
        self._may_unblock = links.address.username in {None, "default"}
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._wake_receiver.setblocking(False)
        self._wake_sender.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wake_receiver, selectors.EVENT_READ)

    # -- any thread

    def follow(self, stream: str, after: str = "0-0") -> None:
        """Add `stream`, from the entry after id `after`; a stream already followed starts anew from there.

        Raises:
            BusError: another slot of a cluster has it than has what is followed already.
        """
        followed = _Followed(parse_id(after))
        with self._lock:
            self._check_slot(stream)
            self._followed.pop(stream, None)
            self._followed[stream] = followed
            self._unchecked.pop(stream, None)
            if followed.cursor != START:
                self._unchecked[stream] = None
            self._wake()

    def _check_slot(self, stream: str) -> None:
        if self._links.address.cluster:
            other = next(iter(self._followed), stream)
            if slot_of(other) != slot_of(stream):
                raise BusError(
                    f"a reading session on a cluster follows streams of one house: {other}, hence not {stream}"
                )

    def unfollow(self, stream: str) -> None:
        """Stop reading `stream`; unknown streams are ignored."""
        with self._lock:
            self._followed.pop(stream, None)
            self._unchecked.pop(stream, None)

    def close(self) -> None:
        """End the session; a blocked `read` returns an empty list."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._wake()
            reading = self._reading
        self._forget(self)
        if not reading:
            self._release()

    def _wake(self) -> None:
        if self._reading:
            try:
                self._wake_sender.send(b"!")
            except BlockingIOError:
                return  # so many wakes are waiting that one more says nothing new

    # -- the reading thread

    def read(self, block_s: float, limit: int = 1000) -> list[tuple[str, list[Entry]]]:
        """Return new entries per stream; see `Reader.read`."""
        with self._lock:
            if self._closed:
                raise BusDown("this reading session was closed")
            self._reading = True
        try:
            return self._read(block_s, limit)
        finally:
            self._finish()

    def _finish(self) -> None:
        with self._lock:
            self._reading = False
            closed = self._closed
        if closed:
            self._release()

    def _read(self, block_s: float, limit: int) -> list[tuple[str, list[Entry]]]:
        until = time.monotonic() + block_s
        outage: Outage | None = None
        while True:
            with self._lock:
                self._drain_wakes()
                if self._closed:
                    return []
                followed = dict(self._followed)
            left = until - time.monotonic()
            try:
                batches = self._read_slice(followed, min(left, SLICE_S), limit)
            except (*BROKEN, AskError) as error:
                self._follow_redirect(error)
                self._disconnect()
                self._uncheck_all()
                outage = outage or Outage(self._links.address, self._links.address.patience_s)
                self._wait(outage.pause_s(error))
                continue
            except BusError:
                raise
            except BaseException:
                self._disconnect()  # a reply may still be under way
                raise
            outage = None
            if batches or left <= 0:
                return batches

    def _read_slice(
        self, followed: Mapping[str, _Followed], block_s: float, limit: int
    ) -> list[tuple[str, list[Entry]]]:
        """Read once; an empty list means that the time passed, or that another thread woke it."""
        if self._link is None:
            if not followed and self._links.address.cluster:
                self._wait(max(block_s, 0.0))
                return []
            self._link = self._connect(next(iter(followed), ""))
        link = self._link
        self._check_new(link)
        if not followed:
            self._wait(max(block_s, 0.0))
            return []
        if time.monotonic() - self._audited > SLICE_S:
            self._audit(link)
        reply = self._xread(link, followed, block_s, limit)
        if isinstance(reply, ResponseError):
            # it does not say which of them it is about, and they do
            self._check(link, list(followed))
            raise refusal(reply, "reading") from reply
        if reply:
            return self._advance(link, followed, reply)
        if not self._woken:
            self._audit(link)
        return []

    def _xread(self, link: RedisLink, followed: Mapping[str, _Followed], block_s: float, limit: int) -> Any:
        command: list[Word] = ["XREAD", "COUNT", limit]
        if block_s > 0:
            command += ("BLOCK", max(1, int(block_s * 1000)))
        command.append("STREAMS")
        command += followed
        command += [join_id(stream.cursor) for stream in followed.values()]
        link.send([command])
        self._woken = False
        if block_s <= 0:
            return link.receive()
        self._selector.register(link, selectors.EVENT_READ)
        try:
            return self._wait_for_reply(link, time.monotonic() + block_s + GRACE_S)
        finally:
            self._selector.unregister(link)

    def _wait_for_reply(self, link: RedisLink, until: float) -> Any:
        """Wait for the reply to a blocking read; if another thread wakes it, end the read early."""
        while (left := until - time.monotonic()) > 0:
            ready = [key.fileobj for key, _ in self._selector.select(UNBLOCK_AGAIN_S if self._woken else left)]
            if link in ready:
                return link.receive()
            # The server may see the call to unblock before the read it is to end: hence again and again.
            self._woken = self._woken or self._wake_receiver in ready
            if self._woken:
                self._drain_wakes()
                if self._closed or not self._unblock(link):
                    self._disconnect()
                    return None
        raise RedisTimeoutError("no reply to a read in time")

    def _unblock(self, link: RedisLink) -> bool:
        """Have the server end the blocked read; False if it cannot be asked."""
        if not self._may_unblock:
            return False
        try:
            (reply,) = self._links.run_at(
                link.address, lambda other: other.exchange([("CLIENT", "UNBLOCK", link.client_id)])
            )
        except BusError:
            return False
        self._may_unblock = not isinstance(reply, NoPermissionError)
        return self._may_unblock

    def _advance(
        self, link: RedisLink, followed: Mapping[str, _Followed], reply: list[Any]
    ) -> list[tuple[str, list[Entry]]]:
        """Return what was read and move the cursors, unless something is missing in between."""
        # a step that took its posts back wakes a blocked read too, and leaves nothing to be read
        batches = [(name.decode(), [entry_of(item) for item in items]) for name, items in reply if items]
        doubtful = []
        for name, entries in batches:
            cursor = followed[name].cursor
            if cursor != START and not follows_directly(cursor, parse_id(entries[0].id)):
                doubtful.append(name)
        if doubtful:
            self._check(link, doubtful)
        with self._lock:
            current = [(name, entries) for name, entries in batches if self._followed.get(name) is followed[name]]
            for name, entries in current:
                followed[name].cursor = parse_id(entries[-1].id)
        return current

    # -- losses

    def _uncheck_all(self) -> None:
        with self._lock:
            self._unchecked = {name: None for name, stream in self._followed.items() if stream.cursor != START}

    def _check_new(self, link: RedisLink) -> None:
        """Make sure that streams newly followed, or followed across a break, still hold what comes after the cursor."""
        with self._lock:
            names = list(self._unchecked)
        if names:
            self._check(link, names)
            with self._lock:
                for name in names:
                    self._unchecked.pop(name, None)

    def _audit(self, link: RedisLink) -> None:
        """Look at some of the streams, in turns."""
        with self._lock:
            names = [name for name, stream in self._followed.items() if stream.cursor != START]
        self._audited = time.monotonic()
        start = self._turn if self._turn < len(names) else 0
        self._turn = start + AUDIT
        if names:
            self._check(link, names[start : self._turn])

    def _check(self, link: RedisLink, names: Sequence[str]) -> None:
        """Raise an error for the first stream that lost something or cannot be read, and follow it no more."""
        replies = link.exchange([("XINFO", "STREAM", name) for name in names])
        with self._lock:
            for name, reply in zip(names, replies, strict=True):
                stream = self._followed.get(name)
                if stream is None:
                    continue
                try:
                    check_loss(name, stream.cursor, extent_of(name, reply))
                except BusError:
                    del self._followed[name]
                    self._unchecked.pop(name, None)
                    raise

    # -- the connection

    def _drain_wakes(self) -> None:
        """Drop the wakes: what other threads changed is looked at next."""
        try:
            while self._wake_receiver.recv(4096):
                pass
        except BlockingIOError:
            return

    def _wait(self, seconds: float) -> None:
        """Wait, unless another thread wakes it."""
        self._selector.select(seconds)

    def _connect(self, stream: str) -> RedisLink:
        address = self._redirect or self._links.nodes.serving(stream)
        opening_s = max(min(address.patience_s, GRACE_S), QUICKEST_S)
        try:
            link = RedisLink(address, SLICE_S + GRACE_S, opening_s)
        except BROKEN:
            self._links.nodes.suspect(address)
            raise
        link.asking = self._redirect is not None
        self._redirect = None
        return link

    def _follow_redirect(self, error: Exception) -> None:
        """Find where to go on from what went wrong: a cluster's node that names another, or is no more."""
        self._redirect = None
        if self._link is None:
            return
        nodes, node = self._links.nodes, self._link.address
        if isinstance(error, MovedError):
            nodes.moved(error, node)
        elif isinstance(error, AskError):
            self._redirect = nodes.named_by(error, node)
        else:
            nodes.suspect(node)

    def _disconnect(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    def _release(self) -> None:
        self._disconnect()
        self._selector.close()
        self._wake_receiver.close()
        self._wake_sender.close()
