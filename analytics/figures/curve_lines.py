"""What the ROC and the precision-recall figure share: one line over all observers, and one for each role of them."""

from __future__ import annotations

from collections.abc import Iterator

from analytics import Result
from analytics.figures.palette import HANDS
from wolfbus.vocabulary import ROLES


def lines_of(curves: Result, points: str) -> Iterator[tuple[str, str, tuple[float, ...], Result]]:
    """Yield name, colour name, dash and curve of every line that can be drawn, the pooled one last and so on top.

    Args:
        curves: the part of the ``curves`` section for one score.
        points: ``roc`` or ``pr``.
    """
    for role in ROLES:
        curve = curves["by_observer"].get(role)
        if curve is not None and curve[points]:
            yield role, HANDS[role].colour, HANDS[role].dash, curve
    if curves["overall"][points]:
        yield "all observers", "ink", (), curves["overall"]
