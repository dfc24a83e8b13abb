"""Intervals: Wilson's for shares of games, the percentile bootstrap over games or blocks for everything else."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    import numpy as np

    from analytics.columns import Array

LEVEL: Final = 0.95
"""Coverage of every interval (paper, section 5.9)."""
DRAWS: Final = 2_000
"""Bootstrap draws (paper 5.9 gives none; metrics are defined with this many)."""
SEED: Final = 20_250_810
"""Seed of every bootstrap: the same games give the same interval."""
FEWEST_BLOCKS: Final = 5
"""Blocks below which there is no bootstrap interval: percentiles of so few are much too narrow (95 % intervals of three
cover about 75 %, of five 85 %, of twelve 88 %, of twenty 92 %).
"""
FEW_BLOCKS: Final = f"fewer than {FEWEST_BLOCKS} games (blocks) to resample"
ALL_ALIKE: Final = "every draw gives the same"
UNDEFINED_SHARE: Final = 0.05
"""Share of undefined draws, or rearrangements, above which there is no interval, or p-value."""

_ALIKE: Final = 1e-12
"""Draws that differ by less are equal: sums of equal numbers may differ in the last bits."""
_AT_ONCE = 1_000_000
"""Numbers resampled at a time, so that memory stays bounded for any number of games."""


def wilson(k: int, n: int, level: float = LEVEL) -> tuple[float, float] | None:
    """Return Wilson's score interval for a share of k in n, None for n = 0.

    Unlike the normal approximation it stays inside [0, 1] and is not empty at k = 0 or k = n.
    """
    if not n:
        return None
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = k / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if k == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if k == n else min(1.0, (centre + half) / scale)
    return low, high


def bootstrap(
    values: Sequence[float],
    statistic: Literal["mean", "median"],
    *,
    draws: int = DRAWS,
    level: float = LEVEL,
    seed: int = SEED,
) -> tuple[float, float] | None:
    """Return the percentile bootstrap interval of a statistic of per-game values; None below five games, and where
    every draw gives the same (`no_interval` says which).

    The values are sorted first: they are exchangeable, and so the order in which games came leaves no trace
    in the interval.

    Args:
        values: one finite value a game.
        statistic: what is recomputed for every resample of the games.
        draws: number of resamples.
        level: coverage.
        seed: seed of the draws.
    """
    n = len(values)
    if n < FEWEST_BLOCKS:
        return None
    import numpy as np

    held = np.sort(np.asarray(values, dtype=np.float64))
    of: Callable[..., Any] = np.mean if statistic == "mean" else np.median
    generator = np.random.default_rng(seed)
    step = max(1, _AT_ONCE // n)
    found: list[np.ndarray[Any, Any]] = []
    for start in range(0, draws, step):
        picks = generator.integers(0, n, size=(min(step, draws - start), n))
        found.append(of(held[picks], axis=1))
    return percentiles(np.concatenate(found), level)


def no_interval(n: int) -> str:
    """Return why `bootstrap` gives no interval of so many values."""
    return FEW_BLOCKS if n < FEWEST_BLOCKS else ALL_ALIKE


def percentiles(drawn: Array, level: float = LEVEL) -> tuple[float, float] | None:
    """Return the percentile interval of defined draws, None if all of them are alike."""
    import numpy as np

    if not len(drawn) or float(np.ptp(drawn)) <= _ALIKE:
        return None
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return float(low), float(high)
