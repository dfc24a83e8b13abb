"""Precision-recall curves of suspicion against self-labels (paper 4.5 and 5.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics import Result
from analytics.figures.curve_lines import lines_of
from analytics.figures.drawing import colour, draw
from analytics.figures.words import SCORE_WORDS, Score, decimal

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def precision_recall(findings: Result, score: Score) -> str | None:
    """Return precision-recall curves over all observers and by their roles (paper 4.5, 5.7; metrics: thresholds), None
    if there is none to draw.

    The dotted line is the base rate, the precision of a constant "deceptive": a curve on it has no skill, however high
    it lies. The key has each curve's area, its own base rate and its number of judgements.

    Args:
        findings: its ``curves`` section is drawn.
        score: which score.
    """
    lines = list(lines_of(findings["curves"][score], "pr"))
    if not lines:
        return None
    base = findings["curves"][score]["overall"]["base_rate"]

    def paint(figure: Figure) -> None:
        axes = figure.add_axes((0.1, 0.13, 0.52, 0.83))
        if base is not None:
            axes.axhline(
                base, color=colour("accent"), linewidth=1.2, dashes=(1.5, 2), label=f"base rate {decimal(base)}"
            )
        for name, ink, dash, curve in lines:
            points = _ascending(curve["pr"])
            axes.plot(
                [point[0] for point in points],
                [point[1] for point in points],
                color=colour(ink),
                dashes=dash or (None, None),
                drawstyle="steps-pre",
                linewidth=2.2 if name == "all observers" else 1.4,
                label=f"{name}: area {decimal(curve['auprc'])} (base {decimal(curve['base_rate'])})",
                zorder=3,
            )
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(-0.01, 1.01)
        axes.set_aspect("equal")
        axes.set_xlabel("recall: deceptive statements flagged")
        axes.set_ylabel("precision: flags that are right")
        axes.grid()
        axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, reverse=True, handlelength=2.6)

    said = "; ".join(
        f"{name} area {decimal(curve['auprc'])} against a base rate of {decimal(curve['base_rate'])}, n {curve['n']}"
        for name, _, _, curve in reversed(lines)
    )
    description = f"Precision against recall at every threshold. {said}."
    return draw(f"pr-{score}", f"Precision-recall curves of {SCORE_WORDS[score]}", description, 4.2, paint)


def _ascending(points: list[list[float]]) -> list[list[float]]:
    # where nothing deceptive is flagged yet, precision jumps between 0 and 1 and adds no area
    kept = sorted((point for point in points if point[0] > 0), key=lambda point: (point[0], -point[1]))
    return [[0.0, kept[0][1]], *kept] if kept else []
