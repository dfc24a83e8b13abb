"""Intervals of the fitted parameters: a bootstrap of games, one Newton step a draw.

Each draw resamples the blocks of games and steps from the fit to where the resampled likelihood would have its top,
at the fit's own curvature; so it costs a product of matrices and not a fit, and 2,000 draws are made of any number of
games. Two things keep the intervals honest:

- Shrinkage. Resampling a penalised estimate shows its scatter, not how far the prior pulls it; for an agent with little
  data, percentiles would be much too narrow, and empty without data. So the prior's centre is drawn anew, too, from the
  prior (a randomised maximum a posteriori estimate). Without correlation within games the draws then have the spread of
  the posterior; with it they have that of the sandwich estimator clustered by game.
- Few games. An agent that spoke in a handful of games has too few blocks to show its scatter: no interval is narrower
  than the model itself would have it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics.abilities.fit import PRIOR_SD, Fit
from analytics.intervals import DRAWS, LEVEL, SEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analytics.columns import Array

_AT_ONCE = 1_000_000
"""Weights drawn at a time."""


def intervals(fits: Sequence[Fit], *, draws: int = DRAWS, seed: int = SEED) -> list[tuple[Array, Array] | None]:
    """Return for each fit the lower and upper ends of the 95 % intervals of all parameters, None below two blocks.

    All fits see the same draws of blocks.

    Args:
        fits: fits to the same games.
        draws: number of draws.
        seed: of the draws.
    """
    import numpy as np

    if not fits:
        return []
    blocks = len(fits[0].by_block)
    if blocks < 2:
        return [None for _ in fits]
    generator = np.random.default_rng(seed)
    # the mean gradient does not move under resampling; n - 1 degrees of freedom, as for a variance
    correction = (blocks / (blocks - 1)) ** 0.5
    parts = np.concatenate([(fit.by_block - fit.by_block.mean(0)) * correction for fit in fits], axis=1)
    moved = np.empty((draws, parts.shape[1]))
    step = max(1, _AT_ONCE // blocks)
    for start in range(0, draws, step):
        count = min(step, draws - start)
        picks = generator.integers(0, blocks, (count, blocks)) + np.arange(count)[:, None] * blocks
        weights = np.bincount(picks.ravel(), minlength=count * blocks).reshape(count, blocks)
        moved[start : start + count] = weights @ parts
    found: list[tuple[Array, Array] | None] = []
    at = 0
    for fit in fits:
        size = len(fit.at)
        centre = generator.normal(0.0, 1 / PRIOR_SD, (draws, size))
        found.append(_ends(fit, (moved[:, at : at + size] + centre) @ fit.covariance))
        at += size
    return found


def _ends(fit: Fit, steps: Array) -> tuple[Array, Array]:
    import numpy as np

    modelled = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))
    seen = steps.std(0)
    wider = np.where(seen > 0, np.maximum(1.0, modelled / np.where(seen > 0, seen, 1.0)), 1.0)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(steps * wider, [tail, 1 - tail], axis=0)
    return fit.at + low, fit.at + high
