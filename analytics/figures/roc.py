"""ROC curves of suspicion against self-labels (paper 4.5 and 5.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.figures.drawing import colour, draw
from analytics.figures.words import SCORE_WORDS, Score, decimal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINES: Final[dict[Score, tuple[str, tuple[float, ...]]]] = {"suspicion": ("pass", ()), "before": ("flag", (6.0, 1.5))}
"""Colour and dash of each score's curve."""


def roc(findings: Result) -> str | None:
    """Return the ROC curves of both scores over all observers (paper 4.5, 5.7; metrics: thresholds), None if there is
    none to draw: a curve needs deceptive and truthful statements.

    The diagonal is what guessing gives; the key has each curve's area, its 95 % interval and number of judgements.

    Args:
        findings: its ``curves`` and ``variability`` sections are drawn.
    """
    lines = [
        (score, curve, _area(findings, score, curve))
        for score in _LINES
        if (curve := findings["curves"][score]["overall"])["roc"]
    ]
    if not lines:
        return None

    def paint(figure: Figure) -> None:
        axes = figure.add_axes((0.1, 0.13, 0.45, 0.83))
        axes.plot([0, 1], [0, 1], color=colour("muted"), linewidth=1.0, dashes=(2, 3), label="guessing: area 0.50")
        for score, curve, area in lines:
            ink, dash = _LINES[score]
            axes.plot(
                [point[0] for point in curve["roc"]],
                [point[1] for point in curve["roc"]],
                color=colour(ink),
                dashes=dash or (None, None),
                label=f"{SCORE_WORDS[score]}:\n{area}",
                zorder=3,
            )
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(-0.01, 1.01)
        axes.set_aspect("equal")
        axes.set_xlabel("truthful statements flagged")
        axes.set_ylabel("deceptive statements flagged")
        axes.grid()
        axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, reverse=True, handlelength=2.6)

    said = "; ".join(f"{SCORE_WORDS[score]}: {area}" for score, _, area in lines)
    description = f"Deceptive against truthful statements flagged at every threshold. {said}. Guessing has area 0.50."
    return draw("roc", "ROC curves of suspicion", description, 4.0, paint)


def _area(findings: Result, score: Score, curve: Result) -> str:
    name = "auc" if score == "suspicion" else "auc_before"
    metric = findings.get("variability", {}).get("metrics", {}).get(name) or {}
    found = metric.get("all_observers") or metric
    interval = "" if found.get("low") is None else f" ({decimal(found['low'])} to {decimal(found['high'])})"
    return f"area {decimal(curve['auc'])}{interval}, n {curve['n']:,}"
