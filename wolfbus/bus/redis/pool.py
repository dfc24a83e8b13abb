"""`Links`: connections for everything but reading. One per call in progress, kept for the next; after a break work is
tried again on another, until the patience of the address is over (`Outage`, for readers as well).

Each goes to the node that serves the call's key, where the address is a cluster's, and follows it where it moves.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from redis.crc import key_slot
from redis.exceptions import AskError, MovedError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError

from wolfbus.bus.redis.connection import BROKEN, REPLY_TIMEOUT_S, RedisLink, Script, UnsavedError, Word, refusal
from wolfbus.bus.redis.trouble import is_lasting, remedy, unreachable
from wolfbus.bus.url import Address, read_address
from wolfbus.errors import BusDown, BusError, BusUnsaved
from wolfbus.patience import Backoff, Patience

logger = logging.getLogger(__name__)

T = TypeVar("T")

PAUSES: Final = Backoff(first=0.02, longest=1.0)
"""Pauses between tries to reach a server that is away."""
QUICKEST_S = 1.0
"""Shortest time that a server gets to shake hands, however little is left to reach it."""

_ASKING_S: Final = 2.0
"""Longest wait for a node that is asked who serves what, in seconds: there are others."""


def slot_of(key: str) -> int:
    """Return the hash slot of a key, 0-16383; keys of one house have the same."""
    return int(key_slot(key.encode()))


class Nodes:
    """The servers behind an address. Thread-safe.

    Args:
        address: a server, or some nodes of a cluster.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._nodes: list[Address] = []
        self._by_slot: dict[int, Address] = {}
        self._suspect: Address | None = None
        self._up_to_date = False

    def serving(self, key: str) -> Address:
        """Return who serves a key.

        Raises:
            BusError: this is no cluster, or the user may not ask who serves what.
            redis.exceptions.RedisError: one of `BROKEN`, if nobody can be asked, or nobody serves the key.
        """
        if not self._address.cluster:
            return self._address
        slot = slot_of(key)
        with self._lock:
            if not self._up_to_date:
                self._refresh()
            if slot not in self._by_slot:
                self._up_to_date = False
                raise RedisConnectionError(f"no node of the cluster serves hash slot {slot}")
            return self._by_slot[slot]

    def all(self) -> list[Address]:
        """Return everybody who serves any key; raises as `serving` does."""
        if not self._address.cluster:
            return [self._address]
        with self._lock:
            self._refresh()
            return list(self._nodes)

    def suspect(self, node: Address) -> None:
        """Ask again before the next key: a node could not be reached, or could not serve."""
        with self._lock:
            self._up_to_date = False
            self._suspect = node

    def moved(self, error: AskError, node: Address) -> None:
        """Record that a node names another one as a slot's."""
        with self._lock:
            self._by_slot[error.slot_id] = self.named_by(error, node)

    @staticmethod
    def named_by(error: AskError, node: Address) -> Address:
        """Return the node that another one names; one without a host is at the same host."""
        return node.at(error.host or node.host, error.port)

    def _refresh(self) -> None:
        addresses = ((self._address.host, self._address.port), *self._address.others)
        seeds = [self._address.at(host, port) for host, port in addresses]
        candidates = list(dict.fromkeys([*self._nodes, *seeds]))
        # whoever has just failed is asked last
        candidates.sort(key=lambda node: node == self._suspect)
        broken: Exception | None = None
        for node in candidates:
            try:
                self._load_slots(node)
            except BROKEN as error:
                broken = broken or error
            else:
                return
        raise broken or RedisConnectionError("no node of the cluster is known")

    def _load_slots(self, node: Address) -> None:
        link = RedisLink(node, _ASKING_S, _ASKING_S)
        try:
            (reply,) = link.exchange([("CLUSTER", "SLOTS")])
        finally:
            link.close()
        if isinstance(reply, ResponseError):
            if "cluster support disabled" in str(reply):
                raise BusError(f"Redis at {node.place} is no node of a cluster: its address begins with redis://")
            raise refusal(reply, "asking which node of the cluster serves what") from reply
        self._by_slot, served = {}, []
        for first, last, (host, port, *_), *_ in reply:
            served.append(node.at((host or b"").decode() or node.host, int(port)))
            self._by_slot |= dict.fromkeys(range(first, last + 1), served[-1])
        self._nodes = list(dict.fromkeys(served))
        self._suspect = None
        self._up_to_date = True


def warn_of_eviction(url: str) -> None:
    """Warn of a Redis that throws away data when its memory is full; not where it may not be asked."""
    with contextlib.closing(Links(read_address(url))) as links, contextlib.suppress(BusError):
        for reply in links.run_everywhere(lambda link: link.ask("INFO", "memory", doing="its maxmemory-policy")):
            policy = re.search(r"maxmemory_policy:(\S+)", reply.decode())
            if policy is not None and policy[1] != "noeviction":
                logger.warning(
                    "this Redis throws away data when its memory is full (maxmemory-policy %s), which breaks games: "
                    "redis-cli CONFIG SET maxmemory-policy noeviction",
                    policy[1],
                )


class Outage:
    """How long to go on after a break: the first next try comes at once, the others after growing pauses.

    Args:
        address: the server, for the error's line.
        patience_s: seconds from the first break until giving up.
    """

    def __init__(self, address: Address, patience_s: float) -> None:
        self._address = address
        self._patience_s = patience_s
        self._patience = Patience(patience_s, PAUSES)

    def pause_s(self, error: Exception) -> float:
        """Return how long to wait before the next try.

        Raises:
            BusDown: patience is at its end; `BusUnsaved` where the server answers, but takes no writes.
        """
        pause = self._patience.pause_s()
        if self._patience.failures == 1:
            # the first break is often an idle connection that the server closed
            return 0.0
        if pause is None:
            why = "; ".join(filter(None, (str(error).rstrip(". "), remedy(error))))
            unsaved = isinstance(error, UnsavedError)
            failure = "takes no writes" if unsaved or "read only" in why else "cannot be reached"
            line = f"Redis at {self._address.place} {failure} (tried for {self._patience_s:g} s): {why}"
            raise (BusUnsaved(line) if unsaved else BusDown(line)) from error
        return pause


class Links:
    """Runs work on connections, and again after a break; all work given to it must be safe to repeat.

    Args:
        address: the server, or nodes of a cluster.

    Attributes:
        address: the same.
        nodes: which server serves what.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self.nodes = Nodes(address)
        self._reply_s = min(REPLY_TIMEOUT_S, address.patience_s)
        self._idle: dict[Address, deque[RedisLink]] = {}
        self._closed = threading.Event()
        self._warned = False
        self._process = os.getpid()

    def check_open(self) -> None:
        """Raise BusDown if `close` was called, or BusError in another process, which would read the replies of this."""
        if os.getpid() != self._process:
            raise BusError("this bus was opened before a fork, by another process: open one in each")
        if self._closed.is_set():
            raise BusDown(f"the bus to Redis at {self.address.place} was closed")

    def reach(self, within_s: float) -> None:
        """Make sure that the server can be reached, which perhaps it never was.

        The error says what to do about it.

        Raises:
            BusDown: no connection within so many seconds; at once where trying again cannot help.
            BusError: the server is too old, or refuses the user.
        """
        patience = Patience(within_s, PAUSES, begun=True)
        while True:
            self.check_open()
            try:
                if self.address.cluster:
                    self.nodes.all()
                else:
                    self._put_back(self.address, self._link(self.address, max(patience.left_s(), QUICKEST_S)))
            except BROKEN as error:
                pause = patience.pause_s()
                if pause is None or is_lasting(error):
                    raise unreachable(self.address, within_s, error) from error
                self._closed.wait(pause)
            else:
                return

    def run(self, key: str, work: Callable[[RedisLink], T], patience_s: float | None = None) -> T:
        """Return what `work` returns, on a connection to whoever serves a key, and with it all keys of its house.

        Raises:
            BusDown: no connection held long enough within the patience, or `close` was called.
        """
        return self._retry(lambda: self._run_at_owner(key, work), patience_s)

    def call(
        self, script: Script, keys: Sequence[str], words: Sequence[Word], doing: str, patience_s: float | None = None
    ) -> Any:
        """Return what a script replies to one call; see `run`.

        Args:
            script: the script.
            keys: its keys, of one house.
            words: its arguments.
            doing: what is done, for the line of an error.
            patience_s: how long to try again after a break, in seconds; None for the address's.

        Raises:
            BusDown: as `run` does.
            BusError: the server refuses it.
        """
        (reply,) = self.run(keys[0], lambda link: script.run(link, [(len(keys), *keys, *words)]), patience_s)
        if isinstance(reply, ResponseError):
            raise refusal(reply, doing) from reply
        return reply

    def try_once(self, key: str, work: Callable[[RedisLink], T], within_s: float) -> T:
        """Return what `work` returns, on a connection that stands already, if no reply takes longer than `within_s`.

        Raises:
            BusDown: there is none, it broke or took longer, or `close` was called.
        """
        self.check_open()
        try:
            node = self.nodes.serving(key)
            if not self._idle.get(node):
                raise BusDown(f"no connection to Redis at {node.place} stands")
            return self._attempt(node, work, within_s=within_s)
        except (*BROKEN, AskError) as error:
            raise BusDown(f"Redis at {self.address.place} did not answer at once: {error}") from error

    def run_at(self, node: Address, work: Callable[[RedisLink], T]) -> T:
        """Return what `work` returns on one node, without patience; raises as `run` does."""
        return self._retry(lambda: self._attempt(node, work), 0.0)

    def run_everywhere(self, work: Callable[[RedisLink], T]) -> list[T]:
        """Return what `work` returns on each server that has keys; raises as `run` does."""
        return self._retry(lambda: [self._attempt(node, work) for node in self.nodes.all()])

    def _retry(self, attempt: Callable[[], T], patience_s: float | None = None) -> T:
        outage = Outage(self.address, self.address.patience_s if patience_s is None else patience_s)
        while True:
            self.check_open()
            try:
                return attempt()
            except (*BROKEN, AskError) as error:
                pause = outage.pause_s(error)
                # the first break is often an idle connection that the server closed
                if pause and not self._warned and (advice := remedy(error)):
                    # somebody has to do something, so nobody should wait to hear of it
                    self._warned = True
                    logger.warning("Redis at %s: %s; %s; trying again for now", self.address.place, error, advice)
                self._closed.wait(pause)

    def _run_at_owner(self, key: str, work: Callable[[RedisLink], T]) -> T:
        node = self.nodes.serving(key)
        try:
            return self._attempt(node, work)
        except MovedError as error:
            self.nodes.moved(error, node)
            raise
        except AskError as error:
            return self._attempt(self.nodes.named_by(error, node), work, asking=True)

    def _attempt(
        self, node: Address, work: Callable[[RedisLink], T], *, asking: bool = False, within_s: float | None = None
    ) -> T:
        try:
            try:
                link = self._idle[node].pop()
            except LookupError:
                link = self._link(node, self._reply_s)
            try:
                link.asking = asking
                if within_s is not None:
                    link.wait_for_replies(within_s)
                result = work(link)
                if within_s is not None:
                    link.wait_for_replies(self._reply_s)
            except BaseException:
                link.close()
                raise
        except BROKEN:
            self._close_idle(node)
            self.nodes.suspect(node)
            raise
        self._put_back(node, link)
        return result

    def _link(self, node: Address, opening_s: float) -> RedisLink:
        return RedisLink(node, self._reply_s, opening_s)

    def _put_back(self, node: Address, link: RedisLink) -> None:
        self._idle.setdefault(node, deque()).append(link)
        if self._closed.is_set():
            self._close_idle(node)

    def _close_idle(self, node: Address) -> None:
        idle = self._idle.get(node)
        while idle:
            try:
                idle.pop().close()
            except IndexError:
                return

    def close(self) -> None:
        """Close all connections; work in progress ends with its reply or its next pause."""
        self._closed.set()
        for node in list(self._idle):
            self._close_idle(node)
