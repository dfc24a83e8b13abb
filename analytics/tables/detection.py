"""Table 3: how well observers find the deception that speakers admit (paper, sections 4.5 and 5.5)."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from statistics import NormalDist

from analytics.accumulator import Result
from analytics.rows import GameRows
from analytics.sums import ratio
from wolfbus.vocabulary import ROLES


@dataclass(slots=True)
class Confusion:
    """Flags against truth, as counts.

    Attributes:
        tp: deceptive and flagged.
        tn: truthful and not flagged.
        fp: truthful and flagged.
        fn: deceptive and not flagged.
    """

    tp: int = 0
    tn: int = 0
    fp: int = 0
    fn: int = 0

    def add(self, flag: bool, truth: bool) -> None:
        """Count one judgement."""
        if truth:
            self.tp += flag
            self.fn += not flag
        else:
            self.fp += flag
            self.tn += not flag

    def merge(self, other: Confusion) -> None:
        """Add all that `other` holds."""
        self.tp += other.tp
        self.tn += other.tn
        self.fp += other.fp
        self.fn += other.fn

    @property
    def n(self) -> int:
        """Number of judgements."""
        return self.tp + self.tn + self.fp + self.fn

    def measures(self) -> Result:
        """Return counts and everything that follows from them; undefined is None, never 0.

        - ``f1`` needs precision and recall to be defined: an observer who never flags has none.
        - ``balanced_accuracy`` (mean of both classes' recall), ``dprime`` and ``criterion`` need both
          classes; ``mcc`` also needs an observer that both flags and does not.
        - ``base_rate`` is the share of deceptive statements among those judged; ``constant_accuracy`` that
          of the better of the guesses "always deceptive" and "never", which detection has to beat.
        - ``dprime`` = z(hit rate) - z(false-alarm rate) and ``criterion`` = minus their mean, with the
          log-linear correction: 0.5 more of each count, 1 more of each total.
        """
        tp, tn, fp, fn, n = self.tp, self.tn, self.fp, self.fn, self.n
        deceptive, truthful, flagged = tp + fn, tn + fp, tp + fp
        precision, recall, specificity = ratio(tp, flagged), ratio(tp, deceptive), ratio(tn, truthful)
        base_rate = ratio(deceptive, n)
        dprime, criterion = self._signal()
        return {
            "n": n,
            "tp": tp,
            "tn": tn,
            "fp": fp,
            "fn": fn,
            "accuracy": ratio(tp + tn, n),
            "precision": precision,
            "recall": recall,
            "f1": None if precision is None or recall is None else 2 * tp / (2 * tp + fp + fn),
            "balanced_accuracy": None if recall is None or specificity is None else (recall + specificity) / 2,
            "mcc": ratio(tp * tn - fp * fn, math.sqrt(flagged * (tn + fn) * deceptive * truthful)),
            "base_rate": base_rate,
            "constant_accuracy": ratio(max(deceptive, truthful), n),
            "dprime": dprime,
            "criterion": criterion,
        }

    def _signal(self) -> tuple[float, float] | tuple[None, None]:
        deceptive, truthful = self.tp + self.fn, self.tn + self.fp
        if not deceptive or not truthful:
            return None, None
        z = NormalDist().inv_cdf
        hits, alarms = z((self.tp + 0.5) / (deceptive + 1)), z((self.fp + 0.5) / (truthful + 1))
        return hits - alarms, 0.0 - (hits + alarms) / 2


class Table3:
    """Every judgement that counts against the self-label of its statement, where that counts too."""

    def __init__(self) -> None:
        self._rows: defaultdict[str, Confusion] = defaultdict(Confusion)

    def add(self, game: GameRows) -> None:
        """Take in one game."""
        truth = {statement.number: statement.d for statement in game.statements if statement.d is not None}
        for judgement in game.judgements:
            deceptive = truth.get(judgement.statement)
            if judgement.d is not None and deceptive is not None:
                self._rows[judgement.observer_role].add(judgement.d, deceptive)

    def merge(self, other: Table3) -> None:
        """Add all that `other` holds."""
        for key, confusion in other._rows.items():
            self._rows[key].merge(confusion)

    def result(self) -> Result:
        """Return the measures by observer role and ``overall``, the pooled counts (paper 5.5, Table 3;
        metrics: Table 3).
        """
        overall = Confusion()
        for confusion in self._rows.values():
            overall.merge(confusion)
        rows: Result = {role: self._rows.get(role, Confusion()).measures() for role in ROLES}
        return {**rows, "overall": overall.measures()}
