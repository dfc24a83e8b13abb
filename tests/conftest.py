"""What all tests share: one real Redis server, one browser, logging and signals as they were, what may be skipped, and
how many processes run them, in which order.
"""

from __future__ import annotations

import compileall
import contextlib
import gc
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests import in_ci
from tests.published_log import PUBLISHED
from wolfbus.errors import BusError
from wolfbus.testing.redis_server import RedisServer, server_program

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

# how long a draw takes is the machine's affair
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

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


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Use several processes where pytest-xdist is there and the command line says nothing else. A file stays in one
    process, for its tests may share servers; those that take longest begin.
    """
    if not config.pluginmanager.has_plugin("xdist") or hasattr(config, "workerinput"):
        return
    option = config.option
    if option.numprocesses is None and not option.tx:
        option.numprocesses = "auto"
    if option.maxprocesses is None:
        option.maxprocesses = 8
    if option.dist == "no" and not option.distload:
        option.dist = "loadfile"
    option.loadscopereorder = False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return a worker more than there are cores, for a fifth of what tests take is waiting: on two cores three workers
    took 156 s for what two took 195 s for, of no more work, and four 143 s.
    """
    return (os.cpu_count() or 1) + 1


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
    """Add the rules of CI. Let processes that tests start hear the signals that they are sent, whatever whoever started
    pytest ignores: what is ignored is inherited. And compile the source once where Python may keep no bytecode, before
    hundreds of processes would each do so anew.
    """
    config.pluginmanager.register(in_ci)
    # a worker has that of the process that started it
    if not hasattr(config, "workerinput"):
        take_a_folder(config)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD))
    if sys.dont_write_bytecode and not hasattr(config, "workerinput"):
        for top in ("wolfbus", "moderator", "players", "analytics"):
            compileall.compile_dir(TESTS.parent / top, quiet=2)


FOLDER = pytest.StashKey[str]()


def take_a_folder(config: pytest.Config) -> None:
    """Make the folder that temporary files of the suite go to, whoever makes them, so that none is left. What pytest
    keeps of failed tests is beside it.
    """
    os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.gettempdir()
    config.stash[FOLDER] = os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix="wolfbus-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what was left among temporary files, as by programs that tests kill."""
    if folder := config.stash.get(FOLDER, None):
        shutil.rmtree(folder, ignore_errors=True)


BEFORE = pytest.StashKey[ProcessWide]()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Take note of it before any test runs a command in this process."""
    session.config.stash[BEFORE] = ProcessWide()


@contextlib.contextmanager
def skipped_without_a_server() -> Iterator[None]:
    """Skip whatever fails for want of a Redis server where none is installed."""
    try:
        yield
    except BusError:
        try:
            server_program()
        except BusError as error:
            pytest.skip(str(error))
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    """Skip a test whose fixtures start a server that is not installed."""
    with skipped_without_a_server():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Take note of the processes that a test starts, not of those of its fixtures, which may outlive it, as does a
    server that a test kills and starts again. Servers end with their contexts in any case.
    """
    start = subprocess.Popen.__init__

    def note(process: subprocess.Popen[bytes], *words: Any, **options: Any) -> None:
        start(process, *words, **options)
        if not is_server(process.args):
            STARTED.append(process)

    with pytest.MonkeyPatch.context() as patch, skipped_without_a_server():
        patch.setattr(subprocess.Popen, "__init__", note)
        return (yield)


STARTED: list[subprocess.Popen[bytes]] = []


def is_server(command: Any) -> bool:
    """Return whether a command line is that of a Redis server."""
    program = command if isinstance(command, str | bytes | os.PathLike) else command[0]
    return Path(os.fsdecode(program)).name in {"redis-server", "valkey-server"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    """End what a test has left running, as it does where it fails, with all of the same group that it leads."""
    try:
        return (yield)
    finally:
        for process in STARTED:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    (os.killpg if os.getpgid(process.pid) == process.pid else os.kill)(process.pid, signal.SIGKILL)
                process.wait()
            for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
                with contextlib.suppress(OSError):
                    pipe.close()
        STARTED.clear()


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
    "study/test_outages.py",
    "study/test_shared.py",
    "study/test_house.py",
    "study/test_runs.py",
    "study/test_believed.py",
    "stage/test_browsing.py",
    "stage/test_live_page.py",
    "outside/test_http_agents.py",
    "docs/test_commands.py",
    "llm/whole/test_games_of_models.py",
    "study/test_budget.py",
    "study/test_broken_off.py",
    "study/test_proven.py",
    "whole/test_no_reply_breaks_a_game.py",
    "services/test_analytics.py",
    "report/test_page.py",
    "outside/test_check_agent.py",
    "ops/test_up.py",
    "bus/test_cluster.py",
    "moderator/test_a_way_to_leave.py",
    "analytics/gather/test_cache.py",
    "analytics/test_comparing.py",
    "analytics/test_coverage.py",
    "docs/test_site.py",
    "moderator/test_recovery.py",
    "stage/test_house.py",
    "services/test_moderator.py",
    "llm/whole/test_inspect.py",
    "services/test_forgetful_redis.py",
    "claims/test_claims_found.py",
    "test_running.py",
    "other_games/test_measured.py",
)
"""Files that take long: begun last, one would keep one core busy while the others wait."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, and leave out tests of the published log where it is not."""
    place = {TESTS / name: at for at, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))
    if not PUBLISHED.is_file():
        without = [item for item in items if item.get_closest_marker("published_log")]
        items[:] = [item for item in items if item not in without]
        config.hook.pytest_deselected(items=without)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Have all tests that a fixture of this file skips told in one line, where it does so, and not in one each."""
    report = yield
    if report.skipped and call.excinfo is not None and isinstance(report.longrepr, tuple):
        here = [entry for entry in call.excinfo.traceback if entry.path == Path(__file__)]
        if here:
            report.longrepr = (str(here[-1].path), here[-1].lineno + 1, report.longrepr[2])
    return report


if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserType, Page

    from tests.stage.watching import Watched


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A real Redis for the whole run."""
    with RedisServer() as server:
        yield server


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The address of an empty Redis."""
    redis_server.command("FLUSHALL")
    return redis_server.url


@pytest.fixture(scope="session")
def tls_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A certificate of one's own for 127.0.0.1, its key and its authority, for a server that speaks TLS."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no TLS: openssl, which makes certificates, is not installed")
    folder = tmp_path_factory.mktemp("certificates")
    key, certificate = folder / "key.pem", folder / "made of a CA's own.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=wolfbus"
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([openssl, *words.split(), *names], check=True, capture_output=True)
    files = certificate, key, certificate
    try:
        with RedisServer(tls=files):
            pass
    except BusError as error:
        if not re.search("Failed finding TLS support|tls-", str(error)):
            raise
        pytest.skip(
            f"no TLS: {server_program()} was built without it (apt install redis-server, or brew install redis)"
        )
    return files


NO_BROWSER = "no browser: install chromium or Google Chrome, or run: playwright install chromium"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture
def browser_on_path() -> None:
    """Skip where there is no browser that `wolfbus page --picture` finds: it takes none of Playwright's."""
    if not any(map(shutil.which, _BROWSERS)):
        pytest.skip(NO_BROWSER)


# not for the session: while it is open its event loop runs in this thread, where other modules run theirs
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One headless browser for all tests of pages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = opened(playwright.chromium)
        if started is None:
            pytest.skip(NO_BROWSER)
        yield started
        started.close()


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Page]:
    """A page that tests share which look at it as usual: to open another takes twice as long."""
    from tests.stage.watching import USUAL

    context = browser.new_context(**USUAL)
    yield context.new_page()
    context.close()


@pytest.fixture
def watched(browser: Browser, window: Page) -> Iterator[Callable[..., Watched]]:
    """Opens pages, see `watch`, and sees in the end that they did nothing wrong."""
    from tests.stage.watching import watch

    with contextlib.ExitStack() as stack:

        def watched(*where: Any, alone: bool = False, **how: Any) -> Watched:
            page = None if alone or how.keys() - {"changed", "viewport", "color_scheme"} else window
            seen = watch(browser, *where, page=page, **how)
            stack.callback(seen.close)
            return seen

        yield watched


def opened(chromium: BrowserType) -> Browser | None:
    """Open Playwright's own Chromium, one on the PATH, or Google Chrome where it is installed; None if none opens."""
    from playwright.sync_api import Error

    on_path = [{"executable_path": path} for path in map(shutil.which, _BROWSERS) if path]
    for where in ({}, *on_path, {"channel": "chrome"}):
        with contextlib.suppress(Error):
            return chromium.launch(**where, args=["--no-sandbox"])
    return None
