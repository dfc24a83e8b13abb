"""Estimates with their 95 % intervals, a line each, in one panel or several beside each other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any, Final
from xml.sax.saxutils import escape

from analytics.figures.palette import paint
from analytics.figures.svg import labels_of
from wolfbus.document.formats import between, shown

_WIDTH: Final = 720
_LEFT: Final = 168
"""Pixels for the names."""
_APART: Final = 26
"""Pixels between two panels."""
_LINE: Final = 26
_TOP: Final = 30
_BOTTOM: Final = 44
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
    labels = labels_of(names, _NAME)
    height = _TOP + _LINE * len(names) + _BOTTOM
    wide = (_WIDTH - _LEFT - _APART * (len(panels) - 1) - 8) / len(panels)
    drawn = [_text(0, _line(at) + 4, labels[each], "ink") for at, each in enumerate(names)]
    for place, panel in enumerate(panels):
        drawn += _panel(panel, names, _LEFT + place * (wide + _APART), wide, height)
    told = "; ".join(
        f"{labels[each]}: " + ", ".join(f"{panel.heading.lower()} {_said(panel, each)}" for panel in panels)
        for each in names
    )
    digest = hashlib.sha256("".join(drawn).encode("utf-8", "replace")).hexdigest()[:8]
    key = f"wb-{name}-{digest}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="wb-figure" role="img" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" font-family="system-ui, sans-serif" font-size="13" '
        f'aria-labelledby="{key}-title {key}-desc"><title id="{key}-title">{escape(title)}</title>'
        f'<desc id="{key}-desc">{escape(told)}.</desc>{"".join(drawn)}</svg>'
    )


def _panel(panel: Panel, names: Sequence[str], left: float, wide: float, height: int) -> Iterator[str]:
    known = [row for each in names if _known(row := panel.rows.get(each))]
    ends = [row[end] for row in known if row for end in ("value", "low", "high") if row.get(end) is not None]
    low: float = min([*ends, 0.0])
    high: float = max([*ends, 0.0])
    spare = 0.06 * (high - low) or 1.0
    low, high = low - spare, high + spare

    def x(value: float) -> float:
        return left + wide * (value - low) / (high - low)

    foot = height - _BOTTOM + 4
    yield _text(left, 14, panel.heading, "ink", "bold")
    for tick in _ticks(low, high):
        yield _stroke(x(tick), _TOP - 6, x(tick), foot, "grid")
        yield _text(x(tick), foot + 15, shown(tick, panel.unit).removesuffix(" points"), "muted", anchor="middle")
    yield _text(left, foot + 34, panel.axis, "muted")
    yield _stroke(x(0), _TOP - 6, x(0), foot, "muted", dash="2 3")
    for at, each in enumerate(names):
        row = panel.rows.get(each)
        if row is None or row.get("value") is None:
            yield _text(left, _line(at) + 4, "undefined", "muted")
            continue
        if row.get("low") is not None:
            yield _stroke(x(row["low"]), _line(at), x(row["high"]), _line(at), panel.colour, width=2.5)
        yield f'<circle cx="{x(row["value"]):.1f}" cy="{_line(at)}" r="5" fill="{paint(panel.colour)}"/>'


def _line(at: int) -> int:
    return _TOP + _LINE * at + _LINE // 2


def _known(row: Mapping[str, Any] | None) -> bool:
    return row is not None and row.get("value") is not None


def _said(panel: Panel, name: str) -> str:
    row = panel.rows.get(name) or {}
    if row.get("value") is None:
        return "undefined"
    interval = between(row.get("low"), row.get("high"), panel.unit)
    return shown(row["value"], panel.unit) + (f" ({interval})" if interval else "")


def _ticks(low: float, high: float) -> Iterator[float]:
    rough = (high - low) / _TICKS
    scale = 10.0 ** floor(log10(rough))
    step = next(scale * times for times in (1, 2, 5, 10) if scale * times >= rough)
    at = step * -floor(-low / step)
    while at <= high:
        yield 0.0 if abs(at) < step / 2 else at
        at += step


def _stroke(x1: float, y1: float, x2: float, y2: float, ink: str, *, width: float = 1.0, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" fill="none" stroke="{paint(ink)}" '
        f'stroke-width="{width}"{dashed}/>'
    )


def _text(x: float, y: float, words: str, ink: str, weight: str = "", anchor: str = "") -> str:
    more = (f' font-weight="{weight}"' if weight else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{paint(ink)}"{more}>{escape(words)}</text>'
