"""A figure as SVG, drawn directly: marks and words in pixels, axes and keys, and the element that a page takes.

It has no ``style`` attribute, script, link or metadata, so that a page with a strict Content-Security-Policy takes it
as it stands. Colours are CSS variables, text stays text, and ids begin with the figure's name and a digest of the
drawing, so that many figures share one page. Equal drawings give equal bytes.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias
from xml.sax.saxutils import escape

from wolfbus.files.package_data import PackageData, folder_of, read_data
from wolfbus.game.roles import FACTS, Marker

HEATS: Final = 9
"""Steps of the scale of the heat map."""
DARK_HEATS: Final = 5
"""Step of that scale from which its words are in the colour of the paper, not of the ink."""


_SHARED: Final = {
    **{name: name for name in ("paper", "ink", "flag")},
    "muted": "soft",
    "grid": "line",
    "pass": "trust",
    "accent": "gold",
}
"""Names in figures of colours that all pages share."""


class Palette(PackageData):
    """What ``palette.toml`` holds.

    Attributes:
        light: names without their prefix, and the colours on a light ground.
        dark: the same names, and the colours on a dark ground.
    """

    light: Mapping[str, str]
    dark: Mapping[str, str]


@functools.cache
def palette() -> Palette:
    """Return the palette, with the colours of the roles by their names in lower case."""
    stored = read_data("analytics.figures", "palette", Palette)
    marks = {role.lower(): facts.figure for role, facts in FACTS.items()}
    shared = dict(re.findall(r"--(\w+): (light-dark\(.*\));", tokens()))
    pairs = {name: re.findall("#[0-9a-f]{6}", shared[token]) for name, token in _SHARED.items()}
    return Palette(
        light={name: light for name, (light, _) in pairs.items()}
        | {**stored.light, **{name: mark.light for name, mark in marks.items()}},
        dark={name: dark for name, (_, dark) in pairs.items()}
        | {**stored.dark, **{name: mark.dark for name, mark in marks.items()}},
    )


def tokens() -> str:
    """Return the rules with the colours and sizes of type that the report shares with all pages."""
    return (folder_of("wolfbus.stage") / "static" / "palette.css").read_text("utf-8")


def paint(name: str) -> str:
    """Return the CSS variable of a colour, with the light colour for a figure that is shown on its own."""
    return f"var(--wb-{name}, {palette().light[name]})"


def css() -> str:
    """Return the rules that a page with figures includes in its stylesheet.

    Variables ``--wb-NAME`` for every name of the palette, dark where the reader's system is dark, light in print; and
    the size of ``svg.wb-figure``, which shrinks with the page down to where its words would become too small and then
    scrolls within a ``.wb-scroll`` around it.
    """
    light, dark = (
        " ".join(f"--wb-{name}: {colour};" for name, colour in colours.items())
        for colours in (palette().light, palette().dark)
    )
    return (
        f"{tokens()}:root {{ color-scheme: light dark; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        "svg.wb-figure { display: block; width: 100%; max-width: 46rem; height: auto; }\n"
        ".wb-scroll { overflow-x: auto; }\n"
        "@media screen { .wb-scroll > svg.wb-figure { min-width: 34rem; } }\n"
        "@media print { svg.wb-figure { break-inside: avoid; } }\n"
    )


Anchor: TypeAlias = Literal["start", "middle", "end"]

WIDTH: Final = 720
"""Width of a figure, in pixels."""
SIZE: Final = 13.0
SMALL: Final = 11.5
"""Sizes of words and of secondary words, in pixels."""
PERCENTS: Final[Mapping[float, str]] = {0.0: "0", 0.25: "25 %", 0.5: "50 %", 0.75: "75 %", 1.0: "100 %"}
"""Ticks of an axis of shares."""

_FONTS: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_NARROW: Final = 0.6
"""Width of an ordinary character as a share of its size, on the safe side; those of East Asia are square."""
_SHAPES: Final[Mapping[Marker, str]] = {
    "circle": "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
    "square": "m-4-4h8v8h-8z",
    "triangle": "m0-5l4.8 8.6h-9.6z",
    "diamond": "m0-5.4l4.6 5.4-4.6 5.4-4.6-5.4z",
    "wedge": "m0 5l-4.8-8.6h9.6z",
}


def width_of(words: str, size: float = SIZE) -> float:
    """Return about how wide words are, in pixels."""
    return size * sum(1.0 if unicodedata.east_asian_width(character) in {"W", "F"} else _NARROW for character in words)


class Drawing:
    """Takes the marks and words of one figure, in pixels from its upper left corner.

    Args:
        height: in pixels; figures are `WIDTH` wide.
    """

    def __init__(self, height: float) -> None:
        self._height = height
        self._marks: list[str] = []

    def text(
        self, x: float, y: float, words: str, ink: str = "ink", anchor: Anchor = "start", *, size: float = SIZE,
        bold: bool = False, upright: bool = False,
    ) -> None:  # fmt: skip
        """Write words around a middle line, moved sideways as far as they need to stay within the figure.

        Args:
            x: where they are anchored.
            y: their middle.
            words: anybody's; they are escaped.
            ink: name in the palette.
            anchor: which part of them is at `x`.
            size: in pixels.
            bold: whether they are a heading.
            upright: whether they run from below upwards.
        """
        wide = width_of(words, size)
        offset = {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        if not upright:
            x = max(offset, min(x, WIDTH - wide + offset))
        self._mark(
            "text",
            words,
            x=x, y=y + 0.35 * size, fill=paint(ink), font_size=None if size == SIZE else size,
            font_weight="bold" if bold else None, text_anchor=None if anchor == "start" else anchor,
            transform=f"rotate(-90 {_short(x)} {_short(y)})" if upright else None,
        )  # fmt: skip

    def line(self, points: Iterable[tuple[float, float]], ink: str, *, width: float = 1.0, dash: str = "") -> None:
        """Draw a line through points."""
        d = "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in points)
        self._mark("path", d=d, fill="none", stroke=paint(ink), stroke_width=width, stroke_dasharray=dash or None)

    def box(
        self, x: float, y: float, wide: float, high: float, fill: str | None, edge: str = "", dash: str = ""
    ) -> None:
        """Draw a box from its upper left corner; None is an empty one."""
        self._mark(
            "rect", x=x, y=y, width=wide, height=high, fill="none" if fill is None else paint(fill),
            stroke=paint(edge) if edge else None, stroke_dasharray=dash or None,
        )  # fmt: skip

    def marker(self, shape: Marker, x: float, y: float, ink: str, *, hollow: bool = False) -> None:
        """Draw a point."""
        self._mark(
            "path", d=f"M{_short(x)} {_short(y)}{_SHAPES[shape]}", fill=paint("paper" if hollow else ink),
            stroke=paint(ink), stroke_width=1.5 if hollow else None,
        )  # fmt: skip

    def svg(self, name: str, title: str, description: str) -> str:
        """Return the figure as an ``<svg>`` element to put into HTML.

        Args:
            name: the figure's name, a prefix of its ids.
            title: what it is, in a few words, for readers who do not see it.
            description: what it shows, in sentences that stand in for it.
        """
        drawn = "".join(self._marks)
        key = f"wb-{name}-{hashlib.sha256(drawn.encode('utf-8', 'replace')).hexdigest()[:8]}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="wb-figure" role="img" viewBox="0 0 {WIDTH} '
            f'{_short(self._height)}" width="{WIDTH}" height="{_short(self._height)}" font-family="{_FONTS}" '
            f'font-size="{_short(SIZE)}" aria-labelledby="{key}-title {key}-desc"><title id="{key}-title">'
            f'{escape(title)}</title><desc id="{key}-desc">{escape(description)}</desc>{drawn}</svg>'
        )

    def _mark(self, tag: str, words: str | None = None, **attributes: str | float | None) -> None:
        written = "".join(
            f' {key.replace("_", "-")}="{value if isinstance(value, str) else _short(value)}"'
            for key, value in attributes.items()
            if value is not None
        )
        self._marks.append(f"<{tag}{written}/>" if words is None else f"<{tag}{written}>{escape(words)}</{tag}>")


class KeyEntry(NamedTuple):
    """One line of a key: its words, and how its line and point are drawn."""

    words: str
    ink: str
    dash: str = ""
    marker: Marker | None = None
    width: float = 2.0


@dataclass(frozen=True, slots=True)
class Axes:
    """A rectangle of a drawing in which values have places.

    Attributes:
        drawing: what is drawn on.
        box: left, top, right and bottom, in pixels.
        across: values at the left and right edge.
        up: values at the lower and upper edge.
    """

    drawing: Drawing
    box: tuple[float, float, float, float]
    across: tuple[float, float] = (0.0, 1.0)
    up: tuple[float, float] = (0.0, 1.0)

    def x(self, value: float) -> float:
        """Return the place of a value from left to right."""
        left, _, right, _ = self.box
        low, high = self.across
        return left + (right - left) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        """Return the place of a value from below upwards."""
        _, top, _, bottom = self.box
        low, high = self.up
        return bottom - (bottom - top) * (value - low) / (high - low)

    def points(self, values: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        """Return the places of points."""
        return [(self.x(across), self.y(up)) for across, up in values]

    def horizontal(self, ticks: Mapping[float, str], label: str = "", *, grid: bool = False) -> None:
        """Draw the axis below: ticks with their words, and what it is of."""
        left, top, right, bottom = self.box
        for value, words in ticks.items():
            x = self.x(value)
            self.drawing.line([(x, top if grid else bottom), (x, bottom + 4)], "grid" if grid else "muted")
            self.drawing.text(x, bottom + 14, words, "muted", "middle", size=SMALL)
        self.drawing.line([(left, bottom), (right, bottom)], "muted")
        self.drawing.text((left + right) / 2, bottom + 34, label, anchor="middle")

    def vertical(self, ticks: Mapping[float, str], label: str = "") -> None:
        """Draw the axis on the left, with lines across: ticks with their words, and what it is of."""
        left, top, right, bottom = self.box
        for value, words in ticks.items():
            y = self.y(value)
            self.drawing.line([(left, y), (right, y)], "grid")
            self.drawing.text(left - 8, y, words, "muted", "end", size=SMALL)
        self.drawing.line([(left, top), (left, bottom)], "muted")
        self.drawing.text(left - 56, (top + bottom) / 2, label, anchor="middle", upright=True)

    def level(self, value: float, ink: str, dash: str, width: float = 1.2) -> None:
        """Draw a line across at a value."""
        left, _, right, _ = self.box
        self.drawing.line([(left, self.y(value)), (right, self.y(value))], ink, width=width, dash=dash)

    def key(self, entries: Sequence[KeyEntry]) -> None:
        """Write what lines mean above the axes, out of the way of the data."""
        x, y = self.box[0], self.box[1] - 16
        for entry in entries:
            key_entry(self.drawing, x, y, entry)
            x += 34 + width_of(entry.words, SMALL) + 16


def key_entry(drawing: Drawing, x: float, y: float, entry: KeyEntry) -> None:
    """Write what one line means."""
    drawing.line([(x, y), (x + 28, y)], entry.ink, width=entry.width, dash=entry.dash)
    if entry.marker is not None:
        drawing.marker(entry.marker, x + 14, y, entry.ink)
    drawing.text(x + 34, y, entry.words, size=SMALL)


def _short(number: float) -> str:
    return f"{number:z.1f}".removesuffix(".0")
