"""Reliability diagram: does a suspicion of 0.6 mean deception in 60 of 100 cases (paper 5.7, Table 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics import Result
from analytics.figures.drawing import SMALL, colour, draw, key_above
from analytics.figures.words import SCORE_WORDS, Score, decimal, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES = (0.72, 0.83, 0.94)
"""Heights at which counts are written, above all bars: neighbours' on different ones."""
_DIGIT = 0.0125
"""Width of a digit, as a share of the axis."""


def reliability(findings: Result, score: Score) -> str | None:
    """Return the reliability diagram over all observers (paper 4.5, 5.7; metrics: Table 4), None without a bin.

    Each point is a bin of the score: its mean score against the share of its statements that are deceptive by their
    speakers' own labels. On the diagonal the score is a probability; above it deception is underestimated. Below, the
    number of judgements of each bin.

    Args:
        findings: its ``table4`` section is drawn.
        score: which score.
    """
    row = findings["table4"][score]["overall"]
    bins = [each for each in row["reliability"] if each["n"]]
    if not bins:
        return None

    def paint(figure: Figure) -> None:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3.4, 1.2), gridspec_kw={"hspace": 0.08})
        figure.subplots_adjust(left=0.125, right=0.975, top=0.925, bottom=0.115)
        muted, ink = colour("muted"), colour("villager")
        upper.plot([0, 1], [0, 1], color=muted, linewidth=1.0, dashes=(4, 3), label="a probability would lie here")
        if row["base_rate"] is not None:
            label = f"base rate {decimal(row['base_rate'])}"
            upper.axhline(row["base_rate"], color=colour("accent"), linewidth=1.2, dashes=(1.5, 2), label=label)
        upper.plot(
            [each["mean_score"] for each in bins],
            [each["share"] for each in bins],
            color=ink,
            marker="o",
            label="bins of the score",
            clip_on=False,
            zorder=3,
        )
        upper.set_xlim(0, 1)
        upper.set_ylim(0, 1)
        upper.set_ylabel("share deceptive")
        upper.grid()
        upper.tick_params(axis="x", length=0, labelbottom=False)
        key_above(upper, 3)
        _counts(lower, bins, SCORE_WORDS[score])

    title = f"Reliability of {SCORE_WORDS[score]}"
    return draw(f"reliability-{score}", title, _described(row, bins, score), 4.8, paint)


def _counts(axes: Axes, bins: list[Result], words: str) -> None:
    most = max(each["n"] for each in bins) / 0.6
    free = [-1.0] * len(_LINES)
    for each in bins:
        left, right = each["low"], each["high"]
        middle, width = (left + right) / 2, max(0.012, right - left)
        left = min(max(0.0, middle - width / 2), 1 - width)
        axes.bar(left, each["n"], width, align="edge", color=colour("heat-4"), edgecolor=colour("muted"))
        said, middle = f"{each['n']}", left + width / 2
        half = len(said) * _DIGIT / 2
        line = next((line for line in range(len(_LINES)) if middle - half >= free[line]), None)
        if line is not None:
            free[line] = middle + half + _DIGIT
            high = _LINES[line] * most
            axes.plot([middle, middle], [each["n"], high - 0.06 * most], color=colour("grid"), linewidth=0.8, zorder=0)
            axes.text(
                min(max(middle, half), 1 - half),
                *(high, said),
                ha="center",
                va="center",
                fontsize=SMALL,
                color=colour("muted"),
            )
    axes.set_ylim(0, most)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylabel("judgements", color=colour("ink"))
    axes.set_xlabel(words)


def _described(row: Result, bins: list[Result], score: Score) -> str:
    said = "; ".join(
        f"at {decimal(each['mean_score'])} {percent(each['share'])} deceptive (n {each['n']})" for each in bins
    )
    return (
        f"Share of deceptive statements by {SCORE_WORDS[score]}: {said}. Base rate {percent(row['base_rate'])}, "
        f"expected calibration error {decimal(row['ece'], 3)}, Brier score {decimal(row['brier'], 3)}."
    )
