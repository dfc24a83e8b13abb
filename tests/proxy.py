"""A TCP proxy that breaks connections on command: what networks do, at the moment a test asks for it."""

from __future__ import annotations

import socket
import threading
from typing import Self

CHUNK = 65536


class Proxy:
    """Stands between clients and one server on 127.0.0.1, passing bytes both ways until told otherwise.

    Args:
        port: the server's port.

    Attributes:
        port: the port to connect to instead.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._changed = threading.Condition()
        self._pairs: set[_Pair] = set()
        self._to_lose = 0
        self._passing = 0
        self._lost = 0
        self._held = False
        self._refusing = False
        self._delay_s = 0.0
        self._closed = False
        self._threads: list[threading.Thread] = []
        self._acceptor = threading.Thread(target=self._accept, name="proxy-accept")

    # -- what a test asks for

    def cut(self) -> int:
        """Break all connections that stand; returns how many."""
        with self._changed:
            pairs = list(self._pairs)
            self._pairs.clear()
            self._changed.notify_all()
        for pair in pairs:
            pair.shut()
        return len(pairs)

    def lose_replies(self, count: int = 1, passing: int = 0) -> None:
        """Swallow what the server says next and break that connection, `count` times: it acted, and nobody hears.

        Args:
            count: how often.
            passing: how many bytes still get through before the break, >= 0.
        """
        with self._changed:
            self._to_lose = count
            self._passing = passing

    def wait_lost(self, count: int = 1, timeout_s: float = 10.0) -> bool:
        """Wait until `count` replies in all were swallowed; False if that takes longer than `timeout_s`."""
        with self._changed:
            return self._changed.wait_for(lambda: self._lost >= count, timeout_s)

    def hold(self) -> None:
        """Pass nothing on for now; connections stand."""
        with self._changed:
            self._held = True

    def release(self) -> None:
        """Pass on what was held, and everything after it."""
        with self._changed:
            self._held = False
            self._changed.notify_all()

    def refuse(self, refusing: bool = True) -> None:
        """Hang up on new connections (or accept them again); those that stand go on."""
        with self._changed:
            self._refusing = refusing

    def delay(self, seconds: float) -> None:
        """Pass everything on this much later, >= 0."""
        with self._changed:
            self._delay_s = seconds

    # -- its life

    def start(self) -> Self:
        """Start accepting connections."""
        self._acceptor.start()
        return self

    def close(self) -> None:
        """Break everything and stop."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        # Closing a listener does not wake a thread that waits in accept; a connection does.
        socket.create_connection(("127.0.0.1", self.port)).close()
        self._acceptor.join()
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            with self._changed:
                if self._closed:
                    client.close()
                    return
                refusing = self._refusing
            server = None if refusing else _connect(self._target)
            if server is None:
                client.close()
                continue
            pair = _Pair(client, server)
            with self._changed:
                self._pairs.add(pair)
            for replies in (False, True):
                thread = threading.Thread(target=self._carry, args=(pair, replies), name="proxy-carry")
                self._threads.append(thread)
                thread.start()

    def _carry(self, pair: _Pair, replies: bool) -> None:
        source, sink = (pair.server, pair.client) if replies else (pair.client, pair.server)
        try:
            while data := source.recv(CHUNK):
                passing = self._may_pass(pair, replies)
                sink.sendall(data[:passing])
                if passing is not None:
                    break
        except OSError:
            pair.shut()  # the other side, or a test, broke it
        finally:
            pair.shut()
            pair.done()
            with self._changed:
                self._pairs.discard(pair)

    def _may_pass(self, pair: _Pair, replies: bool) -> int | None:
        """Wait while things are held; return None to pass all on, or how many bytes may pass before the end."""
        with self._changed:
            if self._delay_s:
                self._changed.wait_for(lambda: self._closed, self._delay_s)
            self._changed.wait_for(lambda: not self._held or self._closed or pair not in self._pairs)
            if replies and self._to_lose:
                self._to_lose -= 1
                self._lost += 1
                self._changed.notify_all()
                return self._passing
            return None if pair in self._pairs else 0


class _Pair:
    """The two sockets of one connection; each is closed once both carriers are done."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self._lock = threading.Lock()
        self._running = 2

    def shut(self) -> None:
        with self._lock:
            if self._running:
                for side in (self.client, self.server):
                    try:
                        side.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        continue  # broken already

    def done(self) -> None:
        with self._lock:
            self._running -= 1
            if not self._running:
                self.client.close()
                self.server.close()


def _connect(port: int) -> socket.socket | None:
    try:
        return socket.create_connection(("127.0.0.1", port))
    except OSError:
        return None
