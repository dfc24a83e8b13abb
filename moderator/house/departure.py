"""How a moderator's term of office ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

How: TypeAlias = Literal["closed", "handed over", "fenced", "lost", "anew"]
"""closed: the session is over · handed over: the service was stopped, and another may go on · fenced: another has the
house · lost: the bus lost its data, or was away for too long · anew: the bus has gone backwards, and this moderator
should claim the house again and go on from what is left."""


def forgotten(house: str) -> str:
    """Return why nobody goes on with a house of which the bus has lost everything."""
    return f"the bus lost its data: it knows nothing of house {house} any more"


@dataclass(frozen=True, slots=True)
class Departure:
    """How a term of office ended.

    Attributes:
        how: in one word.
        reason: in one line.
        failed: whether a game of the session failed, or there were not enough agents for one.
        playing: games that were under way, where the bus may have forgotten that they ever began.
    """

    how: How
    reason: str
    failed: bool = False
    playing: tuple[str, ...] = ()
