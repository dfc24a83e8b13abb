"""ROC curves of suspicion against self-labels (paper 4.5 and 5.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics import Result
from analytics.figures.curve_lines import lines_of
from analytics.figures.drawing import colour, draw
from analytics.figures.words import SCORE_WORDS, Score, decimal

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def roc(findings: Result, score: Score) -> str | None:
    """Return ROC curves over all observers and by their roles (paper 4.5, 5.7; metrics: thresholds), None if there is
    none to draw: a curve needs deceptive and truthful statements.

    The diagonal is what guessing gives; the key has each curve's area and its number of judgements.

    Args:
        findings: its ``curves`` section is drawn.
        score: which score.
    """
    lines = list(lines_of(findings["curves"][score], "roc"))
    if not lines:
        return None

    def paint(figure: Figure) -> None:
        axes = figure.add_axes((0.1, 0.13, 0.52, 0.83))
        axes.plot([0, 1], [0, 1], color=colour("muted"), linewidth=1.0, dashes=(2, 3), label="guessing: area 0.50")
        for name, ink, dash, curve in lines:
            axes.plot(
                [point[0] for point in curve["roc"]],
                [point[1] for point in curve["roc"]],
                color=colour(ink),
                dashes=dash or (None, None),
                linewidth=2.2 if name == "all observers" else 1.4,
                label=f"{name}: area {decimal(curve['auc'])}, n {curve['n']}",
                zorder=3,
            )
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(-0.01, 1.01)
        axes.set_aspect("equal")
        axes.set_xlabel("truthful statements flagged")
        axes.set_ylabel("deceptive statements flagged")
        axes.grid()
        axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, reverse=True, handlelength=2.6)

    said = "; ".join(f"{name} area {decimal(curve['auc'])}, n {curve['n']}" for name, _, _, curve in reversed(lines))
    description = f"Deceptive against truthful statements flagged at every threshold. {said}. Guessing has area 0.50."
    return draw(f"roc-{score}", f"ROC curves of {SCORE_WORDS[score]}", description, 4.2, paint)
