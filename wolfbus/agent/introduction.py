"""`Introduction`: what an agent says of itself when it joins a house."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from wolfbus.errors import ConfigError
from wolfbus.messages.codec import first_fault
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
