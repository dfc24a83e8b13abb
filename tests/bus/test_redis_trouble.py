"""A Redis that is away, asks for a password or is part of a cluster: soon a line that helps."""

from __future__ import annotations

import os
import re
import socket
import socketserver
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest

from tests.bus.parts import AT_ONCE_S, SOON_S, claim, impostor
from wolfbus.bus import open_bus
from wolfbus.cli import FAILED, run
from wolfbus.errors import BusDown, BusError
from wolfbus.testing.redis_server import RedisServer, ReservedPort

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
    assert refused(guarded.url.replace("://", "://nobody:wrong@")) == wrong
    assert wrong.startswith(f"{place} does not accept this user and password (in an address,")
    assert refused(redis_url.replace("://", "://:needless@")).endswith("has no password: leave it out of the address")
    open_bus(guarded.url.replace("://", "://:right@")).close()


@pytest.mark.parametrize("command", ["moderator", "player", "status", "play"])
def test_a_command_says_within_seconds_that_redis_is_down_and_what_to_do(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("wolfbus.bus.url.OPENING_S", 0.05)
    monkeypatch.setattr("wolfbus.bus.redis.bus.OPENING_S", 0.05)
    out = ["--out", str(tmp_path)] if command == "play" else []
    with ReservedPort() as unused:
        port = unused.number
        assert run([command, "--bus", f"redis://127.0.0.1:{port}", *out]) == FAILED
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"wolfbus: Redis at 127.0.0.1:{port} cannot be reached (tried for 0.05 s): ")
    assert f"start it (redis-server --port {port}, or docker run -p {port}:6379 redis:7)" in line
    assert line.endswith("or check the address; ?patience=SECONDS waits longer")


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


def test_a_port_where_no_redis_listens_is_told_so() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        line = refused(f"redis://127.0.0.1:{server.server_port}?patience=0.01")
        server.shutdown()
    assert line.endswith("what answers there is no Redis: check host and port")


def test_a_server_with_all_the_connections_that_it_takes_says_so() -> None:
    with RedisServer("--maxclients", "1") as server, socket.create_connection(("127.0.0.1", server.port)) as only:
        only.sendall(b"PING\r\n")
        assert only.recv(100)
        line = refused(f"{server.url}?patience=0.1")
    assert "raise its limit of connections (redis-cli CONFIG SET maxclients 10000)" in line


def test_a_replica_is_told_at_once_and_again_at_the_end_of_the_patience(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        RedisServer("--replicaof", f"127.0.0.1 {redis_server.port}") as replica,
        closing(open_bus(f"{replica.url}?patience=0.2")) as bus,
        pytest.raises(BusDown, match=r"takes no writes \(tried for 0.2 s\).*: give the address of its master$"),
    ):
        claim(bus)
    (warning,) = [record.getMessage() for record in caplog.records if "trying again for now" in record.getMessage()]
    assert "this is a replica: give the address of its master" in warning


def test_a_port_that_speaks_tls_is_told_to_who_does_not(tls_files: tuple[Path, Path, Path]) -> None:
    with RedisServer(tls=tls_files) as server:
        line = refused(f"redis://127.0.0.1:{server.port}?patience=0.1")
    assert line.endswith("check the port: an address of one that speaks TLS begins with rediss://")


class Closing(socketserver.ThreadingTCPServer):
    """Closes every connection without a word."""

    allow_reuse_address = True


def test_a_server_that_closes_connections_in_the_middle_is_not_taken_for_one_that_speaks_tls() -> None:
    with RedisServer() as server:
        bus = open_bus(f"{server.url}?patience=0.2")
    with closing(bus), Closing(("127.0.0.1", server.port), socketserver.BaseRequestHandler) as closes:
        Thread(target=closes.serve_forever, kwargs={"poll_interval": 0.01}).start()
        with pytest.raises(BusDown) as failure:
            claim(bus)
        closes.shutdown()
    assert re.search("reset by peer|closed by server", str(failure.value))
    assert "rediss" not in str(failure.value)


def test_a_server_that_asks_for_the_clients_certificate_gets_it_from_the_address(
    tls_files: tuple[Path, Path, Path],
) -> None:
    certificate, key, _ = tls_files
    with RedisServer("--tls-auth-clients", "yes", tls=tls_files) as server:
        assert "ssl_certfile=FILE&ssl_keyfile=FILE" in refused(f"{server.url}&patience=0.1")
        files = f"ssl_certfile={quote(str(certificate))}&ssl_keyfile={key}"
        open_bus(f"{server.url.replace('rediss', 'valkeys')}&{files}").close()


def test_an_expired_certificate_is_told_apart_from_one_of_an_unknown_authority(
    tls_files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    _, key, _ = tls_files
    request, old = tmp_path / "request.pem", tmp_path / "old.pem"
    asked = f"req -new -subj /CN=wolfbus -addext subjectAltName=IP:127.0.0.1 -key {key} -out {request}"
    signed = f"x509 -req -copy_extensions copy -in {request} -signkey {key} -out {old}"
    subprocess.run(["openssl", *asked.split()], check=True, capture_output=True)
    # from 3.4 on openssl takes no days below 0 and gets dates instead
    dated = "-not_before 20200101000000Z -not_after 20200102000000Z"
    if subprocess.run(["openssl", *f"{signed} {dated}".split()], check=False, capture_output=True).returncode:
        subprocess.run(["openssl", *f"{signed} -days -1".split()], check=True, capture_output=True)
    with RedisServer(tls=(old, key, old)) as server:
        assert refused(server.url).endswith("its certificate has expired: renew it on the server")


def test_a_socket_that_this_user_may_not_open_is_told_so() -> None:
    is_root = os.geteuid() == 0
    with RedisServer() as server:
        # what that other user needs of the program may not be readable for it: it is loaded by this
        refused(f"unix://{server.socket_path}.none?patience=0.1")
        server.socket_path.chmod(0)
        try:
            if is_root:
                os.seteuid(65534)
            line = refused(f"{server.unix_url}?patience=0.1")
        finally:
            if is_root:
                os.seteuid(0)
    assert "this user may not open that socket: see who owns it" in line


def test_a_server_without_hello_is_not_called_old() -> None:
    with RedisServer("--rename-command", "HELLO", "") as server:
        line = refused(server.url)
    assert "does not know HELLO: it is older than 6.0, or a proxy, or the command was taken away" in line


@pytest.mark.parametrize(
    "hello",
    [
        b"*4\r\n$7\r\nversion\r\n$5\r\n7.2.0\r\n$2\r\nxx\r\n:3\r\n",
        b"*4\r\n$7\r\nversion\r\n$5\r\ndf-v1\r\n$2\r\nid\r\n:3\r\n",
        b"+OK\r\n",
    ],
    ids=["no id", "an odd version", "no list"],
)
def test_what_answers_hello_in_another_way_is_told_in_one_line(hello: bytes) -> None:
    with impostor(hello) as port:
        assert "is no Redis 7.0 or newer: to HELLO it says version" in refused(f"redis://127.0.0.1:{port}")


def test_a_server_that_is_silent_for_long_is_one_line_in_the_log(
    redis_server: RedisServer, redis_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("wolfbus.bus.redis.connection.SILENT_S", 0.05)
    with closing(open_bus(redis_url)) as bus:
        redis_server.command("CLIENT", "PAUSE", "300", "ALL")
        assert bus.last_id("wolf:{house}:games") == "0-0"
    assert [record.getMessage() for record in caplog.records] == [
        f"Redis at 127.0.0.1:{redis_server.port} has not answered for 0.05 s; waiting for it"
    ]


def test_a_bus_is_of_the_process_that_opened_it(redis_url: str) -> None:
    code = """if True:
        import os, sys
        from wolfbus.bus import open_bus
        bus = open_bus(sys.argv[1])
        if os.fork() == 0:
            bus.last_id("wolf:{house}:games")
        print(os.waitstatus_to_exitcode(os.wait()[1]), bus.last_id("wolf:{house}:games"))
    """
    words = [sys.executable, "-W", "ignore", "-c", code, redis_url]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SOON_S, check=True)
    assert done.stdout == "1 0-0\n"
    assert done.stderr.endswith("this bus was opened before a fork, by another process: open one in each\n")


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
    (server.data / "nodes.conf").write_text("\n".join([*lines, "vars currentEpoch 2 lastVoteEpoch 0", ""]))
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
