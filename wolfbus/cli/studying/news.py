"""What those who play a study's games tell whoever runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from wolfbus.study.result import GameResult

KEPT_S: Final = 600.0
"""Seconds for which the record of a game that is over stays on a Redis once it is in a file."""


@dataclass(frozen=True, slots=True)
class Done:
    """A game is through: here is its result."""

    result: GameResult


@dataclass(frozen=True, slots=True)
class Halt:
    """No more games can be played.

    Attributes:
        why: one line.
        budget: whether the budget ends here.
    """

    why: str
    budget: bool = False


StudyNews = Done | Halt
