"""A Redis of its own, with tickets on: one house that matters, another beside it, and nobody else let in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from wolfbus.testing.redis_server import RedisServer, redis_installed
from wolfbus.tickets.holders import Holder, read_bus
from wolfbus.tickets.issuing import issue, revoke

HOUSE = "main"
HOLDERS = (
    Holder(HOUSE, "moderator", "moderator"),
    Holder(HOUSE, "agent", "ada"),
    Holder(HOUSE, "player", "bruno"),
    Holder(HOUSE, "agent", "gone"),
    Holder(HOUSE, "analytics", "keeper"),
    Holder(HOUSE, "spectator", "watcher"),
)


def client(url: str) -> redis.Redis:
    """Return an ordinary redis-py client with one connection, that never sends anything twice."""
    return redis.Redis.from_url(
        url,
        protocol=2,
        socket_timeout=40,
        retry=Retry(NoBackoff(), 0),
        retry_on_error=[],
        single_connection_client=True,
    )


def exchange(one: redis.Redis, commands: Iterable[Sequence[object]]) -> list[Any]:
    """Send all commands at once; return what the server answers to each, as it stands, refusals too."""
    pipe = one.pipeline(transaction=False)
    pipe.response_callbacks = {}
    for command in commands:
        pipe.pipeline_execute_command(*command)
    return pipe.execute(raise_on_error=False)


@dataclass
class Guarded:
    """A server with tickets on.

    Attributes:
        server: the Redis.
        folder: where the tickets of `HOUSE` are.
        gone: the address of a ticket that was revoked.
    """

    server: RedisServer
    folder: Path
    gone: str

    def url(self, name: str) -> str:
        """Return the address in a ticket of the house."""
        return read_bus(f"@{self.folder / name}.ticket")

    @contextlib.contextmanager
    def login(self, name: str) -> Iterator[redis.Redis]:
        """Log in with a ticket."""
        with client(self.url(name)) as one:
            yield one


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    if not redis_installed():
        pytest.skip("redis-server is not installed")
    folder = tmp_path_factory.mktemp("tickets")
    # without this option the server refuses DEBUG before it looks at anybody's rights
    with RedisServer("--enable-debug-command", "yes") as server:
        issue(server.url, HOLDERS, folder / HOUSE)
        guarded = Guarded(server, folder / HOUSE, "")
        admin = guarded.url("admin")
        issue(admin, [Holder("other", "agent", "ada"), Holder("other", "moderator", "moderator")], folder / "other")
        guarded.gone = guarded.url("gone")
        revoke(admin, HOUSE, ["gone"])
        yield guarded
