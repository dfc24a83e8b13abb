"""Table 2 as a heat map: final suspicion by role of the observer and of the target (paper 5.4)."""

from __future__ import annotations

import math
from typing import Final

from analytics import Result
from analytics.figures.chart import DARK_HEATS, HEATS, SMALL, Drawing
from wolfbus.document.formats import number, of, percent
from wolfbus.vocabulary import ROLES

_NARROWEST: Final = 0.2
"""Least width of the colour scale: noise must not look like contrast."""
_LEFT: Final = 116
_TOP: Final = 48
_WIDE: Final = 148
_HIGH: Final = 72


def suspicion_heatmap(findings: Result) -> str | None:
    """Return Table 2 as a heat map (paper 5.4; metrics: Table 2), None if no cell has a pair.

    Rows are observers, columns targets; each cell says its mean final D and its number of games. The colours run from
    the smallest to the largest cell, rounded outwards to 0.05 and at least 0.2 apart; the scale stands below.

    Args:
        findings: its ``table2`` section is drawn.
    """
    cells = findings["table2"]
    means = [cells[o][t]["mean"] for o in ROLES for t in ROLES if cells[o][t]["mean"] is not None]
    if not means:
        return None
    low, high = _scale(means)
    drawing = Drawing(_TOP + _HIGH * len(ROLES) + 62)
    drawing.text(_LEFT + _WIDE * len(ROLES) / 2, 10, "target", anchor="middle")
    drawing.text(10, _TOP + _HIGH * len(ROLES) / 2, "observer", anchor="middle", upright=True)
    said = []
    for row, observer in enumerate(ROLES):
        drawing.text(_LEFT + _WIDE * (row + 0.5), 32, observer, anchor="middle")
        drawing.text(_LEFT - 10, _TOP + _HIGH * (row + 0.5), observer, anchor="end")
        for column, target in enumerate(ROLES):
            _cell(drawing, row, column, cells[observer][target], low, high)
        told = ", ".join(
            f"{target} no pair" if cell["mean"] is None else f"{target} {percent(cell['mean'], 0)} (n {cell['n']})"
            for target, cell in ((target, cells[observer][target]) for target in ROLES)
        )
        said.append(f"{observer} observers suspect: {told}.")
    _legend(drawing, low, high)
    return drawing.svg("heatmap", "Final suspicion by observer and target", " ".join(said))


def _scale(means: list[float]) -> tuple[float, float]:
    low, high = math.floor(min(means) * 20) / 20, math.ceil(max(means) * 20) / 20
    if high - low < _NARROWEST:
        middle = round((low + high) * 10) / 20
        low, high = middle - _NARROWEST / 2, middle + _NARROWEST / 2
    shift = max(0.0, -low) - max(0.0, high - 1)
    return max(0.0, low + shift), min(1.0, high + shift)


def _cell(drawing: Drawing, row: int, column: int, cell: Result, low: float, high: float) -> None:
    left, top, mean = _LEFT + _WIDE * column, _TOP + _HIGH * row, cell["mean"]
    middle, box = left + _WIDE / 2, (left + 2, top + 2, _WIDE - 4, _HIGH - 4)
    if mean is None:
        drawing.box(*box, None, "muted", "3 3")
        drawing.text(middle, top + _HIGH / 2, "no pair", "muted", "middle", size=SMALL)
        return
    step = min(HEATS - 1, max(0, int((mean - low) / (high - low) * HEATS)))
    ink = "paper" if step >= DARK_HEATS else "ink"
    drawing.box(*box, f"heat-{step}", "grid")
    drawing.text(middle, top + 30, number(mean, 2), ink, "middle", size=17)
    drawing.text(middle, top + 52, of(cell["n"], "game"), ink, "middle", size=SMALL)


def _legend(drawing: Drawing, low: float, high: float) -> None:
    top, left, wide = _TOP + _HIGH * len(ROLES) + 18, 290.0, 32.0
    for step in range(HEATS):
        drawing.box(left + wide * step, top, wide, 15, f"heat-{step}", "grid")
    for place, value in (
        (0.0, number(low, 2)),
        (0.5, number((low + high) / 2).removesuffix("0")),
        (1.0, number(high, 2)),
    ):
        drawing.text(left + wide * HEATS * place, top + 28, value, "muted", "middle", size=SMALL)
    drawing.text(left - 10, top + 8, "mean final D", anchor="end")
