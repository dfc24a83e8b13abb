"""Who holds a ticket of a house, as its moderator sees it; and taking the tickets back when the house closes."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Final

from wolfbus.bus import streams
from wolfbus.bus.redis_links import Links
from wolfbus.bus.redis_url import read_address
from wolfbus.tickets import revoke

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 3.0
"""How long one reading of the list tries to reach the server."""


class Tickets:
    """The list of those who may join a house.

    Args:
        url: the bus's address; a Redis, for no other bus has users.
        house: the house's name.

    Attributes:
        names: who is on the list, as last read.

    Raises:
        ConfigError: the address cannot be understood.
    """

    def __init__(self, url: str, house: str) -> None:
        self._url = url
        self._house = house
        self._links = Links(read_address(url))
        self.names: frozenset[str] = frozenset()

    def read(self) -> frozenset[str]:
        """Read the list anew and return it; raises BusError."""
        key = streams.tickets(self._house)
        doing = f"tickets of house {self._house}"
        words = self._links.run(lambda link: link.ask("SMEMBERS", key, doing=doing), PATIENCE_S)
        self.names = frozenset(word.decode() for word in words)
        return self.names

    def revoke(self, names: Collection[str]) -> int:
        """Take these tickets back and end the connections of their holders; returns how many there were.

        Raises:
            NotAllowed: the moderator's own ticket does not include this right.
            BusError: the server refuses something else.
        """
        return revoke(self._url, self._house, names).users

    def close(self) -> None:
        """Hang up."""
        self._links.close()
