"""Estimates with their 95 % intervals, a line each, in one panel or several beside each other."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any, Final

from analytics.figures.chart import SIZE, SMALL, WIDTH, Axes, Drawing, width_of
from wolfbus.document.formats import between, shown
from wolfbus.printable import told_apart

_LEFT: Final = 196
"""Pixels for the names."""
_APART: Final = 50
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
        unit: as in `wolfbus.document.formats`.
        rows: for each name an estimate ``{"value", "low", "high"}``.
        colour: name in the palette.
    """

    heading: str
    axis: str
    unit: str
    rows: Mapping[str, Mapping[str, Any] | None]
    colour: str = "pass"


def forest(name: str, title: str, panels: Sequence[Panel]) -> str | None:
    """Return an ``<svg>`` element with a line for each name; None if no estimate is defined.

    A point is the estimate, a bar its 95 % interval, the dotted line 0. Lines stand in the order of the first panel's
    names.

    Args:
        name: prefix of the ids.
        title: for readers who do not see it.
        panels: from left to right, over the same names.
    """
    names = [each for each in panels[0].rows if any(_known(panel.rows.get(each)) for panel in panels)]
    if not names:
        return None
    # strangers' names: visible characters only, short, and still told apart
    labels = {each: label or "?" for each, label in told_apart(names, _NAME).items()}
    wide = (WIDTH - _LEFT - _APART * (len(panels) - 1) - 8) / len(panels)
    most = int(wide / width_of("n", SIZE))
    headings = [textwrap.wrap(panel.heading, most) for panel in panels]
    top = 12 + 16 * max(map(len, headings))
    bottom = top + _LINE * len(names)
    drawing = Drawing(bottom + 46)
    lines = {each: top + _LINE * (at + 0.5) for at, each in enumerate(names)}
    for each, middle in lines.items():
        drawing.text(0, middle, labels[each])
    for place, (panel, heading) in enumerate(zip(panels, headings, strict=True)):
        left = _LEFT + place * (wide + _APART)
        for at, words in enumerate(heading):
            drawing.text(left, 8 + 16 * at, words, bold=True)
        _panel(Axes(drawing, (left, top, left + wide, bottom), across=_across(panel, names)), panel, lines)
    told = "; ".join(
        f"{labels[each]}: " + ", ".join(f"{panel.heading.lower()} {_said(panel, each)}" for panel in panels)
        for each in names
    )
    return drawing.svg(name, title, f"{told}.")


def _across(panel: Panel, names: Sequence[str]) -> tuple[float, float]:
    known = [row for each in names if (row := panel.rows.get(each)) is not None and _known(row)]
    ends = [0.0, *(row[end] for row in known for end in ("value", "low", "high") if row.get(end) is not None)]
    spare = 0.06 * (max(ends) - min(ends)) or 1.0
    return min(ends) - spare, max(ends) + spare


def _panel(axes: Axes, panel: Panel, lines: Mapping[str, float]) -> None:
    drawing, (left, top, _, bottom) = axes.drawing, axes.box
    ticks = {tick: shown(tick, panel.unit).removesuffix(" points") for tick in _ticks(*axes.across)}
    axes.horizontal(ticks, panel.axis, grid=True)
    drawing.line([(axes.x(0), top), (axes.x(0), bottom)], "muted", dash="2 3")
    for each, middle in lines.items():
        row = panel.rows.get(each)
        if row is None or not _known(row):
            drawing.text(left + 4, middle, "undefined", "muted", size=SMALL)
            continue
        if row.get("low") is not None:
            drawing.line([(axes.x(row["low"]), middle), (axes.x(row["high"]), middle)], panel.colour, width=2.5)
        drawing.marker("circle", axes.x(row["value"]), middle, panel.colour)


def _known(row: Mapping[str, Any] | None) -> bool:
    return row is not None and row.get("value") is not None


def _said(panel: Panel, name: str) -> str:
    row = panel.rows.get(name) or {}
    if row.get("value") is None:
        return "undefined"
    interval = between(row.get("low"), row.get("high"), panel.unit)
    return shown(row["value"], panel.unit) + (f" ({interval})" if interval else "")


def _ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / _TICKS
    scale = 10.0 ** floor(log10(rough))
    step = next(scale * times for times in (1, 2, 5, 10) if scale * times >= rough)
    return [step * at for at in range(-floor(-low / step), floor(high / step) + 1)]
