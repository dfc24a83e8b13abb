"""Tied scores: how often each score stands on a deceptive and on a truthful statement.

Every figure of this package depends on no more than that. Suspicion has few values, mostly two decimals, so two million
judgements become about a hundred rows with whole-number weights, which scikit-learn takes as sample weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analytics.columns import Array


@dataclass(frozen=True, slots=True, eq=False)
class Tied:
    """Distinct scores in ascending order, with counts.

    Attributes:
        values: the scores.
        deceptive: judgements of deceptive statements at each.
        truthful: judgements of truthful statements at each.
    """

    values: Array
    deceptive: Array
    truthful: Array

    @property
    def n(self) -> int:
        """Number of judgements."""
        return int(self.deceptive.sum() + self.truthful.sum())

    @property
    def positives(self) -> int:
        """Number of judgements of deceptive statements."""
        return int(self.deceptive.sum())

    @property
    def counts(self) -> Array:
        """Number of judgements at each score."""
        total: Array = self.deceptive + self.truthful
        return total

    def weighted(self) -> tuple[Array, Array, Array]:
        """Return (labels, scores, weights): a row for each score and label that there is, as scikit-learn wants it."""
        import numpy as np

        yes, no = self.deceptive > 0, self.truthful > 0
        labels = np.concatenate([np.ones(int(yes.sum()), "i8"), np.zeros(int(no.sum()), "i8")])
        scores = np.concatenate([self.values[yes], self.values[no]])
        weights = np.concatenate([self.deceptive[yes], self.truthful[no]]).astype("f8")
        return labels, scores, weights

    def one_sided(self) -> str | None:
        """Return why nothing that compares deceptive statements with truthful ones is defined; None if it is."""
        if not self.n:
            return "no judgement counts whose statement has a self-label that counts"
        if not self.positives:
            return "every statement judged is labelled truthful: there is nothing to tell apart"
        if self.positives == self.n:
            return "every statement judged is labelled deceptive: there is nothing to tell apart"
        return None


def tied_in_order(scores: Array, deceptive: Array) -> Tied:
    """Return the ties of scores that are in ascending order already.

    Args:
        scores: finite numbers, ascending.
        deceptive: for each, whether its statement is deceptive.
    """
    import numpy as np

    if not len(scores):
        none = np.zeros(0, "i8")
        return Tied(np.zeros(0, "f8"), none, none)
    starts = np.concatenate([[0], np.flatnonzero(scores[1:] != scores[:-1]) + 1])
    counts = np.diff(np.append(starts, len(scores)))
    yes = np.add.reduceat(deceptive.astype("i8"), starts)
    return Tied(scores[starts], yes, counts - yes)


def tied(scores: Array, deceptive: Array) -> Tied:
    """Return the ties of scores in any order; arguments as `tied_in_order`."""
    import numpy as np

    order = np.argsort(scores, kind="stable")
    return tied_in_order(scores[order], deceptive[order])
