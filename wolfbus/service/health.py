"""How a service is, told over HTTP to whoever watches it: a container engine, a supervisor, a person with curl."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TypeAlias

from wolfbus.errors import ConfigError

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

Place: TypeAlias = tuple[str, int]
"""Host and TCP port to listen on."""

LOOPBACK: Final = "127.0.0.1"
_CLIENT_TIMEOUT_S: Final = 5.0


class Health:
    """Answers ``GET /health`` with the service's state while it is open as a context.

    The answer is a JSON object with ``state``, ``ok`` and the details last set; its status is 200, or 503 while not ok.

    Args:
        port: TCP port on 127.0.0.1 (0 for any free one), or (host, port); None serves nothing and keeps the state.

    Attributes:
        port: the port that is served, None if none is.
        state: the state last set.
        ok: whether that is a good one.

    Raises:
        ConfigError: on entering, when the address cannot be listened on.
    """

    def __init__(self, port: int | Place | None) -> None:
        self._place = (LOOPBACK, port) if isinstance(port, int) else port
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._told: dict[str, object] = {"state": "starting", "ok": False}
        self.port: int | None = None

    def set(self, state: str, ok: bool = True, **details: object) -> None:
        """Say how the service is.

        Args:
            state: one word or a few, such as ``playing``.
            ok: whether a watcher should leave the service alone.
            details: more for the answer; what JSON cannot hold is told as text.
        """
        with self._lock:
            self._told = {"state": state, "ok": ok, **details}

    @property
    def state(self) -> str:
        """The state last set; ``starting`` before."""
        return str(self._told["state"])

    @property
    def ok(self) -> bool:
        """Whether the state last set is a good one; False before."""
        return bool(self._told["ok"])

    def __enter__(self) -> Self:
        if self._place is not None:
            self._serve(*self._place)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._server = self._thread = self.port = None

    def _answer(self) -> tuple[int, bytes]:
        with self._lock:
            told = self._told
        return 200 if told["ok"] else 503, json.dumps(told, default=str).encode() + b"\n"

    def _serve(self, host: str, port: int) -> None:
        # late: most services of a house on one machine serve no health, and this costs them its import
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        answer = self._answer

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
