"""The shipped parts for tests: the private server and the proxy."""

from __future__ import annotations

import shutil
import socket

import pytest

from wolfbus.errors import BusError
from wolfbus.testing.proxy import Proxy
from wolfbus.testing.redis_server import RedisServer, redis_installed


def test_a_missing_redis_server_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert not redis_installed()
    with pytest.raises(BusError, match="redis-server is not installed"):
        RedisServer()


def test_a_server_that_does_not_start_says_why(redis_server: RedisServer) -> None:
    with pytest.raises(BusError, match=r"did not start.*nonsense"), RedisServer("--nonsense", "1"):
        pass


def test_a_server_leaves_nothing_behind(redis_server: RedisServer) -> None:
    with RedisServer() as server:
        folder = server.socket_path.parent
        assert server.command("PING") == b"+PONG\r\n"
    assert not folder.exists()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port))


def test_the_proxy_passes_bytes_both_ways_and_hangs_up_with_either_side() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, Proxy(listener.getsockname()[1]) as proxy:
        client = socket.create_connection(("127.0.0.1", proxy.port))
        server, _ = listener.accept()
        with client, server:
            client.sendall(b"question")
            assert server.recv(100) == b"question"
            server.sendall(b"answer")
            assert client.recv(100) == b"answer"
            server.close()
            assert client.recv(100) == b""


def test_the_proxy_hangs_up_when_nobody_listens_behind_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with Proxy(port) as proxy, socket.create_connection(("127.0.0.1", proxy.port)) as client:
        assert client.recv(100) == b""
