"""Thresholds: suspicion made into flags, scored on games that had no part in the choice (paper,
section 4.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from analytics import Result
from analytics.measures import formulas
from analytics.measures.bootstrap import draws_of
from analytics.measures.estimates import Leaf
from analytics.measures.formulas import Confusion
from analytics.measures.measure import SCORES, Score
from analytics.measures.scores import Scores, Tied
from analytics.measures.study import Study

if TYPE_CHECKING:
    from analytics.columns import Array

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

    found = np.empty(len(blocks), "i1")
    for fold, (_, held_out) in enumerate(GroupKFold(FOLDS).split(blocks, groups=blocks)):
        found[held_out] = fold
    return found


def split(study: Study, score: Score) -> tuple[Array | None, str | None]:
    """Return the folds of judgements, or None and why nothing can be fitted and scored on them.

    Every fit needs deceptive and truthful statements outside the fold that it is scored on.
    """
    if score not in study.folds:
        study.folds[score] = _split(study.scores(score))
    return study.folds[score]


def _split(held: Scores) -> tuple[Array | None, str | None]:
    import numpy as np

    reason = held.tied().one_sided()
    if reason is not None:
        return None, reason
    count = len(np.unique(held.blocks))
    if count < FOLDS:
        return (
            None,
            f"needs {FOLDS} blocks of games with judgements that count, and there are {count}",
        )
    folds = folds_of(held.blocks)
    for fold in range(FOLDS):
        outside = held.deceptive[folds != fold]
        if outside.all() or not outside.any():
            return (
                None,
                "in the games outside one fold every statement that was judged has the same label",
            )
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
    return {score: _section(study, score) for score in SCORES}


def _section(study: Study, score: Score) -> Result:
    held, (folds, reason) = study.scores(score), split(study, score)
    shared: Result = {
        "at_half": _measures(held.scores >= HALF, held.deceptive),
        "flags": _measures(held.flags, held.deceptive),
        "folds": 0 if folds is None else FOLDS,
        "reason": reason,
    }
    return {rule: _fitted(study, score, rule) | shared for rule in RULES}


def _fitted(study: Study, score: Score, rule: Rule) -> Result:
    held = study.scores(score)
    whole, found = held.tied(), held_out_flags(study, score, rule)
    return {
        "threshold": None if found is None else sorted(found.thresholds)[FOLDS // 2],
        "all_games": None if whole.one_sided() else best(whole, rule),
        "fold_thresholds": None if found is None else list(found.thresholds),
        "held_out": None if found is None else _measures(found.flags, held.deceptive),
    }


def thresholds_intervals(study: Study) -> Result:
    """Return the intervals of what held-out flags come to (paper 4.5; metrics: Thresholds)."""
    return {score: {rule: _intervals(study, score, rule) for rule in RULES} for score in SCORES}


def _intervals(study: Study, score: Score, rule: Rule) -> dict[str, Leaf]:
    import numpy as np

    names = [name for name in MEASURES if name != "n"]
    held, out = study.scores(score), held_out_flags(study, score, rule)
    if out is None:
        return dict.fromkeys(names)
    code = (held.blocks.astype(np.int64) * 2 + held.deceptive) * 2 + out.flags
    counts = np.bincount(code, minlength=study.blocks * 4).reshape(study.blocks, 4)
    draws = draws_of(study.blocks)
    drawn = draws.sums(counts.astype(np.float64)).reshape(-1, 2, 2)
    found: dict[str, Leaf] = {}
    for name in names:
        low, high, _ = draws.interval(formulas.MEASURES[name](drawn), int(counts.any(axis=1).sum()))
        found[name] = None if low is None or high is None else [low, high]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutFlags:
    """Flags made of scores by thresholds that were fitted on other games.

    Attributes:
        thresholds: by fold, the one that fits all other folds.
        flags: of the judgements in the order of their scores.
    """

    thresholds: tuple[float, ...]
    flags: Array


def held_out_flags(study: Study, score: Score, rule: Rule) -> HeldOutFlags | None:
    """Return the flags that each fold gets from the threshold of the other games; None if there are
    no folds.
    """
    import numpy as np

    held, (folds, _) = study.scores(score), split(study, score)
    if folds is None:
        return None
    found = tuple(best(held.tied(folds != fold), rule) for fold in range(FOLDS))
    return HeldOutFlags(found, held.scores >= np.array(found)[folds])


def best(held: Tied, rule: Rule) -> float:
    """Return the score which, as a threshold, makes `rule` greatest; the highest of several.

    Args:
        held: scores, of deceptive and truthful statements both.
        rule: what to make greatest.
    """
    import numpy as np

    alarms, hits = np.cumsum(held.counts[:, ::-1], axis=1)
    if rule == "youden":
        # J times a constant, in whole numbers: equal is equal
        gain = hits * (held.n - held.positives) - alarms * held.positives
    else:
        gain = 2 * hits / (hits + alarms + held.positives)
    return float(held.values[::-1][int(gain.argmax())])


def _measures(flagged: Array, deceptive: Array) -> Result:
    import numpy as np

    counts = np.bincount(2 * deceptive.astype(np.int64) + flagged, minlength=4).reshape(2, 2)
    measures = Confusion.of(counts).measures()
    return {name: measures[name] for name in MEASURES}
