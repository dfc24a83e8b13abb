"""Which server serves which key: one for all of them, or in a Redis Cluster the node that has the key's hash slot.

A cluster's client class of redis-py is not used, for the reasons told in `wolfbus.bus.redis.link`; what is needed of a
cluster is here and in `Links`: who has which slot, asked for again whenever a node breaks or says that it was moved.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from typing import Final

from redis.crc import key_slot
from redis.exceptions import AskError
from redis.exceptions import ConnectionError as RedisConnectionError

from wolfbus.bus.redis.link import BROKEN, RedisLink, ResponseError, refusal
from wolfbus.bus.url import Address
from wolfbus.errors import BusError

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
        self._starts: list[int] = []
        self._ranges: list[tuple[int, Address]] = []
        self._moved: dict[int, Address] = {}
        self._doubted: Address | None = None
        self._known = False

    def of(self, key: str) -> Address:
        """Return who serves a key.

        Raises:
            BusError: this is no cluster, or the user may not ask who serves what.
            redis.exceptions.RedisError: one of `BROKEN`, if nobody can be asked, or nobody serves the key.
        """
        if not self._address.cluster:
            return self._address
        slot = slot_of(key)
        with self._lock:
            if not self._known:
                self._ask()
            if slot in self._moved:
                return self._moved[slot]
            place = bisect_right(self._starts, slot) - 1
            if place < 0 or self._ranges[place][0] < slot:
                self._known = False
                raise RedisConnectionError(f"no node of the cluster serves hash slot {slot}")
            return self._ranges[place][1]

    def all(self) -> list[Address]:
        """Return everybody who serves any key; raises as `of` does."""
        if not self._address.cluster:
            return [self._address]
        with self._lock:
            self._ask()
            return list(dict.fromkeys(node for _, node in self._ranges))

    def doubt(self, node: Address) -> None:
        """Ask again before the next key: a node could not be reached, or could not serve."""
        with self._lock:
            self._known = False
            self._doubted = node

    def moved(self, error: AskError, asked: Address) -> None:
        """Learn from a node's word that a slot is another's."""
        with self._lock:
            self._moved[error.slot_id] = self.told(error, asked)

    @staticmethod
    def told(error: AskError, asked: Address) -> Address:
        """Return the node that another one names; one without a host is at the same host."""
        return asked.at(error.host or asked.host, error.port)

    def _ask(self) -> None:
        given = ((self._address.host, self._address.port), *self._address.others)
        seeds = [self._address.at(host, port) for host, port in given]
        candidates = list(dict.fromkeys([*(node for _, node in self._ranges), *seeds]))
        # whoever has just failed is asked last
        candidates.sort(key=lambda node: node == self._doubted)
        broken: Exception | None = None
        for node in candidates:
            try:
                self._learn(node)
            except BROKEN as error:
                broken = broken or error
            else:
                return
        raise broken or RedisConnectionError("no node of the cluster is known")

    def _learn(self, node: Address) -> None:
        link = RedisLink(node, _ASKING_S, _ASKING_S)
        try:
            (reply,) = link.exchange([("CLUSTER", "SLOTS")])
        finally:
            link.close()
        if isinstance(reply, ResponseError):
            if "cluster support disabled" in str(reply):
                raise BusError(f"Redis at {node.place} is no node of a cluster: its address begins with redis://")
            raise refusal(reply, "asking which node of the cluster serves what") from reply
        served = sorted((first, last, (master[0] or b"").decode(), int(master[1])) for first, last, master, *_ in reply)
        self._starts = [first for first, *_ in served]
        self._ranges = [(last, node.at(host or node.host, port)) for _, last, host, port in served]
        self._moved.clear()
        self._doubted = None
        self._known = True
