"""A service's life: it waits for its bus, tells over HTTP how it is, and stops when it is asked to."""

from __future__ import annotations

import contextlib
import json
import logging
import queue
import signal
import socket
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, TypeVar

from wolfbus.bus import Bus, open_bus
from wolfbus.bus.redis.trouble import is_lasting, unreachable
from wolfbus.bus.url import is_in_process, read_address
from wolfbus.errors import BusDown, ConfigError
from wolfbus.patience import Backoff, Patience
from wolfbus.service.signals import end_signals

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

logger = logging.getLogger(__name__)

Place: TypeAlias = tuple[str, int]
"""Host and TCP port to listen on."""

LOOPBACK: Final = "127.0.0.1"
DEFAULT_BUS: Final = f"redis://{LOOPBACK}:6379"
DEFAULT_HOUSE: Final = "main"
"""Where services meet unless told otherwise."""

_CLIENT_TIMEOUT_S: Final = 5.0
_PAUSE_S: Final = 0.5
_SLICE_S: Final = 1.0

T = TypeVar("T")


def read_shared_bus(text: str) -> str:
    """Return the address of a bus where processes meet; raises ValueError."""
    if is_in_process(text):
        reason = "memory:// ends where its process ends, so nobody else can be there; name a Redis"
        raise ValueError(f"{reason}, as in {DEFAULT_BUS}")
    return text


def drain(news: queue.Queue[T], wait_s: float) -> Iterator[T]:
    """Yield what is in a queue until nothing is left, waiting so long for the first of it.

    It is no `queue.SimpleQueue`: up to Python 3.12 the wait for one never ends if a signal comes just as its time is
    up, unless the signal's handler raises something, or puts something into that queue.
    """
    with contextlib.suppress(queue.Empty):
        yield news.get(timeout=wait_s)
        while True:
            yield news.get_nowait()


class Health:
    """Answers ``GET /health`` with the service's state while it is open as a context.

    The answer is a JSON object with ``state``, ``ok`` and the details last set; its status is 200, or 503 while not ok.

    Args:
        place: where to listen, port 0 for any free one; None serves nothing and keeps the state.

    Attributes:
        port: the port that is served, None if none is.
        state: the state last set.
        ok: whether that is a good one.

    Raises:
        ConfigError: on entering, when the address cannot be listened on.
    """

    def __init__(self, place: Place | None) -> None:
        self._place = place
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._report: dict[str, object] = {"state": "starting", "ok": False}
        self.port: int | None = None

    def set(self, state: str, ok: bool = True, **details: object) -> None:
        """Set how the service is.

        Args:
            state: one word or a few, such as ``playing``.
            ok: whether a watcher should leave the service alone.
            details: more for the answer; what JSON cannot hold is told as text.
        """
        with self._lock:
            self._report = {"state": state, "ok": ok, **details}

    @property
    def state(self) -> str:
        """The state last set; ``starting`` before."""
        return str(self._report["state"])

    @property
    def ok(self) -> bool:
        """Whether the state last set is a good one; False before."""
        return bool(self._report["ok"])

    def __enter__(self) -> Self:
        if self._place is not None:
            self._serve(*self._place)
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._server = self._thread = self.port = None

    def _respond(self) -> tuple[int, bytes]:
        with self._lock:
            report = self._report
        return 200 if report["ok"] else 503, json.dumps(report, default=str).encode() + b"\n"

    def _serve(self, host: str, port: int) -> None:
        # late: most services of a house on one machine serve no health, and this costs them its import
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        answer = self._respond

        class Handler(BaseHTTPRequestHandler):
            timeout = _CLIENT_TIMEOUT_S
            server_version = "wolfbus"
            sys_version = ""

            def do_GET(self) -> None:
                status, body = answer() if self.path.partition("?")[0] == "/health" else (404, b'{"try": "/health"}\n')
                with contextlib.suppress(ConnectionError, TimeoutError):
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(body)

            do_HEAD = do_GET  # noqa: N815 - the names are http.server's

            def log_message(self, *_words: object) -> None:
                """Say nothing: a probe every second is no event."""

        class _HealthServer(ThreadingHTTPServer):
            daemon_threads = True
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

            def handle_error(self, *_words: object) -> None:
                """Say nothing: a watcher that hangs up is its own affair."""

        try:
            self._server = _HealthServer((host, port), Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ConfigError(f"health cannot be served on {host}:{port}: {reason.lower()}") from None
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, name="health", daemon=True
        )
        self._thread.start()


class Stopping:
    """Whether this process was asked to stop. As a context it hears SIGINT and `end_signals`, and restores
    their handlers.

    A process of the command line ignores the latter afterwards: it is about to end, with an exit code that stands.

    In a thread other than the main one no handler can be set; `ask` works there all the same. A SIGINT after the first
    question raises KeyboardInterrupt: somebody does not want to wait.

    Attributes:
        requested: whether anybody asked.
        why: who asked first, such as ``SIGTERM``; "" while nobody has.
        failed: whether that was because the work cannot go on.
    """

    def __init__(self) -> None:
        self.requested = False
        self.why = ""
        self.failed = False
        # An Event's lock is not re-entrant: a handler that sets it may run while this very thread holds it.
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._before: dict[signal.Signals, Any] = {}

    def ask(self, why: str, *, failed: bool = False) -> None:
        """Ask to stop; safe in any thread and in a signal handler. Only the first reason is kept.

        Args:
            why: who asks, or the reason.
            failed: whether the work cannot go on.
        """
        if not self.requested:
            self.why = why
            self.failed = failed
            self.requested = True
        self._wake.put(None)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until somebody asks.

        Args:
            timeout_s: seconds to wait at most, >= 0; None for ever.

        Returns:
            Whether somebody has asked.
        """
        until = None if timeout_s is None else time.monotonic() + timeout_s
        while not self.requested:
            left = _SLICE_S if until is None else until - time.monotonic()
            try:
                # no platform's wait is uninterruptible for longer than a slice
                self._wake.get(timeout=min(max(left, 0.0), _SLICE_S))
            except queue.Empty:
                if until is not None and time.monotonic() >= until:
                    return self.requested
            else:
                self._wake.put(None)  # for whoever else waits
        return True

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            numbers = (signal.SIGINT, *end_signals())
            self._before = {number: signal.signal(number, self._handle_signal) for number in numbers}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            if number != signal.SIGINT and handler is signal.default_int_handler:
                # The command line made it an interrupt. There is nothing left to interrupt, but Python takes a tenth of
                # a second to end, and a SIGTERM meanwhile would put its own exit code in place of the outcome's.
                signal.signal(number, signal.SIG_IGN)
                continue
            # None stands for a handler that was not set from Python, and cannot be set from it
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._before = {}

    def _handle_signal(self, number: int, _frame: FrameType | None) -> None:
        impatient = self.requested and number == signal.SIGINT
        self.ask(signal.Signals(number).name)
        if impatient:
            raise KeyboardInterrupt


def await_bus(url: str, stopping: Stopping, health: Health | None = None) -> Bus | None:
    """Open the bus at an address, and wait for its server if that is not up yet; one line says so.

    How long, the address says (``?patience=120``): for services that start together with their
    Redis. Where it says nothing, most likely nobody is starting a server, and the error comes
    after a few seconds.

    Args:
        url: see `open_bus`.
        stopping: may end the wait.
        health: told that the bus is waited for.

    Returns:
        The bus; None if somebody asked to stop before it was there.

    Raises:
        ConfigError: the address cannot be understood.
        BusDown: the server cannot be reached within the patience.
        BusError: the server is too old, or does not accept the user: at once, for waiting would not help.
    """
    if is_in_process(url):
        return open_bus(url)
    address = read_address(url)
    patience_s = address.opening_s
    patience = Patience(patience_s, Backoff(first=_PAUSE_S, factor=1.0), begun=True)
    has_warned = False
    while not stopping.requested:
        try:
            return open_bus(url)
        except BusDown as error:
            cause = error.__cause__
            pause = patience.pause_s()
            if pause is None or (cause is not None and is_lasting(cause)):
                if not has_warned or not isinstance(cause, Exception):
                    raise
                raise unreachable(address, patience_s, cause) from cause
            if not has_warned:
                has_warned = True
                logger.warning("%s; waiting for it up to %g s", error, patience_s)
                if health is not None:
                    health.set("waiting for the bus", ok=False)
            stopping.wait(pause)
    return None
