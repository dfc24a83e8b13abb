"""The bus of a run: a Redis server of its own, and whether its house has closed on it."""

from __future__ import annotations

import contextlib
from typing import Final

from wolfbus.bus import Bus, open_bus, streams
from wolfbus.bus.url import with_patience
from wolfbus.errors import BusError
from wolfbus.service.redis import RedisHome
from wolfbus.service.stop import Stopping
from wolfbus.up.child import Program

NAME: Final = "redis"
_PATIENCE_S: Final = 5.0


class PrivateRedis(RedisHome):
    """Folder, address and command of a Redis server for one run; whoever supervises it starts and stops it.

    It listens on a Unix socket alone, in a folder that only this user may enter: nobody else on the machine can read
    who has which role. It persists, so that even it may be killed. The folder goes away with this context.

    Raises:
        BusError: no ``redis-server`` is installed, or no folder will do for its socket.
    """

    def __init__(self) -> None:
        try:
            super().__init__("wolfbus-up-")
        except BusError as error:
            raise BusError(f"{error}; or give the address of a Redis: --redis redis://HOST:PORT") from None

    @property
    def program(self) -> Program:
        """What to run."""
        return Program(NAME, (*self.words(persist=True), "--logfile", str(self.log)), beneath=True)

    def wait(self, stopping: Stopping) -> None:
        """Wait until it answers, or somebody asks to stop.

        Raises:
            BusError: it does not; the line quotes its log.
        """
        if not self.await_ready(stopping.wait) and not stopping.asked:
            raise BusError(f"redis-server does not answer: {self.last_words()}")


class Closed:
    """Tells whether a house has closed since `mark`.

    Args:
        url: the bus's address.
        house: the house's name.
    """

    def __init__(self, url: str, house: str) -> None:
        # for as long as this is asked nothing else is done
        self._url = with_patience(url, _PATIENCE_S)
        self._news = streams.games(house)
        self._read = "0-0"
        self._closed = False
        self._bus: Bus | None = None

    def mark(self) -> None:
        """Connect, and take note of what stands on the bus already.

        Raises:
            BusError, ConfigError: there is no such bus.
        """
        self._bus = open_bus(self._url)
        self._read = self._bus.last_id(self._news)

    def __call__(self) -> bool:
        """Tell whether the house has closed; False while the bus is away, whose end is no end of the work."""
        while not self._closed and self._bus is not None:
            try:
                news = self._bus.entries(self._news, self._read)
            except BusError:
                return False
            if not news:
                break
            self._read = news[-1].id
            self._closed = any(entry.type == "house_closed" for entry in news)
        return self._closed

    def close(self) -> None:
        """Disconnect."""
        if self._bus is not None:
            with contextlib.suppress(BusError):
                self._bus.close()
