"""What all tests share: one real Redis server, one browser."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

from wolfbus.testing.redis_server import RedisServer, redis_installed

# Matrices of studies are small: threads of numpy would wait for each other on cores that other workers use. It is read
# when numpy is imported, here, in the workers and in every process that a test starts.
for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(threads, "1")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep all tests, and all that they import, out of the cyclic collector's sight: none of it is ever freed."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


if TYPE_CHECKING:
    from playwright.sync_api import Browser


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


# not for the session: while it is open its event loop runs in this thread, where other modules run theirs
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all tests of pages; without one they are skipped, but never in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("no Chromium is installed, and CI must look at the page")
        pytest.skip("no Chromium is installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()
