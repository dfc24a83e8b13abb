"""Addresses: what opens, what is refused with one clear line, and that no line ever shows a password."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.bus.parts import OUT, entries, following, impostor
from wolfbus.bus import open_bus
from wolfbus.errors import BusDown, BusError, ConfigError
from wolfbus.testing.redis_server import RedisServer, ReservedPort

SECRET = "hunter2/:@"
QUOTED = "hunter2%2F%3A%40"


def test_memory_does_not_load_redis() -> None:
    code = "import sys; from wolfbus.bus import open_bus; open_bus('memory://'); sys.exit('redis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_each_unnamed_memory_bus_is_a_new_one() -> None:
    open_bus("memory://").append(OUT, entries(1))
    assert open_bus("memory://").entries(OUT) == []


def test_a_named_memory_bus_is_shared_until_the_last_is_closed() -> None:
    first, second, other = open_bus("memory://shared"), open_bus("memory://shared"), open_bus("memory://other")
    first.append(OUT, entries(1))
    first.close()
    assert second.entries(OUT) == entries(1)
    assert other.entries(OUT) == []
    second.close()
    assert open_bus("memory://shared").entries(OUT) == []


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "write one, as in redis://127.0.0.1:6379/0"),
        ("localhost:6379", "'localhost:6379' has no scheme; write redis://localhost:6379/0"),
        ("localhost", "write redis://localhost/0"),
        ("host:7000/2", "write redis://host:7000/2"),
        ("/run/redis.sock", "written unix:///run/redis.sock"),
        (f"user:{SECRET}@host:6379", "'***@host:6379' has no scheme; write redis://***@host:6379/0"),
        ("@mine.ticket", "a ticket is no address here; load its variables, as by: set -a; . FILE; set +a"),
        ("redis:localhost", "has no scheme"),
        ("redis://***@host", "*** stands where user and password were not shown; write USER:PASSWORD in its place"),
        ("kafka://host", "'kafka://' is not known; use memory://, redis://, rediss://, unix://"),
        (f"http://user:{QUOTED}@host", "'http://' is not known"),
        ("memory://a b", "no name"),
        ("memory://a?x=1", "no name"),
        ("redis://", "names no host"),
        ("redis:///0", "names no host"),
        ("redis://host:port", "host and port cannot be read"),
        ("redis://host:99999", "host and port cannot be read"),
        ("redis://host:0", "0 is no port"),
        ("redis://a..b", "host and port cannot be read"),
        (f"redis+cluster://host,{'a' * 64}.b", "host and port cannot be read"),
        (f"redis://user:{QUOTED}@host:port/0", "host and port cannot be read"),
        (f"redis://user:{SECRET}@host", "host"),
        (f"redis://user:1/{SECRET}@host", "in a password / ? # @ : and % are written %2F %3F %23 %40 %3A %25"),
        ("redis://host/zero", "'zero' is no database number"),
        ("redis://host?db=1", "no option 'db'"),
        ("redis://host?patience=soon", "patience=soon"),
        ("redis://host?patience=0", "patience=0"),
        ("redis://host?patience=nan", "patience=nan"),
        ("redis://host?ssl_ca_certs=x", "no option 'ssl_ca_certs'"),
        ("rediss://host?ssl_ca_certs=/no/such/file", "/no/such/file is no file"),
        ("rediss://host?ssl_keyfile=/etc/hosts", "is the key to a certificate: name it too, by ssl_certfile"),
        ("unix://", "absolute path"),
        ("unix://run/redis.sock", "absolute path"),
        ("unix:///run/redis.sock?db=x", "'x' is no database number"),
    ],
)
def test_an_address_that_cannot_be_understood_is_refused_in_one_line(url: str, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_bus(url)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_an_unreachable_server_is_named_without_the_password() -> None:
    with ReservedPort() as unused, pytest.raises(BusDown) as caught:
        open_bus(f"redis://user:{QUOTED}@127.0.0.1:{unused.number}?patience=0.02")
    assert f"Redis at 127.0.0.1:{unused.number} cannot be reached" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "user" not in str(caught.value)


@pytest.mark.parametrize(
    ("hello", "version"),
    [
        (b"*6\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n6.2.14\r\n$2\r\nid\r\n:7\r\n", "6.2.14"),
        (b"-ERR unknown command `HELLO`, with args beginning with: `2`\r\n", "older than 6.0"),
    ],
)
def test_an_old_server_is_refused_naming_both_versions(hello: bytes, version: str) -> None:
    hello = hello.replace(b"$5\r\n6.2.14", b"$6\r\n6.2.14")
    with impostor(hello) as port, pytest.raises(BusError, match=f"{version}.*needs 7.0") as caught:
        open_bus(f"redis://127.0.0.1:{port}")
    assert not isinstance(caught.value, BusDown)


def test_a_password_with_strange_characters_opens_and_is_never_shown(redis_server: RedisServer, redis_url: str) -> None:
    redis_server.command("ACL", "SETUSER", "odd", "on", f">{SECRET}", "~*", "+@all")
    try:
        bus = open_bus(redis_url.replace("redis://", f"redis://odd:{QUOTED}@") + "/3?patience=2")
        bus.append(OUT, entries(1))
        assert bus.entries(OUT) == entries(1)
        assert bus.url == redis_url.replace("//", "//***@") + "/3?patience=2"
        assert "hunter2" not in repr(vars(bus))
        bus.close()
    finally:
        redis_server.command("ACL", "DELUSER", "odd")


def test_databases_are_kept_apart(redis_url: str) -> None:
    first, second = open_bus(redis_url), open_bus(redis_url + "/1")
    first.append(OUT, entries(1))
    assert second.entries(OUT) == []
    with pytest.raises(BusError, match="DB index is out of range"):
        open_bus(redis_url + "/99")
    first.close()
    second.close()


def test_a_unix_socket_will_do(redis_server: RedisServer, redis_url: str) -> None:
    bus = open_bus(f"{redis_server.unix_url}?db=2&patience=3")
    reader = following(bus, OUT)
    bus.append(OUT, entries(3))
    assert reader.read(1) == [(OUT, entries(3))]
    assert bus.url == f"{redis_server.unix_url}?db=2&patience=3"
    bus.close()
