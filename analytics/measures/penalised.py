"""What a penalised fit tells: figures that are sums of its parameters, with intervals from a bootstrap of blocks.

Each draw resamples the blocks of games and steps from the fit to where the resampled likelihood would have its top, at
the fit's own curvature; so it costs a product of matrices and not a fit. Two things keep the intervals honest:

- Shrinkage. Resampling a penalised estimate shows its scatter, not how far the prior pulls it; for an agent with little
  data, quantiles would be much too narrow, and empty without data. So the prior's centre is drawn anew, too, from the
  prior (a randomised maximum a posteriori estimate). Without correlation within games the draws then have the spread of
  the posterior; with it they have that of the sandwich estimator clustered by game.
- Few games. An agent that was there in a handful of games has too few blocks to show its scatter: no interval is
  narrower than the model itself would have it, and its quantiles are those of as many blocks as it was there in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.measures.bootstrap import DRAWS, FEWEST_BLOCKS, SEED, Draws, Interval, tail_of, told

if TYPE_CHECKING:
    from analytics.columns import Array

MANY_BLOCKS: Final = 5_000
FEWER_DRAWS: Final = 400
"""Draws above `MANY_BLOCKS` blocks: with so many the intervals are narrow, and what fewer draws
cost of their precision is a small part of that.
"""


def draws_for(blocks: int) -> int:
    """Return how many draws are made of so many blocks."""
    return FEWER_DRAWS if blocks > MANY_BLOCKS else DRAWS


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """Linear figures of a fit.

    Attributes:
        values: of each.
        held: blocks that tell of each.
        effects: what each block adds to each figure, by block and figure, but for the prior.
        low: lower ends of the intervals; None below five blocks.
        high: upper ends.
    """

    values: Array
    held: Array
    effects: Array
    low: Array | None
    high: Array | None

    def estimate(self, at: int, n: int) -> Result:
        """Return one of them as an estimate, over n of something."""
        interval = None
        if self.low is not None and self.high is not None:
            interval = Interval(float(self.low[at]), float(self.high[at]), None)
        return told(float(self.values[at]), n, interval, "")


@dataclass(frozen=True, slots=True, eq=False)
class PenalisedFit:
    """The most probable parameters of a model whose parameters are normal around 0 beforehand.

    Attributes:
        at: the parameters.
        covariance: inverse of information plus prior precision: what the model thinks of their
            uncertainty.
        by_block: each block's part of the likelihood's gradient there.
    """

    at: Array
    covariance: Array
    by_block: Array


_CONSTRAINT: Final = 1e6
"""Precision of the rule that weighted effects add up to 0."""


def bind(precision: Array, start: int, weight: Array) -> None:
    """Make parameters from a place on add up to 0, weighted, by the precision of what is known beforehand."""
    import numpy as np

    members = start + np.flatnonzero(weight > 0)
    if len(members):
        own = weight[weight > 0] / weight[weight > 0].mean()
        precision[np.ix_(members, members)] += _CONSTRAINT * np.outer(own, own)


def linear_figures(found: PenalisedFit, weights: Array, prior_sd: float, *, draws: int | None = None) -> Figures:
    """Return figures that are sums of parameters, with 95 % intervals.

    Args:
        found: a fit.
        weights: of the parameters, by figure.
        prior_sd: standard deviation of every parameter beforehand.
        draws: number of draws; `draws_for` the blocks unless given.
    """
    import numpy as np

    values = weights @ found.at
    tells = found.by_block != 0
    held = np.array([int((tells & (row != 0)).any(axis=1).sum()) for row in weights])
    blocks = len(found.by_block)
    effects = found.by_block @ found.covariance @ weights.T
    if blocks < FEWEST_BLOCKS:
        return Figures(values, held, effects, None, None)
    draws = draws_for(blocks) if draws is None else draws
    # the mean gradient does not move under resampling
    moved = Draws([blocks], draws).sums(effects - effects.mean(axis=0))
    centre = np.random.default_rng([SEED, 1]).normal(0.0, 1 / prior_sd, (draws, len(found.at)))
    steps = moved + centre @ found.covariance @ weights.T
    modelled = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", weights, found.covariance, weights), 0.0))
    seen = steps.std(axis=0)
    steps *= np.where(seen > 0, np.maximum(1.0, modelled / np.where(seen > 0, seen, 1.0)), 1.0)
    ends = np.empty((2, len(values)))
    for at, count in enumerate(held.tolist()):
        tail = tail_of(max(count, FEWEST_BLOCKS))
        ends[:, at] = values[at] + np.quantile(steps[:, at], [tail, 1 - tail])
    return Figures(values, held, effects, ends[0], ends[1])
