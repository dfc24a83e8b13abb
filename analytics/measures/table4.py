"""Table 4: suspicion as a probability of deception, beside what needs no suspicion; and its curves
(paper, sections 4.5 and 5.7).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.measures.bootstrap import Leaf, by_block, by_cell, draws_of
from analytics.measures.formulas import BINS, average_precision, bins_of, ratio, roc_area
from analytics.measures.headlines import SCORES
from analytics.measures.scores import (
    Scores,
    Tied,
    auc,
    auprc,
    base_rate,
    brier,
    brier_skill,
    expected_calibration_error,
    recentred,
    reliability,
)
from analytics.measures.study import Study
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.measures.columns import Array
    from analytics.measures.scores import Cells

FIGURES: Final = ("brier", "brier_skill", "auc", "auprc", "auprc_lift", "ece")
"""Figures of a row that have an interval."""


def table4(study: Study) -> Result:
    """Return Table 4 (paper 5.7; metrics: Table 4), for suspicion and for D before the statement.

    ``suspicion`` takes the s of each judgement for P(deceptive), ``before`` the smoothed D of
    observer and speaker before it, which is a prediction. Each has rows ``overall``,
    ``by_observer`` and ``by_speaker`` (by role), as `row` describes. The paper prints
    ``by_observer``, and no base rate: an AUPRC beside it is skill only as far as ``auprc_lift`` is
    above 0.
    """
    return _by_score(study, row)


def _by_score(study: Study, figure: Callable[[Tied], Result], sides: Sequence[str] = ("observer", "speaker")) -> Result:
    by_score = {score: study.scores(score) for score in SCORES}

    def split(part: Scores) -> Result:
        return split_by(part, lambda mask: figure(part.tied(mask)), sides)

    return {score: split(scores) for score, scores in by_score.items()}


def split_by(
    scores: Scores, figure: Callable[[Array], Result], sides: Sequence[str] = ("observer", "speaker")
) -> Result:
    """Return a figure of all of some scores, and of each role's on either side.

    Args:
        scores: the scores.
        figure: of those that a mask tells.
        sides: which sides.
    """
    import numpy as np

    codes = {side: scores.observer if side == "observer" else scores.speaker for side in sides}
    return {"overall": figure(np.ones(len(scores.scores), bool))} | {
        f"by_{side}": {role: figure(roles == code) for code, role in enumerate(ROLES)} for side, roles in codes.items()
    }


def row(ties: Tied) -> Result:
    """Return one row of Table 4; what is undefined is None, with its reason in ``undefined``.

    - ``n`` judgements, ``deceptive`` of them of deceptive statements; ``base_rate`` is their share.
    - ``brier``, and ``brier_skill`` against always saying the base rate.
    - ``auc`` (0.5 tells nothing), ``auprc`` and ``auprc_lift`` = AUPRC − base rate (0 tells
      nothing).
    - ``ece`` and ``reliability``: see `analytics.measures.scores`.
    """
    share, average = base_rate(ties), auprc(ties)
    values: Result = {
        "base_rate": share,
        "brier": brier(ties),
        "brier_skill": brier_skill(ties),
        "auc": auc(ties),
        "auprc": average,
        "auprc_lift": None if average is None or share is None else average - share,
        "ece": expected_calibration_error(ties),
    }
    return {
        "n": ties.n,
        "deceptive": ties.positives,
        **values,
        "reliability": reliability(ties),
        "undefined": {name: ties.one_sided() for name, value in values.items() if value is None},
    }


# -- intervals


def row_intervals(
    judgements: Scores, cells: Cells, mask: Array | None = None, names: Sequence[str] = FIGURES
) -> dict[str, Leaf]:
    """Return the intervals of a row's figures.

    Areas under curves come from histograms, moved by what cells of several scores make of the
    pooled value; the calibration error keeps to the bins that the rows have over all games. Scores
    that maps made of other games stay as they are in every draw: the intervals tell what games were
    met, not what other games would have fitted.

    Args:
        judgements: in ascending order of their scores.
        cells: cell of each distinct score, and the number of cells.
        mask: which judgements; all unless given.
        names: which figures.
    """
    import numpy as np

    mask = np.ones(len(judgements.scores), bool) if mask is None else mask
    part, count, draws = judgements.tied(mask), judgements.block_count, draws_of(judgements.block_count)
    if not part.n:
        return dict.fromkeys(names)
    scores, deceptive, block = judgements.scores[mask], judgements.deceptive[mask], judgements.blocks[mask]
    bins = np.repeat(bins_of(part.totals), part.totals)
    binned = [by_cell(block, count, bins, BINS, weights) for weights in (scores, deceptive, None)]
    missed = by_block(block, count, (scores - deceptive) ** 2)
    drawn = draws.sums(np.concatenate([missed, *binned], axis=1))
    expected, yes, n = (drawn[:, 1 + part * BINS : 1 + (part + 1) * BINS] for part in range(3))
    total = n.sum(axis=1)
    share, error = ratio(yes.sum(axis=1), total), ratio(drawn[:, 0], total)
    pooled, histogram = histograms(judgements, cells, mask)
    average = recentred(average_precision(histogram), auprc(part), average_precision(pooled))
    figures = {
        "brier": error,
        "brier_skill": 1 - ratio(error, share * (1 - share)),
        "auc": recentred(roc_area(histogram), auc(part), roc_area(pooled)),
        "auprc": average,
        "auprc_lift": average - share,
        "ece": ratio(np.abs(expected - yes).sum(axis=1), total),
    }
    blocks = int(binned[2].any(axis=1).sum())
    return {name: draws.interval(figures[name], blocks).leaf for name in names}


def histograms(scores: Scores, cells: Cells, mask: Array) -> tuple[Array, Array]:
    """Return counts by class and cell: of all games, and by draw."""
    counts = scores.histogram(cells, scores.blocks, scores.block_count, mask)
    drawn = draws_of(scores.block_count).sums(counts)
    return counts.sum(axis=0, dtype="f8").reshape(2, cells[1]), drawn.reshape(-1, 2, cells[1])


def table4_intervals(study: Study) -> Result:
    """Return the intervals of Table 4, in its shape (paper 5.7; metrics: Table 4)."""
    return {
        score: split_by(scores, partial(row_intervals, scores, study.cells(score)))
        for score, scores in ((score, study.scores(score)) for score in SCORES)
    }


# -- curves

POINTS: Final = 200
"""Points of a curve that are kept at most."""
TOLERANCE: Final = 0.002
"""How far the drawn line may be from a point that is left out, in the units of both axes: 1 is the
whole axis.
"""

_COARSE: Final = 0.0005
"""Length of the steps that are left out before anything is compared, which bounds the work."""


def curves(study: Study) -> Result:
    """Return the curves (paper 4.5; metrics: Thresholds), for suspicion and for D before the
    statement.

    Each of ``suspicion`` and ``before`` has ``overall`` and ``by_observer`` (by role), as `curve`
    describes.
    """
    return _by_score(study, curve, ("observer",))


def curve(ties: Tied) -> Result:
    """Return both curves of some judgements, empty with a ``reason`` unless statements of both
    labels were judged.

    - ``roc``: [false-positive rate, true-positive rate, threshold], from (0, 0) to (1, 1). A
      statement counts as flagged when its score is at least the threshold; the first point flags
      nothing, and its threshold is None.
    - ``pr``: [recall, precision, threshold], from recall 0 to 1. The first point flags nothing: its
      threshold is None, and its precision is set to 1, as scikit-learn does.
    - ``auc`` and ``auprc`` are those of the whole curves; ``base_rate`` is the precision of flags
      that tell nothing.
    - ``moved``: how far the thinned curves are from the whole ones at most; see `thinned`.
    """
    reason = ties.one_sided()
    result: Result = {
        "n": ties.n,
        "roc": [],
        "pr": [],
        "auc": auc(ties),
        "auprc": auprc(ties),
        "base_rate": base_rate(ties),
        "moved": None,
        "reason": reason,
    }
    if reason is None:
        from sklearn.metrics import precision_recall_curve, roc_curve

        labels, scores, weights = ties.weighted()
        alarms, hits, thresholds = roc_curve(labels, scores, sample_weight=weights)
        precision, recall, pr_thresholds = precision_recall_curve(labels, scores, sample_weight=weights)
        result["roc"], off = _points(alarms, hits, thresholds[1:])
        result["pr"], off_too = _points(recall[::-1], precision[::-1], pr_thresholds[::-1])
        result["moved"] = max(off, off_too)
    return result


def _points(x: Array, y: Array, thresholds: Array) -> tuple[list[list[float | None]], float]:
    """Return the thinned points of a curve whose first point has no threshold."""
    chosen, moved = thinned(x, y)
    cutoffs: list[float | None] = [None, *thresholds[chosen[1:] - 1].tolist()]
    return [[*point] for point in zip(x[chosen].tolist(), y[chosen].tolist(), cutoffs, strict=True)], moved


def thinned(x: Array, y: Array) -> tuple[Array, float]:
    """Return which points of a line to keep, and how far the line through them is from the whole
    one.

    The ends stay; then the point farthest from the line joins it (as in Douglas and Peucker's
    algorithm), until none is farther than `TOLERANCE` or there are `POINTS`. So a line of a few
    hundred large steps, as a few hundred judgements with distinct scores give, may be off by more
    than the tolerance; the distance returned tells.

    Args:
        x: finite numbers.
        y: as many.
    """
    import numpy as np

    everything = np.arange(len(x))
    if len(x) <= POINTS:
        return everything, 0.0
    distance = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    step = np.floor(distance / _COARSE)
    coarse = np.flatnonzero(np.concatenate([[True], step[1:] != step[:-1]]))
    if coarse[-1] != len(x) - 1:
        coarse = np.append(coarse, len(x) - 1)
    chosen = coarse[_farthest_first(x[coarse], y[coarse])]
    piece = np.clip(np.searchsorted(chosen, everything, side="right") - 1, 0, len(chosen) - 2)
    ends = chosen[piece], chosen[piece + 1]
    return chosen, float(_distance(x, y, (x[ends[0]], y[ends[0]]), (x[ends[1]], y[ends[1]])).max())


def _farthest_first(x: Array, y: Array) -> Array:
    import numpy as np

    last = len(x) - 1
    chosen = {0, last}
    waiting: list[tuple[float, int, int, int]] = []

    def weigh(start: int, end: int) -> None:
        if end - start > 1:
            inner = slice(start + 1, end)
            distance = _distance(x[inner], y[inner], (x[start], y[start]), (x[end], y[end]))
            index = int(distance.argmax())
            heapq.heappush(waiting, (-float(distance[index]), start + 1 + index, start, end))

    weigh(0, last)
    while waiting and len(chosen) < POINTS and -waiting[0][0] > TOLERANCE - _COARSE:
        _, middle, start, end = heapq.heappop(waiting)
        chosen.add(middle)
        weigh(start, middle)
        weigh(middle, end)
    return np.array(sorted(chosen))


def _distance(x: Array, y: Array, start: tuple[Array, Array], end: tuple[Array, Array]) -> Array:
    """Return the distance of points from a stretch of line, its ends included."""
    import numpy as np

    across, up = end[0] - start[0], end[1] - start[1]
    length = across * across + up * up
    part = ((x - start[0]) * across + (y - start[1]) * up) / np.where(length > 0, length, 1.0)
    part = np.clip(part, 0.0, 1.0)
    distance: Array = np.hypot(x - start[0] - part * across, y - start[1] - part * up)
    return distance
