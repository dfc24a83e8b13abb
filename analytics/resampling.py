"""The bootstrap of every figure that is a formula over sums: whole blocks are drawn, the sums of a draw are one matrix
product, and the formula is computed anew (metrics: variability).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Final

from analytics.accumulator import Result
from analytics.intervals import (
    ALL_ALIKE,
    DRAWS,
    FEW_BLOCKS,
    FEWEST_BLOCKS,
    SEED,
    UNDEFINED_SHARE,
    percentiles,
)

if TYPE_CHECKING:
    from analytics.columns import Array

_AT_ONCE: Final = 4_000_000
"""Counts turned into floating point at a time: what a product needs stays bounded for any number of blocks."""


class Draws:
    """How often each block comes in each draw; one object serves any number of figures, so they are drawn together.

    A count takes one byte. (It fits: that one of many blocks is drawn 256 times in as many draws as there are blocks
    does not happen, and of few blocks none can be.)

    Args:
        sizes: number of blocks of each stratum, in the order of the blocks; every stratum is drawn with replacement
            in its own size.
        draws: number of draws.
        seed: seed of the draws; the same blocks give the same draws.
        fewest: of the sides that are held against each other, the blocks of the one that rests on fewest; all blocks
            unless given. Below five there are no intervals.

    Attributes:
        blocks: number of blocks.
        draws: number of draws.
    """

    def __init__(self, sizes: Sequence[int], draws: int = DRAWS, seed: int = SEED, fewest: int | None = None) -> None:
        import numpy as np

        self.blocks = sum(sizes)
        self.draws = draws
        self._enough = (self.blocks if fewest is None else fewest) >= FEWEST_BLOCKS
        self._counts = np.empty((draws, self.blocks), np.uint8)
        generator = np.random.default_rng(seed)
        start = 0
        for size in (size for size in sizes if size):
            step = max(1, _AT_ONCE // size)
            for first in range(0, draws, step):
                rows = min(step, draws - first)
                picks = generator.integers(0, size, size=(rows, size), dtype=np.int32).astype(np.int64)
                picks += size * np.arange(rows)[:, None]
                counts = np.bincount(picks.ravel(), minlength=rows * size)
                self._counts[first : first + rows, start : start + size] = counts.reshape(rows, size)
            start += size

    def counts(self) -> Array:
        """Return the counts, draws by blocks."""
        return self._counts

    def sums(self, matrix: Array) -> Array:
        """Return the sums over the blocks of every draw, draws by columns, in float64.

        Args:
            matrix: blocks by columns. Products are computed in its own precision: float32 holds counts up to 16.7
                million exactly.
        """
        return product(self._counts, matrix)

    def interval(self, drawn: Array, held: int | None = None) -> tuple[float | None, float | None, str | None]:
        """Return the percentile interval of a figure, and why there is none.

        Args:
            drawn: the figure in every draw, NaN where it is undefined.
            held: number of blocks with anything in them that the figure is over; all unless given.
        """
        import numpy as np

        missing = undefined(drawn)
        if not self._enough:
            return None, None, FEW_BLOCKS
        if missing > UNDEFINED_SHARE * len(drawn):
            return None, None, f"undefined in {missing} of {len(drawn)} draws"
        if held is not None and held < FEWEST_BLOCKS:
            return None, None, FEW_BLOCKS
        found = percentiles(drawn[~np.isnan(drawn)])
        return (None, None, ALL_ALIKE) if found is None else (*found, None)

    def estimate(self, value: float | None, n: int, drawn: Array, reason: str, held: int | None = None) -> Result:
        """Return an estimate: value, 95 % interval, n, and why either is missing.

        Args:
            value: the pooled estimate; None or NaN if it is undefined.
            n: what it is over.
            drawn: the figure in every draw.
            reason: why the value is undefined if it is.
            held: see `interval`.
        """
        if value is None or isnan(value):
            return {"value": None, "low": None, "high": None, "n": n, "reason": reason}
        low, high, why = self.interval(drawn, held)
        found: Result = {"value": float(value), "low": low, "high": high, "n": n, "reason": None}
        return found if why is None else {**found, "interval_reason": why}


def undefined(drawn: Array) -> int:
    """Return in how many draws a figure is undefined."""
    import numpy as np

    return int(np.isnan(drawn).sum())


def product(counts: Array, matrix: Array) -> Array:
    """Return ``counts @ matrix`` in float64, computed in the matrix's own precision, some rows at a time."""
    import numpy as np

    rows, blocks = counts.shape
    found = np.empty((rows, matrix.shape[1]), np.float64)
    step = max(1, _AT_ONCE // max(1, blocks))
    for first in range(0, rows, step):
        found[first : first + step] = counts[first : first + step].astype(matrix.dtype) @ matrix
    return found


def ratio(numerator: Array, denominator: Array) -> Array:
    """Return quotients, NaN where the denominator is 0."""
    import numpy as np

    above, below = np.broadcast_arrays(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64))
    found: Array = np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
    return found
