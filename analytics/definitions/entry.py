"""What the methods appendix says of one metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NONE: Final = "none"
"""For a count: it has no baseline, or no interval."""
GAMES: Final = "percentile bootstrap over blocks of games, 95 %, 2,000 draws"
"""The interval of most estimates; see the entry ``variability``."""
SINGLE_GAMES: Final = "percentile bootstrap over single games, whatever the design, 95 %, 2,000 draws"
"""The interval of trends, which are statements about games."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One metric.

    Attributes:
        name: unique in its section.
        section: the section of the findings that holds it.
        title: a few words for a heading.
        words: what it measures, over which rows, and when it is undefined.
        formula: as plain text; "" where the words say it all.
        units: what its numbers are.
        baseline: what needs no skill, or what it stands beside.
        interval: how its uncertainty is given.
        source: where in the paper it comes from; "ours" for what the paper lacks.
        choices: what we chose because the paper is silent or contradicts itself, a sentence each.
        code: dotted path of the function, method or class that computes it.
        headline: names in the ``variability`` section that it defines, without the role behind the slash.
    """

    name: str
    section: str
    title: str
    words: str
    units: str
    baseline: str
    interval: str
    source: str
    code: str
    formula: str = ""
    choices: tuple[str, ...] = ()
    headline: tuple[str, ...] = ()
