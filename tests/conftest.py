"""What all tests share: one real Redis server."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from wolfbus.testing.redis_server import RedisServer, redis_installed


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A real Redis for the whole run; where none is installed its tests are skipped, but never in CI."""
    if not redis_installed():
        if os.environ.get("CI") == "true":
            pytest.fail("redis-server is not installed, and CI must test the real one")
        pytest.skip("redis-server is not installed")
    with RedisServer() as server:
        yield server


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The address of an empty Redis."""
    redis_server.command("FLUSHALL")
    return redis_server.url
