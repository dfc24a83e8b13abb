"""How a moderator's term of office ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

How: TypeAlias = Literal["closed", "handed over", "fenced", "lost", "anew"]
"""closed: the session is over · handed over: the service was stopped, and another may go on · fenced: another has the
house · lost: the bus lost its data, or was away for too long · anew: this moderator should claim the house again."""


@dataclass(frozen=True, slots=True)
class Departure:
    """How a term of office ended.

    Attributes:
        how: in one word.
        reason: in one line.
        failed: whether a game of the session failed, or there were not enough agents for one.
    """

    how: How
    reason: str
    failed: bool = False
