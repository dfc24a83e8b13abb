"""Figures of counts, with any axes before; NaN where undefined, never 0 (paper 4.5, 5.5; metrics:
Tables 3 and 4).

Flags are counted as ``[class][flag]``, scores as ``[class][cell]`` with the cells in ascending
order. So one formula serves the total over all games, every single game, and every draw of the
bootstrap. And Wilson's interval of rates of games.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isnan, sqrt
from statistics import NormalDist, median
from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.measures.bootstrap import FEW_BLOCKS, LEVEL, Interval, block_estimate, by_block

if TYPE_CHECKING:
    from analytics.measures.columns import Array, Columns


def ratio(numerator: Array | float, denominator: Array | float) -> Array:
    """Return quotients, NaN where the denominator is 0."""
    import numpy as np

    above, below = np.broadcast_arrays(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64))
    quotients: Array = np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
    return quotients


def number(value: Array | float) -> float | None:
    """Return a finite number as it stands and NaN as None."""
    plain = float(value)
    return None if isnan(plain) else plain


# -- of flags


def accuracy(counts: Array) -> Array:
    """Return the share of flags that are right."""
    return ratio(counts[..., 0, 0] + counts[..., 1, 1], counts.sum(axis=(-1, -2)))


def constant_accuracy(counts: Array) -> Array:
    """Return the accuracy of the better constant guess, which detection has to beat."""
    classes = counts.sum(axis=-1)
    return ratio(classes.max(axis=-1), classes.sum(axis=-1))


def accuracy_lift(counts: Array) -> Array:
    """Return the accuracy minus that of the better constant guess, both over the same counts."""
    lift: Array = accuracy(counts) - constant_accuracy(counts)
    return lift


def base_rate(counts: Array) -> Array:
    """Return the share of class 1: the precision of flagging everything."""
    return ratio(counts[..., 1, :].sum(axis=-1), counts.sum(axis=(-1, -2)))


def precision(counts: Array) -> Array:
    """Return the share of class 1 among what is flagged."""
    return ratio(counts[..., 1, 1], counts[..., :, 1].sum(axis=-1))


def recall(counts: Array) -> Array:
    """Return the share flagged of class 1."""
    return ratio(counts[..., 1, 1], counts[..., 1, :].sum(axis=-1))


def balanced_accuracy(counts: Array) -> Array:
    """Return the mean of both classes' recall."""
    return (recall(counts) + ratio(counts[..., 0, 0], counts[..., 0, :].sum(axis=-1))) / 2


def f1(counts: Array) -> Array:
    """Return the harmonic mean of precision and recall, undefined where one of them is."""
    twice = 2 * counts[..., 1, 1]
    value = ratio(twice, twice + counts[..., 0, 1] + counts[..., 1, 0])
    score: Array = value + 0 * (precision(counts) + recall(counts))
    return score


def constant_f1(counts: Array) -> Array:
    """Return F1 of flagging everything."""
    share = base_rate(counts)
    score: Array = 2 * share / (1 + share)
    return score


def mcc(counts: Array) -> Array:
    """Return Matthews' correlation of class and flag."""
    import numpy as np

    tn, fp, fn, tp = counts[..., 0, 0], counts[..., 0, 1], counts[..., 1, 0], counts[..., 1, 1]
    return ratio(tp * tn - fp * fn, np.sqrt((tp + fp) * (tn + fn) * (tp + fn) * (tn + fp)))


def dprime(counts: Array) -> Array:
    """Return z(hit rate) - z(false-alarm rate), with the log-linear correction: 0.5 more of each
    count, 1 more of each total; NaN if a class is empty.
    """
    hits, alarms = _signal(counts)
    return hits - alarms


def criterion(counts: Array) -> Array:
    """Return minus the mean of z(hit rate) and z(false-alarm rate), corrected likewise; NaN if a
    class is empty.
    """
    hits, alarms = _signal(counts)
    centre: Array = 0.0 - (hits + alarms) / 2
    return centre


def _signal(counts: Array) -> tuple[Array, Array]:
    import numpy as np

    classes = counts.sum(axis=-1)
    both = (classes > 0).all(axis=-1)
    z = np.vectorize(NormalDist().inv_cdf, otypes=[np.float64])
    rates = z((counts[..., 1] + 0.5) / (classes + 1))
    return np.where(both, rates[..., 1], np.nan), np.where(both, rates[..., 0], np.nan)


def zero(counts: Array) -> Array:
    """Return 0."""
    zeros: Array = 0.0 * counts.sum(axis=(-1, -2))
    return zeros


def half(counts: Array) -> Array:
    """Return 0.5."""
    return zero(counts) + 0.5


MEASURES: Final[Mapping[str, Callable[[Array], Array]]] = {
    "accuracy": accuracy,
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "balanced_accuracy": balanced_accuracy,
    "mcc": mcc,
    "base_rate": base_rate,
    "constant_accuracy": constant_accuracy,
    "dprime": dprime,
    "criterion": criterion,
}
"""What Table 3 tells of flags beside counts."""


def confusion(counts: Array) -> Result:
    """Return flags against truth: counts ``[class][flag]`` by name, and everything that follows from them; undefined is
    None, never 0 (metrics: Table 3).

    ``tp`` is deceptive and flagged, ``tn`` truthful and not flagged, ``fp`` truthful and flagged, ``fn`` deceptive and
    not flagged; ``n`` are all judgements.
    """
    (tn, fp), (fn, tp) = ([int(count) for count in row] for row in counts.tolist())
    values: Result = {"n": tp + tn + fp + fn, "tp": tp, "tn": tn, "fp": fp, "fn": fn}
    exact = counts.astype("f8")
    return {**values, **{name: number(formula(exact)) for name, formula in MEASURES.items()}}


# -- of scores


def roc_pairs(counts: Array) -> tuple[Array, Array]:
    """Return how many pairs of something of class 1 and something of class 0 score in that order,
    equal scores counted half, and how many pairs there are.
    """
    import numpy as np

    truthful, deceptive = counts[..., 0, :], counts[..., 1, :]
    below = np.cumsum(truthful, axis=-1) - truthful / 2
    return (deceptive * below).sum(axis=-1), deceptive.sum(axis=-1) * truthful.sum(axis=-1)


def roc_area(counts: Array) -> Array:
    """Return the area under the ROC curve: how often something of class 1 scores higher than
    something of class 0, equal scores counted half; NaN unless both classes are there.
    """
    return ratio(*roc_pairs(counts))


def average_precision(counts: Array) -> Array:
    """Return the sum over thresholds of the step in recall times the precision there; NaN unless
    both classes are there. Scores that tell nothing come to the base rate.
    """
    import numpy as np

    hits = np.cumsum(counts[..., 1, ::-1], axis=-1, dtype=np.float64)
    flagged = hits + np.cumsum(counts[..., 0, ::-1], axis=-1, dtype=np.float64)
    precisions = np.divide(hits, flagged, out=np.zeros_like(hits), where=flagged > 0)
    deceptive, truthful = counts[..., 1, :].sum(axis=-1), counts[..., 0, :].sum(axis=-1)
    return ratio((counts[..., 1, ::-1] * precisions).sum(axis=-1), np.where(truthful > 0, deceptive, 0))


def average_precision_lift(counts: Array) -> Array:
    """Return the average precision minus the share of class 1, which scores without any skill
    reach.
    """
    deceptive = counts[..., 1, :].sum(axis=-1)
    lift: Array = average_precision(counts) - ratio(deceptive, counts.sum(axis=(-1, -2)))
    return lift


BINS: Final = 10
"""Calibration bins at most."""


def bins_of(counts: Array) -> Array:
    """Return the calibration bin of every distinct score, in the same order.

    The bins are fixed by ranks, not by scores. A score that k judgements share, with b judgements
    below it, has the mean rank b + k/2; it goes to bin ⌊10 (b + k/2) / n⌋, counted from 0, with all
    its judgements. So a tie is never split, there are at most ten bins, they hold equal
    numbers as far as ties allow, and they depend neither on the order of the judgements nor on any
    stretching of the scale.

    Args:
        counts: judgements at each score, scores ascending.
    """
    import numpy as np

    if not counts.any():
        return np.zeros(len(counts), "i8")
    below = np.cumsum(counts) - counts
    # twice the mean rank, so that all numbers are whole
    place: Array = BINS * (2 * below + counts) // (2 * counts.sum())
    return place


def theil_sen(points: Sequence[tuple[int, float]]) -> float | None:
    """Return the Theil-Sen slope, the median of the slopes between all pairs of points; None below
    two points.

    Args:
        points: rounds, ascending, and values.
    """
    slopes = [
        (value - earlier) / (round_ - before)
        for place, (round_, value) in enumerate(points)
        for before, earlier in points[:place]
    ]
    return median(slopes) if slopes else None


def as_count(value: Array | float) -> int:
    """Return a count that was summed as a float."""
    return round(float(value))


# -- of rates


def rate_of_rows(columns: Columns, game: Array, numerator: Array, denominator: Array, reason: str) -> Result:
    """Return one sum of rows over another as an estimate.

    Args:
        columns: the games.
        game: of each row.
        numerator: by row, what is summed above the line.
        denominator: by row, what is summed below it.
        reason: why it is undefined if it is.
    """
    sums = by_block(columns.blocks[game], len(columns.block_names), numerator, denominator)
    return block_estimate(sums, lambda totals: ratio(totals[..., 0], totals[..., 1]), sums[:, 1], reason)


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
    half = z * sqrt(max(0.0, share * (1 - share) / n + z * z / (4 * n * n)))
    scale = 1 + z * z / n
    low = 0.0 if k == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if k == n else min(1.0, (centre + half) / scale)
    return low, high


def rate_of_games(k: Array, n: Array, limit: float) -> Interval:
    """Return the interval of a rate of games: Wilson's, on the effective number of games.

    That is the number of games, divided by the design effect (the variance of the rate over blocks
    against that of independent games; never taken for less than 1, nor for more than the blocks
    allow), and corrected for how few blocks that is known from (Korn and Graubard 1998). Where
    every game is its own block it is Wilson's interval as it stands.

    Args:
        k: what counts, by block.
        n: of how many, by block.
        limit: how many independent games there can be: their number, or fewer where several seats of
            one game count.
    """
    from scipy.special import stdtrit

    nonempty = n > 0
    k, n, blocks = k[nonempty], n[nonempty], int(nonempty.sum())
    total = float(n.sum())
    if not total:
        return Interval(None, None, "there are none")
    share = float(k.sum()) / total
    effective = min(limit, total)
    if 1 < blocks < limit:
        spread = float(((k - share * n) ** 2).sum()) * blocks / (blocks - 1) / total**2
        simple = share * (1 - share) / max(1.0, effective - 1)
        if spread > simple > 0:
            effective = max(effective * simple / spread, min(effective, blocks - 1))
        z = NormalDist().inv_cdf((1 + LEVEL) / 2)
        effective *= (z / float(stdtrit(blocks - 1, (1 + LEVEL) / 2))) ** 2
    elif blocks == 1 < limit:
        return Interval(None, None, FEW_BLOCKS)
    low, high = wilson(share * effective, effective) or (None, None)
    return Interval(low, high, None)
