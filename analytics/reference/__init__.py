"""What stands beside the numbers: what each of them is, where it comes from and where its code is (the methods
appendix); and what the WOLF paper prints, and where it contradicts itself.

The entries are in the TOML files here; reports and documents render them. A test holds that every section and headline
metric has a definition, and that the code they name exists. The paper's numbers are never fitted to: the analytics
follows its definitions, and tests feed it the paper's own counts to see what follows from them.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from pydantic import RootModel

from analytics import Result
from wolfbus.files.package_data import PackageData, Prose, read_data

DEFINITIONS: Final = 3
"""Version of what the numbers mean, which stands in findings and ``metrics.json``; docs/metrics.md tells what changed.
"""

FILES: Final = ("units", "tables", "detection", "scores", "beyond", "apparatus")
"""In the order in which an appendix gives their entries."""
INTERVALS: Final = {
    "games": "bootstrap over blocks of games, 95 %, 2,000 draws, quantiles for so many blocks",
    "single_games": "bootstrap over single games that have any, whatever the design, 95 %, 2,000 draws, "
    "quantiles for so many",
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
    entries = (entry for name in FILES for entry in read_data("analytics.reference", name, _Definitions).definition)
    return tuple(entry.model_copy(update={"interval": entry.interval.format(**INTERVALS)}) for entry in entries)


class Contradiction(PackageData):
    """One place where the paper cannot be right everywhere."""

    says: Prose
    """What the paper says, a sentence."""
    but: Prose
    """What else it says, or what follows from its own numbers, a sentence."""
    choice: Prose
    """What is done here, a sentence."""


class _Contradictions(PackageData):
    contradiction: tuple[Contradiction, ...]


@cache
def contradictions() -> tuple[Contradiction, ...]:
    """Return every contradiction that was found, in the order of the paper.

    Raises:
        ConfigError: their file is not as it should be.
    """
    return read_data("analytics.reference", "contradictions", _Contradictions).contradiction


class _Values(RootModel[dict[str, dict[str, Any]]]):
    pass


_RATES: Final = ("accuracy", "precision", "recall", "f1")
_SCORES: Final = ("brier", "auc", "auprc")


def published() -> Result:
    """Return what the paper prints, in the keys of the findings' sections; what it does not print is not there.

    Values are plain numbers, where a section of ours may have an estimate: ``table2[observer][target]``,
    ``events["seer"]["before"]``, ``production["base_rate"]``, ``trends["Werewolf"]["slope"]`` (per round),
    ``variability["metrics"][name]``.

    Raises:
        ConfigError: their file is not as it should be.
    """
    paper = read_data("analytics.reference", "values", _Values).root
    winners = paper["outcomes"]["winners"]
    values: dict[str, float] = {
        "villager_wins": winners["villagers"]["share"],
        "werewolf_wins": winners["werewolves"]["share"],
        "no_winner": winners["nobody"]["share"],
        "deception_rate": paper["production"]["base_rate"],
    }
    for table, names in (("table3", _RATES), ("table4", _SCORES)):
        for role, row in paper[table].items():
            values |= {name if role == "overall" else f"{name}/{role}": row[name] for name in names}
    return {**paper, "variability": {"metrics": values}}
