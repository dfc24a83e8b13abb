"""How every figure is drawn: matplotlib's own canvas in one fixed style, then made fit for a page."""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from analytics.figures.palette import sentinel
from analytics.figures.svg import page_svg
from wolfbus.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
