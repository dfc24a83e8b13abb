"""Reliability: how often statements are deceptive that are given the same probability (paper, section 4.5).

The bins are fixed by their ranks, not by their scores. A score that k judgements share, with b judgements below it, has
the mean rank b + k/2; it goes to bin ⌊10 (b + k/2) / n⌋, counted from 0, with all its judgements. So a tie is never
torn apart, there are at most ten bins, they hold equal numbers as far as ties allow (to one judgement where there are
none), and they depend neither on the order of the judgements nor on any stretching of the scale. A bin that nothing
falls into does not exist. The same bins serve the curve and the error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics.accumulator import Result

if TYPE_CHECKING:
    from analytics.columns import Array
    from analytics.scores.tied import Tied

BINS: Final = 10
"""Bins at most."""


def bins_of(counts: Array) -> Array:
    """Return the bin of every distinct score, in the same order; see the module.

    Args:
        counts: judgements at each score, scores ascending.
    """
    import numpy as np

    below = np.cumsum(counts) - counts
    # twice the mean rank, so that all numbers are whole
    place: Array = BINS * (2 * below + counts) // (2 * counts.sum()) if len(counts) else np.zeros(0, "i8")
    return place


def reliability(tied: Tied) -> list[Result]:
    """Return the reliability curve, a row a bin in ascending order (metrics: Table 4).

    Each has ``low`` and ``high``, the least and the greatest score in it, ``mean_score``, ``share`` of its judgements
    whose statement is deceptive, and ``n``.
    """
    import numpy as np

    counts = tied.counts
    place = bins_of(counts)
    n = np.bincount(place, counts, BINS)
    yes = np.bincount(place, tied.deceptive, BINS)
    total = np.bincount(place, tied.values * counts, BINS)
    rows: list[Result] = []
    for found in np.unique(place).tolist():
        own = tied.values[place == found]
        low, high = float(own[0]), float(own[-1])
        rows.append(
            {
                "low": low,
                "high": high,
                # rounding may carry the mean of equal scores beyond them
                "mean_score": min(high, max(low, float(total[found] / n[found]))),
                "share": float(yes[found] / n[found]),
                "n": int(n[found]),
            }
        )
    return rows


def expected_calibration_error(tied: Tied) -> float | None:
    """Return the mean over judgements of |mean score − share deceptive| of their bins, None over nothing (metrics:
    Table 4).

    It is not free of chance: well calibrated scores of few judgements do not reach 0.
    """
    n = tied.n
    if not n:
        return None
    off: float = sum(row["n"] * abs(row["mean_score"] - row["share"]) for row in reliability(tied))
    return off / n
