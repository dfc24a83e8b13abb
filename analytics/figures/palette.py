"""Colours of the figures and of the page around them, by name, for light and for dark, and how a role is drawn."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from wolfbus.package_data import PackageData, read_data
from wolfbus.vocabulary import Role

Marker: TypeAlias = Literal["circle", "square", "triangle", "diamond", "wedge"]

HEATS: Final = 9
"""Steps of the scale of the heat map."""
DARK_HEATS: Final = 5
"""Step of that scale from which its words are in the colour of the paper, not of the ink."""


class Hand(PackageData):
    """How the lines of a role are drawn.

    Attributes:
        colour: name in the palette.
        marker: the shape of its points.
        dash: lengths of strokes and gaps, in pixels; "" for a solid line.
    """

    colour: str
    marker: Marker
    dash: str


class Palette(PackageData):
    """What ``palette.toml`` holds.

    Attributes:
        light: names without their prefix, and the colours on a light ground.
        dark: the same names, and the colours on a dark ground.
        hands: a colour, a marker and a dash of its own for each role.
    """

    light: Mapping[str, str]
    dark: Mapping[str, str]
    hands: Mapping[Role, Hand]


@functools.cache
def palette() -> Palette:
    """Return the palette."""
    return read_data("analytics.figures", "palette", Palette)


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
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        "svg.wb-figure { display: block; width: 100%; max-width: 46rem; height: auto; }\n"
        ".wb-scroll { overflow-x: auto; }\n"
        "@media screen { .wb-scroll > svg.wb-figure { min-width: 34rem; } }\n"
        "@media print { svg.wb-figure { break-inside: avoid; } }\n"
    )
