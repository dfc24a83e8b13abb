"""Who holds a ticket of a house, as its moderator sees it; and taking the tickets back when the house closes."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Final, cast, get_args

from wolfbus.bus import streams
from wolfbus.bus.redis.links import Links
from wolfbus.bus.url import read_address
from wolfbus.tickets.holders import Service, services
from wolfbus.tickets.issuing import revoke

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 3.0
"""How long one reading of the list tries to reach the server."""


class Tickets:
    """The list of those who may join a house.

    Args:
        url: the bus's address; a Redis, for no other bus has users.
        house: the house's name.

    Attributes:
        holders: who is on the list, as last read, and what for: name to service.

    Raises:
        ConfigError: the address cannot be understood.
    """

    def __init__(self, url: str, house: str) -> None:
        self._url = url
        self._house = house
        self._links = Links(read_address(url))
        self.holders: Mapping[str, Service] = {}

    def read(self) -> Mapping[str, Service]:
        """Read the list anew and return it; raises BusError.

        A name of which the operator has not said what it is for is an agent's: that may do least.
        """
        key, hash_ = streams.tickets(self._house), services(self._house)
        doing = f"tickets of house {self._house}"
        # in this order: what a ticket is for is written before its name is listed
        names = self._links.run(key, lambda link: link.ask("SMEMBERS", key, doing=doing), PATIENCE_S)
        pairs = self._links.run(key, lambda link: link.ask("HGETALL", hash_, doing=doing), PATIENCE_S)
        words = [word.decode(errors="replace") for word in pairs]
        said = dict(zip(words[::2], words[1::2], strict=True))
        listed = sorted(name.decode(errors="replace") for name in names)
        self.holders = {name: _service(said.get(name)) for name in listed}
        return self.holders

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


def _service(word: str | None) -> Service:
    return cast("Service", word) if word in get_args(Service) else "agent"
