"""Recalibration: suspicion mapped to a probability, and scored on games that the map has not seen (paper, section 5.7:
"calibration adjustments could improve detection without altering gameplay").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics.accumulator import Result
from analytics.scores.fitting import fit
from analytics.scores.folds import FOLDS
from analytics.scores.judged import Judged
from analytics.scores.maps import KINDS, Kind, as_json
from analytics.scores.measures import calibration
from analytics.scores.reliability import reliability
from analytics.scores.tied import tied

if TYPE_CHECKING:
    from analytics.columns import Array, Columns
    from analytics.scores.predictions import Predictions


def recalibration(columns: Columns, judged: Judged | None = None) -> Result:
    """Return Platt and isotonic maps s → P(deceptive) and what they do (paper 5.7; metrics: Recalibration).

    ``platt`` and ``isotonic`` each have

    - ``before`` and ``after``: ``brier ece auc n`` of the suspicions as they are, and as a map fitted on the other four
      folds of games makes them, all folds pooled. The AUC may fall: pooling mixes five maps, and an isotonic map makes
      ties.
    - ``reliability``: the curve of the latter; see `analytics.scores.reliability`.
    - ``map``: the map fitted on all games; see `analytics.scores.maps`.

    Both are None with a ``reason`` under 5 blocks of games, or where the games outside a fold have one label only.
    ``folds`` is 5 or then 0; ``blocks`` and ``games`` count those with judgements that count.

    Args:
        columns: the games.
        judged: what is computed of them already.
    """
    import numpy as np

    known = judged or Judged(columns)
    held, (folds, reason) = known.predictions("suspicion"), known.split("suspicion")
    return {
        **{kind: None if folds is None else _recalibrated(held, folds, kind) for kind in KINDS},
        "folds": 0 if folds is None else FOLDS,
        "blocks": len(np.unique(held.blocks)),
        "games": len(np.unique(held.games)),
        "reason": reason,
    }


def held_out_probabilities(held: Predictions, folds: Array, kind: Kind) -> Array:
    """Return what a map of a kind, fitted on the other folds, makes of each score, in the order of the scores."""
    import numpy as np

    found = np.empty(len(folds), "f8")
    for fold in range(FOLDS):
        inside = folds == fold
        found[inside] = fit(held.tied(~inside), kind).apply(held.scores[inside])
    return found


def _recalibrated(held: Predictions, folds: Array, kind: Kind) -> Result:
    whole, after = held.tied(), tied(held_out_probabilities(held, folds, kind), held.deceptive)
    return {
        "before": calibration(whole),
        "after": calibration(after),
        "map": as_json(fit(whole, kind)),
        "reliability": reliability(after),
    }
