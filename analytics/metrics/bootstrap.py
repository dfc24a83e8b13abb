"""The one bootstrap: whole blocks are drawn, the sums of a draw are one matrix product, and the formula is computed
anew (metrics: variability). And of penalised fits, whose figures are sums of parameters.

Plain percentiles of few blocks are too narrow twice over: a draw of n blocks has the spread of a sample divided by n
and not by n - 1, and nobody knows the spread itself. So the quantiles are those that a Student interval would take, at
Φ(∓√(n / (n - 1)) · t(0.975, n - 1)): 0.1 % and 99.9 % for five blocks, 1.6 % and 98.4 % for twenty, 2.5 % and 97.5 % in
the end.

Rates of games have Wilson's interval instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from analytics.metrics.formulas import Array

LEVEL: Final = 0.95
"""Coverage of every interval (paper, section 5.9)."""
DRAWS: Final = 2_000
"""Bootstrap draws (paper 5.9 gives none; metrics are defined with this many)."""
SEED: Final = 20_250_810
"""Seed of every bootstrap: the same games give the same interval."""
FEWEST_BLOCKS: Final = 5
"""Blocks below which there is no bootstrap interval: so few have too few different draws."""
TELLING: Final = 8
"""Blocks of games below which nothing is called better than anything else: signs of fewer can be
flipped too few ways.
"""
LARGER: Final = 0.28
"""Of the larger of a spread and of its estimate from n blocks, which scatters by 1/√(2n) of it: this over √n is by how
much of it the larger is too large on average, 1/√(2n) times 1/√(2π).
"""
FEW_BLOCKS: Final = f"fewer than {FEWEST_BLOCKS} games (blocks) in which it occurs"
ALL_ALIKE: Final = "every draw gives the same"
UNDEFINED_SHARE: Final = 0.05
"""Share of undefined draws, or rearrangements, above which there is no interval, or p-value."""

_ALIKE: Final = 1e-12
"""Draws that differ by less are equal: sums of equal numbers may differ in the last bits."""
_AT_ONCE: Final = 4_000_000
"""Counts turned into floating point at a time: what a product needs stays bounded for any number of blocks."""


class Interval(NamedTuple):
    """A 95 % interval, or why there is none."""

    low: float | None
    high: float | None
    reason: str | None


NONE: Final = Interval(None, None, None)
"""Of what has no interval by its nature."""


@lru_cache
def tail_of(blocks: int) -> float:
    """Return the share of draws that a 95 % interval leaves out at each end: Φ(-√(n / (n - 1)) · t(0.975, n - 1)) for n
    blocks, at least two.
    """
    n = max(2, blocks)
    return float(ndtr(-math.sqrt(n / (n - 1)) * stdtrit(n - 1, (1 + LEVEL) / 2)))


class Draws:
    """How often each block comes in each draw; one object serves any number of figures, so they are drawn together.

    A count takes one byte. (It fits: that one of many blocks is drawn 256 times in as many draws as there are blocks
    does not happen, and of few blocks none can be.)

    Args:
        sizes: number of blocks of each stratum, in the order of the blocks; every stratum is drawn with replacement in
            its own size.
        draws: number of draws; the same blocks give the same draws.
        fewest: of the sides that are held against each other, the blocks of the one that rests on fewest; all blocks
            unless given. Below five there are no intervals.

    Attributes:
        blocks: number of blocks.
        draws: number of draws.
        fewest: as given, or all blocks.
        counts: how often each block comes in each draw, draws by blocks.
    """

    def __init__(self, sizes: Sequence[int], draws: int = DRAWS, fewest: int | None = None) -> None:
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
        sums = np.empty((self.draws, matrix.shape[1]), np.float64)
        step = max(1, _AT_ONCE // max(1, self.blocks))
        for first in range(0, self.draws, step):
            part = self.counts[first : first + step].astype(matrix.dtype)
            sums[first : first + step] = part @ matrix
        return sums

    def intervals(self, drawn: Array, nonempty: Array) -> list[Interval]:
        """Return the intervals of some figures; see `tail_of` for their quantiles.

        Args:
            drawn: draws by figures, NaN where one is undefined.
            nonempty: by figure, the number of blocks with anything in them that it is over.
        """
        ordered = np.sort(drawn, axis=0)
        defined = (~np.isnan(ordered)).sum(axis=0)
        return [
            self._interval(ordered[:, place], int(defined[place]), int(nonempty[place]))
            for place in range(drawn.shape[1])
        ]

    def interval(self, drawn: Array, nonempty: int | None = None) -> Interval:
        """Return the interval of one figure; over all blocks unless told how many have anything in them."""
        blocks = self.blocks if nonempty is None else nonempty
        return self.intervals(drawn[:, None], np.array([blocks]))[0]

    def _interval(self, ordered: Array, defined: int, nonempty: int) -> Interval:
        if self.fewest < FEWEST_BLOCKS:
            return Interval(None, None, FEW_BLOCKS)
        if len(ordered) - defined > UNDEFINED_SHARE * len(ordered):
            return Interval(None, None, f"undefined in {len(ordered) - defined} of {len(ordered)} draws")
        if nonempty < FEWEST_BLOCKS:
            return Interval(None, None, FEW_BLOCKS)
        if float(ordered[defined - 1] - ordered[0]) <= _ALIKE:
            return Interval(None, None, ALL_ALIKE)
        tail = tail_of(min(nonempty, self.fewest))
        return Interval(_quantile(ordered, defined, tail), _quantile(ordered, defined, 1 - tail), None)


def _quantile(ordered: Array, count: int, q: float) -> float:
    """Return a quantile of the first values of an ascending array, by linear interpolation."""
    place = q * (count - 1)
    below = int(place)
    value = float(ordered[below])
    return value + (place - below) * (float(ordered[min(below + 1, count - 1)]) - value)


def draws_of(blocks: int, draws: int | None = None) -> Draws:
    """Return the draws of so many blocks: the same for every figure, wherever it is printed."""
    return _draws(blocks, DRAWS if draws is None else draws)


@lru_cache(maxsize=4)
def _draws(blocks: int, draws: int) -> Draws:
    return Draws([blocks], draws)


# -- of games


def mean_interval(mean: float, sem: float | None, n: int, fewest: int = FEWEST_BLOCKS) -> Interval:
    """Return the 95 % interval, by Student's t, of a mean over n games with this standard error; none below the fewest,
    and none where all games are alike.
    """
    if n < fewest or sem is None:
        return Interval(None, None, FEW_BLOCKS)
    if sem <= _ALIKE:
        return Interval(None, None, ALL_ALIKE)
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * sem
    return Interval(mean - half, mean + half, None)


def game_interval(values: Sequence[float], statistic: Literal["mean", "median"]) -> Interval:
    """Return the interval of a statistic of one value a game, games being resampled.

    The values are sorted first: they are exchangeable, and so the order in which games came leaves no trace.
    """
    n = len(values)
    if n < FEWEST_BLOCKS:
        return Interval(None, None, FEW_BLOCKS)
    ordered, draws = np.sort(np.asarray(values, np.float64)), draws_of(n)
    if statistic == "mean":
        return draws.interval(draws.sums(ordered[:, None])[:, 0] / n)
    cumulated = np.cumsum(draws.counts, axis=1, dtype=np.int32)
    middle = [ordered[(cumulated > rank).argmax(axis=1)] for rank in ((n - 1) // 2, n // 2)]
    return draws.interval((middle[0] + middle[1]) / 2)


def wilson(k: float, n: float) -> tuple[float, float] | None:
    """Return Wilson's 95 % score interval for a share of k in n, None for n = 0.

    Unlike the normal approximation it stays inside [0, 1] and is not empty at k = 0 or k = n. An effective n need not
    be whole.
    """
    if not n:
        return None
    z = float(ndtri((1 + LEVEL) / 2))
    share = k / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(max(0.0, share * (1 - share) / n + z * z / (4 * n * n)))
    scale = 1 + z * z / n
    low = 0.0 if k == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if k == n else min(1.0, (centre + half) / scale)
    return low, high


def rate_of_games(k: Array, n: Array, limit: float) -> Interval:
    """Return the interval of a rate of games: Wilson's, on the effective number of games.

    That is the number of games, divided by the design effect (the variance of the rate over blocks against that of
    independent games; never taken for less than 1, nor for more than the blocks allow), and corrected for how few
    blocks that is known from (Korn and Graubard 1998). Where all came out alike nothing tells how far games of a block
    go together, and it is the number of blocks. Where every game is its own block it is Wilson's interval as it stands.

    Args:
        k: what counts, by block.
        n: of how many, by block.
        limit: how many independent games there can be: their number, or fewer where several seats of one game count.
    """
    nonempty = n > 0
    k, n, blocks = k[nonempty], n[nonempty], int(nonempty.sum())
    games = float(n.sum())
    if not games:
        return Interval(None, None, "there are none")
    share = float(k.sum()) / games
    effective = min(limit, games)
    if 1 < blocks < limit and share in {0, 1}:
        effective = min(effective, blocks)
    elif 1 < blocks < limit:
        spread = float(((k - share * n) ** 2).sum()) * blocks / (blocks - 1) / games**2
        simple = share * (1 - share) / max(1.0, effective - 1)
        if spread > simple > 0:
            effective = max(effective * simple / spread, min(effective, blocks - 1))
        effective *= float(ndtri((1 + LEVEL) / 2) / stdtrit(blocks - 1, (1 + LEVEL) / 2)) ** 2
    elif blocks == 1 < limit:
        return Interval(None, None, FEW_BLOCKS)
    low, high = wilson(share * effective, effective) or (None, None)
    return Interval(low, high, None)


# -- of penalised fits

MANY_BLOCKS: Final = 5_000
FEWER_DRAWS: Final = 400
"""Draws above `MANY_BLOCKS` blocks: with so many the intervals are narrow, and what fewer draws cost of their precision
is a small part of that.
"""


def draw_count(blocks: int) -> int:
    """Return how many draws of a fit are made of so many blocks."""
    return FEWER_DRAWS if blocks > MANY_BLOCKS else DRAWS


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """Linear figures of a fit.

    Attributes:
        values: of each.
        intervals: of each.
        nonempty: number of blocks that tell of each.
        effects: what each block adds to each figure, by block and figure, but for the prior.
    """

    values: Array
    intervals: list[Interval]
    nonempty: Array
    effects: Array


@dataclass(frozen=True, slots=True, eq=False)
class PenalisedFit:
    """The most probable parameters of a model whose parameters are normal around 0 beforehand.

    Attributes:
        parameters: of the model.
        covariance: inverse of information plus prior precision: what the model thinks of their uncertainty.
        by_block: each block's part of the likelihood's gradient there.
    """

    parameters: Array
    covariance: Array
    by_block: Array


_CONSTRAINT: Final = 1e6
"""Precision of the rule that weighted effects add up to 0."""


def sum_to_zero(precision: Array, start: int, weight: Array) -> None:
    """Make parameters from a place on add up to 0, weighted, by the precision of what is known beforehand."""
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
    - Little to show. An agent that was there in a handful of games, or flags hardly ever, has too few blocks that show
      its scatter. So no interval is narrower than the model's own, less what the larger of two such estimates is too
      large by (`LARGER`); and its quantiles are those of as many blocks as it was there in.

    Args:
        fit: of a model.
        weights: of the parameters, by figure.
        prior_sd: standard deviation of every parameter beforehand.
        draws: number of draws; `draw_count` of the blocks unless given.
    """
    values = weights @ fit.parameters
    tells = fit.by_block != 0
    nonempty = np.array([int((tells & (row != 0)).any(axis=1).sum()) for row in weights])
    blocks = len(fit.by_block)
    effects = fit.by_block @ fit.covariance @ weights.T
    if blocks < FEWEST_BLOCKS:
        return Figures(values, [Interval(None, None, FEW_BLOCKS)] * len(values), nonempty, effects)
    draws = draw_count(blocks) if draws is None else draws
    # the mean gradient does not move under resampling
    moved = draws_of(blocks, draws).sums(effects - effects.mean(axis=0))
    centre = np.random.default_rng([SEED, 1]).normal(0.0, 1 / prior_sd, (draws, len(fit.parameters)))
    steps = moved + centre @ fit.covariance @ weights.T
    modelled = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", weights, fit.covariance, weights), 0.0))
    block_counts = np.maximum(nonempty, FEWEST_BLOCKS)
    half_widths = float(ndtri((1 + LEVEL) / 2)) * modelled * (1 - LARGER / np.sqrt(block_counts))
    intervals = []
    for index, count in enumerate(block_counts.tolist()):
        tail = tail_of(count)
        low, high = np.quantile(steps[:, index], [tail, 1 - tail])
        ends = values[index] + min(low, -half_widths[index]), values[index] + max(high, half_widths[index])
        intervals.append(Interval(float(ends[0]), float(ends[1]), None))
    return Figures(values, intervals, nonempty, effects)
