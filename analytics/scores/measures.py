"""Brier score, ROC AUC and AUPRC of tied scores (paper, sections 4.5 and 5.7; metrics: Table 4).

They are scikit-learn's `brier_score_loss`, `roc_auc_score` and `average_precision_score`, to 1e-12: each of those sorts
two million scores anew, while all three follow from one sorting.
"""

from __future__ import annotations

from analytics.accumulator import Result
from analytics.scores.reliability import expected_calibration_error
from analytics.scores.tied import Tied


def base_rate(tied: Tied) -> float | None:
    """Return the share of deceptive statements among those judged, None over nothing."""
    return tied.positives / tied.n if tied.n else None


def brier(tied: Tied) -> float | None:
    """Return the mean of (score − label)² in [0, 1], None over nothing (paper 4.5; metrics: Table 4)."""
    if not tied.n:
        return None
    missed = tied.deceptive * (1 - tied.values) ** 2 + tied.truthful * tied.values**2
    return float(missed.sum()) / tied.n


def brier_skill(tied: Tied) -> float | None:
    """Return 1 − Brier / Brier of always saying the base rate, None where that is 0 (metrics: Table 4).

    Above 0 the scores say more than the base rate, below 0 less.
    """
    share, score = base_rate(tied), brier(tied)
    if share is None or score is None or not 0 < share < 1:
        return None
    return 1 - score / (share * (1 - share))


def auc(tied: Tied) -> float | None:
    """Return the probability that a deceptive statement scores higher than a truthful one, ties counting half; None
    unless there are both (paper 4.5; metrics: Table 4).
    """
    if tied.one_sided():
        return None
    import numpy as np

    # twice the pairs that are in order, in whole numbers: the quotient is right to the last bit
    twice = 2 * np.cumsum(tied.truthful) - tied.truthful
    return int((tied.deceptive * twice).sum()) / (2 * tied.positives * (tied.n - tied.positives))


def auprc(tied: Tied) -> float | None:
    """Return the average precision: the precision at each threshold, weighted by the recall that it adds; None unless
    there are deceptive and truthful statements (paper 4.5; metrics: Table 4).

    Scores that tell nothing come to the base rate, whatever it is.
    """
    if tied.one_sided():
        return None
    import numpy as np

    deceptive, counts = tied.deceptive[::-1], tied.counts[::-1]
    precision = np.cumsum(deceptive) / np.cumsum(counts)
    return float((deceptive * precision).sum()) / tied.positives


def calibration(tied: Tied) -> Result:
    """Return ``brier ece auc n``: what recalibration is judged by (metrics: Recalibration)."""
    return {"brier": brier(tied), "ece": expected_calibration_error(tied), "auc": auc(tied), "n": tied.n}
