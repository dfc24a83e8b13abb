"""What is found in a statement, before it is known who "I" is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wolfbus.vocabulary import Role


@dataclass(frozen=True, slots=True)
class FoundClaim:
    """One claim in the words.

    Attributes:
        kind: what is claimed; an accusation is a role "Werewolf" of another.
        target: place of the player among the names; None for the speaker.
        role: the role claimed; None for a protection, and for an inspection that only rules out the Werewolf.
        night: the night named.
        opinion: the speaker only thinks so.
    """

    kind: Literal["role", "inspection", "protection"]
    target: int | None
    role: Role | None = None
    night: int | None = None
    opinion: bool = False


@dataclass(frozen=True, slots=True)
class Inspecting:
    """Words that tell of an inspection by the speaker.

    Attributes:
        start: where they begin.
        end: the place after them.
        target: the player inspected, None if the words name nobody.
        night: the night they name.
        also: further players that the same words name, each with the night.
    """

    start: int
    end: int
    target: int | None
    night: int | None
    also: tuple[tuple[int, int | None], ...] = ()
