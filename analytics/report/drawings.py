"""Figures of `analytics.figures` as blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from wolfbus.document.blocks import Figure

Score: TypeAlias = Literal["suspicion", "before"]
"""Suspicion as stated, or D before the statement, which is a real prediction."""

SCORES: Final[tuple[Score, ...]] = ("suspicion", "before")
SCORE_WORDS: Final[Mapping[Score, str]] = {
    "suspicion": "Stated suspicion",
    "before": "Smoothed suspicion before the statement",
}


def drawing(
    key: str,
    draw: Callable[[], str | None],
    caption: str,
    needs: Any = True,
    empty: str = "There is nothing to draw: no judgement counts.",
    table: str = "",
) -> Figure:
    """Return a figure that is drawn where it is shown.

    Args:
        key: unique on the page.
        draw: makes the SVG, None where there is nothing to draw.
        caption: what it shows.
        needs: the findings that it rests on; if there are none it is not drawn.
        empty: what to say where there is nothing to draw.
        table: key of the table that holds its numbers.
    """
    return Figure(key, lambda: (draw() or "") if needs else "", caption, empty, table)
