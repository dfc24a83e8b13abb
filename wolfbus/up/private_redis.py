"""`PrivateRedis`: a Redis server for one run on this machine; it persists, so that even it may be killed."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Final, Self

from wolfbus.errors import BusError
from wolfbus.service.redis import READY_S, RedisHome
from wolfbus.service.stop import Stopping
from wolfbus.up.child import Program

NAME: Final = "redis"

_PAUSE_S: Final = 0.02


class PrivateRedis:
    """Folder, address and command of a Redis server; whoever supervises it starts and stops it.

    It listens on a Unix socket alone, in a folder that only this user may enter: nobody else on the machine can read
    who has which role. The folder goes away with this context.

    Raises:
        BusError: no ``redis-server`` is installed, or no folder will do for its socket.
    """

    def __init__(self) -> None:
        try:
            self._home = RedisHome("wolfbus-up-")
        except BusError as error:
            raise BusError(f"{error}; or give the address of a Redis: --redis redis://HOST:PORT") from None

    @property
    def url(self) -> str:
        """Its address."""
        return self._home.url

    @property
    def program(self) -> Program:
        """What to run."""
        words = self._home.words(persist=True)
        return Program(NAME, (*words, "--logfile", str(self._home.log)), beneath=True)

    def wait(self, stopping: Stopping) -> None:
        """Wait until it answers, or somebody asks to stop.

        Raises:
            BusError: it does not; the line quotes its log.
        """
        until = time.monotonic() + READY_S
        while not self._home.ready():
            if time.monotonic() > until:
                raise BusError(f"redis-server does not answer: {self._home.last_words()}")
            if stopping.wait(_PAUSE_S):
                return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._home.remove()
