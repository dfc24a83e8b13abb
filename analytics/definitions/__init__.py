"""The methods appendix: what every number of the findings is, where it comes from, and where its code is.

The entries are in the TOML files here; reports and documents render them. A test holds that every section and headline
metric has one, and that the code they name exists.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from wolfbus.package_data import PackageData, Prose, read_data

__all__ = ["DEFINITIONS", "Definition", "definitions"]

DEFINITIONS: Final = 2
"""Version of what the numbers mean, which stands in findings and ``metrics.json``; docs/metrics.md tells what changed.
"""

FILES: Final = ("units", "tables", "detection", "scores", "beyond", "apparatus")
"""In the order in which an appendix gives their entries."""
INTERVALS: Final = {
    "games": "bootstrap over blocks of games, 95 %, 2,000 draws, quantiles for so many blocks",
    "single_games": "bootstrap over single games, whatever the design, 95 %, 2,000 draws, quantiles for so many",
}
"""What ``{games}`` and ``{single_games}`` stand for in an interval: that of most estimates (see the entry
``variability``), and that of trends, which are statements about games.
"""


class Definition(PackageData):
    """What the appendix says of one metric; a count has no baseline and no interval."""

    name: str
    """Unique in its section."""
    section: str
    """The section of the findings that holds it."""
    title: str
    """A few words for a heading."""
    words: Prose
    """What it measures, over which rows, and when it is undefined."""
    units: Prose
    """What its numbers are."""
    baseline: Prose = "none"
    """What needs no skill, or what it stands beside."""
    interval: Prose = "none"
    """How its uncertainty is given."""
    source: Prose
    """Where in the paper it comes from; "ours" for what the paper lacks."""
    code: str
    """Dotted path of the function, method or class that computes it."""
    formula: Prose = ""
    """As plain text; empty where the words say it all."""
    choices: tuple[Prose, ...] = ()
    """What we chose because the paper is silent or contradicts itself, a sentence each."""
    headline: tuple[str, ...] = ()
    """Names in the ``variability`` section that it defines, without the role behind the slash."""


class _Definitions(PackageData):
    definition: tuple[Definition, ...]


@cache
def definitions() -> tuple[Definition, ...]:
    """Return all entries, in the order in which an appendix gives them.

    Raises:
        ConfigError: a file of theirs is not as it should be.
    """
    found = (each for name in FILES for each in read_data("analytics.definitions", name, _Definitions).definition)
    return tuple(each.model_copy(update={"interval": each.interval.format(**INTERVALS)}) for each in found)
