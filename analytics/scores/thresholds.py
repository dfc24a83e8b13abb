"""Thresholds: suspicion made into flags, scored on games that had no part in the choice (paper, section 4.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from analytics.accumulator import Result
from analytics.scores.folds import FOLDS
from analytics.scores.judged import Judged
from analytics.scores.predictions import QUANTITIES, Quantity
from analytics.tables.detection import Confusion

if TYPE_CHECKING:
    from analytics.columns import Array, Columns
    from analytics.scores.tied import Tied

Rule: TypeAlias = Literal["youden", "best_f1"]
"""What a threshold is to make greatest: Youden's J = true-positive rate − false-positive rate, or F1."""

RULES: Final[tuple[Rule, ...]] = ("youden", "best_f1")
HALF: Final = 0.5
"""Where suspicion, taken at its word, says "more likely deceptive than not"."""

MEASURES: Final = ("balanced_accuracy", "f1", "precision", "recall", "accuracy", "n", "base_rate", "constant_accuracy")
"""What of Table 3 is told of flags made by thresholds."""


def thresholds(columns: Columns, judged: Judged | None = None) -> Result:
    """Return Youden's and the best-F1 threshold (paper 4.5; metrics: Thresholds), for suspicion and for D before.

    A statement counts as flagged when its score is at least the threshold. Each rule has

    - ``threshold``: the median of those fitted with one fold of games left out each, which are ``fold_thresholds``;
      ``all_games``: the one fitted on all games.
    - ``held_out``: measures of the flags that each fold gets from the threshold of the other games, all folds pooled;
      ``folds`` how many, 0 with a ``reason`` if the games do not allow it.
    - ``at_half`` and ``flags``: the same measures of the same judgements for the threshold 0.5, which nobody has to
      fit, and for the flags that the observers raised themselves.

    The measures are those of Table 3, ``constant_accuracy`` (the better constant guess) and ``base_rate`` among them.

    Args:
        columns: the games.
        judged: what is computed of them already.
    """
    known = judged or Judged(columns)
    return {quantity: _section(known, quantity) for quantity in QUANTITIES}


def _section(judged: Judged, quantity: Quantity) -> Result:
    held, (folds, reason) = judged.predictions(quantity), judged.split(quantity)
    shared: Result = {
        "at_half": _measures(held.scores >= HALF, held.deceptive),
        "flags": _measures(held.flags, held.deceptive),
        "folds": 0 if folds is None else FOLDS,
        "reason": reason,
    }
    return {rule: _fitted(judged, quantity, rule) | shared for rule in RULES}


def _fitted(judged: Judged, quantity: Quantity, rule: Rule) -> Result:
    held = judged.predictions(quantity)
    whole, found = held.tied(), held_out_flags(judged, quantity, rule)
    return {
        "threshold": None if found is None else sorted(found.thresholds)[FOLDS // 2],
        "all_games": None if whole.one_sided() else best(whole, rule),
        "fold_thresholds": None if found is None else list(found.thresholds),
        "held_out": None if found is None else _measures(found.flags, held.deceptive),
    }


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutFlags:
    """Flags made of scores by thresholds that were fitted on other games.

    Attributes:
        thresholds: by fold, the one that fits all other folds.
        flags: of the judgements in the order of their scores.
    """

    thresholds: tuple[float, ...]
    flags: Array


def held_out_flags(judged: Judged, quantity: Quantity, rule: Rule) -> HeldOutFlags | None:
    """Return the flags that each fold gets from the threshold of the other games; None if there are no folds."""
    import numpy as np

    held, (folds, _) = judged.predictions(quantity), judged.split(quantity)
    if folds is None:
        return None
    found = tuple(best(held.tied(folds != fold), rule) for fold in range(FOLDS))
    return HeldOutFlags(found, held.scores >= np.array(found)[folds])


def best(tied: Tied, rule: Rule) -> float:
    """Return the score which, as a threshold, makes `rule` greatest; the highest of several.

    Args:
        tied: scores, of deceptive and truthful statements both.
        rule: what to make greatest.
    """
    import numpy as np

    hits = np.cumsum(tied.deceptive[::-1])
    alarms = np.cumsum(tied.truthful[::-1])
    if rule == "youden":
        # J times a constant, in whole numbers: equal is equal
        gain = hits * (tied.n - tied.positives) - alarms * tied.positives
    else:
        gain = 2 * hits / (hits + alarms + tied.positives)
    return float(tied.values[::-1][int(gain.argmax())])


def _measures(flagged: Array, deceptive: Array) -> Result:
    tp, positive, above = int((flagged & deceptive).sum()), int(deceptive.sum()), int(flagged.sum())
    fp, fn = above - tp, positive - tp
    measures = Confusion(tp=tp, fp=fp, fn=fn, tn=len(flagged) - tp - fp - fn).measures()
    return {name: measures[name] for name in MEASURES}
