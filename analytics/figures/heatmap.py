"""Table 2 as a heat map: final suspicion by role of the observer and of the target (paper 5.4)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from analytics import Result
from analytics.figures.palette import HEATS
from analytics.figures.svg import SMALL, colour, decimal, draw, percent
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NARROWEST = 0.2
"""Least width of the colour scale: noise must not look like contrast."""


def suspicion_heatmap(findings: Result) -> str | None:
    """Return Table 2 as a heat map (paper 5.4; metrics: Table 2), None if no cell has a pair.

    Rows are observers, columns targets; each cell says its mean final D and its number of games. The colours run from
    the smallest to the largest cell, rounded outwards to 0.05 and at least 0.2 apart; the scale stands below.

    Args:
        findings: its ``table2`` section is drawn.
    """
    cells: dict[Any, dict[Any, Result]] = findings["table2"]
    means = [cells[o][t]["mean"] for o in ROLES for t in ROLES if cells[o][t]["mean"] is not None]
    if not means:
        return None
    low, high = _scale(means)

    def paint(figure: Figure) -> None:
        axes = figure.add_axes((0.16, 0.17, 0.82, 0.69))
        for row, observer in enumerate(ROLES):
            for column, target in enumerate(ROLES):
                _cell(axes, row, column, cells[observer][target], low, high)
        axes.set_xlim(0, len(ROLES))
        axes.set_ylim(len(ROLES), 0)
        axes.set_xticks([place + 0.5 for place in range(len(ROLES))], ROLES)
        axes.set_yticks([place + 0.5 for place in range(len(ROLES))], ROLES)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set_xlabel("target", labelpad=6)
        axes.set_ylabel("observer")
        axes.tick_params(length=0, labelcolor=colour("ink"))
        axes.spines[["left", "bottom"]].set_visible(False)
        _legend(figure, low, high)

    return draw("heatmap", "Final suspicion by observer and target", _described(cells), 4.3, paint)


def _scale(means: list[float]) -> tuple[float, float]:
    low, high = math.floor(min(means) * 20) / 20, math.ceil(max(means) * 20) / 20
    if high - low < _NARROWEST:
        middle = round((low + high) * 10) / 20
        low, high = middle - _NARROWEST / 2, middle + _NARROWEST / 2
    shift = max(0.0, -low) - max(0.0, high - 1)
    return max(0.0, low + shift), min(1.0, high + shift)


def _step(mean: float, low: float, high: float) -> int:
    return min(HEATS - 1, max(0, int((mean - low) / (high - low) * HEATS)))


def _cell(axes: Axes, row: int, column: int, cell: Result, low: float, high: float) -> None:
    from matplotlib.patches import Rectangle

    inset = 0.02
    box = (column + inset, row + inset), 1 - 2 * inset, 1 - 2 * inset
    mean = cell["mean"]
    if mean is None:
        axes.add_patch(Rectangle(*box, facecolor="none", edgecolor=colour("muted"), linestyle=(0, (3, 3))))
        axes.text(column + 0.5, row + 0.5, "no pair", ha="center", va="center", fontsize=SMALL, color=colour("muted"))
        return
    step = _step(mean, low, high)
    axes.add_patch(Rectangle(*box, facecolor=colour(f"heat-{step}"), edgecolor=colour("grid")))
    ink = colour(f"heat-ink-{step}")
    axes.text(column + 0.5, row + 0.43, decimal(mean), ha="center", va="center", fontsize=12, color=ink)
    games = f"{cell['n']} game" if cell["n"] == 1 else f"{cell['n']} games"
    axes.text(column + 0.5, row + 0.74, games, ha="center", va="center", fontsize=SMALL, color=ink)


def _legend(figure: Figure, low: float, high: float) -> None:
    from matplotlib.patches import Rectangle

    axes = figure.add_axes((0.36, 0.095, 0.42, 0.035))
    for step in range(HEATS):
        axes.add_patch(Rectangle((step, 0), 1, 1, facecolor=colour(f"heat-{step}"), edgecolor=colour("grid")))
    axes.set_xlim(0, HEATS)
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.set_xticks(
        [0, HEATS / 2, HEATS], [decimal(low), decimal((low + high) / 2, 3).removesuffix("0"), decimal(high)]
    )
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.set_ylabel("mean final D", rotation=0, ha="right", va="center", labelpad=6)


def _described(cells: dict[Any, dict[Any, Result]]) -> str:
    rows = []
    for observer in ROLES:
        parts = [
            f"{target} {percent(cell['mean'])} (n {cell['n']})" if cell["mean"] is not None else f"{target} no pair"
            for target in ROLES
            for cell in (cells[observer][target],)
        ]
        rows.append(f"{observer} observers suspect: {', '.join(parts)}.")
    return " ".join(rows)
