"""`Closed`: whether the work of a house is done, as its ``games`` stream tells it."""

from __future__ import annotations

import contextlib
from typing import Final

from wolfbus.bus import Bus, open_bus, streams
from wolfbus.bus.redis.url import with_patience
from wolfbus.errors import BusError

_PATIENCE_S: Final = 5.0


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
