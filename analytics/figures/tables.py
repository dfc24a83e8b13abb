"""Tables as figures: bars of who wins, of how much each role says and calls deceptive (paper 5.2, 5.3) and of flags by
role (5.5); Table 2 as a heat map: final suspicion by role of the observer and of the target (5.4); and estimates with
their 95 % intervals, a line each, in one panel or several beside each other (`forest`).
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analytics import Result
from analytics.figures.chart import DARK_HEATS, HEATS, PERCENTS, SIZE, SMALL, WIDTH, Axes, Drawing, KeyEntry, width_of
from wolfbus.files.formats import between, in_unit, listed, number, percent
from wolfbus.files.printable import counted, told_apart
from wolfbus.game.vocabulary import ROLES

_SIDES: Final = {
    "werewolves": ("Werewolves", "werewolf"),
    "villagers": ("Villagers", "villager"),
    "nobody": ("nobody", "nobody"),
}


def win_shares(findings: Result) -> str | None:
    """Return the shares of finished games that each side won, with Wilson's 95 % intervals (paper 5.2; metrics:
    outcomes), None if no game is finished.

    Args:
        findings: its ``outcomes`` section is drawn.
    """
    winners = findings["outcomes"]["winners"]
    if not findings["outcomes"]["finished"]:
        return None
    drawing = Drawing(178)
    axes = Axes(drawing, (100, 8, 560, 128))
    axes.horizontal(PERCENTS, "share of finished games, 95 % interval", grid=True)
    sentences = []
    for place, (side, (name, ink)) in enumerate(_SIDES.items()):
        row, middle = winners[side], 28 + 40 * place
        drawing.text(92, middle, name, anchor="end")
        _bar(axes, middle, 26, row["share"], ink)
        _interval(axes, middle, row)
        share = percent(row["share"], 0)
        drawing.text(574, middle, f"{row['k']} of {row['n']}: {share}")
        has_interval = row["low"] is not None and row["high"] is not None
        within = f", 95 % interval {percent(row['low'], 0)} to {percent(row['high'], 0)}" if has_interval else ""
        sentences.append(f"{name} {row['k']} of {row['n']} ({share}{within})")
    return drawing.svg("wins", "Who wins", f"Games won: {listed(sentences)}.")


def production_by_role(findings: Result) -> str | None:
    """Return statements and self-labelled deception by role of the speaker (paper 5.2, 5.3; metrics: production,
    Table 1), None where no such role has said anything.

    Left, the share of labelled statements that their speakers call deceptive, with the bootstrap interval where the
    ``variability`` section has one; the dotted line is the base rate over all. Right, the number of statements.

    Args:
        findings: ``production`` and ``table1`` are drawn, with ``variability``'s intervals if it is there.
    """
    rates, rows = findings["production"], findings["table1"]
    largest = max(rows[role]["statements"] for role in ROLES)
    if not largest:
        return None
    intervals = (findings.get("variability") or {}).get("metrics", {})
    bottom = 38 + 37 * len(ROLES)
    drawing = Drawing(bottom + 54)
    left = Axes(drawing, (84, 34, 400, bottom))
    right = Axes(drawing, (500, 34, 680, bottom), across=(0.0, float(largest)))
    left.horizontal(PERCENTS, "called deceptive by the speaker", grid=True)
    drawing.text(590, bottom + 34, "statements", anchor="middle")
    sentences = []
    for place, role in enumerate(ROLES):
        row, middle, ink = rates["by_role"][role], 54 + 37 * place, role.lower()
        drawing.text(76, middle, role, anchor="end")
        if row["rate"] is None:
            drawing.text(88, middle, "no label that counts", "muted", size=SMALL)
        else:
            _bar(left, middle, 24, row["rate"], ink)
            _interval(left, middle, intervals.get(f"deception_rate/{role}") or {})
            drawing.text(408, middle, f"{row['deceptive']} of {row['n']}", size=SMALL)
        statements = rows[role]["statements"]
        _bar(right, middle, 24, statements, ink)
        drawing.text(right.x(statements) + 6, middle, f"{statements}", size=SMALL)
        share = f"{row['deceptive']} of {row['n']} labelled ones deceptive ({percent(row['rate'], 0)})"
        sentences.append(f"{role}: {statements} statements, {share}.")
    base = rates["overall"]["rate"]
    if base is not None:
        drawing.line([(left.x(base), 34), (left.x(base), bottom)], "accent", width=1.6, dash="2 3")
        left.key([KeyEntry(f"base rate {percent(base, 0)}", "accent", "2 3")])
    sentences.append(f"Base rate over all: {percent(base, 0)}.")
    return drawing.svg("production", "Statements and deception by role", " ".join(sentences))


def confusion(findings: Result) -> str | None:
    """Return how each role's judgements of deceptive and of truthful statements divide (paper 5.5; metrics: Table 3),
    None if no judgement can be held against a self-label.

    Two bars a role. An observer who tells lies from truth flags far more of the upper bar than of the lower; equal
    bars are blindness, whatever the accuracy.

    Args:
        findings: its ``table3`` section is drawn.
    """
    table = findings["table3"]
    if not table["overall"]["n"]:
        return None
    names = (*ROLES, "overall")
    bottom = 40 + 68 * len(names)
    drawing = Drawing(bottom + 48)
    axes = Axes(drawing, (210, 34, 694, bottom))
    axes.horizontal(PERCENTS, "share of judgements", grid=True)
    axes.key([KeyEntry("flagged", "flag", width=10), KeyEntry("not flagged", "pass", width=10)])
    sentences = []
    for place, name in enumerate(names):
        row, top = table[name], 52 + 68 * place
        drawing.text(0, top + 14, "All" if name == "overall" else name, bold=True)
        _split(axes, top, "deceptive", row["tp"], row["fn"])
        _split(axes, top + 28, "truthful", row["fp"], row["tn"])
        who = "All observers" if name == "overall" else f"{name} observers"
        deceptive, truthful = row["tp"] + row["fn"], row["fp"] + row["tn"]
        caught = f"{row['tp']} of {deceptive} deceptive"
        sentences.append(f"{who} flag {caught} and {row['fp']} of {truthful} truthful statements.")
    return drawing.svg("confusion", "Flags by role of the observer", " ".join(sentences))


def _bar(axes: Axes, middle: float, high: float, value: float, ink: str, start: float = 0.0) -> None:
    axes.drawing.box(axes.x(start), middle - high / 2, axes.x(value) - axes.x(0), high, ink)


def _interval(axes: Axes, middle: float, estimate: Result) -> None:
    if estimate.get("low") is None:
        return
    low, high = axes.x(estimate["low"]), axes.x(estimate["high"])
    axes.drawing.line([(low, middle), (high, middle)], "ink", width=1.6)
    for end in (low, high):
        axes.drawing.line([(end, middle - 5), (end, middle + 5)], "ink", width=1.6)


def _split(axes: Axes, middle: float, kind: str, flagged: int, passed: int) -> None:
    """Draw how many of the judgements of one kind of statement flag it."""
    n, drawing = flagged + passed, axes.drawing
    drawing.text(axes.x(0) - 8, middle, f"{kind}, n {n}", "muted", "end", size=SMALL)
    if not n:
        drawing.text(axes.x(0) + 6, middle, "none judged", "muted", size=SMALL)
        return
    start = 0.0
    for count, ink in ((flagged, "flag"), (passed, "pass")):
        share = count / n
        wide = axes.x(share) - axes.x(0)
        _bar(axes, middle, 24, share, ink, start)
        words = f"{count} · {percent(share, 0)}"
        if wide > width_of(words, SMALL) + 8:
            drawing.text(axes.x(start) + wide / 2, middle, words, "paper", "middle", size=SMALL)
        start += share


_NARROWEST: Final = 0.2
"""Least width of the colour scale: noise must not look like contrast."""
_LEFT: Final = 116
_TOP: Final = 48
_WIDE: Final = (WIDTH - _LEFT - 12) / len(ROLES)
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
    sentences = []
    for row, observer in enumerate(ROLES):
        drawing.text(_LEFT + _WIDE * (row + 0.5), 32, observer, anchor="middle")
        drawing.text(_LEFT - 10, _TOP + _HIGH * (row + 0.5), observer, anchor="end")
        for column, target in enumerate(ROLES):
            _cell(drawing, row, column, cells[observer][target], low, high)
        cells_described = ", ".join(
            f"{target} no pair" if cell["mean"] is None else f"{target} {percent(cell['mean'], 0)} (n {cell['n']})"
            for target, cell in ((target, cells[observer][target]) for target in ROLES)
        )
        sentences.append(f"{observer} observers suspect: {cells_described}.")
    _legend(drawing, low, high)
    return drawing.svg("heatmap", "Final suspicion by observer and target", " ".join(sentences))


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
    drawing.text(middle, top + 52, counted(cell["n"], "game"), ink, "middle", size=SMALL)


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


_NAMES_WIDE: Final = 196
"""Pixels for the names."""
_BETWEEN: Final = 50
"""Pixels between two panels."""
_LINE: Final = 26
_NAME: Final = 25
"""Characters of a name."""
_TICKS: Final = 5


@dataclass(frozen=True, slots=True)
class Panel:
    """Estimates of one quantity.

    Attributes:
        heading: what is estimated.
        axis: what it is measured in, and what 0 means.
        unit: as in `wolfbus.files.formats`.
        rows: for each name an estimate ``{"value", "low", "high"}``.
        colour: name in the palette.
        nothing: what stands for no difference, or for chance: where the dotted line is.
    """

    heading: str
    axis: str
    unit: str
    rows: Mapping[str, Mapping[str, Any] | None]
    colour: str = "pass"
    nothing: float = 0.0


def forest(name: str, title: str, panels: Sequence[Panel]) -> str | None:
    """Return an ``<svg>`` element with a line for each name; None if no estimate is defined.

    A point is the estimate, a bar its 95 % interval, the dotted line what stands for no difference or for chance. An
    estimate without an interval has no point, for nobody could tell how much it says: it is written. Lines stand in the
    order of the first panel's names.

    Args:
        name: prefix of the ids.
        title: for readers who do not see it.
        panels: from left to right, over the same names.
    """
    names = [row_name for row_name in panels[0].rows if any(_is_defined(panel.rows.get(row_name)) for panel in panels)]
    if not names:
        return None
    # strangers' names: visible characters only, short, and still told apart
    labels = {row_name: label or "?" for row_name, label in told_apart(names, _NAME).items()}
    wide = (WIDTH - _NAMES_WIDE - _BETWEEN * (len(panels) - 1) - 8) / len(panels)
    line_length = int(wide / width_of("n", SIZE))
    headings = [textwrap.wrap(panel.heading, line_length) for panel in panels]
    top = 12 + 16 * max(map(len, headings))
    bottom = top + _LINE * len(names)
    drawing = Drawing(bottom + 46)
    lines = {row_name: top + _LINE * (index + 0.5) for index, row_name in enumerate(names)}
    for row_name, middle in lines.items():
        drawing.text(0, middle, labels[row_name])
    for place, (panel, heading) in enumerate(zip(panels, headings, strict=True)):
        left = _NAMES_WIDE + place * (wide + _BETWEEN)
        for index, words in enumerate(heading):
            drawing.text(left, 8 + 16 * index, words, bold=True)
        _panel(Axes(drawing, (left, top, left + wide, bottom), across=_across(panel, names)), panel, lines)
    described = "; ".join(
        f"{labels[row_name]}: "
        + ", ".join(f"{panel.heading[:1].lower()}{panel.heading[1:]} {_described(panel, row_name)}" for panel in panels)
        for row_name in names
    )
    return drawing.svg(name, title, f"{described}.")


def _across(panel: Panel, names: Sequence[str]) -> tuple[float, float]:
    estimates = [row for name in names if (row := panel.rows.get(name)) is not None and _is_defined(row)]
    ends = [row[end] for row in estimates for end in ("value", "low", "high") if row.get(end) is not None]
    ends.append(panel.nothing)
    spare = 0.06 * (max(ends) - min(ends)) or 1.0
    return min(ends) - spare, max(ends) + spare


def _panel(axes: Axes, panel: Panel, lines: Mapping[str, float]) -> None:
    drawing, (left, top, _, bottom) = axes.drawing, axes.box
    ticks = {tick: in_unit(tick, panel.unit).removesuffix(" points") for tick in _ticks(*axes.across)}
    axes.horizontal(ticks, panel.axis, grid=True)
    drawing.line([(axes.x(panel.nothing), top), (axes.x(panel.nothing), bottom)], "muted", dash="2 3")
    for name, middle in lines.items():
        row = panel.rows.get(name)
        if row is None or not _is_defined(row):
            drawing.text(left + 4, middle, "undefined", "muted", size=SMALL)
            continue
        if row.get("low") is None:
            drawing.text(left + 4, middle, f"{in_unit(row['value'], panel.unit)}, no interval", "muted", size=SMALL)
            continue
        drawing.line([(axes.x(row["low"]), middle), (axes.x(row["high"]), middle)], panel.colour, width=2.5)
        drawing.marker("circle", axes.x(row["value"]), middle, panel.colour)


def _is_defined(row: Mapping[str, Any] | None) -> bool:
    return row is not None and row.get("value") is not None


def _described(panel: Panel, name: str) -> str:
    row = panel.rows.get(name) or {}
    if row.get("value") is None:
        return "undefined"
    interval = between(row.get("low"), row.get("high"), panel.unit)
    return in_unit(row["value"], panel.unit) + (f" ({interval})" if interval else "")


def _ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / _TICKS
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next(scale * times for times in (1, 2, 5, 10) if scale * times >= rough)
    return [step * index for index in range(-math.floor(-low / step), math.floor(high / step) + 1)]
