"""`Measure`: what a headline metric is: its name and words, its formula over sums, its baseline; and its values in any
number of variants of the sums (`View`, `evaluate`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from analytics.measures.frames import Frame
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array

    Figure: TypeAlias = Callable[[Frame], Array]

Score: TypeAlias = Literal["suspicion", "before"]
"""The two scores held against self-labels: the suspicion s of a judgement, or D of observer and
speaker before it.
"""
SCORES: Final[tuple[Score, ...]] = ("suspicion", "before")

Unit: TypeAlias = Literal["share", "probability", "score", "points"]
Better: TypeAlias = Literal["high", "low"] | None


@dataclass(frozen=True, slots=True)
class Measure:
    """One headline metric.

    Attributes: name: as in the findings; behind a slash the role of the observers, for production
        of the speakers. label: in words. unit: "share" and "probability" lie in [0, 1], "score" has
        a scale of its own, "points" are a difference of
            shares.
        better: which end is the better one for those who detect; None where neither is.
        reason: why it is undefined where it is.
        n: of the sums, how many rows it is over.
        value: of the sums; None for an area under a curve.
        baseline: of the sums, what needs no skill; None if there is no such thing.
        baseline_label: what that is, in words.
        score: for an area: which score.
        role: for an area: the observers' role; None for all.
        area: for an area: of counts by class and cell.
        games: whether it is a rate of games: k in n of them, each won or not.
        by_game: whether a mean over games of the games' own values means anything; it does not of a
            maximum, which is the higher the fewer rows a game has.
        pairs: whether it is over pairs of observer and target, so that it matters who knows.
    """

    name: str
    label: str
    unit: Unit
    better: Better
    reason: str
    n: Figure
    value: Figure | None = None
    baseline: Figure | None = None
    baseline_label: str | None = None
    score: Score | None = None
    role: str | None = None
    area: Callable[[Array], Array] | None = None
    games: bool = False
    by_game: bool = True
    pairs: bool = False


if TYPE_CHECKING:
    from analytics.columns import Array

    Cells = Callable[[Score, int], Array]


@dataclass(frozen=True, slots=True)
class View:
    """Sums, and histograms of scores, of the same units: what a headline metric is a formula of.

    Attributes: frame: the sums. cells: counts by class and cell of judgements with a score by
        observers of a role, by index into `ROLES`.
    """

    frame: Frame
    cells: Cells


def evaluate(measures: Iterable[Measure], view: View) -> dict[str, Array]:
    """Return the metrics of every variant of the sums that a view holds, NaN where undefined."""
    wanted = list(measures)
    found = {measure.name: measure.value(view.frame) for measure in wanted if measure.value is not None}
    for score in dict.fromkeys(measure.score for measure in wanted if measure.score is not None):
        areas = [measure for measure in wanted if measure.score == score]
        whole = [measure for measure in areas if measure.role is None]
        total: Any = None
        for role in range(len(ROLES)):
            own = [measure for measure in areas if role_of_area(measure) == role]
            if own or whole:
                flat = view.cells(score, role)
                counts = flat.reshape(*flat.shape[:-1], 2, flat.shape[-1] // 2)
                found |= {measure.name: _area(measure, counts) for measure in own}
                total = counts if total is None else total + counts
        found |= {measure.name: _area(measure, total) for measure in whole}
    return {measure.name: found[measure.name] for measure in wanted}


def role_of_area(measure: Measure) -> int | None:
    """Return the index of the role whose judgements an area is over, None for all."""
    return None if measure.role is None else ROLES.index(measure.role)


def _area(measure: Measure, counts: Array) -> Array:
    import numpy as np

    if measure.area is None:
        raise TypeError(f"{measure.name} is no area")
    # some rows at a time: cumulating takes several times the memory of the counts
    flat = counts.reshape(-1, *counts.shape[-2:])
    step = max(1, 1_000_000 // max(1, flat.shape[-1]))
    parts = [measure.area(flat[at : at + step]) for at in range(0, len(flat), step)]
    return np.concatenate(parts or [np.zeros(0)]).reshape(counts.shape[:-2])
