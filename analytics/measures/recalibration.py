"""What is chosen on some games and scored on others: thresholds, suspicion made into flags (paper, section 4.5); and
recalibration, suspicion mapped to a probability (paper, section 5.7: "calibration adjustments could improve detection
without altering gameplay").
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from analytics import Result
from analytics.measures import formulas
from analytics.measures.bootstrap import Leaf, by_cell, draws_of
from analytics.measures.columns import columns_of
from analytics.measures.formulas import confusion, number, ratio, roc_pairs
from analytics.measures.headlines import SCORES, Score
from analytics.measures.maps import KINDS, Kind, SavedMap, fit
from analytics.measures.scores import Scores, Tied, calibration, recentred, reliability, scores_of, tied
from analytics.measures.study import Study
from analytics.measures.table4 import histograms, row_intervals

if TYPE_CHECKING:
    from analytics.measures.columns import Array
    from analytics.rows import GameRows

Rule: TypeAlias = Literal["youden", "best_f1"]
"""What a threshold is to make greatest: Youden's J = true-positive rate − false-positive rate, or
F1.
"""

RULES: Final[tuple[Rule, ...]] = ("youden", "best_f1")
HALF: Final = 0.5
"""Where suspicion, taken at its word, says "more likely deceptive than not"."""
FOLDS: Final = 5
"""Parts into which the blocks of games are dealt (metrics: Recalibration)."""

MEASURES: Final = (
    "balanced_accuracy",
    "f1",
    "precision",
    "recall",
    "accuracy",
    "n",
    "base_rate",
    "constant_accuracy",
)
"""What of Table 3 is told of flags made by thresholds."""


def folds_of(blocks: Array) -> Array:
    """Return the fold of every judgement, from 0; judgements of one block are in one fold (metrics:
    GroupKFold(5)).

    Args:
        blocks: block of each judgement, of at least `FOLDS` blocks.
    """
    import numpy as np
    from sklearn.model_selection import GroupKFold

    folds = np.empty(len(blocks), "i1")
    for fold, (_, held_out) in enumerate(GroupKFold(FOLDS).split(blocks, groups=blocks)):
        folds[held_out] = fold
    return folds


def split(study: Study, score: Score) -> tuple[Array | None, str | None]:
    """Return the folds of judgements, or None and why nothing can be fitted and scored on them.

    Every fit needs deceptive and truthful statements outside the fold that it is scored on.
    """
    return study.cached(("folds", score), lambda: _split(study.scores(score)))


def _split(scores: Scores) -> tuple[Array | None, str | None]:
    import numpy as np

    reason = scores.tied().one_sided()
    if reason is not None:
        return None, reason
    count = len(np.unique(scores.blocks))
    if count < FOLDS:
        return None, f"needs {FOLDS} blocks of games with judgements that count, and there are {count}"
    folds = folds_of(scores.blocks)
    for fold in range(FOLDS):
        outside = scores.deceptive[folds != fold]
        if outside.all() or not outside.any():
            return None, "in the games outside one fold every statement that was judged has the same label"
    return folds, None


def thresholds(study: Study) -> Result:
    """Return Youden's and the best-F1 threshold (paper 4.5; metrics: Thresholds), for suspicion and
    for D before.

    A statement counts as flagged when its score is at least the threshold. Each rule has

    - ``threshold``: the median of those fitted with one fold of games left out each, which are
      ``fold_thresholds``; ``all_games``: the one fitted on all games.
    - ``held_out``: measures of the flags that each fold gets from the threshold of the other games,
      all folds pooled; ``folds`` how many, 0 with a ``reason`` if the games do not allow it.
    - ``at_half`` and ``flags``: the same measures of the same judgements for the threshold 0.5,
      which nobody has to fit, and for the flags that the observers raised themselves.

    The measures are those of Table 3, ``constant_accuracy`` (the better constant guess) and
    ``base_rate`` among them.
    """
    return {score: {rule: _threshold(study, score, rule) for rule in RULES} for score in SCORES}


def _threshold(study: Study, score: Score, rule: Rule) -> Result:
    scores, (folds, reason), flags = study.scores(score), split(study, score), held_out_flags(study, score, rule)
    whole = scores.tied()
    return {
        "threshold": None if flags is None else sorted(flags[0])[FOLDS // 2],
        "all_games": None if whole.one_sided() else best(whole, rule),
        "fold_thresholds": None if flags is None else flags[0],
        "held_out": None if flags is None else _measures(flags[1], scores.deceptive),
        "at_half": _measures(scores.scores >= HALF, scores.deceptive),
        "flags": _measures(scores.flags, scores.deceptive),
        "folds": 0 if folds is None else FOLDS,
        "reason": reason,
    }


def thresholds_intervals(study: Study) -> Result:
    """Return the intervals of what held-out flags come to (paper 4.5; metrics: Thresholds)."""
    return {score: {rule: _intervals(study, score, rule) for rule in RULES} for score in SCORES}


def _intervals(study: Study, score: Score, rule: Rule) -> dict[str, Leaf]:
    import numpy as np

    names = [name for name in MEASURES if name != "n"]
    scores, out = study.scores(score), held_out_flags(study, score, rule)
    if out is None:
        return dict.fromkeys(names)
    counts = by_cell(scores.blocks, study.blocks, 2 * scores.deceptive + out[1], 4)
    draws = draws_of(study.blocks)
    drawn = draws.sums(counts.astype(np.float64)).reshape(-1, 2, 2)
    nonempty = int(counts.any(axis=1).sum())
    return {name: draws.interval(formulas.MEASURES[name](drawn), nonempty).leaf for name in names}


def held_out_flags(study: Study, score: Score, rule: Rule) -> tuple[list[float], Array] | None:
    """Return by fold the threshold that fits all other folds, and the flags that the judgements get from them, in the
    order of their scores; None if there are no folds.
    """
    import numpy as np

    scores, (folds, _) = study.scores(score), split(study, score)
    if folds is None:
        return None

    def compute() -> tuple[list[float], Array]:
        fitted = [best(scores.tied(folds != fold), rule) for fold in range(FOLDS)]
        return fitted, scores.scores >= np.array(fitted)[folds]

    return study.cached(("flags", score, rule), compute)


def best(ties: Tied, rule: Rule) -> float:
    """Return the score which, as a threshold, makes `rule` greatest; the highest of several.

    Args:
        ties: scores, of deceptive and truthful statements both.
        rule: what to make greatest.
    """
    import numpy as np

    alarms, hits = np.cumsum(ties.counts[:, ::-1], axis=1)
    if rule == "youden":
        # J times a constant, in whole numbers: equal is equal
        gain = hits * (ties.n - ties.positives) - alarms * ties.positives
    else:
        gain = 2 * hits / (hits + alarms + ties.positives)
    return float(ties.values[::-1][int(gain.argmax())])


def _measures(flagged: Array, deceptive: Array) -> Result:
    import numpy as np

    counts = np.bincount(2 * deceptive.astype(np.int64) + flagged, minlength=4).reshape(2, 2)
    measures = confusion(counts)
    return {name: measures[name] for name in MEASURES}


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

    scores, (folds, reason) = study.scores("suspicion"), split(study, "suspicion")
    return {
        **{kind: None if folds is None else _recalibrated(study, folds, kind) for kind in KINDS},
        "folds": 0 if folds is None else FOLDS,
        "blocks": len(np.unique(scores.blocks)),
        "games": len(np.unique(scores.games)),
        "reason": reason,
    }


def held_out_scores(study: Study, folds: Array, kind: Kind) -> Scores:
    """Return the judgements with what a map of a kind, fitted on the other folds, makes of each suspicion; in the order
    of the suspicions as they were.
    """
    import numpy as np

    scores = study.scores("suspicion")

    def compute() -> Scores:
        mapped = np.empty(len(folds), "f8")
        for fold in range(FOLDS):
            inside = folds == fold
            mapped[inside] = fit(scores.tied(~inside), kind).apply(scores.scores[inside])
        return replace(scores, scores=mapped)

    return study.cached(("mapped", kind), compute)


def auc_within_folds(scores: Scores, folds: Array) -> float | None:
    """Return the share of pairs of a deceptive and a truthful statement of the same fold in which
    the former scores higher, equal scores counted half; None without such a pair.
    """
    import numpy as np

    won, pairs = np.sum([roc_pairs(scores.counts(folds == fold)) for fold in range(FOLDS)], axis=0)
    return number(ratio(won, pairs))


def _recalibrated(study: Study, folds: Array, kind: Kind) -> Result:
    whole, mapped = study.scores("suspicion").tied(), held_out_scores(study, folds, kind)
    after = mapped.tied()
    return {
        "before": calibration(whole),
        "after": {**calibration(after), "auc": auc_within_folds(mapped, folds)},
        "map": fit(whole, kind).model_dump(mode="json"),
        "reliability": reliability(after),
    }


def recalibration_intervals(study: Study) -> Result:
    """Return the intervals of Brier score, calibration error and AUC before and after held-out maps
    (paper 5.7; metrics: Recalibration).
    """
    import numpy as np

    scores, (folds, _) = study.scores("suspicion"), split(study, "suspicion")
    if folds is None:
        return {kind: {when: dict.fromkeys(FIGURES) for when in ("before", "after")} for kind in KINDS}
    before = row_intervals(scores, scores.own_cells, names=FIGURES)
    intervals: Result = {}
    for kind in KINDS:
        mapped = held_out_scores(study, folds, kind)
        order = np.argsort(mapped.scores, kind="stable")
        after = mapped.subset(order)
        drawn = row_intervals(after, after.own_cells, names=FIGURES[:2])
        intervals[kind] = {"before": dict(before), "after": {**drawn, "auc": _area_interval(after, folds[order])}}
    return intervals


def _area_interval(scores: Scores, folds: Array) -> Leaf:
    """Return the interval of the AUC within folds of scores in ascending order."""
    import numpy as np

    draws = draws_of(scores.block_count)
    drawn, coarse = np.zeros((2, draws.draws)), np.zeros(2)
    for fold in range(FOLDS):
        in_fold = scores.subset(folds == fold)
        whole, histogram = histograms(in_fold, in_fold.own_cells, np.ones(len(in_fold.scores), bool))
        drawn += roc_pairs(histogram)
        coarse += roc_pairs(whole)
    areas = recentred(ratio(*drawn), auc_within_folds(scores, folds), ratio(*coarse))
    return draws.interval(areas, len(np.unique(scores.blocks))).leaf


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
    scores = scores_of(columns_of([game]), "suspicion")
    return {
        "before": _row(scores.tied()),
        "after": _row(tied(saved.map.apply(scores.scores), scores.deceptive)),
        "map": {
            "kind": saved.map.kind,
            "n": saved.n,
            "games": saved.games,
            "held_out": saved.held_out.model_dump(mode="json"),
        },
    }


def _row(ties: Tied) -> Result:
    values = calibration(ties)
    return {**values, "undefined": {name: ties.one_sided() for name in FIGURES if values[name] is None}}
