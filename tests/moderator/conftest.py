"""Buses to moderate on, and processes and agents that end with their test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.moderator.process import Process, opened
from tests.services.guests import Guest
from wolfbus.bus import open_bus
from wolfbus.bus.protocol import Bus


@pytest.fixture(params=["memory", "redis"])
def url(request: pytest.FixtureRequest) -> str:
    """A bus that several processes can share."""
    return url_of(request, request.param)


@pytest.fixture
def memory_url(request: pytest.FixtureRequest) -> str:
    """A bus in memory that several "processes" can share."""
    return url_of(request, "memory")


def url_of(request: pytest.FixtureRequest, kind: str) -> str:
    if kind == "redis":
        address: str = request.getfixturevalue("redis_url")
        return address
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    return f"memory://{name}"


class Stage:
    """Starts processes and agents, and keeps the bus alive between them."""

    def __init__(self) -> None:
        self._running: list[Process | Guest] = []
        self._buses: list[Bus] = []

    def watch(self, url: str) -> Bus:
        """Return the bus as the test sees it."""
        bus = open_bus(url)
        self._buses.append(bus)
        return bus

    def process(self, url: str, steps: int | None = None, **special: Any) -> Process:
        """Start a moderator."""
        process = Process(url, steps, **special)
        self._running.append(process)
        return process

    def agents(self, url: str, *names: str, **special: Any) -> list[Guest]:
        """Start agents."""
        agents = [
            Guest(url, name, knock=False, **{"joins": False, "seats": 99, "forgetting": False, **special})
            for name in names
        ]
        self._running.extend(agents)
        return agents

    def end(self, *them: Process | Guest) -> None:
        """Kill processes and agents."""
        for one in them:
            self._running.remove(one)
            one.kill() if isinstance(one, Process) else one.close()

    def close(self) -> None:
        """Kill everything."""
        self.end(*list(self._running))
        for bus in self._buses:
            bus.close()


@pytest.fixture
def stage() -> Iterator[Stage]:
    """Where a test's processes live."""
    stage = Stage()
    yield stage
    stage.close()


@pytest.fixture(scope="session")
def whole_digest() -> str:
    """The digest of the game that nobody disturbs."""
    stage = Stage()
    url = "memory://undisturbed"
    stage.watch(url)
    stage.agents(url, "one", "two")
    process = stage.process(url)
    process.open(opened(("one", "two")))
    over = process.over()
    stage.close()
    assert over.error is None
    return over.digest
