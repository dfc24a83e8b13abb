"""Figures of sums: of flags, of ranked scores, of calibration bins; NaN where undefined, never 0 (paper 4.5 and 5.5;
metrics: Tables 3 and 4).

Sums come as a namespace of arrays, with any axes: so one formula serves the total over all games, every single game,
every draw of the bootstrap and every rearrangement. Flags against truth are ``tp``, ``fp``, ``fn`` and ``tn``:
deceptive and flagged, truthful and flagged, deceptive and passed, truthful and passed. Scores are counted as
``[class][cell]`` with the cells in ascending order; their average precision, which is dear, comes with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, Final, TypeAlias

import numpy as np
from scipy.special import ndtri

Array: TypeAlias = np.ndarray[Any, Any]
Parts: TypeAlias = Any
"""Sums by name, each an array."""
Formula: TypeAlias = Callable[[Parts], Array]


def ratio(numerator: Any, denominator: Any) -> Array:
    """Return quotients, NaN where the denominator is 0."""
    above, below = np.broadcast_arrays(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64))
    quotients: Array = np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
    return quotients


def quotient(above: str, below: str) -> Formula:
    """Return the formula of one sum over another."""
    return lambda s: ratio(getattr(s, above), getattr(s, below))


# -- of flags


def judged(s: Parts) -> Array:
    """Return the number of judgements."""
    n: Array = s.tp + s.fp + s.fn + s.tn
    return n


def accuracy(s: Parts) -> Array:
    """Return the share of flags that are right."""
    return ratio(s.tp + s.tn, judged(s))


def base_rate(s: Parts) -> Array:
    """Return the share of deceptive statements: the precision of flagging everything."""
    return ratio(s.tp + s.fn, judged(s))


def constant_accuracy(s: Parts) -> Array:
    """Return the accuracy of the better constant guess, which detection has to beat."""
    return ratio(np.maximum(s.tp + s.fn, s.fp + s.tn), judged(s))


def accuracy_lift(s: Parts) -> Array:
    """Return the accuracy minus that of the better constant guess, both over the same counts."""
    lift: Array = accuracy(s) - constant_accuracy(s)
    return lift


def precision(s: Parts) -> Array:
    """Return the share of deceptive statements among what is flagged."""
    return ratio(s.tp, s.tp + s.fp)


def recall(s: Parts) -> Array:
    """Return the share flagged of deceptive statements."""
    return ratio(s.tp, s.tp + s.fn)


def balanced_accuracy(s: Parts) -> Array:
    """Return the mean of both classes' recall."""
    return (recall(s) + ratio(s.tn, s.fp + s.tn)) / 2


def f1(s: Parts) -> Array:
    """Return the harmonic mean of precision and recall, undefined where one of them is."""
    score: Array = ratio(2 * s.tp, 2 * s.tp + s.fp + s.fn) + 0 * (precision(s) + recall(s))
    return score


def constant_f1(s: Parts) -> Array:
    """Return F1 of flagging everything."""
    share = base_rate(s)
    score: Array = 2 * share / (1 + share)
    return score


def mcc(s: Parts) -> Array:
    """Return Matthews' correlation of class and flag."""
    spread = np.sqrt((s.tp + s.fp) * (s.tn + s.fn) * (s.tp + s.fn) * (s.tn + s.fp))
    return ratio(s.tp * s.tn - s.fp * s.fn, spread)


def dprime(s: Parts) -> Array:
    """Return z(hit rate) - z(false-alarm rate), with the log-linear correction: 0.5 more of each count, 1 more of each
    total; NaN if a class is empty.
    """
    hits, alarms = _z_rates(s)
    return hits - alarms


def criterion(s: Parts) -> Array:
    """Return minus the mean of z(hit rate) and z(false-alarm rate), corrected likewise; NaN if a class is empty."""
    hits, alarms = _z_rates(s)
    centre: Array = 0.0 - (hits + alarms) / 2
    return centre


def _z_rates(s: Parts) -> tuple[Array, Array]:
    deceptive, truthful = s.tp + s.fn, s.fp + s.tn
    both = (deceptive > 0) & (truthful > 0)
    hits, alarms = ndtri((s.tp + 0.5) / (deceptive + 1)), ndtri((s.fp + 0.5) / (truthful + 1))
    return np.where(both, hits, np.nan), np.where(both, alarms, np.nan)


def zero(s: Parts) -> Array:
    """Return 0."""
    zeros: Array = 0.0 * judged(s)
    return zeros


def half(s: Parts) -> Array:
    """Return 0.5."""
    return zero(s) + 0.5


FLAGS: Final[Mapping[str, tuple[Formula, Formula | None]]] = {
    "accuracy": (accuracy, constant_accuracy),
    "accuracy_lift": (accuracy_lift, zero),
    "balanced_accuracy": (balanced_accuracy, half),
    "precision": (precision, base_rate),
    "recall": (recall, None),
    "f1": (f1, constant_f1),
    "mcc": (mcc, zero),
    "base_rate": (base_rate, None),
    "constant_accuracy": (constant_accuracy, None),
    "dprime": (dprime, zero),
    "criterion": (criterion, None),
}
"""What is told of flags beside their counts, each with what needs no skill."""


def _deceptive(s: Parts) -> Array:
    n: Array = s.tp + s.fn
    return n


def _truthful(s: Parts) -> Array:
    n: Array = s.fp + s.tn
    return n


def _flagged(s: Parts) -> Array:
    n: Array = s.tp + s.fp
    return n


def _passed(s: Parts) -> Array:
    n: Array = s.fn + s.tn
    return n


FLAG_SIDES: Final[Mapping[str, tuple[Formula, ...]]] = {
    "balanced_accuracy": (_deceptive, _truthful),
    "precision": (_flagged,),
    "recall": (_deceptive,),
    "f1": (_deceptive, _flagged),
    "mcc": (_deceptive, _truthful, _flagged, _passed),
    "dprime": (_deceptive, _truthful),
    "criterion": (_deceptive, _truthful),
}
"""Of what each of them is undefined without."""


# -- of scores


def roc_pairs(counts: Array) -> tuple[Array, Array]:
    """Return how many pairs of something of class 1 and something of class 0 score in that order, equal scores counted
    half, and how many pairs there are.
    """
    truthful, deceptive = counts[..., 0, :], counts[..., 1, :]
    below = np.cumsum(truthful, axis=-1) - truthful / 2
    return (deceptive * below).sum(axis=-1), deceptive.sum(axis=-1) * truthful.sum(axis=-1)


def roc_area(counts: Array) -> Array:
    """Return the area under the ROC curve: how often something of class 1 scores higher than something of class 0,
    equal scores counted half; NaN unless both classes are there.
    """
    return ratio(*roc_pairs(counts))


def average_precision(counts: Array) -> Array:
    """Return the sum over thresholds of the step in recall times the precision there; NaN unless both classes are
    there. Scores that tell nothing come to the base rate.
    """
    hits = np.cumsum(counts[..., 1, ::-1], axis=-1, dtype=np.float64)
    flagged = hits + np.cumsum(counts[..., 0, ::-1], axis=-1, dtype=np.float64)
    precisions = np.divide(hits, flagged, out=np.zeros_like(hits), where=flagged > 0)
    deceptive, truthful = counts[..., 1, :].sum(axis=-1), counts[..., 0, :].sum(axis=-1)
    return ratio((counts[..., 1, ::-1] * precisions).sum(axis=-1), np.where(truthful > 0, deceptive, 0))


BINS: Final = 10
"""Calibration bins at most."""


def bins_of(counts: Array) -> Array:
    """Return the calibration bin of every distinct score, in the same order.

    The bins are fixed by ranks, not by scores. A score that k judgements share, with b judgements below it, has the
    mean rank b + k/2; it goes to bin ⌊10 (b + k/2) / n⌋, counted from 0, with all its judgements. So a tie is never
    split, there are at most ten bins, they hold equal numbers as far as ties allow, and they depend neither on the
    order of the judgements nor on any stretching of the scale.

    Args:
        counts: judgements at each score, scores ascending.
    """
    if not counts.any():
        return np.zeros(len(counts), np.int64)
    below = np.cumsum(counts) - counts
    # twice the mean rank, so that all numbers are whole
    place: Array = BINS * (2 * below + counts) // (2 * counts.sum())
    return place


def theil_sen(points: Sequence[tuple[int, float]]) -> float | None:
    """Return the Theil-Sen slope, the median of the slopes between all pairs of points; None below two points.

    Args:
        points: rounds, ascending, and values.
    """
    slopes = [
        (value - earlier) / (round_ - before)
        for place, (round_, value) in enumerate(points)
        for before, earlier in points[:place]
    ]
    return median(slopes) if slopes else None


# Sums of scores: ``n`` judgements, ``deceptive`` of them of deceptive statements, ``missed``, squared errors;
# ``counts`` by class and cell; ``bins`` by calibration bin: sums of scores, deceptive ones, and how many.


def deceptive_share(s: Parts) -> Array:
    """Return the share of deceptive statements among those judged, which any score without skill comes to."""
    return ratio(s.deceptive, s.n)


def brier(s: Parts) -> Array:
    """Return the mean of (score - label)² (paper 4.5; metrics: Table 4)."""
    return ratio(s.missed, s.n)


def constant_brier(s: Parts) -> Array:
    """Return the Brier score of always saying the share of deceptive statements."""
    share = deceptive_share(s)
    score: Array = share * (1 - share)
    return score


def brier_skill(s: Parts) -> Array:
    """Return 1 - Brier / Brier of always saying the share of deceptive statements. Above 0 the scores say more than it,
    below 0 less.
    """
    return 1 - ratio(brier(s), constant_brier(s))


def calibration_error(s: Parts) -> Array:
    """Return the mean over judgements of |mean score - share deceptive| of their bins (metrics: Table 4). It is not
    free of chance: well calibrated scores of few judgements do not reach 0.
    """
    stated, deceptive = s.bins[..., 0], s.bins[..., 1]
    return ratio(np.abs(stated - deceptive).sum(axis=-1), s.bins[..., 2].sum(axis=-1))


def auc(s: Parts) -> Array:
    """Return the area under the ROC curve; see `roc_area`."""
    return roc_area(s.counts)


def auprc(s: Parts) -> Array:
    """Return the average precision; see `average_precision`."""
    area: Array = s.average_precision
    return area


def auprc_lift(s: Parts) -> Array:
    """Return the average precision minus the share of deceptive statements, which scores without any skill reach."""
    lift: Array = auprc(s) - deceptive_share(s)
    return lift
