"""Connections for everything but reading: one per call in progress, kept for the next; broken ones are tried again."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from wolfbus.bus.redis.link import BROKEN, REPLY_TIMEOUT_S, RedisLink
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
        address: the server.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._idle: deque[RedisLink] = deque()
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
                self._keep(self._link(left))
            except BROKEN as error:
                left = until - time.monotonic()
                if left <= 0 or is_lasting(error):
                    raise unreachable(self.address, within_s, error) from error
                self._closed.wait(min(pause_s * random.uniform(0.5, 1.0), left))
                pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
            else:
                return

    def run(self, work: Callable[[RedisLink], T], patience_s: float | None = None) -> T:
        """Return what `work` returns.

        Raises:
            BusDown: no connection held long enough within the patience, or `close` was called.
        """
        patience = RetryPauses(self.address, self.address.patience_s if patience_s is None else patience_s)
        while True:
            self.check_open()
            try:
                return self._once(work)
            except BROKEN as error:
                self._hang_up()
                self._closed.wait(patience.pause_s(error))

    def _once(self, work: Callable[[RedisLink], T]) -> T:
        try:
            link = self._idle.pop()
        except IndexError:
            link = self._link(min(REPLY_TIMEOUT_S, self.address.patience_s))
        try:
            result = work(link)
        except BaseException:
            link.close()
            raise
        self._keep(link)
        return result

    def _link(self, opening_s: float) -> RedisLink:
        return RedisLink(self.address, min(REPLY_TIMEOUT_S, self.address.patience_s), opening_s)

    def _keep(self, link: RedisLink) -> None:
        self._idle.append(link)
        if self._closed.is_set():
            self._hang_up()

    def _hang_up(self) -> None:
        try:
            while True:
                self._idle.pop().close()
        except IndexError:
            return

    def close(self) -> None:
        """Hang up; work in progress ends with its reply or its next pause."""
        self._closed.set()
        self._hang_up()
