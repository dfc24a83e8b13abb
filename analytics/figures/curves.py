"""Lines: Figure 1 (paper 5.6), ROC curves (4.5, 5.7) and reliability diagrams (5.7, Table 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from analytics import Result
from analytics.figures.palette import HANDS
from analytics.figures.svg import SCORE_WORDS, SMALL, Score, colour, decimal, draw, key_above, percent
from analytics.measures.bootstrap import around_mean
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS_SHOWN = 12
"""Rounds at most whose numbers of games are written out; of more rounds every second or third is."""
_FEW = 3
"""Games up to which an interval does not widen the axis."""
_APART = 0.012
"""Distance between the points of neighbouring roles, as a share of all rounds: error bars must not hide each other."""


def figure1(findings: Result) -> str | None:
    """Return Figure 1 (paper 5.6; metrics: Figure 1), None if no judgement counts.

    Above: per round and role of the target the mean over games of smoothed suspicion D, with its 95 % interval
    (none where a single game is left, whose point is hollow), and a table of the games behind each point. Below: the
    share of judgements that flag, with their number.

    Args:
        findings: its ``figure1`` section is drawn, and ``settings`` for the prior.
    """
    data = findings["figure1"]
    lines = {role: [point for point in data["suspicion"].get(role, ()) if point["mean"] is not None] for role in ROLES}
    flags = [row for row in data["flagged"] if row["share"] is not None]
    rounds = sorted({point["round"] for line in lines.values() for point in line} | {row["round"] for row in flags})
    if not rounds:
        return None
    priors = findings.get("settings", {}).get("prior", ())
    prior = priors[0] if len(priors) == 1 else None

    def paint(figure: Figure) -> None:
        upper, table, lower = figure.subplots(
            3, 1, sharex=True, height_ratios=(3.2, 1.45, 1.35), gridspec_kw={"hspace": 0.0}
        )
        figure.subplots_adjust(left=0.155, right=0.985, top=0.925, bottom=0.095)
        _suspicion(upper, lines, prior, max(0.05, min(0.2, _APART * (rounds[-1] - rounds[0] + 1))))
        _numbers(table, lines, flags, rounds)
        _flagged(lower, flags, rounds)

    return draw("figure1", "Suspicion by round and role", _rounds_described(lines, flags), 5.2, paint)


def _suspicion(axes: Axes, lines: dict[Any, list[Result]], prior: float | None, apart: float) -> None:
    lowest, highest = 1.0, 0.0
    if prior is not None:
        axes.axhline(prior, color=colour("muted"), linewidth=0.9, dashes=(2, 3), label=f"prior {prior:g}")
    for place, role in enumerate(ROLES):
        points, hand = lines[role], HANDS[role]
        if not points:
            continue
        at = [point["round"] + (place - 1.5) * apart for point in points]
        ink = colour(hand.colour)
        axes.plot(
            at,
            [point["mean"] for point in points],
            color=ink,
            dashes=hand.dash or (None, None),
            zorder=3,
            label=role,
            marker=hand.marker,
        )
        for x, point in zip(at, points, strict=True):
            low, high = around_mean(point["mean"], point["sem"], point["n"])
            if low is None or high is None:
                axes.plot(
                    [x], [point["mean"]], color=ink, marker=hand.marker, markerfacecolor=colour("paper"), zorder=4
                )
            else:
                half = high - point["mean"]
                axes.errorbar([x], [point["mean"]], yerr=[half], color=ink, elinewidth=1.1, capsize=2.5, zorder=2)
            # a mean of two or three games has an interval wider than the figure
            lowest = min(lowest, point["mean"], max(0.0, low or point["mean"]) if point["n"] > _FEW else point["mean"])
            highest = max(highest, point["mean"], min(1.0, high or 0.0) if point["n"] > _FEW else point["mean"])
    low, high = _limits(lowest, highest, prior)
    axes.set_ylim(low, high)
    axes.set_ylabel("suspicion D, 95 % interval")
    axes.grid(axis="y")
    axes.tick_params(axis="x", length=0, labelbottom=False)
    axes.spines["bottom"].set_visible(False)
    key_above(axes, 5)


def _limits(lowest: float, highest: float, prior: float | None) -> tuple[float, float]:
    if lowest > highest:
        return 0.0, 1.0
    low = min(lowest, prior if prior is not None else lowest) - 0.03
    high = max(highest, prior if prior is not None else highest) + 0.03
    short = max(0.0, 0.3 - (high - low)) / 2
    low, high = max(0.0, low - short), min(1.0, high + short)
    # never a scale that makes a mountain of a molehill
    return (low, high) if high - low >= 0.3 else (min(low, 0.7), max(high, 0.3))


def _numbers(axes: Axes, lines: dict[Any, list[Result]], flags: list[Result], rounds: list[int]) -> None:
    shown = _shown(rounds)
    rows = [(f"{role} games", HANDS[role].colour, lines[role]) for role in ROLES]
    rows.append(("judgements", "accent", flags))
    for place, (name, ink, points) in enumerate(rows):
        # the last row belongs to the panel below and stands apart
        y = 1 - (place + (1.1 if points is not flags else 1.5)) / (len(rows) + 1.6)
        axes.annotate(
            name,
            (0.0, y),
            xycoords="axes fraction",
            xytext=(-6, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=SMALL,
            color=colour(ink),
        )
        for point in points:
            if point["round"] in shown:
                said = f"{point['n']}"
                axes.text(point["round"], y, said, ha="center", va="center", fontsize=SMALL, color=colour("muted"))
    axes.set_ylim(0, 1)
    axes.set_axis_off()


def _flagged(axes: Axes, flags: list[Result], rounds: list[int]) -> None:
    shown = _shown(rounds)
    accent = colour("accent")
    axes.plot(
        [row["round"] for row in flags],
        [row["share"] for row in flags],
        color=accent,
        marker="v",
        dashes=(4, 2),
        clip_on=False,
    )
    axes.set_ylim(0, 1)
    axes.set_yticks([0, 0.5, 1])
    axes.set_ylabel("share flagged")
    axes.set_xlabel("round")
    spare = max(0.5, 0.04 * (rounds[-1] - rounds[0]))
    axes.set_xlim(rounds[0] - spare, rounds[-1] + spare)
    axes.set_xticks([round_ for round_ in rounds if round_ in shown])
    axes.grid(axis="y")


def _shown(rounds: list[int]) -> frozenset[int]:
    step = -(-len(rounds) // _COLUMNS_SHOWN)
    return frozenset(rounds[::step])


def _rounds_described(lines: dict[Any, list[Result]], flags: list[Result]) -> str:
    parts = []
    for role in ROLES:
        points = lines[role]
        if points:
            said = ", ".join(f"round {p['round']} {percent(p['mean'])} (n {p['n']})" for p in points)
            parts.append(f"Mean suspicion of the {role} role: {said}.")
        else:
            parts.append(f"No judgement of a {role} counts.")
    if flags:
        said = ", ".join(f"round {row['round']} {percent(row['share'])} of {row['n']}" for row in flags)
        parts.append(f"Share of judgements that flag deception: {said}.")
    return " ".join(parts)


_CURVES: Final[dict[Score, tuple[str, tuple[float, ...]]]] = {"suspicion": ("pass", ()), "before": ("flag", (6.0, 1.5))}
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
        for score in _CURVES
        if (curve := findings["curves"][score]["overall"])["roc"]
    ]
    if not lines:
        return None

    def paint(figure: Figure) -> None:
        axes = figure.add_axes((0.1, 0.13, 0.45, 0.83))
        axes.plot([0, 1], [0, 1], color=colour("muted"), linewidth=1.0, dashes=(2, 3), label="guessing: area 0.50")
        for score, curve, area in lines:
            ink, dash = _CURVES[score]
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


_HEIGHTS = (0.72, 0.83, 0.94)
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
    return draw(f"reliability-{score}", title, _reliability_described(row, bins, score), 4.8, paint)


def _counts(axes: Axes, bins: list[Result], words: str) -> None:
    most = max(each["n"] for each in bins) / 0.6
    free = [-1.0] * len(_HEIGHTS)
    for each in bins:
        left, right = each["low"], each["high"]
        middle, width = (left + right) / 2, max(0.012, right - left)
        left = min(max(0.0, middle - width / 2), 1 - width)
        axes.bar(left, each["n"], width, align="edge", color=colour("heat-4"), edgecolor=colour("muted"))
        said, middle = f"{each['n']}", left + width / 2
        half = len(said) * _DIGIT / 2
        line = next((line for line in range(len(_HEIGHTS)) if middle - half >= free[line]), None)
        if line is not None:
            free[line] = middle + half + _DIGIT
            high = _HEIGHTS[line] * most
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


def _reliability_described(row: Result, bins: list[Result], score: Score) -> str:
    said = "; ".join(
        f"at {decimal(each['mean_score'])} {percent(each['share'])} deceptive (n {each['n']})" for each in bins
    )
    return (
        f"Share of deceptive statements by {SCORE_WORDS[score]}: {said}. Base rate {percent(row['base_rate'])}, "
        f"expected calibration error {decimal(row['ece'], 3)}, Brier score {decimal(row['brier'], 3)}."
    )
