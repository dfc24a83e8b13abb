"""What all accumulators share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from analytics.rows import GameRows

Result: TypeAlias = dict[str, Any]
"""Plain values that JSON takes as they stand; keys are strings, undefined is None, never NaN."""


class Accumulator(Protocol):
    """Takes games one by one and keeps what its figures need, not the games.

    Adding games in another order, or adding them to several accumulators that are merged afterwards, gives
    equal results. Beside `add`, each has ``merge(other)`` for its own type and one or more methods that
    return a `Result`.
    """

    def add(self, game: GameRows) -> None:
        """Take in one game."""


A = TypeVar("A", bound=Accumulator)


def over(accumulator: A, games: Iterable[GameRows]) -> A:
    """Return `accumulator` with all `games` added."""
    for game in games:
        accumulator.add(game)
    return accumulator
