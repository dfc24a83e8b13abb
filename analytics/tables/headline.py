"""Headline scores, over all replies and over those that were read as they stood (metrics: repair report)."""

from __future__ import annotations

from collections import Counter
from typing import Final

from analytics.accumulator import Result
from analytics.rows import GameRows, JudgementRow, StatementRow
from analytics.sums import ratio
from analytics.tables.detection import Confusion

DECIMALS: Final = 4
"""Suspicion is compared to so many decimals, which bounds what is kept; models give two."""

_NAMES: Final = ("n", "accuracy", "balanced_accuracy", "base_rate", "constant_accuracy")


class RocArea:
    """Area under the ROC curve: how often a deceptive statement meets more suspicion than a truthful one."""

    __slots__ = ("_deceptive", "_truthful")

    def __init__(self) -> None:
        self._deceptive: Counter[float] = Counter()
        self._truthful: Counter[float] = Counter()

    def add(self, suspicion: float, deceptive: bool) -> None:
        """Count one judgement."""
        (self._deceptive if deceptive else self._truthful)[round(suspicion, DECIMALS)] += 1

    def merge(self, other: RocArea) -> None:
        """Add all that `other` holds."""
        self._deceptive.update(other._deceptive)
        self._truthful.update(other._truthful)

    @property
    def n(self) -> int:
        """Number of judgements."""
        return self._deceptive.total() + self._truthful.total()

    def area(self) -> float | None:
        """Return the area, equal suspicions counted half; None unless there are statements of both classes."""
        below = twice = 0
        for value in sorted(self._deceptive.keys() | self._truthful.keys()):
            twice += self._deceptive[value] * (2 * below + self._truthful[value])
            below += self._truthful[value]
        return ratio(twice, 2 * self._deceptive.total() * self._truthful.total())


class _Scores:
    def __init__(self) -> None:
        self.flags = Confusion()
        self.suspicion = RocArea()

    def add(self, statement: StatementRow, judgement: JudgementRow) -> None:
        if statement.d is None or judgement.d is None:
            return
        self.flags.add(judgement.d, statement.d)
        if judgement.s is not None:
            self.suspicion.add(judgement.s, statement.d)

    def merge(self, other: _Scores) -> None:
        self.flags.merge(other.flags)
        self.suspicion.merge(other.suspicion)

    def result(self) -> Result:
        measures = self.flags.measures()
        return {
            **{name: measures[name] for name in _NAMES},
            "auc": self.suspicion.area(),
            "auc_n": self.suspicion.n,
        }


class Headline:
    """Detection accuracy and suspicion's AUC against self-labels, with and without what was not clean.

    A judgement is clean if it and the self-label that it is held against were accepted as they stood.
    """

    def __init__(self) -> None:
        self._scores = {"all": _Scores(), "clean": _Scores()}

    def add(self, game: GameRows) -> None:
        """Take in one game."""
        statements = {statement.number: statement for statement in game.statements}
        for judgement in game.judgements:
            statement = statements[judgement.statement]
            self._scores["all"].add(statement, judgement)
            if _is_clean(statement) and _is_clean(judgement):
                self._scores["clean"].add(statement, judgement)

    def merge(self, other: Headline) -> None:
        """Add all that `other` holds."""
        for name, scores in other._scores.items():
            self._scores[name].merge(scores)

    def result(self) -> Result:
        """Return the scores over ``all`` replies and over ``clean`` ones; undefined is None, each with its n."""
        return {name: scores.result() for name, scores in self._scores.items()}


def _is_clean(row: StatementRow | JudgementRow) -> bool:
    return row.outcome == "accepted" and row.reading == "clean"
