"""Intervals of the fitted parameters: a bootstrap of blocks of games, one Newton step a draw.

Each draw resamples the blocks of games and steps from the fit to where the resampled likelihood would have its top,
at the fit's own curvature; so it costs a product of matrices and not a fit. Two things keep the intervals honest:

- Shrinkage. Resampling a penalised estimate shows its scatter, not how far the prior pulls it; for an agent with little
  data, percentiles would be much too narrow, and empty without data. So the prior's centre is drawn anew, too, from the
  prior (a randomised maximum a posteriori estimate). Without correlation within games the draws then have the spread of
  the posterior; with it they have that of the sandwich estimator clustered by game.
- Few games. An agent that spoke in a handful of games has too few blocks to show its scatter: no interval is narrower
  than the model itself would have it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics.abilities.fit import PRIOR_SD, Fit
from analytics.intervals import DRAWS, FEWEST_BLOCKS, LEVEL, SEED
from analytics.resampling import Draws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analytics.columns import Array

MANY_BLOCKS: Final = 5_000
FEWER_DRAWS: Final = 400
"""Draws above `MANY_BLOCKS` blocks: with so many the intervals are narrow, and what fewer draws cost of their precision
is a small part of that.
"""


def draws_for(blocks: int) -> int:
    """Return how many draws are made of so many blocks."""
    return FEWER_DRAWS if blocks > MANY_BLOCKS else DRAWS


def intervals(fits: Sequence[Fit], *, draws: int | None = None, seed: int = SEED) -> list[tuple[Array, Array] | None]:
    """Return for each fit the lower and upper ends of the 95 % intervals of all parameters, None below five blocks.

    All fits see the same draws of blocks.

    Args:
        fits: fits to the same games.
        draws: number of draws; `draws_for` the blocks unless given.
        seed: of the draws.
    """
    import numpy as np

    if not fits:
        return []
    blocks = len(fits[0].by_block)
    if blocks < FEWEST_BLOCKS:
        return [None for _ in fits]
    draws = draws_for(blocks) if draws is None else draws
    # the mean gradient does not move under resampling; n - 1 degrees of freedom, as for a variance
    correction = (blocks / (blocks - 1)) ** 0.5
    parts = np.concatenate([(fit.by_block - fit.by_block.mean(0)) * correction for fit in fits], axis=1)
    moved = Draws([blocks], draws, seed).sums(parts)
    generator = np.random.default_rng([seed, 1])
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
