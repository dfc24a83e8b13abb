"""`Resident`: what lives in a house under a member's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from wolfbus.bus.protocol import Entry


class Resident(Protocol):
    """What lives in a house under a member's name: an agent's seats, or a service. `deliver`, `welcome` and `again`
    are called from threads of the bus and should only pass things on.
    """

    @property
    def playing(self) -> int:
        """Games under way, which are played on for a while after a request to stop."""
        ...

    @property
    def played(self) -> int:
        """Games that are over."""
        ...

    def deliver(self, entries: Sequence[Entry], /) -> None:
        """Take what is said of games, in order: deliveries, and that a game was dropped; perhaps what nobody knows."""
        ...

    def welcome(self) -> None:
        """Take note that a moderator has welcomed the member. One that does not know it yet does so: that of the house
        on each fresh start, and each that comes after it.
        """
        ...

    def again(self) -> None:
        """Take note that the member joins anew: all that runs will be caught up."""
        ...

    def report(self) -> tuple[str, dict[str, int]]:
        """Return its state in a word, and numbers, for whoever watches the process."""
        ...

    def close(self) -> None:
        """End, and return when nothing more will be sent."""
        ...
