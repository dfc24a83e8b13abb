"""The places the bus contract is tested at: memory, and a real Redis."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from tests.bus.parts import SOON_S, forget_claims
from tests.proxy import Proxy
from tests.waiting import wait_until
from wolfbus.bus import Bus, open_bus
from wolfbus.testing.redis_server import RedisServer

_numbers = count()


class Place:
    """Somewhere to open buses that share their streams."""

    def __init__(self, url: str, server: RedisServer | None) -> None:
        self.url = url
        self._server = server
        self._buses: list[Bus] = []

    def open(self) -> Bus:
        bus = open_bus(self.url)
        self._buses.append(bus)
        return bus

    def wait_blocked(self, readers: int = 1) -> None:
        """Wait until a read blocks; in memory there is nothing to see, and nothing depends on it."""
        if self._server is not None:
            wait_blocked(self._server, readers)

    def close(self) -> None:
        for bus in self._buses:
            bus.close()


def wait_blocked(server: RedisServer, readers: int = 1) -> None:
    wait_until(lambda: b"blocked_clients:%d\r" % readers in server.command("INFO", "clients"))


@contextmanager
def full_memory(server: RedisServer) -> Iterator[None]:
    """Let a server have no memory left."""
    server.command("CONFIG", "SET", "maxmemory", "1")
    try:
        yield
    finally:
        server.command("CONFIG", "SET", "maxmemory", "0")


@pytest.fixture(autouse=True)
def counted_claims() -> Iterator[None]:
    yield
    forget_claims()


@pytest.fixture(params=["memory", "redis"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    if request.param == "redis":
        place = Place(request.getfixturevalue("redis_url"), request.getfixturevalue("redis_server"))
    else:
        place = Place(f"memory://contract-{next(_numbers)}", None)
    yield place
    place.close()


@pytest.fixture
def bus(place: Place) -> Bus:
    return place.open()


@pytest.fixture
def redis_bus(redis_url: str) -> Iterator[Bus]:
    bus = open_bus(redis_url)
    yield bus
    bus.close()


@pytest.fixture
def one_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocked reads come back only when something wakes them, and not every other second."""
    monkeypatch.setattr("wolfbus.bus.redis.reader.SLICE_S", SOON_S)


@pytest.fixture
def proxy(redis_server: RedisServer, redis_url: str) -> Iterator[Proxy]:
    with Proxy(redis_server.port) as proxy:
        yield proxy


@pytest.fixture
def far_bus(proxy: Proxy) -> Iterator[Bus]:
    """A bus whose connections all go through the proxy."""
    bus = open_bus(f"redis://127.0.0.1:{proxy.port}?patience={SOON_S}")
    yield bus
    bus.close()
