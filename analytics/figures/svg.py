"""matplotlib's SVG made fit for a page with a strict Content-Security-Policy, in light and dark.

What comes out has no ``style`` attribute or element, no script, link, metadata or document type: only elements and
attributes of a short list. Colours are CSS variables, text stays text, and ids begin with the figure's name, so that
many figures share one page. Equal drawings give equal bytes.
"""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from analytics.figures.palette import sentinel, variable
from wolfbus.errors import ConfigError
from wolfbus.printable import told_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FONTS: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
"""The page's fonts; all are narrower than the one that matplotlib measures with, so what fits there fits here."""

_ELEMENTS: Final = frozenset({"svg", "g", "defs", "path", "rect", "use", "text", "clipPath", "pattern"})
_ATTRIBUTES: Final = frozenset({"d", "x", "y", "width", "height", "transform", "viewBox", "patternUnits"})
_PROPERTIES: Final = frozenset(
    {
        *("stroke-width", "stroke-dasharray", "stroke-dashoffset", "stroke-linejoin", "stroke-linecap"),
        *("stroke-miterlimit", "opacity", "fill-opacity", "stroke-opacity", "fill-rule"),
        *("font-size", "font-weight", "font-style", "text-anchor"),
    }
)
_COLOURS: Final = frozenset({"fill", "stroke"})
_ROUNDED: Final = frozenset({"d", "x", "y", "transform", "stroke-dasharray"})
_NUMBER: Final = re.compile(r"-?\d+\.\d+")
_LINK: Final = re.compile(r"url\(#([\w.-]+)\)|#([\w.-]+)")


def page_svg(drawn: str, name: str, title: str, description: str) -> str:
    """Return a drawing of matplotlib's as an ``<svg>`` element to put into HTML.

    Args:
        drawn: an SVG document that matplotlib wrote, coloured with `analytics.figures.palette.sentinel`.
        name: the figure's name, a prefix of its ids.
        title: what it is, in a few words.
        description: what it shows, in sentences that stand in for it.

    Raises:
        ValueError: it uses a colour, element or attribute that is not allowed for.
    """
    return _Rewriter(name, title, description).rewrite(drawn)


class _Rewriter:
    def __init__(self, name: str, title: str, description: str) -> None:
        self._name = name
        self._title = title
        self._description = description
        self._out: list[str] = []
        self._open: list[str | None] = []
        self._ids: dict[str, str] = {}
        self._within_style = 0

    def rewrite(self, drawn: str) -> str:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.Parse(drawn, True)
        return "".join(self._out)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "style" or self._within_style:
            self._within_style += 1
            return
        if tag not in _ELEMENTS:
            msg = f"a figure has an element {tag}"
            raise ValueError(msg)
        kept = self._svg(attributes) if tag == "svg" else self._kept(tag, attributes)
        # most groups say nothing once their ids are gone
        bare = tag == "g" and not kept
        self._open.append(None if bare else tag)
        if not bare:
            self._out.append(f"<{tag}{''.join(f' {key}={quoteattr(value)}' for key, value in kept.items())}>")
        if tag == "svg":
            self._out.append(f'<title id="{self._name}-title">{escape(self._title)}</title>')
            self._out.append(f'<desc id="{self._name}-desc">{escape(self._description)}</desc>')

    def _svg(self, attributes: dict[str, str]) -> dict[str, str]:
        _, _, width, height = attributes["viewBox"].split()
        return {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "wb-figure",
            "role": "img",
            "aria-labelledby": f"{self._name}-title {self._name}-desc",
            "viewBox": f"0 0 {_short(width)} {_short(height)}",
            # points as CSS has them
            "width": _short(str(float(width) * 4 / 3)),
            "height": _short(str(float(height) * 4 / 3)),
            "font-family": FONTS,
            "stroke-linejoin": "round",
        }

    def _kept(self, tag: str, attributes: dict[str, str]) -> dict[str, str]:
        kept: dict[str, str] = {}
        for key, value in attributes.items():
            if key == "style":
                kept.update(self._style(value))
            elif key == "id":
                if tag != "g":
                    kept["id"] = self._id(value)
            elif key in {"clip-path", "xlink:href"}:
                kept["href" if key == "xlink:href" else key] = _LINK.sub(self._linked, value)
            elif key in _COLOURS:
                kept[key] = self._colour(value)
            elif key in _ATTRIBUTES or key in _PROPERTIES:
                kept[key] = _NUMBER.sub(_rounded, " ".join(value.split())) if key in _ROUNDED else value
            else:
                msg = f"a figure has an attribute {key}"
                raise ValueError(msg)
        if kept.get("transform", "").startswith("rotate(-0 "):
            del kept["transform"]
        return kept

    def _style(self, style: str) -> dict[str, str]:
        kept: dict[str, str] = {}
        for rule in style.split(";"):
            key, _, value = (part.strip() for part in rule.partition(":"))
            if key in _COLOURS:
                kept[key] = self._colour(value)
            elif key in _PROPERTIES:
                kept[key] = _NUMBER.sub(_rounded, value) if key in _ROUNDED else value
            elif key and key != "font-family":
                msg = f"a figure has a style {key}"
                raise ValueError(msg)
        return kept

    def _colour(self, value: str) -> str:
        if value.startswith("url("):
            return _LINK.sub(self._linked, value)
        return value if value == "none" else variable(value)

    def _id(self, old: str) -> str:
        return self._ids.setdefault(old, f"{self._name}-{len(self._ids) + 1}")

    def _linked(self, link: re.Match[str]) -> str:
        return f"url(#{self._id(link[1])})" if link[1] else f"#{self._id(link[2])}"

    def _end(self, _: str) -> None:
        if self._within_style:
            self._within_style -= 1
            return
        tag = self._open.pop()
        if tag is not None:
            self._out.append(f"</{tag}>")

    def _text(self, text: str) -> None:
        if self._open and self._open[-1] == "text" and not self._within_style:
            self._out.append(escape(text))


def _rounded(number: re.Match[str]) -> str:
    return _short(number[0])


def _short(number: str) -> str:
    text = f"{float(number):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


WIDTH: Final = 7.2
"""Width of a figure, in inches of 72 points."""
SMALL: Final = 8.0
"""Size of secondary words, in points."""


def draw(name: str, title: str, description: str, height: float, paint: Callable[[Figure], None]) -> str:
    """Return one figure as an ``<svg>`` element; the same data give the same bytes.

    Args:
        name: prefix of the ids; a digest of the drawing follows it.
        title: its title, for readers who do not see it.
        description: what it shows, in sentences.
        height: in inches; figures are `WIDTH` wide.
        paint: puts the axes and all that is on them into an empty figure, in colours of `colour`.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ModuleNotFoundError as missing:
        raise ConfigError('figures need matplotlib: pip install "wolfbus[report]"') from missing
    with mpl.rc_context(), warnings.catch_warnings():
        # a reader's own style sheet must not leak in
        mpl.rcdefaults()
        mpl.rcParams.update(_style())
        # names may be in scripts that the measuring font lacks; the browser has its own
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        figure = Figure(figsize=(WIDTH, height), dpi=72)
        paint(figure)
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    # two figures of one kind may share a page, such as those of two studies
    digest = hashlib.sha256(drawn.getvalue().encode()).hexdigest()[:8]
    return page_svg(drawn.getvalue(), f"wb-{name}-{digest}", title, description)


def colour(name: str) -> str:
    """Return the colour to draw with for a name of `analytics.figures.palette.LIGHT`."""
    return sentinel(name)


def key_above(axes: Axes, columns: int) -> None:
    """Put the key of the lines above the axes, out of the way of the data."""
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        frameon=False,
        borderaxespad=0.2,
        handlelength=3.0,
        columnspacing=1.4,
        handletextpad=0.6,
    )


def _style() -> dict[Any, Any]:
    ink, muted, grid = colour("ink"), colour("muted"), colour("grid")
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "wolfbus",
        "font.family": "DejaVu Sans",
        "font.size": 9.0,
        # a "$" in a name is a dollar sign
        "text.parse_math": False,
        "axes.formatter.useoffset": False,
        "axes.unicode_minus": True,
        "figure.facecolor": "none",
        "figure.edgecolor": "none",
        "savefig.facecolor": "none",
        "savefig.edgecolor": "none",
        "axes.facecolor": "none",
        "axes.edgecolor": muted,
        "axes.labelcolor": ink,
        "axes.titlecolor": ink,
        "axes.titlesize": 9.0,
        "axes.titlelocation": "left",
        "axes.labelsize": 9.0,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.linewidth": 0.8,
        "grid.color": grid,
        "grid.linewidth": 0.8,
        "text.color": ink,
        "xtick.color": muted,
        "ytick.color": muted,
        "xtick.labelcolor": muted,
        "ytick.labelcolor": muted,
        "xtick.labelsize": 8.5,
        "ytick.labelsize": 8.5,
        "xtick.major.size": 3.0,
        "ytick.major.size": 3.0,
        "legend.fontsize": 8.5,
        "legend.labelcolor": ink,
        "lines.linewidth": 1.8,
        "lines.markersize": 5.5,
        "patch.linewidth": 0.8,
        "hatch.color": muted,
    }


Score: TypeAlias = Literal["suspicion", "before"]
"""Which score of a judgement is meant: the suspicion that it states, or smoothed suspicion D just before it."""

SCORE_WORDS: Final[dict[Score, str]] = {
    "suspicion": "stated suspicion",
    "before": "smoothed suspicion before the statement",
}
LABEL_SHOWN: Final = 26
"""Characters of an agent's name within a figure."""


def percent(share: float | None) -> str:
    """Return a share as whole per cent, "undefined" for None."""
    return "undefined" if share is None else f"{100 * share:z.0f} %"


def decimal(value: float | None, places: int = 2) -> str:
    """Return a number with a real minus sign, which what rounds to 0 has not, "undefined" for None."""
    return "undefined" if value is None else f"{value:z.{places}f}".replace("-", "−")


def labels_of(names: Iterable[str], limit: int = LABEL_SHOWN) -> dict[str, str]:
    """Return strangers' names fit to draw: visible characters only, short, and still told apart."""
    return {name: shown or "?" for name, shown in told_apart(names, limit).items()}


def listed(parts: Iterable[str]) -> str:
    """Return "a, b and c"."""
    held = list(parts)
    return held[0] if len(held) == 1 else f"{', '.join(held[:-1])} and {held[-1]}" if held else ""
