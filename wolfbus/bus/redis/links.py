"""Connections for everything but reading: one per call in progress, kept for the next; broken ones are tried again.

Each goes to the node that serves the call's key, where the address is a cluster's, and follows it where it moves.
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from wolfbus.bus.redis.link import BROKEN, REPLY_TIMEOUT_S, AskError, MovedError, RedisLink
from wolfbus.bus.redis.nodes import Nodes
from wolfbus.bus.redis.trouble import is_lasting, unreachable
from wolfbus.bus.url import Address
from wolfbus.errors import BusDown

T = TypeVar("T")

FIRST_PAUSE_S = 0.02
LONGEST_PAUSE_S = 1.0
QUICKEST_S = 1.0
"""Shortest time that a server gets to shake hands, however little is left to reach it."""


class RetryPauses:
    """How long to go on after a break, with growing and jittered pauses.

    Args:
        address: the server, for the error's line.
        patience_s: seconds from the first break until giving up.
    """

    def __init__(self, address: Address, patience_s: float) -> None:
        self._address = address
        self._patience_s = patience_s
        self._until: float | None = None
        self._pause_s = FIRST_PAUSE_S

    def pause_s(self, error: Exception) -> float:
        """Return how long to wait before the next try.

        Raises:
            BusDown: patience is at its end.
        """
        now = time.monotonic()
        if self._until is None:
            # The first break is often an idle connection that the server hung up on: the next try may come at once.
            self._until = now + self._patience_s
            return 0.0
        left = self._until - now
        if left <= 0:
            raise BusDown(
                f"Redis at {self._address.place} cannot be reached (tried for {self._patience_s:g} s): {error}"
            ) from error
        pause = min(self._pause_s * random.uniform(0.5, 1.0), left)
        self._pause_s = min(self._pause_s * 2, LONGEST_PAUSE_S)
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
        self._idle: dict[Address, deque[RedisLink]] = {}
        self._closed = threading.Event()

    def check_open(self) -> None:
        """Raise BusDown if `close` was called."""
        if self._closed.is_set():
            raise BusDown(f"the bus to Redis at {self.address.place} was closed")

    def reach(self, within_s: float) -> None:
        """Make sure that the server can be reached, which perhaps it never was.

        The error says what to do about it.

        Raises:
            BusDown: no connection within so many seconds; at once where trying again cannot help.
            BusError: the server is too old, or refuses the user.
        """
        until = time.monotonic() + within_s
        pause_s = FIRST_PAUSE_S
        while True:
            self.check_open()
            left = max(until - time.monotonic(), QUICKEST_S)
            try:
                if self.address.cluster:
                    self.nodes.all()
                else:
                    self._keep(self.address, self._link(self.address, left))
            except BROKEN as error:
                left = until - time.monotonic()
                if left <= 0 or is_lasting(error):
                    raise unreachable(self.address, within_s, error) from error
                self._closed.wait(min(pause_s * random.uniform(0.5, 1.0), left))
                pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
            else:
                return

    def run(self, key: str, work: Callable[[RedisLink], T], patience_s: float | None = None) -> T:
        """Return what `work` returns, on a connection to whoever serves a key, and with it all keys of its house.

        Raises:
            BusDown: no connection held long enough within the patience, or `close` was called.
        """
        return self._persist(lambda: self._where_it_is(key, work), patience_s)

    def run_at(self, node: Address, work: Callable[[RedisLink], T]) -> T:
        """Return what `work` returns on one node, without patience; raises as `run` does."""
        return self._persist(lambda: self._once(node, work), 0.0)

    def run_everywhere(self, work: Callable[[RedisLink], T]) -> list[T]:
        """Return what `work` returns on each server that has keys; raises as `run` does."""
        return self._persist(lambda: [self._once(node, work) for node in self.nodes.all()])

    def _persist(self, attempt: Callable[[], T], patience_s: float | None = None) -> T:
        patience = RetryPauses(self.address, self.address.patience_s if patience_s is None else patience_s)
        while True:
            self.check_open()
            try:
                return attempt()
            except (*BROKEN, AskError) as error:
                self._closed.wait(patience.pause_s(error))

    def _where_it_is(self, key: str, work: Callable[[RedisLink], T]) -> T:
        node = self.nodes.of(key)
        try:
            return self._once(node, work)
        except MovedError as error:
            self.nodes.moved(error, node)
            raise
        except AskError as error:
            return self._once(self.nodes.told(error, node), work, asking=True)

    def _once(self, node: Address, work: Callable[[RedisLink], T], *, asking: bool = False) -> T:
        try:
            try:
                link = self._idle[node].pop()
            except LookupError:
                link = self._link(node, min(REPLY_TIMEOUT_S, self.address.patience_s))
            try:
                link.asking = asking
                result = work(link)
            except BaseException:
                link.close()
                raise
        except BROKEN:
            self._hang_up(node)
            self.nodes.doubt(node)
            raise
        self._keep(node, link)
        return result

    def _link(self, node: Address, opening_s: float) -> RedisLink:
        return RedisLink(node, min(REPLY_TIMEOUT_S, self.address.patience_s), opening_s)

    def _keep(self, node: Address, link: RedisLink) -> None:
        self._idle.setdefault(node, deque()).append(link)
        if self._closed.is_set():
            self._hang_up(node)

    def _hang_up(self, node: Address) -> None:
        idle = self._idle.get(node)
        while idle:
            try:
                idle.pop().close()
            except IndexError:
                return

    def close(self) -> None:
        """Hang up; work in progress ends with its reply or its next pause."""
        self._closed.set()
        for node in list(self._idle):
            self._hang_up(node)
