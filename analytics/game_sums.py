"""`GameSums`: ratios of sums over games, with block-bootstrap intervals, for accumulators that keep one row a game."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from analytics.accumulator import Result
from analytics.intervals import FEW_BLOCKS, FEWEST_BLOCKS
from analytics.sums import ratio

if TYPE_CHECKING:
    from analytics.columns import Array
    from analytics.resampling import Draws


class GameSums:
    """Rows of sums, one a game; whole blocks of games are resampled, all sums together.

    Blocks are drawn in the order of their names, as in `analytics.headlines`: of the same games both make the same
    draws, if every game has a row, be it of zeros. numpy is loaded only where there are blocks enough.

    Args:
        rows: name of the block and sums of each game, in any order: summing exactly leaves no trace of it.
        width: numbers in a row.
    """

    def __init__(self, rows: Iterable[tuple[str, Sequence[float]]], width: int) -> None:
        blocks: defaultdict[str, list[Sequence[float]]] = defaultdict(list)
        for block, row in rows:
            blocks[block].append(row)
        held = [blocks[name] for name in sorted(blocks)]
        self._blocks = [tuple(math.fsum(row[place] for row in games) for place in range(width)) for games in held]
        self._total = [math.fsum(row[place] for games in held for row in games) for place in range(width)]

    def share(self, above: int, below: int) -> float | None:
        """Return the quotient of two columns' sums, None where the denominator is 0."""
        return ratio(self._total[above], self._total[below])

    def count(self, which: int) -> int:
        """Return the sum of a column of whole numbers."""
        return round(self._total[which])

    def rate(self, above: int, below: int, reason: str) -> Result:
        """Return a quotient of two columns as an estimate; `reason` says why it is undefined if it is."""
        value = self.share(above, below)
        if value is None or len(self._blocks) < FEWEST_BLOCKS:
            return _alone(value, self.count(below), reason)
        ratios = self._ratios(above, below)
        return self._draws.estimate(value, self.count(below), ratios, reason, self._held(below))

    def difference(self, one: tuple[int, int], other: tuple[int, int], reason: str) -> Result:
        """Return the quotient of the columns `one` minus that of `other` as an estimate."""
        shares = self.share(*one), self.share(*other)
        value = None if shares[0] is None or shares[1] is None else shares[0] - shares[1]
        n = self.count(one[1]) + self.count(other[1])
        if value is None or len(self._blocks) < FEWEST_BLOCKS:
            return _alone(value, n, reason)
        held = min(self._held(one[1]), self._held(other[1]))
        return self._draws.estimate(value, n, self._ratios(*one) - self._ratios(*other), reason, held)

    def _held(self, below: int) -> int:
        return sum(row[below] != 0 for row in self._blocks)

    def _ratios(self, above: int, below: int) -> Array:
        from analytics.resampling import ratio as ratios

        return ratios(self._drawn[:, above], self._drawn[:, below])

    @cached_property
    def _draws(self) -> Draws:
        from analytics.resampling import Draws

        return Draws([len(self._blocks)])

    @cached_property
    def _drawn(self) -> Array:
        import numpy as np

        return self._draws.sums(np.array(self._blocks, np.float64))


def _alone(value: float | None, n: int, reason: str) -> Result:
    found: Result = {"value": value, "low": None, "high": None, "n": n, "reason": reason if value is None else None}
    return found if value is None else {**found, "interval_reason": FEW_BLOCKS}
