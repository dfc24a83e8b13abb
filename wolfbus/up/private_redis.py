"""`PrivateRedis`: a Redis server for one run on this machine; it persists, so that even it may be killed."""

from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from wolfbus.errors import BusError
from wolfbus.service.stop import Stopping
from wolfbus.up.child import Program

NAME: Final = "redis"

_READY_S: Final = 15.0
_PAUSE_S: Final = 0.02
_PING: Final = b"PING\r\n"


class PrivateRedis:
    """Folder, address and command of a Redis server; whoever supervises it starts and stops it.

    It listens on the loopback address only. The folder goes away with this context.

    Attributes:
        port: its TCP port, free when this was made.

    Raises:
        BusError: no ``redis-server`` is installed.
    """

    def __init__(self) -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise BusError(
                "redis-server is not installed (apt install redis-server, brew install redis); "
                "or give the address of a Redis: --redis redis://HOST:PORT"
            )
        self._program = program
        self._folder = tempfile.TemporaryDirectory(prefix="wolfbus-up-")
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port: int = listener.getsockname()[1]

    @property
    def url(self) -> str:
        """Its address."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def program(self) -> Program:
        """What to run."""
        options = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "dir": self._folder.name,
            "save": "",
            "appendonly": "yes",
            "logfile": str(self._log),
        }
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        return Program(NAME, (self._program, *words), beneath=True)

    def wait(self, stopping: Stopping) -> None:
        """Wait until it answers, or somebody asks to stop.

        Raises:
            BusError: it does not; the line quotes its log.
        """
        until = time.monotonic() + _READY_S
        while not self._answers():
            if time.monotonic() > until:
                raise BusError(f"redis-server does not answer: {self._last_words()}")
            if stopping.wait(_PAUSE_S):
                return

    @property
    def _log(self) -> Path:
        return Path(self._folder.name) / "redis.log"

    def _answers(self) -> bool:
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), timeout=1.0) as connection,
        ):
            connection.sendall(_PING)
            return connection.recv(64).startswith(b"+PONG")
        return False

    def _last_words(self) -> str:
        try:
            lines = self._log.read_text(errors="replace").split("\n")
        except OSError:
            return "it said nothing"
        return " / ".join(line.strip() for line in lines[-4:] if line.strip())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()
