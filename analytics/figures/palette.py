"""Colours of the figures and of the page around them, by name, for light and for dark.

The hues are those of Okabe and Ito's palette, which colour-blind readers tell apart, darkened or lightened until every
mark stands out from its ground by 3 : 1 and every word by 4.5 : 1 (WCAG 2.2, 1.4.11 and 1.4.3). Colour is never the
only sign: roles have markers and dashes of their own, bars have their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from wolfbus.roles import FACTS
from wolfbus.vocabulary import ROLES, Role

LIGHT: Final[Mapping[str, str]] = {
    "paper": "#ffffff",
    "ink": "#1b1f24",
    "muted": "#57606a",
    "grid": "#dfe3e8",
    **{role.lower(): FACTS[role].figure.light for role in ROLES},
    "flag": "#c44601",
    "on-flag": "#ffffff",
    "pass": "#0072b2",
    "on-pass": "#ffffff",
    "nobody": "#6e7781",
    "accent": "#a06000",
    "heat-0": "#f3f8fc",
    "heat-1": "#dbeaf5",
    "heat-2": "#bfdaec",
    "heat-3": "#9dc7e1",
    "heat-4": "#78b1d3",
    "heat-5": "#2a78a9",
    "heat-6": "#176a9c",
    "heat-7": "#0a5584",
    "heat-8": "#00406a",
    "heat-ink-0": "#1b1f24",
    "heat-ink-1": "#1b1f24",
    "heat-ink-2": "#1b1f24",
    "heat-ink-3": "#1b1f24",
    "heat-ink-4": "#1b1f24",
    "heat-ink-5": "#ffffff",
    "heat-ink-6": "#ffffff",
    "heat-ink-7": "#ffffff",
    "heat-ink-8": "#ffffff",
}
"""Names without their prefix, and the colours on a light ground."""

DARK: Final[Mapping[str, str]] = {
    "paper": "#14181d",
    "ink": "#e8eaed",
    "muted": "#a5adb8",
    "grid": "#333b45",
    **{role.lower(): FACTS[role].figure.dark for role in ROLES},
    "flag": "#f0803c",
    "on-flag": "#14181d",
    "pass": "#56b4e9",
    "on-pass": "#14181d",
    "nobody": "#939ca8",
    "accent": "#e69f00",
    "heat-0": "#1b2530",
    "heat-1": "#1c3345",
    "heat-2": "#1d425b",
    "heat-3": "#1d5374",
    "heat-4": "#1d638c",
    "heat-5": "#3a93c6",
    "heat-6": "#5aaddb",
    "heat-7": "#86c7ea",
    "heat-8": "#b9e1f7",
    "heat-ink-0": "#e8eaed",
    "heat-ink-1": "#e8eaed",
    "heat-ink-2": "#e8eaed",
    "heat-ink-3": "#e8eaed",
    "heat-ink-4": "#e8eaed",
    "heat-ink-5": "#14181d",
    "heat-ink-6": "#14181d",
    "heat-ink-7": "#14181d",
    "heat-ink-8": "#14181d",
}
"""The same names, and the colours on a dark ground."""

HEATS: Final = 9
"""Steps of the scale of the heat map."""

_SENTINEL: Final = 0xABC000


def sentinel(name: str) -> str:
    """Return the colour that stands for a name while a figure is drawn; `variable` takes it back.

    Args:
        name: one of `LIGHT`'s.
    """
    return f"#{_SENTINEL + list(LIGHT).index(name):06x}"


def variable(colour: str) -> str:
    """Return what the finished figure says for a stand-in: the CSS variable, with the light colour for a figure that
    is shown on its own.

    Raises:
        ValueError: the colour stands for no name.
    """
    place = int(colour.removeprefix("#"), 16) - _SENTINEL if colour.startswith("#") else -1
    if not 0 <= place < len(LIGHT):
        msg = f"a figure was drawn in {colour}, which is not in the palette"
        raise ValueError(msg)
    return paint(list(LIGHT)[place])


def paint(name: str) -> str:
    """Return the CSS variable of a colour, with the light colour for a figure that is shown on its own."""
    return f"var(--wb-{name}, {LIGHT[name]})"


@dataclass(frozen=True, slots=True)
class Hand:
    """How the lines of a role are drawn.

    Attributes:
        colour: name in the palette.
        marker: matplotlib's name of the marker.
        dash: lengths of strokes and gaps, in points; empty for a solid line.
    """

    colour: str
    marker: str
    dash: tuple[float, ...]


HANDS: Final[Mapping[Role, Hand]] = {
    role: Hand(role.lower(), FACTS[role].figure.marker, FACTS[role].figure.dash) for role in ROLES
}
"""A colour, a marker and a dash of its own for each role."""


def css() -> str:
    """Return the rules that a page with figures includes in its stylesheet.

    Variables ``--wb-NAME`` for every name in `LIGHT`, dark where the reader's system is dark, light in print; and the
    size of ``svg.wb-figure``, which shrinks with the page down to where its words would become too small and then
    scrolls within a ``.wb-scroll`` around it.
    """
    dark = "\n".join(f"    {rule}" for rule in _rules(DARK))
    light = "\n".join(f"  {rule}" for rule in _rules(LIGHT))
    return (
        f":root {{\n  color-scheme: light dark;\n{light}\n}}\n"
        f"@media screen and (prefers-color-scheme: dark) {{\n  :root {{\n{dark}\n  }}\n}}\n"
        "svg.wb-figure { display: block; width: 100%; max-width: 46rem; height: auto; }\n"
        ".wb-scroll { overflow-x: auto; }\n"
        "@media screen { .wb-scroll > svg.wb-figure { min-width: 34rem; } }\n"
        "@media print { svg.wb-figure { break-inside: avoid; } }\n"
    )


def _rules(colours: Mapping[str, str]) -> list[str]:
    return [f"--wb-{name}: {colour};" for name, colour in colours.items()]
