"""Recalibration: suspicion mapped to a probability, and scored on games that the map has not seen
(paper, section 5.7: "calibration adjustments could improve detection without altering gameplay").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.columns import columns_of
from analytics.measures.maps import KINDS, Kind, SavedMap, as_json, fit
from analytics.measures.scores import Scores, Tied, calibration, reliability, scores_of, tied
from analytics.measures.study import Study
from analytics.measures.table4 import Scored, scored, whole_intervals
from analytics.measures.thresholds import FOLDS, split

if TYPE_CHECKING:
    from analytics.columns import Array
    from analytics.rows import GameRows

FIGURES: Final = ("brier", "ece", "auc")
"""Figures that a map is judged by."""


def recalibration(study: Study) -> Result:
    """Return Platt and isotonic maps s → P(deceptive) and what they do (paper 5.7; metrics:
    Recalibration).

    ``platt`` and ``isotonic`` each have

    - ``before`` and ``after``: ``brier ece auc n`` of the suspicions as they are, and as a map
      fitted on the other four folds of games makes them, all folds pooled. The AUC may fall:
      pooling mixes five maps, and an isotonic map makes ties.
    - ``reliability``: the curve of the latter; see `analytics.measures.scores.reliability`.
    - ``map``: the map fitted on all games; see `analytics.measures.maps`.

    Both are None with a ``reason`` under 5 blocks of games, or where the games outside a fold have
    one label only. ``folds`` is 5 or then 0; ``blocks`` and ``games`` count those with judgements
    that count.
    """
    import numpy as np

    held, (folds, reason) = study.scores("suspicion"), split(study, "suspicion")
    return {
        **{kind: None if folds is None else _recalibrated(held, folds, kind) for kind in KINDS},
        "folds": 0 if folds is None else FOLDS,
        "blocks": len(np.unique(held.blocks)),
        "games": len(np.unique(held.games)),
        "reason": reason,
    }


def held_out_probabilities(held: Scores, folds: Array, kind: Kind) -> Array:
    """Return what a map of a kind, fitted on the other folds, makes of each score, in the order of
    the scores.
    """
    import numpy as np

    found = np.empty(len(folds), "f8")
    for fold in range(FOLDS):
        inside = folds == fold
        found[inside] = fit(held.tied(~inside), kind).apply(held.scores[inside])
    return found


def _recalibrated(held: Scores, folds: Array, kind: Kind) -> Result:
    whole, after = held.tied(), tied(held_out_probabilities(held, folds, kind), held.deceptive)
    return {
        "before": calibration(whole),
        "after": calibration(after),
        "map": as_json(fit(whole, kind)),
        "reliability": reliability(after),
    }


def recalibration_intervals(study: Study) -> Result:
    """Return the intervals of Brier score, calibration error and AUC before and after held-out maps
    (paper 5.7; metrics: Recalibration).
    """
    import numpy as np

    held, (folds, _) = study.scores("suspicion"), split(study, "suspicion")
    if folds is None:
        return {kind: {when: dict.fromkeys(FIGURES) for when in ("before", "after")} for kind in KINDS}
    rows = scored(study, held)
    before = whole_intervals(rows, FIGURES)
    found: Result = {}
    for kind in KINDS:
        probabilities = held_out_probabilities(held, folds, kind)
        order = np.argsort(probabilities, kind="stable")
        after = Scored(probabilities[order], rows.deceptive[order], rows.blocks[order], rows.count)
        found[kind] = {"before": dict(before), "after": whole_intervals(after, FIGURES)}
    return found


def recalibrated(game: GameRows, saved: SavedMap) -> Result:
    """Return the scores of a game's suspicions before and after a saved map (metrics:
    Recalibration; paper 5.7).

    - ``before`` and ``after``: ``brier ece auc n``, and ``undefined`` with the reason for each that
      is None.
    - ``map``: its ``kind``, the ``n`` judgements and ``games`` that it was fitted on, and its
      ``held_out`` scores.

    Whether the game was among those nobody can tell from the file; the map does better there than
    it should.
    """
    held = scores_of(columns_of([game]), "suspicion")
    return {
        "before": _row(held.tied()),
        "after": _row(tied(saved.map.apply(held.scores), held.deceptive)),
        "map": {
            "kind": saved.map.kind,
            "n": saved.n,
            "games": saved.games,
            "held_out": saved.held_out.model_dump(mode="json"),
        },
    }


def _row(held: Tied) -> Result:
    values = calibration(held)
    return {
        **values,
        "undefined": {name: held.one_sided() for name in FIGURES if values[name] is None},
    }
