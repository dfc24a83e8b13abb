"""A private Redis server: a real one, in a directory of its own, that goes away with its context."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from wolfbus.errors import BusError

READY_S = 10.0
"""Longest wait for the server to answer, or to go."""


def redis_installed() -> bool:
    """Tell whether there is a ``redis-server`` to start."""
    return shutil.which("redis-server") is not None


class RedisServer:
    """A Redis server on the loopback address and on a Unix socket.

    Args:
        options: further words of its command line, such as ``"--maxmemory", "10mb"``.
        persist: write every change to disk before answering, so that `kill` loses nothing; else everything is kept in
            memory only.
        tls: files of (certificate, key, certificates of the authority); the TCP port then speaks TLS only.

    Attributes:
        port: TCP port on 127.0.0.1, chosen at the first start and kept.
        socket_path: path of the Unix socket.

    Raises:
        BusError: redis-server is not installed, or does not start (the line quotes its log).
    """

    def __init__(self, *options: str, persist: bool = False, tls: tuple[Path, Path, Path] | None = None) -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise BusError("redis-server is not installed (it is looked for on the PATH)")
        self._program = program
        self._options = options
        self._persist = persist
        self._tls = tls
        self._process: subprocess.Popen[bytes] | None = None
        self._ran = False
        # A Unix socket's path must be short: not below a test's own long directory.
        self._directory = Path(tempfile.mkdtemp(prefix="wolfbus-redis-"))
        self.socket_path = self._directory / "redis.sock"
        self.port = _free_port()

    @property
    def url(self) -> str:
        """The server's TCP address for `open_bus`."""
        if self._tls is not None:
            return f"rediss://127.0.0.1:{self.port}?ssl_ca_certs={self._tls[2]}"
        return f"redis://127.0.0.1:{self.port}"

    @property
    def unix_url(self) -> str:
        """The address of its Unix socket for `open_bus`."""
        return f"unix://{self.socket_path}"

    def start(self) -> Self:
        """Start the server and wait until it answers; one that runs already is left alone."""
        if self._process is None:
            try:
                self._launch()
            except BusError as error:
                if self._ran or "in use" not in str(error):
                    raise
                self.port = _free_port()  # somebody took the first one meanwhile
                self._launch()
            self._ran = True
        return self

    def _launch(self) -> None:
        log = self._directory / "redis.log"
        command = [self._program, *self._words(), *self._options]
        with log.open("wb") as said:
            # A session of its own: Ctrl-C ends the tests first, which then end the server.
            self._process = subprocess.Popen(  # noqa: S603 - words of our own, and no shell
                command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
            )
        self._wait_until_ready(log)

    def kill(self) -> None:
        """Stop the server at once, as a crash would. What it persisted is kept for the next `start`."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(READY_S)
            self._process = None

    def restart(self) -> None:
        """Kill the server and start it on the same port."""
        self.kill()
        self.start()

    def close(self) -> None:
        """Stop the server and remove all it wrote."""
        self.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def command(self, *words: str) -> bytes:
        """Send one command as the default user over the Unix socket and return its raw reply's first 64 kB."""
        with contextlib.closing(self._connect()) as connection:
            return _ask(connection, words)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _words(self) -> list[str]:
        words = ["--bind", "127.0.0.1", "--dir", str(self._directory), "--unixsocket", str(self.socket_path)]
        words += ["--save", "", "--appendonly", "yes" if self._persist else "no", "--appendfsync", "always"]
        if self._tls is None:
            return [*words, "--port", str(self.port)]
        certificate, key, authority = self._tls
        words += ["--port", "0", "--tls-port", str(self.port), "--tls-auth-clients", "no"]
        return [
            *words,
            "--tls-cert-file",
            str(certificate),
            "--tls-key-file",
            str(key),
            "--tls-ca-cert-file",
            str(authority),
        ]

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(READY_S)
        try:
            connection.connect(str(self.socket_path))
        except OSError:
            connection.close()
            raise
        return connection

    def _wait_until_ready(self, log: Path) -> None:
        until = time.monotonic() + READY_S
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                # A server that is loading, or wants a password first, is there but not ready, or ready.
                if not self.command("PING").startswith(b"-LOADING"):
                    return
            if self._process is not None and self._process.poll() is not None:
                break
            time.sleep(0.005)
        self.kill()
        said = log.read_text(errors="replace").strip().splitlines()
        raise BusError("redis-server did not start: " + " / ".join(said[-3:]))


def _ask(connection: socket.socket, words: Sequence[str]) -> bytes:
    parts = [f"*{len(words)}\r\n".encode()]
    for word in words:
        raw = word.encode()
        parts.append(b"$%d\r\n%b\r\n" % (len(raw), raw))
    connection.sendall(b"".join(parts))
    return connection.recv(65536)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
