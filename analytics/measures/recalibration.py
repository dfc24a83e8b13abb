"""Recalibration: suspicion mapped to a probability, and scored on games that the map has not seen
(paper, section 5.7: "calibration adjustments could improve detection without altering gameplay").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.columns import columns_of
from analytics.measures.bootstrap import draws_of
from analytics.measures.estimates import Leaf
from analytics.measures.formulas import number, ratio, roc_pairs
from analytics.measures.maps import KINDS, Kind, SavedMap, as_json, fit
from analytics.measures.scores import (
    Scores,
    Tied,
    calibration,
    cells_of,
    reliability,
    scores_of,
    tied,
)
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
      fitted on the other four folds of games makes them. Brier score and calibration error are over
      all folds together. The AUC after is over pairs of judgements of the same fold: pairs of two
      folds would be held against each other through two maps. Platt's map leaves the order of a
      fold as it is; an isotonic one makes ties.
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


def auc_within_folds(scores: Array, deceptive: Array, folds: Array) -> float | None:
    """Return the share of pairs of a deceptive and a truthful statement of the same fold in which
    the former scores higher, equal scores counted half; None without such a pair.
    """
    import numpy as np

    parts = [tied(scores[folds == fold], deceptive[folds == fold]).counts for fold in range(FOLDS)]
    won, pairs = np.sum([roc_pairs(counts) for counts in parts], axis=0)
    return number(ratio(won, pairs))


def _recalibrated(held: Scores, folds: Array, kind: Kind) -> Result:
    whole, made = held.tied(), held_out_probabilities(held, folds, kind)
    after = tied(made, held.deceptive)
    return {
        "before": calibration(whole),
        "after": {**calibration(after), "auc": auc_within_folds(made, held.deceptive, folds)},
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
        found[kind] = {
            "before": dict(before),
            "after": {**whole_intervals(after, FIGURES[:2]), "auc": _area_interval(after, folds[order])},
        }
    return found


def _area_interval(rows: Scored, folds: Array) -> Leaf:
    """Return the interval of the AUC within folds of scores in ascending order."""
    import numpy as np

    drawn, coarse = np.zeros((2, draws_of(rows.count).draws)), np.zeros(2)
    for fold in range(FOLDS):
        own = rows.of(folds == fold)
        counts = np.unique(own.scores, return_counts=True)[1]
        cells = np.repeat(cells_of(counts), counts)
        width = int(cells.max(initial=-1)) + 1
        drawn += roc_pairs(own.histogram(cells, width))
        whole = np.bincount(own.deceptive * width + cells, minlength=2 * width).reshape(2, width)
        coarse += roc_pairs(whole)
    exact = auc_within_folds(rows.scores, rows.deceptive, folds)
    moved = np.clip(ratio(*drawn) + ((exact or 0) - float(ratio(*coarse))), 0, 1)
    low, high, _ = draws_of(rows.count).interval(moved, len(np.unique(rows.blocks)))
    return None if low is None or high is None else [low, high]


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
