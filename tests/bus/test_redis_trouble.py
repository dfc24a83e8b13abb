"""A Redis that is away, asks for a password or is part of a cluster: soon a line that helps."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.bus.parts import AT_ONCE_S, SOON_S, claim
from wolfbus.bus import open_bus
from wolfbus.cli import FAILED, run
from wolfbus.errors import BusDown, BusError
from wolfbus.testing.redis_server import RedisServer

NODE, OTHER = "a" * 40, "b" * 40
SLOTS = 16_384


@pytest.fixture(scope="module")
def guarded() -> Iterator[RedisServer]:
    with RedisServer("--requirepass", "right") as server:
        yield server


def refused(url: str) -> str:
    with pytest.raises(BusError) as caught:
        open_bus(url)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_no_password_a_wrong_one_and_one_too_many_are_told_apart(
    guarded: RedisServer, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = f"Redis at 127.0.0.1:{guarded.port}"
    none = refused(guarded.url)
    assert none.startswith(
        f"{place} asks for a password, and the address has none: after redis:// write USER:PASSWORD@"
    )
    assert "WOLFBUS_BUS" in none
    assert run(["status", "--bus", guarded.url]) == FAILED
    assert capsys.readouterr().err == f"wolfbus: {none}\n"
    assert refused(guarded.url.replace("://", "://default@")) == none
    wrong = refused(guarded.url.replace("://", "://:wrong@"))
    assert wrong == f"{place} does not accept this user and password"
    assert refused(redis_url.replace("://", "://:needless@")).endswith("has no password: leave it out of the address")
    open_bus(guarded.url.replace("://", "://:right@")).close()


@pytest.mark.parametrize("command", ["moderator", "player", "status", "play"])
def test_a_command_says_within_seconds_that_redis_is_down_and_what_to_do(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("wolfbus.bus.url.OPENING_S", 0.05)
    monkeypatch.setattr("wolfbus.bus.redis.bus.OPENING_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    words = [command, "--bus", f"redis://127.0.0.1:{port}", *(["--out", str(tmp_path)] if command == "play" else [])]
    assert run(words) == FAILED
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"wolfbus: Redis at 127.0.0.1:{port} cannot be reached (tried for 0.05 s): ")
    assert f"start it (redis-server --port {port}, or docker run -p {port}:6379 redis:7), or check the address" in line


def test_a_server_that_takes_connections_and_says_nothing_is_given_up_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("wolfbus.bus.redis.bus.OPENING_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        began = time.monotonic()
        with pytest.raises(BusDown, match="cannot be reached"):
            open_bus(f"redis://127.0.0.1:{mute.getsockname()[1]}")
        assert time.monotonic() - began < AT_ONCE_S


def test_a_socket_that_is_not_there_is_told_with_how_to_have_one() -> None:
    assert "start it (redis-server --unixsocket PATH), or check the path" in refused(
        "unix:///no/redis.sock?patience=0.1"
    )


def cluster_of(*lines: str) -> RedisServer:
    """Return a node that believes what it finds in its file of nodes."""
    options = (
        "--cluster-enabled",
        "yes",
        "--cluster-require-full-coverage",
        "no",
        "--cluster-node-timeout",
        "600000",
    )
    server = RedisServer(*options)
    (server.home.data / "nodes.conf").write_text("\n".join([*lines, "vars currentEpoch 2 lastVoteEpoch 0", ""]))
    return server


def test_a_node_of_a_cluster_that_does_not_serve_the_house_is_told_in_one_line_with_what_to_do() -> None:
    me = f"{NODE} 127.0.0.1:7001@17001 myself,master - 0 0 1 connected 0-1"
    other = f"{OTHER} 127.0.0.1:7002@17002 master - 0 0 2 connected 2-{SLOTS - 1}"
    with (
        cluster_of(me, other) as server,
        closing(open_bus(f"{server.url}?patience=20")) as bus,
        pytest.raises(BusError) as caught,
    ):
        claim(bus)
    line = str(caught.value)
    assert not isinstance(caught.value, BusDown)
    assert "this is a node of a Redis Cluster (slot " in line
    assert " is at 127.0.0.1:7002)" in line
    assert "write redis+cluster://HOST:PORT,HOST:PORT with some of its nodes" in line
    assert "\n" not in line


def test_a_node_whose_cluster_has_no_slots_yet_is_told_at_once() -> None:
    with RedisServer("--cluster-enabled", "yes") as server, closing(open_bus(f"{server.url}?patience={SOON_S}")) as bus:
        began = time.monotonic()
        with pytest.raises(BusError, match=r"node of a Redis Cluster \(Hash slot not served\)"):
            claim(bus)
        assert time.monotonic() - began < AT_ONCE_S
