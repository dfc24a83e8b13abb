"""ROC and precision-recall curves of suspicion (paper, section 4.5: threshold analyses)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics.accumulator import Result
from analytics.scores.judged import Judged
from analytics.scores.measures import auc, auprc, base_rate
from analytics.scores.predictions import QUANTITIES
from analytics.scores.thinning import thinned
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array, Columns
    from analytics.scores.predictions import Predictions
    from analytics.scores.tied import Tied


def curves(columns: Columns, judged: Judged | None = None) -> Result:
    """Return the curves (paper 4.5; metrics: Thresholds), for suspicion and for D before the statement.

    Each of ``suspicion`` and ``before`` has ``overall`` and ``by_observer`` (by role), as `curve` describes.

    Args:
        columns: the games.
        judged: what is computed of them already.
    """
    known = judged or Judged(columns)
    return {quantity: _section(known.predictions(quantity)) for quantity in QUANTITIES}


def _section(held: Predictions) -> Result:
    return {
        "overall": curve(held.tied()),
        "by_observer": {role: curve(held.tied(held.observer == code)) for code, role in enumerate(ROLES)},
    }


def curve(tied: Tied) -> Result:
    """Return both curves of some judgements, empty with a ``reason`` unless statements of both labels were judged.

    - ``roc``: [false-positive rate, true-positive rate, threshold], from (0, 0) to (1, 1). A statement counts as
      flagged when its score is at least the threshold; the first point flags nothing, and its threshold is None.
    - ``pr``: [recall, precision, threshold], from recall 0 to 1. The first point flags nothing: its threshold is None,
      and its precision is set to 1, as scikit-learn does.
    - ``auc`` and ``auprc`` are those of the whole curves; ``base_rate`` is the precision of flags that tell nothing.
    - ``moved``: how far the thinned curves are from the whole ones at most; see `analytics.scores.thinning`.
    """
    reason = tied.one_sided()
    result: Result = {
        "n": tied.n,
        "roc": [],
        "pr": [],
        "auc": auc(tied),
        "auprc": auprc(tied),
        "base_rate": base_rate(tied),
        "moved": None,
        "reason": reason,
    }
    if reason is None:
        from sklearn.metrics import precision_recall_curve, roc_curve

        labels, scores, weights = tied.weighted()
        alarms, hits, at = roc_curve(labels, scores, sample_weight=weights)
        precision, recall, above = precision_recall_curve(labels, scores, sample_weight=weights)
        result["roc"], off = _points(alarms, hits, at[1:])
        result["pr"], off_too = _points(recall[::-1], precision[::-1], above[::-1])
        result["moved"] = max(off, off_too)
    return result


def _points(x: Array, y: Array, thresholds: Array) -> tuple[list[list[float | None]], float]:
    """Return the thinned points of a curve whose first point has no threshold."""
    kept, moved = thinned(x, y)
    at: list[float | None] = [None, *thresholds[kept[1:] - 1].tolist()]
    return [[*point] for point in zip(x[kept].tolist(), y[kept].tolist(), at, strict=True)], moved
