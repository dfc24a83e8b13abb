"""What all tests share: one real Redis server, one browser, logging as it was, and the order in which files begin."""

from __future__ import annotations

import compileall
import gc
import logging
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import in_ci
from wolfbus.testing.redis_server import RedisServer, redis_installed

TESTS = Path(__file__).parent

KEPT = {"PYTHONPATH", "PYTHONHOME"}
"""Where Python finds its modules: of what else a shell may have set for Python nothing reaches a test."""
OF_A_SHELL = re.compile(
    "(PYTHON|WOLFBUS_(?!TEST_)|OPENAI_|REDIS_|LC_).*|LANG|LANGUAGE|COLUMNS|LINES|TERM|COLORTERM|(NO|FORCE)_COLOR"
    "|VIRTUAL_ENV|TZ|(https?|all|no)_proxy",
    re.IGNORECASE,
)
"""Variables that change what commands do or print, and that one machine has and another lacks."""


def forget_the_shell() -> None:
    """Have the suite, and every process that it starts, run with the same variables whoever started it."""
    for name in list(os.environ):
        if OF_A_SHELL.fullmatch(name) and name not in KEPT:
            del os.environ[name]
    os.environ["LANG"] = "C.UTF-8"


# before any test or module reads them
forget_the_shell()

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


def pytest_xdist_auto_num_workers() -> int:
    """Return two workers more than there are cores: half of what tests take is waiting, as for a browser."""
    return (os.cpu_count() or 1) + 2


class ProcessWide:
    """What commands set for their whole process: logging, signals, and hooks for exceptions that nobody catches."""

    def __init__(self) -> None:
        self.level = logging.getLogger().level
        self.hooks = sys.excepthook, threading.excepthook
        self.signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore(self) -> None:
        """Put back what was there, but for the handlers that pytest has put up for a test."""
        root = logging.getLogger()
        root.setLevel(self.level)
        root.handlers[:] = [each for each in root.handlers if type(each).__module__.startswith("_pytest.")]
        sys.excepthook, threading.excepthook = self.hooks
        logging.captureWarnings(capture=False)
        for number, handler in self.signals.items():
            signal.signal(number, handler)


def pytest_configure(config: pytest.Config) -> None:
    """Add the rules of CI. And compile the source once where Python may keep no bytecode, before hundreds of processes
    would each do so anew.
    """
    config.pluginmanager.register(in_ci)
    if sys.dont_write_bytecode and not hasattr(config, "workerinput"):
        for top in ("wolfbus", "moderator", "players", "analytics"):
            compileall.compile_dir(TESTS.parent / top, quiet=2)


BEFORE = pytest.StashKey[ProcessWide]()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Take note of it before any test runs a command in this process."""
    session.config.stash[BEFORE] = ProcessWide()


@pytest.fixture(autouse=True)
def process_as_it_was(pytestconfig: pytest.Config) -> Iterator[None]:
    """Leave nothing that a command has set to the next test."""
    yield
    pytestconfig.stash[BEFORE].restore()


LONGEST = (
    "test_house.py",
    "chaos/test_chaos.py",
    "golden/test_golden.py",
    "stage/test_game_page.py",
    "study/test_house.py",
    "study/test_shared.py",
    "whole/test_no_reply_breaks_a_game.py",
    "study/test_runs.py",
    "docs/test_commands.py",
    "study/test_many_houses.py",
    "stage/test_live_page.py",
    "outside/test_check_agent.py",
    "study/test_budget.py",
    "ops/test_request_reply.py",
    "llm/whole/test_games_of_models.py",
    "whole/test_command_line.py",
    "report/test_page.py",
    "bus/test_cluster.py",
    "ops/test_secret_addresses.py",
    "stage/test_browsing.py",
    "analytics/test_findings.py",
    "study/test_memory.py",
    "study/test_proven.py",
    "analytics/gather/test_cache.py",
    "services/test_analytics.py",
    "moderator/test_recovery.py",
    "cli_views/test_views.py",
    "ops/test_up.py",
    "whole/test_endings.py",
    "services/test_forgetful_redis.py",
    "whole/test_bad_days.py",
    "outside/test_losses.py",
)
"""Files that take long: begun last, one would keep one core busy while the others wait."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest."""
    place = {TESTS / name: at for at, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))


if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def redis_there() -> None:
    """A redis-server that can be started; where none is installed its tests are skipped, but never in CI."""
    if not redis_installed():
        if os.environ.get("CI") == "true":
            pytest.fail("redis-server is not installed, and CI must test the real one")
        pytest.skip("redis-server is not installed")


@pytest.fixture(scope="session")
def redis_server(redis_there: None) -> Iterator[RedisServer]:
    """A real Redis for the whole run."""
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
