"""`Measure`: what a headline metric is: its name and words, its formula over sums, its baseline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from analytics.measures.frames import Frame

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
