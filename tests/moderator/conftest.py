"""Buses to moderate on, and processes and agents that end with their test."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.moderator.process import Process, opened
from tests.services.guests import Guest
from wolfbus.bus import Bus, open_bus


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


class Stage(contextlib.ExitStack):
    """Starts processes and agents, and keeps the bus alive between them."""

    def watch(self, url: str) -> Bus:
        """Return the bus as the test sees it."""
        return self.enter_context(contextlib.closing(open_bus(url)))

    def process(self, url: str, steps: int | None = None, **special: Any) -> Process:
        """Start a moderator."""
        return self.enter_context(contextlib.closing(Process(url, steps, **special)))

    def agents(self, url: str, *names: str, **special: Any) -> list[Guest]:
        """Start agents."""
        how = {"joins": False, "knock": False, "seats": 99, "forgetting": False, **special}
        return [self.enter_context(contextlib.closing(Guest(url, name, **how))) for name in names]

    def end(self, *them: Process | Guest) -> None:
        """Kill processes and agents."""
        for one in them:
            one.close()


@pytest.fixture
def stage() -> Iterator[Stage]:
    """Where a test's processes live."""
    with Stage() as stage:
        yield stage


@pytest.fixture(scope="session")
def whole_digest() -> str:
    """The digest of the game that nobody disturbs."""
    with Stage() as stage:
        url = "memory://undisturbed"
        stage.watch(url)
        stage.agents(url, "one", "two")
        process = stage.process(url)
        process.open(opened(("one", "two")))
        over = process.over()
    assert over.error is None
    return over.digest
