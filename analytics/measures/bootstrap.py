"""The one bootstrap: whole blocks are drawn, the sums of a draw are one matrix product, and the
formula is computed anew (metrics: variability). And of penalised fits, whose figures are sums of parameters.

Plain percentiles of few blocks are too narrow twice over: a draw of n blocks has the spread of a
sample divided by n and not by n - 1, and nobody knows the spread itself. So the quantiles are those
that a Student interval would take, at Φ(∓√(n / (n - 1)) · t(0.975, n - 1)): 0.1 % and 99.9 % for
five blocks, 1.6 % and 98.4 % for twenty, 2.5 % and 97.5 % in the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from analytics import Result

if TYPE_CHECKING:
    from analytics.measures.columns import Array

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


def mean_interval(mean: float, sem: float | None, n: int) -> tuple[float | None, float | None]:
    """Return the 95 % interval, by Student's t, of a mean over n games with this standard error; None
    without one, and below five games.
    """
    from scipy.special import stdtrit

    if sem is None or n < FEWEST_BLOCKS:
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

        sums = np.empty((self.draws, matrix.shape[1]), np.float64)
        step = max(1, _AT_ONCE // max(1, self.blocks))
        for first in range(0, self.draws, step):
            part = self.counts[first : first + step].astype(matrix.dtype)
            sums[first : first + step] = part @ matrix
        return sums

    def interval(self, drawn: Array, nonempty: int | None = None) -> Interval:
        """Return the interval of a figure, or why there is none; see `tail_of` for its quantiles.

        Args:
            drawn: the figure in every draw, NaN where it is undefined.
            nonempty: number of blocks with anything in them that the figure is over; all unless given.
        """
        import numpy as np

        missing = undefined(drawn)
        if self.fewest < FEWEST_BLOCKS:
            return Interval(None, None, FEW_BLOCKS)
        if missing > UNDEFINED_SHARE * len(drawn):
            return Interval(None, None, f"undefined in {missing} of {len(drawn)} draws")
        if nonempty is not None and nonempty < FEWEST_BLOCKS:
            return Interval(None, None, FEW_BLOCKS)
        defined = drawn[~np.isnan(drawn)]
        if not len(defined) or float(np.ptp(defined)) <= _ALIKE:
            return Interval(None, None, ALL_ALIKE)
        tail = tail_of(self.fewest if nonempty is None else min(nonempty, self.fewest))
        low, high = np.quantile(defined, [tail, 1 - tail])
        return Interval(float(low), float(high), None)


def draws_of(blocks: int) -> Draws:
    """Return the draws of so many blocks: the same for every figure, wherever it is printed."""
    return _draws(blocks, DRAWS)


@lru_cache(maxsize=4)
def _draws(blocks: int, draws: int) -> Draws:
    return Draws([blocks], draws)


def estimate(value: float | None, n: int, interval: Interval | None, reason: str) -> Result:
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
    result: Result = {"value": float(value), "low": low, "high": high, "n": n, "reason": None}
    return result if why is None else {**result, "interval_reason": why}


def by_block(block: Array, blocks: int, *weights: Array) -> Array:
    """Return sums of rows by block and weight.

    Args:
        block: of each row.
        blocks: their number.
        weights: what is summed, by row.
    """
    import numpy as np

    return np.stack([np.bincount(block, weight, blocks) for weight in weights], axis=1)


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


def block_estimate(sums: Array, figure: Callable[[Array], Array], n: Array, reason: str) -> Result:
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
        return estimate(None, count, None, reason)
    draws = draws_of(len(sums))
    interval = draws.interval(figure(draws.sums(sums)), int((n > 0).sum())) if len(sums) >= FEWEST_BLOCKS else None
    return estimate(value, count, interval, reason)


def undefined(drawn: Array) -> int:
    """Return in how many draws a figure is undefined."""
    import numpy as np

    return int(np.isnan(drawn).sum())


def game_interval(values: Sequence[float], statistic: Literal["mean", "median"]) -> Interval:
    """Return the interval of a statistic of one value a game, games being resampled.

    The values are sorted first: they are exchangeable, and so the order in which games came leaves
    no trace.
    """
    n = len(values)
    if n < FEWEST_BLOCKS:
        return Interval(None, None, FEW_BLOCKS)
    import numpy as np

    ordered, draws = np.sort(np.asarray(values, np.float64)), draws_of(n)
    if statistic == "mean":
        return draws.interval(draws.sums(ordered[:, None])[:, 0] / n)
    cumulated = np.cumsum(draws.counts, axis=1, dtype=np.int32)
    middle = [ordered[(cumulated > rank).argmax(axis=1)] for rank in ((n - 1) // 2, n // 2)]
    return draws.interval((middle[0] + middle[1]) / 2)


# -- of penalised fits

MANY_BLOCKS: Final = 5_000
FEWER_DRAWS: Final = 400
"""Draws above `MANY_BLOCKS` blocks: with so many the intervals are narrow, and what fewer draws
cost of their precision is a small part of that.
"""


def draw_count(blocks: int) -> int:
    """Return how many draws are made of so many blocks."""
    return FEWER_DRAWS if blocks > MANY_BLOCKS else DRAWS


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """Linear figures of a fit.

    Attributes:
        values: of each.
        nonempty: number of blocks that tell of each.
        effects: what each block adds to each figure, by block and figure, but for the prior.
        low: lower ends of the intervals; None below five blocks.
        high: upper ends.
    """

    values: Array
    nonempty: Array
    effects: Array
    low: Array | None
    high: Array | None

    def estimate(self, index: int, n: int) -> Result:
        """Return one of them as an estimate, over n of something."""
        interval = None
        if self.low is not None and self.high is not None:
            interval = Interval(float(self.low[index]), float(self.high[index]), None)
        return estimate(float(self.values[index]), n, interval, "")


@dataclass(frozen=True, slots=True, eq=False)
class PenalisedFit:
    """The most probable parameters of a model whose parameters are normal around 0 beforehand.

    Attributes:
        parameters: of the model.
        covariance: inverse of information plus prior precision: what the model thinks of their
            uncertainty.
        by_block: each block's part of the likelihood's gradient there.
    """

    parameters: Array
    covariance: Array
    by_block: Array


_CONSTRAINT: Final = 1e6
"""Precision of the rule that weighted effects add up to 0."""


def sum_to_zero(precision: Array, start: int, weight: Array) -> None:
    """Make parameters from a place on add up to 0, weighted, by the precision of what is known beforehand."""
    import numpy as np

    members = start + np.flatnonzero(weight > 0)
    if len(members):
        scaled = weight[weight > 0] / weight[weight > 0].mean()
        precision[np.ix_(members, members)] += _CONSTRAINT * np.outer(scaled, scaled)


def linear_figures(fit: PenalisedFit, weights: Array, prior_sd: float, *, draws: int | None = None) -> Figures:
    """Return figures that are sums of parameters, with 95 % intervals.

    Each draw resamples the blocks of games and steps from the fit to where the resampled likelihood would have its top,
    at the fit's own curvature; so it costs a product of matrices and not a fit. Two things keep the intervals honest:

    - Shrinkage. Resampling a penalised estimate shows its scatter, not how far the prior pulls it; for an agent with
      little data, quantiles would be much too narrow, and empty without data. So the prior's centre is drawn anew, too,
      from the prior (a randomised maximum a posteriori estimate). Without correlation within games the draws then have
      the spread of the posterior; with it they have that of the sandwich estimator clustered by game.
    - Few games. An agent that was there in a handful of games has too few blocks to show its scatter: no interval is
      narrower than the model itself would have it, and its quantiles are those of as many blocks as it was there in.

    Args:
        fit: of a model.
        weights: of the parameters, by figure.
        prior_sd: standard deviation of every parameter beforehand.
        draws: number of draws; `draw_count` of the blocks unless given.
    """
    import numpy as np

    values = weights @ fit.parameters
    tells = fit.by_block != 0
    nonempty = np.array([int((tells & (row != 0)).any(axis=1).sum()) for row in weights])
    blocks = len(fit.by_block)
    effects = fit.by_block @ fit.covariance @ weights.T
    if blocks < FEWEST_BLOCKS:
        return Figures(values, nonempty, effects, None, None)
    draws = draw_count(blocks) if draws is None else draws
    # the mean gradient does not move under resampling
    moved = _draws(blocks, draws).sums(effects - effects.mean(axis=0))
    centre = np.random.default_rng([SEED, 1]).normal(0.0, 1 / prior_sd, (draws, len(fit.parameters)))
    steps = moved + centre @ fit.covariance @ weights.T
    modelled = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", weights, fit.covariance, weights), 0.0))
    seen = steps.std(axis=0)
    steps *= np.where(seen > 0, np.maximum(1.0, modelled / np.where(seen > 0, seen, 1.0)), 1.0)
    ends = np.empty((2, len(values)))
    for index, count in enumerate(nonempty.tolist()):
        tail = tail_of(max(count, FEWEST_BLOCKS))
        ends[:, index] = values[index] + np.quantile(steps[:, index], [tail, 1 - tail])
    return Figures(values, nonempty, effects, ends[0], ends[1])
