"""`Introduction`: what an agent says of itself when it joins; `Resident`: what then lives in the house."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import ValidationError

from wolfbus.bus.protocol import Entry
from wolfbus.errors import ConfigError, first_fault
from wolfbus.messages.house import Join
from wolfbus.vocabulary import Kind


@dataclass(frozen=True, slots=True)
class Introduction:
    """What an agent says of itself; the fields are those of `Join`.

    Attributes:
        name: its name in the house.
        brain: what answers; it stands in the record.
        version: its own name and version in words.
        seats: how many seats it can play at a time.
        places: seats it asks for, from 1; empty for any.
        in_house: whether the moderator's operator runs it.
        declines: kinds of request it does not answer.
        service: what it does.
        model: the language model that answers, as its server is told; None for none.
    """

    name: str
    brain: str
    version: str
    seats: int = 1
    places: tuple[int, ...] = ()
    in_house: bool = False
    declines: tuple[Kind, ...] = ()
    service: Literal["player", "analytics"] = "player"
    model: str | None = None

    def join(self, instance: str, seats: int | None = None, seen: str | None = None) -> Join:
        """Return the message that says so.

        Args:
            instance: which start of the agent this is.
            seats: how many it takes now, if not `seats`.
            seen: id of the last message of its mailbox that it has dealt with.

        Raises:
            ConfigError: a field that no message can hold; the line names it.
        """
        try:
            return Join(
                agent=self.name,
                instance=instance,
                version=self.version,
                service=self.service,
                seats=self.seats if seats is None else seats,
                places=self.places,
                brain=self.brain,
                model=self.model,
                in_house=self.in_house,
                declines=self.declines,
                seen=seen,
            )
        except ValidationError as error:
            raise ConfigError(f"agent {self.name[:80]!r}: {first_fault(error)}") from None


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
