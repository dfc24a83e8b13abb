"""Lines: Figure 1 (paper 5.6), ROC curves (4.5, 5.7) and reliability diagrams (5.7, Table 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.figures.chart import SMALL, Axes, Drawing, KeyEntry, key_entry, width_of
from analytics.metrics.bootstrap import mean_interval
from wolfbus.files.formats import number, percent
from wolfbus.files.printable import with_article
from wolfbus.game.roles import FACTS
from wolfbus.game.vocabulary import ROLES, Role

if TYPE_CHECKING:
    from analytics.metrics.scores import Score

SCORE_WORDS: Final[Mapping[Score, str]] = {
    "suspicion": "stated suspicion",
    "before": "smoothed suspicion before the statement",
}
"""Which score of a judgement is meant: the suspicion that it states, or smoothed suspicion D just before it, which is a
real prediction."""

_CURVES: Final[Mapping[Score, tuple[str, str]]] = {"suspicion": ("pass", ""), "before": ("flag", "11 3")}
"""Colour and dash of each score's curve."""
_COLUMNS: Final = 12
"""Rounds at most whose numbers of games are written out; of more rounds every second or third is."""
_APART: Final = 0.012
"""Distance between the points of neighbouring roles, as a share of all rounds: error bars must not hide each other."""
_TENTHS: Final = {place / 10: f"{10 * place} %" for place in range(11)}
_FIFTHS: Final = {place / 5: number(place / 5, 1) for place in range(6)}


def figure1(findings: Result) -> str | None:
    """Return Figure 1 (paper 5.6; metrics: Figure 1), None if no judgement counts.

    Above: per round and role of the target the mean over games of smoothed suspicion D, with its 95 % interval
    (none below five games, whose point is hollow), and a table of the games behind each point. Below: the
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
    spare = max(0.5, 0.04 * (rounds[-1] - rounds[0]))
    across = (rounds[0] - spare, rounds[-1] + spare)
    written = rounds[:: -(-len(rounds) // _COLUMNS)]
    # of each role a row between the panels, and one of judgements
    panel = 302 + 19 * len(ROLES)
    drawing = Drawing(panel + 142)
    _suspicion(Axes(drawing, (116, 34, 708, 260), across, _limits(lines, prior)), lines, prior, rounds)
    table = Axes(drawing, (116, 260, 708, panel - 6), across)
    lower = Axes(drawing, (116, panel, 708, panel + 92), across)
    rows = [(f"{role} games", role.lower(), lines[role]) for role in ROLES]
    for place, (name, ink, points) in enumerate([*rows, ("judgements", "accent", flags)]):
        # the last row belongs to the panel below and stands apart
        middle = 278 + 19 * place + (6 if points is flags else 0)
        drawing.text(108, middle, name, ink, "end", size=SMALL)
        for point in points:
            if point["round"] in written:
                drawing.text(table.x(point["round"]), middle, f"{point['n']}", "muted", "middle", size=SMALL)
    lower.vertical({0.0: "0 %", 0.5: "50 %", 1.0: "100 %"}, "flagged")
    lower.horizontal({round_: f"{round_}" for round_ in written}, "round")
    shares = lower.points((row["round"], row["share"]) for row in flags)
    if shares:
        drawing.line(shares, "accent", width=2.4, dash="7 4")
    for at in shares:
        drawing.marker("wedge", *at, "accent")
    return drawing.svg("figure1", "Suspicion by round and role", _rounds_described(lines, flags))


def _suspicion(axes: Axes, lines: Mapping[Role, Sequence[Result]], prior: float | None, rounds: Sequence[int]) -> None:
    drawing, key = axes.drawing, []
    axes.vertical(
        {tick: words for tick, words in _TENTHS.items() if axes.up[0] <= tick <= axes.up[1]},
        "suspicion D, 95 % interval",
    )
    if prior is not None:
        axes.level(prior, "muted", "2 4")
        key.append(KeyEntry(f"prior {prior:g}", "muted", "2 4", width=1.2))
    offset = max(0.05, min(0.2, _APART * (rounds[-1] - rounds[0] + 1)))
    for place, role in enumerate(ROLES):
        points, ink, mark = lines[role], role.lower(), FACTS[role].figure
        if not points:
            continue
        key.append(KeyEntry(role, ink, mark.dash, mark.marker))
        places = axes.points((point["round"] + (place - 1.5) * offset, point["mean"]) for point in points)
        drawing.line(places, ink, width=2.4, dash=mark.dash)
        for (x, y), point in zip(places, points, strict=True):
            low, high, _ = mean_interval(point["mean"], point["sem"], point["n"])
            if low is not None and high is not None:
                ends = [axes.y(min(max(end, axes.up[0]), axes.up[1])) for end in (low, high)]
                drawing.line([(x, ends[0]), (x, ends[1])], ink, width=1.4)
            drawing.marker(mark.marker, x, y, ink, hollow=low is None)
    axes.key(key)


def _limits(lines: Mapping[Role, Sequence[Result]], prior: float | None) -> tuple[float, float]:
    """Return the ends of the axis of suspicion, at least 0.3 apart, so that small differences look small."""
    values = [] if prior is None else [prior]
    for point in (point for line in lines.values() for point in line):
        interval = mean_interval(point["mean"], point["sem"], point["n"])[:2]
        values += [point["mean"], *(min(1.0, max(0.0, end)) for end in interval if end is not None)]
    if not values:
        return 0.0, 1.0
    low, high = min(values) - 0.03, max(values) + 0.03
    short = max(0.0, 0.3 - (high - low)) / 2
    low, high = max(0.0, low - short), min(1.0, high + short)
    return (low, high) if high - low >= 0.3 else (min(low, 0.7), max(high, 0.3))


def _rounds_described(lines: Mapping[Role, Sequence[Result]], flags: Sequence[Result]) -> str:
    parts = []
    for role, points in lines.items():
        words = ", ".join(f"round {p['round']} {percent(p['mean'], 0)} (n {p['n']})" for p in points)
        none = f"No judgement of {with_article(role)} counts."
        parts.append(f"Mean suspicion of the {role} role: {words}." if words else none)
    if flags:
        words = ", ".join(f"round {row['round']} {percent(row['share'], 0)} of {row['n']}" for row in flags)
        parts.append(f"Share of judgements that flag deception: {words}.")
    return " ".join(parts)


def roc(findings: Result) -> str | None:
    """Return the ROC curves of both scores over all observers (paper 4.5, 5.7; metrics: thresholds), None if there is
    none to draw: a curve needs deceptive and truthful statements.

    The diagonal is what guessing gives; the key has each curve's area, its 95 % interval and number of judgements.

    Args:
        findings: its ``curves`` and ``variability`` sections are drawn.
    """
    drawing, areas = Drawing(380), []
    axes = Axes(drawing, (72, 12, 392, 332))
    axes.vertical(_FIFTHS, "deceptive statements flagged")
    axes.horizontal(_FIFTHS, "truthful statements flagged", grid=True)
    axes.drawing.line(axes.points([(0, 0), (1, 1)]), "muted", dash="2 4", width=1.4)
    for place, (score, (ink, dash)) in enumerate(_CURVES.items()):
        curve = findings["curves"][score]["overall"]
        if not curve["roc"]:
            continue
        name, area = SCORE_WORDS[score], _area(findings, score, curve)
        drawing.line(axes.points((point[0], point[1]) for point in curve["roc"]), ink, width=2.4, dash=dash)
        key_entry(drawing, 408, 24 + 44 * place, KeyEntry(f"{name}:", ink, dash))
        drawing.text(442, 42 + 44 * place, area, "muted", size=SMALL)
        areas.append(f"{name}: {area}")
    if not areas:
        return None
    key_entry(drawing, 408, 112, KeyEntry("guessing: area 0.50", "muted", "2 4", width=1.4))
    description = f"Deceptive against truthful statements flagged at every threshold. {'; '.join(areas)}."
    return drawing.svg("roc", "ROC curves of suspicion", f"{description} Guessing has area 0.50.")


def _area(findings: Result, score: Score, curve: Result) -> str:
    name = "auc" if score == "suspicion" else "auc_before"
    metric = findings.get("variability", {}).get("metrics", {}).get(name) or {}
    row = metric.get("all_observers") or metric
    interval = "" if row.get("low") is None else f" ({number(row['low'], 2)} to {number(row['high'], 2)})"
    return f"area {number(curve['auc'], 2)}{interval}, n {curve['n']:,}"


def reliability(findings: Result, score: Score) -> str | None:
    """Return the reliability diagram over all observers (paper 4.5, 5.7; metrics: Table 4), None without a bin.

    Does a suspicion of 0.6 mean deception in 60 of 100 cases?

    Each point is a bin of the score: its mean score against the share of its statements that are deceptive by their
    speakers' own labels. On the diagonal the score is a probability; above it deception is underestimated. Below, the
    number of judgements of each bin.

    Args:
        findings: its ``table4`` section is drawn.
        score: which score.
    """
    row = findings["table4"][score]["overall"]
    bins = [bin_ for bin_ in row["reliability"] if bin_["n"]]
    if not bins:
        return None
    drawing = Drawing(470)
    upper, lower = Axes(drawing, (84, 34, 704, 320)), Axes(drawing, (84, 330, 704, 422))
    upper.vertical(_FIFTHS, "share deceptive")
    drawing.line(upper.points([(0, 0), (1, 1)]), "muted", width=1.4, dash="6 4")
    key = [
        KeyEntry("a probability would lie here", "muted", "6 4", width=1.4),
        KeyEntry("bins of the score", "villager", marker="circle"),
    ]
    if row["base_rate"] is not None:
        upper.level(row["base_rate"], "accent", "2 3", 1.6)
        key.append(KeyEntry(f"base rate {number(row['base_rate'], 2)}", "accent", "2 3", width=1.6))
    upper.key(key)
    places = upper.points((bin_["mean_score"], bin_["share"]) for bin_ in bins)
    drawing.line(places, "villager", width=2.4)
    for point in places:
        drawing.marker("circle", *point, "villager")
    _counts(lower, bins)
    lower.horizontal(_FIFTHS, SCORE_WORDS[score])
    shares = "; ".join(
        f"at {number(bin_['mean_score'], 2)} {percent(bin_['share'], 0)} deceptive (n {bin_['n']})" for bin_ in bins
    )
    return drawing.svg(
        f"reliability-{score}",
        f"Reliability of {SCORE_WORDS[score]}",
        f"Share of deceptive statements by {SCORE_WORDS[score]}: {shares}. Base rate {percent(row['base_rate'], 0)}, "
        f"expected calibration error {number(row['ece'])}, Brier score {number(row['brier'])}.",
    )


def _counts(axes: Axes, bins: Sequence[Result]) -> None:
    """Draw how many judgements each bin has, and write it above all bars, neighbours' in different lines."""
    drawing, largest = axes.drawing, max(bin_["n"] for bin_ in bins)
    _, top, _, bottom = axes.box
    free = [0.0, 0.0, 0.0]
    for bin_ in bins:
        left, right = axes.x(bin_["low"]), axes.x(bin_["high"])
        wide = max(8.0, right - left)
        left = min(max(axes.x(0), (left + right - wide) / 2), axes.x(1) - wide)
        high = (bottom - top - 42) * bin_["n"] / largest
        drawing.box(left, bottom - high, wide, high, "heat-4", "muted")
        words, middle = f"{bin_['n']}", left + wide / 2
        half = width_of(words, SMALL) / 2
        line = next((line for line in range(3) if middle - half >= free[line]), None)
        if line is not None:
            free[line] = middle + half + 6
            drawing.text(middle, top + 34 - 12 * line, words, "muted", "middle", size=SMALL)
    drawing.text(axes.box[0] - 56, (top + bottom) / 2, "judgements", anchor="middle", upright=True)
