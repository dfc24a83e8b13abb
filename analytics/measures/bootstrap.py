"""The one bootstrap: whole blocks are drawn, the sums of a draw are one matrix product, and the
formula is computed anew (metrics: variability). And Wilson's interval for rates of games.

Plain percentiles of few blocks are too narrow twice over: a draw of n blocks has the spread of a
sample divided by n and not by n - 1, and nobody knows the spread itself. So the quantiles are those
that a Student interval would take, at Φ(∓√(n / (n - 1)) · t(0.975, n - 1)): 0.1 % and 99.9 % for
five blocks, 1.6 % and 98.4 % for twenty, 2.5 % and 97.5 % in the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from analytics import Result

if TYPE_CHECKING:
    from analytics.columns import Array

LEVEL: Final = 0.95
"""Coverage of every interval (paper, section 5.9)."""
DRAWS: Final = 2_000
"""Bootstrap draws (paper 5.9 gives none; metrics are defined with this many)."""
SEED: Final = 20_250_810
"""Seed of every bootstrap: the same games give the same interval."""
FEWEST_BLOCKS: Final = 5
"""Blocks below which there is no bootstrap interval: so few have too few different draws."""
FEW_BLOCKS: Final = f"fewer than {FEWEST_BLOCKS} games (blocks) to resample"
ALL_ALIKE: Final = "every draw gives the same"
UNDEFINED_SHARE: Final = 0.05
"""Share of undefined draws, or rearrangements, above which there is no interval, or p-value."""

_ALIKE: Final = 1e-12
"""Draws that differ by less are equal: sums of equal numbers may differ in the last bits."""
_AT_ONCE: Final = 4_000_000
"""Counts turned into floating point at a time: what a product needs stays bounded for any number of
blocks.
"""


Leaf: TypeAlias = "list[float] | None"
"""A 95 % interval, [low, high], or None where there is none."""


class Interval(NamedTuple):
    """A 95 % interval, or why there is none."""

    low: float | None
    high: float | None
    reason: str | None

    @property
    def leaf(self) -> Leaf:
        """Its ends, or None."""
        return None if self.low is None or self.high is None else [self.low, self.high]


def around_mean(mean: float, sem: float | None, n: int) -> tuple[float | None, float | None]:
    """Return the 95 % interval, by Student's t, of a mean over n games with this standard error; None
    without one.
    """
    from scipy.special import stdtrit

    if sem is None:
        return None, None
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * sem
    return mean - half, mean + half


@lru_cache
def tail_of(blocks: int) -> float:
    """Return the share of draws that a 95 % interval leaves out at each end: Φ(-√(n / (n - 1)) ·
    t(0.975, n - 1)) for n blocks, at least two.
    """
    from scipy.special import stdtrit

    n = max(2, blocks)
    return NormalDist().cdf(-math.sqrt(n / (n - 1)) * float(stdtrit(n - 1, (1 + LEVEL) / 2)))


def wilson(k: float, n: float) -> tuple[float, float] | None:
    """Return Wilson's 95 % score interval for a share of k in n, None for n = 0.

    Unlike the normal approximation it stays inside [0, 1] and is not empty at k = 0 or k = n. An
    effective n need not be whole.
    """
    if not n:
        return None
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    share = k / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(max(0.0, share * (1 - share) / n + z * z / (4 * n * n)))
    scale = 1 + z * z / n
    low = 0.0 if k == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if k == n else min(1.0, (centre + half) / scale)
    return low, high


def rate_of_games(k: Array, n: Array, most: float) -> Interval:
    """Return the interval of a rate of games: Wilson's, on the effective number of games.

    That is the number of games, divided by the design effect (the variance of the rate over blocks
    against that of independent games; never taken for less than 1, nor for more than the blocks
    allow), and corrected for how few blocks that is known from (Korn and Graubard 1998). Where
    every game is its own block it is Wilson's interval as it stands.

    Args:
        k: what counts, by block.
        n: of how many, by block.
        most: how many independent games there can be: their number, or fewer where several seats of
            one game count.
    """
    from scipy.special import stdtrit

    held = n > 0
    k, n, blocks = k[held], n[held], int(held.sum())
    total = float(n.sum())
    if not total:
        return Interval(None, None, "there are none")
    share = float(k.sum()) / total
    effective = min(most, total)
    if 1 < blocks < most:
        spread = float(((k - share * n) ** 2).sum()) * blocks / (blocks - 1) / total**2
        simple = share * (1 - share) / max(1.0, effective - 1)
        if spread > simple > 0:
            effective = max(effective * simple / spread, min(effective, blocks - 1))
        z = NormalDist().inv_cdf((1 + LEVEL) / 2)
        effective *= (z / float(stdtrit(blocks - 1, (1 + LEVEL) / 2))) ** 2
    elif blocks == 1 < most:
        return Interval(None, None, FEW_BLOCKS)
    low, high = wilson(share * effective, effective) or (None, None)
    return Interval(low, high, None)


class Draws:
    """How often each block comes in each draw; one object serves any number of figures, so they are
    drawn together.

    A count takes one byte. (It fits: that one of many blocks is drawn 256 times in as many draws as
    there are blocks does not happen, and of few blocks none can be.)

    Args:
        sizes: number of blocks of each stratum, in the order of the blocks; every stratum is drawn with replacement in
            its own size.
        draws: number of draws; the same blocks give the same draws.
        fewest: of the sides that are held against each other, the blocks of the one that rests on
            fewest; all blocks unless given. Below five there are no intervals.

    Attributes:
        blocks: number of blocks.
        draws: number of draws.
        fewest: as given, or all blocks.
        counts: how often each block comes in each draw, draws by blocks.
    """

    def __init__(self, sizes: Sequence[int], draws: int = DRAWS, fewest: int | None = None) -> None:
        import numpy as np

        self.blocks = sum(sizes)
        self.draws = draws
        self.fewest = self.blocks if fewest is None else fewest
        self.counts = np.empty((draws, self.blocks), np.uint8)
        generator = np.random.default_rng(SEED)
        start = 0
        for size in (size for size in sizes if size):
            step = max(1, _AT_ONCE // size)
            for first in range(0, draws, step):
                rows = min(step, draws - first)
                picks = generator.integers(0, size, size=(rows, size), dtype=np.int32).astype(np.int64)
                picks += size * np.arange(rows)[:, None]
                counts = np.bincount(picks.ravel(), minlength=rows * size)
                self.counts[first : first + rows, start : start + size] = counts.reshape(rows, size)
            start += size

    def sums(self, matrix: Array) -> Array:
        """Return the sums over the blocks of every draw, draws by columns, in float64.

        Args:
            matrix: blocks by columns. Products are computed in its own precision: float32 holds counts up to 16.7
                million exactly.
        """
        import numpy as np

        found = np.empty((self.draws, matrix.shape[1]), np.float64)
        step = max(1, _AT_ONCE // max(1, self.blocks))
        for first in range(0, self.draws, step):
            some = self.counts[first : first + step].astype(matrix.dtype)
            found[first : first + step] = some @ matrix
        return found

    def interval(self, drawn: Array, held: int | None = None) -> Interval:
        """Return the interval of a figure, or why there is none; see `tail_of` for its quantiles.

        Args:
            drawn: the figure in every draw, NaN where it is undefined.
            held: number of blocks with anything in them that the figure is over; all unless given.
        """
        import numpy as np

        missing = undefined(drawn)
        if self.fewest < FEWEST_BLOCKS:
            return Interval(None, None, FEW_BLOCKS)
        if missing > UNDEFINED_SHARE * len(drawn):
            return Interval(None, None, f"undefined in {missing} of {len(drawn)} draws")
        if held is not None and held < FEWEST_BLOCKS:
            return Interval(None, None, FEW_BLOCKS)
        known = drawn[~np.isnan(drawn)]
        if not len(known) or float(np.ptp(known)) <= _ALIKE:
            return Interval(None, None, ALL_ALIKE)
        tail = tail_of(self.fewest if held is None else min(held, self.fewest))
        low, high = np.quantile(known, [tail, 1 - tail])
        return Interval(float(low), float(high), None)


def draws_of(blocks: int) -> Draws:
    """Return the draws of so many blocks: the same for every figure, wherever it is printed."""
    return _draws(blocks, DRAWS)


@lru_cache(maxsize=4)
def _draws(blocks: int, draws: int) -> Draws:
    return Draws([blocks], draws)


def told(value: float | None, n: int, interval: Interval | None, reason: str) -> Result:
    """Return an estimate as plain values: value, 95 % interval, n, and why either is missing.

    Args:
        value: the pooled estimate; None or NaN if it is undefined.
        n: what it is over.
        interval: around it; None if nobody asked for it for want of blocks.
        reason: why the value is undefined if it is.
    """
    if value is None or math.isnan(value):
        return {"value": None, "low": None, "high": None, "n": n, "reason": reason}
    low, high, why = interval or Interval(None, None, FEW_BLOCKS)
    found: Result = {"value": float(value), "low": low, "high": high, "n": n, "reason": None}
    return found if why is None else {**found, "interval_reason": why}


def by_block(block: Array, blocks: int, *weights: Array) -> Array:
    """Return sums of rows by block and weight.

    Args:
        block: of each row.
        blocks: their number.
        weights: what is summed, by row.
    """
    import numpy as np

    return np.stack([np.bincount(block, each, blocks) for each in weights], axis=1)


def by_cell(block: Array, blocks: int, cell: Array, width: int, weights: Array | None = None) -> Array:
    """Return sums of rows by block and cell; rows are counted unless there are weights.

    Args:
        block: of each row.
        blocks: their number.
        cell: of each row.
        width: number of cells.
        weights: what is summed, by row.
    """
    import numpy as np

    return np.bincount(block.astype(np.int64) * width + cell, weights, blocks * width).reshape(blocks, width)


def of_blocks(sums: Array, figure: Callable[[Array], Array], n: Array, reason: str) -> Result:
    """Return a figure of sums as an estimate.

    Args:
        sums: by block and column.
        figure: of sums, their columns on the last axis; NaN where it is undefined.
        n: by block, what it is over.
        reason: why it is undefined if it is.
    """
    value = float(figure(sums.sum(axis=0)))
    count = round(float(n.sum()))
    if math.isnan(value) or not len(sums):
        return told(None, count, None, reason)
    draws = draws_of(len(sums))
    interval = draws.interval(figure(draws.sums(sums)), int((n > 0).sum())) if len(sums) >= FEWEST_BLOCKS else None
    return told(value, count, interval, reason)


def undefined(drawn: Array) -> int:
    """Return in how many draws a figure is undefined."""
    import numpy as np

    return int(np.isnan(drawn).sum())


def of_games(values: Sequence[float], statistic: Literal["mean", "median"]) -> Interval:
    """Return the interval of a statistic of one value a game, games being resampled.

    The values are sorted first: they are exchangeable, and so the order in which games came leaves
    no trace.
    """
    n = len(values)
    if n < FEWEST_BLOCKS:
        return Interval(None, None, FEW_BLOCKS)
    import numpy as np

    held, draws = np.sort(np.asarray(values, np.float64)), draws_of(n)
    if statistic == "mean":
        return draws.interval(draws.sums(held[:, None])[:, 0] / n)
    reached = np.cumsum(draws.counts, axis=1, dtype=np.int32)
    middle = [held[(reached > at).argmax(axis=1)] for at in ((n - 1) // 2, n // 2)]
    return draws.interval((middle[0] + middle[1]) / 2)
