"""Scores as histograms: areas under curves as formulas over counts, which add up over games.

A draw of the bootstrap is then a matrix product. Point estimates are exact: there every distinct score is a cell. In
draws and in rearrangements there are at most `CELLS` cells of whole tied scores. Nothing is lost up to as many distinct
scores (models give two decimals); with more, pairs within a cell count half, and draws are moved by what that makes of
the pooled value. Single games have areas of their own; see `analytics.headlines.ties`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from analytics.resampling import ratio

if TYPE_CHECKING:
    from analytics.columns import Array

CELLS: Final = 256


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of judgements against the class of what is judged.

    Attributes:
        rows: rows of ``columns.judgements`` that have both.
        label: the class, 1 deceptive and 0 truthful.
        rank: place of the score among the distinct ones, from 0.
        values: the distinct scores, ascending.
    """

    rows: Array
    label: Array
    rank: Array
    values: Array

    def exact(self, chosen: Array) -> Array:
        """Return counts by class and distinct score over the rows that `chosen` marks."""
        import numpy as np

        width = len(self.values)
        code = self.label[chosen] * width + self.rank[chosen]
        return np.bincount(code, minlength=2 * width).reshape(2, width)


def scores_of(score: Array, label: Array) -> Scores:
    """Return the judgements that have a score (no NaN) and a class (not below 0)."""
    import numpy as np

    rows = np.flatnonzero((label >= 0) & ~np.isnan(score))
    values, rank = np.unique(score[rows], return_inverse=True)
    return Scores(rows, label[rows].astype(np.int64), rank, values)


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """The distinct values of several sets of scores together.

    Attributes:
        counts: judgements at each value, ascending.
        places: for each set, where its distinct values stand among these.
    """

    counts: Array
    places: tuple[Array, ...]


def merged(*sets: Scores) -> Merged:
    """Return the distinct values of sets of scores together."""
    import numpy as np

    values = np.unique(np.concatenate([scores.values for scores in sets]))
    counts = np.zeros(len(values), np.int64)
    places = tuple(np.searchsorted(values, scores.values) for scores in sets)
    for scores, place in zip(sets, places, strict=True):
        counts[place] += np.bincount(scores.rank, minlength=len(scores.values))
    return Merged(counts, places)


def cells_of(values: Merged) -> Array:
    """Return the cell of each distinct value; where cells hold several values, they hold about equal counts."""
    import numpy as np

    counts = values.counts
    if len(counts) <= CELLS:
        return np.arange(len(counts))
    cells: Array = (np.cumsum(counts) - counts) * CELLS // counts.sum()
    return cells


def roc_area(counts: Array) -> Array:
    """Return the area under the ROC curve, equal scores counted half; NaN unless both classes are there.

    Args:
        counts: (..., 2 classes, cells in ascending order).
    """
    import numpy as np

    truthful, deceptive = counts[..., 0, :], counts[..., 1, :]
    below = np.cumsum(truthful, axis=-1) - truthful / 2
    return ratio((deceptive * below).sum(axis=-1), deceptive.sum(axis=-1) * truthful.sum(axis=-1))


def average_precision(counts: Array) -> Array:
    """Return the average precision: the sum over thresholds of the step in recall times the precision there; NaN
    unless both classes are there.

    Args:
        counts: (..., 2 classes, cells in ascending order).
    """
    import numpy as np

    hits = np.cumsum(counts[..., 1, ::-1], axis=-1, dtype=np.float64)
    reached = hits + np.cumsum(counts[..., 0, ::-1], axis=-1, dtype=np.float64)
    precision = np.divide(hits, reached, out=np.zeros_like(hits), where=reached > 0)
    deceptive, truthful = counts[..., 1, :].sum(axis=-1), counts[..., 0, :].sum(axis=-1)
    return ratio((counts[..., 1, ::-1] * precision).sum(axis=-1), np.where(truthful > 0, deceptive, 0))


def average_precision_lift(counts: Array) -> Array:
    """Return the average precision minus the share of deceptive statements, which scores without any skill reach.

    Args:
        counts: (..., 2 classes, cells in ascending order).
    """
    deceptive = counts[..., 1, :].sum(axis=-1)
    found: Array = average_precision(counts) - ratio(deceptive, counts.sum(axis=(-1, -2)))
    return found
