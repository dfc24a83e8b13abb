"""The shipped parts for tests: the private server and the proxy."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from wolfbus.errors import BusError
from wolfbus.testing.redis_server import RedisServer, redis_installed


def test_a_missing_redis_server_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert not redis_installed()
    with pytest.raises(BusError, match="redis-server is not installed"):
        RedisServer()


def test_a_server_that_does_not_start_says_why(redis_server: RedisServer) -> None:
    with pytest.raises(BusError, match=r"did not start.*nonsense"), RedisServer("--nonsense", "1"):
        pass


def test_a_server_comes_back_without_what_it_confirmed_since_a_mark(redis_server: RedisServer) -> None:
    with RedisServer(persist=True) as server:
        port = server.port
        server.command("SET", "told", "before")
        mark = server.mark()
        for later in ("after", "after that"):
            server.command("SET", "told", later)
            server.command("SET", "new", later)
            server.forget_since(mark)
            assert server.port == port
            assert server.command("GET", "told") == b"$6\r\nbefore\r\n"
            assert server.command("EXISTS", "new") == b":0\r\n"
        server.command("SET", "told", "since")
        server.restart()
        assert server.command("GET", "told") == b"$5\r\nsince\r\n", "what came after is kept like anything else"


def test_a_server_that_keeps_nothing_cannot_be_marked(redis_server: RedisServer) -> None:
    with pytest.raises(ValueError, match="persist=True"):
        redis_server.mark()


def test_a_long_name_for_temporary_files_does_not_lengthen_the_socket_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    home = RedisServer().home
    try:
        assert long not in home.folder.parents
        assert len(bytes(home.socket_path)) < 104
        assert home.folder.stat().st_mode & 0o077 == 0
    finally:
        home.close()
    assert list(long.iterdir()) == []
