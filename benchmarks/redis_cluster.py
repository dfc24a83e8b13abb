"""`RedisClusterServers`: a Redis Cluster of private servers, for benchmarks and tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Self

from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from wolfbus.actors.closable import Closable
from wolfbus.errors import BusError
from wolfbus.testing.redis_server import RedisServer, ReservedPort, wait_until


class RedisClusterServers(Closable):
    """Redis servers on the loopback address that are one cluster, its slots in equal parts; for use as a context.

    Args:
        nodes: how many serve slots, > 0.
        replicas: how many of them have a replica, beginning with the last.
        node_timeout_ms: silence after which a node counts as failed.
        persist: as of `RedisServer`.

    Attributes:
        masters: those that served slots at first, in the order of their slots.
        replicas: the others; each follows the master as far from the end.

    Raises:
        BusError: no server is installed, or they do not become a cluster.
    """

    def __init__(self, nodes: int = 3, replicas: int = 0, node_timeout_ms: int = 1000, *, persist: bool = True) -> None:
        self._counts = nodes, replicas
        self._options = ("--cluster-enabled", "yes", "--cluster-node-timeout", str(node_timeout_ms))
        self._persist = persist
        self._stack = ExitStack()
        self.masters: list[RedisServer] = []
        self.replicas: list[RedisServer] = []

    @property
    def url(self) -> str:
        """The cluster's address for `open_bus`, which names its first two nodes."""
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.masters[:2])

    def serving(self, key: str) -> RedisServer:
        """Return the node that served a key at first."""
        return self.masters[key_slot(key.encode()) * len(self.masters) // REDIS_CLUSTER_HASH_SLOTS]

    def flush(self) -> None:
        """Forget all keys."""
        for node in self.masters:
            node.command("FLUSHALL")

    def __enter__(self) -> Self:
        try:
            masters, replicas = self._counts
            # where they gossip: 10,000 above a port that the system chose may be no port
            gossip = [self._stack.enter_context(ReservedPort()).number for _ in range(masters + replicas)]
            nodes = [
                self._stack.enter_context(
                    RedisServer(*self._options, "--cluster-port", str(port), persist=self._persist)
                )
                for port in gossip
            ]
            self.masters, self.replicas = nodes[:masters], nodes[masters:]
            self._form_cluster(gossip[0])
        except BaseException:
            self.close()
            raise
        return self

    @property
    def _nodes(self) -> list[RedisServer]:
        return [*self.masters, *self.replicas]

    @property
    def _pairs(self) -> Iterator[tuple[RedisServer, RedisServer]]:
        return zip(self.replicas, reversed(self.masters), strict=False)

    def _form_cluster(self, gossip: int) -> None:
        count = len(self.masters)
        bounds = [-(-REDIS_CLUSTER_HASH_SLOTS * number // count) for number in range(count + 1)]
        for number, node in enumerate(self._nodes):
            _run(node, "CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
            if number < count:
                _run(node, "CLUSTER", "ADDSLOTSRANGE", str(bounds[number]), str(bounds[number + 1] - 1))
            if number:
                first = self.masters[0]
                _run(node, "CLUSTER", "MEET", "127.0.0.1", str(first.port), str(gossip))
        wait_until(lambda: all(b"cluster_known_nodes:%d\r" % len(self._nodes) in _info(node) for node in self._nodes))
        for replica, master in self._pairs:
            _run(replica, "CLUSTER", "REPLICATE", master.command("CLUSTER", "MYID").split(b"\r\n")[1].decode())
        self.await_ready()

    def await_ready(self) -> None:
        """Wait until all nodes serve, and replicas have what their masters have."""
        wait_until(lambda: all(b"cluster_state:ok" in _info(node) for node in self._nodes))
        wait_until(
            lambda: all(b"master_link_status:up" in node.command("INFO", "replication") for node in self.replicas)
        )
        for replica, master in self._pairs:
            written = _offset(master)
            wait_until(lambda: _offset(replica) >= written)  # noqa: B023 - it is over before the next

    def close(self) -> None:
        """Stop all nodes and remove what they wrote."""
        self._stack.close()


def _info(node: RedisServer) -> bytes:
    return node.command("CLUSTER", "INFO")


def _offset(node: RedisServer) -> int:
    """Return how much a master wrote for its replicas, or a replica took in."""
    info = node.command("INFO", "replication")
    name = b"slave_repl_offset:" if b"role:slave" in info else b"master_repl_offset:"
    return int(info.split(name)[1].split(b"\r")[0])


def _run(node: RedisServer, *words: str) -> None:
    reply = node.command(*words)
    if not reply.startswith(b"+OK"):
        raise BusError(f"no cluster came about: {' '.join(words)}: {reply.decode(errors='replace').strip()}")
