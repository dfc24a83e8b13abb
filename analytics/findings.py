"""`findings`: all figures of a set of games as one JSON-able value, which a report shows and ``report --json`` prints;
`Metrics`: the paper's tables and figures alone, over a stream of games (paper, sections 4.5 and 5.2-5.9; metrics:
tables and figures of the paper).

Every table is a function of sums that returns plain values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from analytics import Result
from analytics.gather import Gathered, StudySource, processes
from analytics.gather.reading import study_check
from analytics.measures.columns import ColumnsBuilder
from analytics.measures.ledger import Ledger
from analytics.measures.primary import PRIMARY, primary, primary_of
from analytics.measures.rounds import events, figure1, trends, votes
from analytics.measures.study import Study, variability
from analytics.measures.summing import add_sums
from analytics.measures.sums import Estimates, Sums
from analytics.measures.tables import claims, headline, labels, outcomes, production, table1, table2, table3, table5
from analytics.reference import DEFINITIONS
from analytics.rows import GameRows

FORMAT: Final = "wolfbus-findings"
VERSION: Final = 1
LARGE: Final = 300_000
"""Judgements from which a second process is worth its start."""

_BESIDE_TABLES: Final = ("table4", "curves", "thresholds", "recalibration", "intervals")
"""Of `sections`, those that are computed with the tables; the others are mostly of agents."""
_INTERVALS: Final = (
    "table1",
    "table2",
    "table4",
    "table5",
    "production",
    "thresholds",
    "recalibration",
    "truth_detection",
)
_OF_STUDY: Final = (
    "study",
    "name",
    "seed",
    "design",
    "agents",
    "prompts",
    "budget_usd",
    "wolfbus",
    "python",
    "git",
)
"""What a study's manifest says once, for all of its games."""

AT_ONCE: Final = 64
"""Games whose rows are held until they are summed up."""

TABLES: Final[Mapping[str, Callable[[Estimates], Result]]] = {
    table.__name__: table
    for table in (
        outcomes,
        production,
        table1,
        table2,
        table3,
        table5,
        figure1,
        trends,
        events,
        votes,
        claims,
        labels,
        headline,
    )
}
"""The sections of the findings that are formulas of sums alone, in their order."""
SINGLE: Final[Mapping[str, str]] = {
    "game": "state",
    "line": "pairs target_role round",
    "raw_line": "pairs target_role round",
    "moved": "pairs target_role round what",
    "slope": "pairs target_role",
    "difference": "pairs round",
    "event": "condition part",
    "change": "part",
    "hits": "pairs round part",
    "follows": "pairs part",
    "exile": "pairs part",
}
"""Families of which these sections need more than totals, and on which axes: spreads and intervals
are over games.
"""


class Metrics:
    """Adds up games one by one, in any order. What it keeps does not grow with
    statements, judgements or agents: totals, and by game the few numbers that intervals and spreads
    are over.

    Args:
        pooled: keep nothing of single games; then only `sections` without intervals are to be had.
    """

    def __init__(self, *, pooled: bool = False) -> None:
        self._ledger = Ledger()
        self._waiting = ColumnsBuilder()
        self._sums = Sums({} if pooled else SINGLE)

    def add(self, game: GameRows, block: str | None = None) -> None:
        """Add one game.

        Args:
            game: its rows.
            block: name of the block of the design that it is resampled with; its own id unless given.
        """
        self._ledger.add(game)
        self._waiting.add(game, block)
        if len(self._waiting) >= AT_ONCE:
            self._sum_up()

    def result(self) -> Result:
        """Return everything as plain values: JSON takes it as it stands, undefined is None."""
        self._sum_up()
        return paper_tables(Estimates(self._sums), self._ledger)

    def sections(self, *names: str) -> Result:
        """Return some of the tables only."""
        self._sum_up()
        estimates = Estimates(self._sums)
        return {name: TABLES[name](estimates) for name in names}

    def _sum_up(self) -> None:
        if len(self._waiting):
            add_sums(self._sums, self._waiting.columns())
            self._waiting = ColumnsBuilder()


def paper_tables(estimates: Estimates, ledger: Ledger) -> Result:
    """Return the sections that live and finished games have alike: ``definitions``, the version of
    what the numbers mean, ``settings``, all `TABLES`, ``repair`` and ``cost``.
    """
    return {
        "definitions": DEFINITIONS,
        "settings": ledger.settings(),
        **{name: table(estimates) for name, table in TABLES.items()},
        "repair": ledger.repair(),
        "cost": ledger.cost(),
    }


def metrics(games: Iterable[GameRows]) -> Result:
    """Return all figures of `games`; see `Metrics.result`."""
    summary = Metrics()
    for game in games:
        summary.add(game)
    return summary.result()


def findings(gathered: Gathered) -> Result:
    """Return the figures of all games that were read, as plain values: undefined is None, never
    NaN.

    The sections of `Metrics.result` (the paper's tables), and those computed over all judgements at
    once: ``table4``, ``curves``, ``thresholds``, ``recalibration``, ``truth``, ``abilities``,
    ``primary``, ``variability``, ``agents``, ``skill``, ``bias``, ``lying``, and ``intervals`` of the
    tables' figures.
    ``files`` says what was read and what was wrong with it, ``studies`` what the studies' manifests
    say, and what was checked of their records.
    """
    study, judged_by = Study(gathered.columns), primary_of(source.manifest for source in gathered.studies)
    if len(gathered.columns.judgements["d"]) < LARGE:
        return _together(gathered, _of_agents(study, judged_by), _of_tables(study, gathered.ledger))
    # numpy's work is divided: the two halves take about as long, and share nothing but the columns
    with processes(1) as pool:
        # a study of its own: it is sent while this one is worked with
        others = pool.submit(_of_agents, Study(gathered.columns), judged_by)
        of_tables = _of_tables(study, gathered.ledger)
        return _together(gathered, others.result(), of_tables)


def sections(judged_by: tuple[Sequence[str], bool] = (PRIMARY, False)) -> dict[str, Callable[[Study], Result]]:
    """Return what computes each section that is over all judgements at once, by name.

    Args:
        judged_by: names of the primary metrics, and whether the studies declared them.
    """
    from analytics.measures.abilities import abilities
    from analytics.measures.agents import agents, skill
    from analytics.measures.bias import bias
    from analytics.measures.recalibration import recalibration, thresholds
    from analytics.measures.table4 import curves, table4
    from analytics.measures.truth import lying, truth

    return {
        "table4": table4,
        "curves": curves,
        "thresholds": thresholds,
        "recalibration": recalibration,
        "intervals": table_intervals,
        "primary": lambda study: primary(study, judged_by[0], declared=judged_by[1]),
        "truth": lambda study: truth(study.estimates),
        "abilities": abilities,
        "variability": variability,
        "agents": agents,
        "skill": skill,
        "bias": bias,
        "lying": lying,
    }


def _together(gathered: Gathered, of_agents: Result, of_tables: Result) -> Result:
    return {
        "format": FORMAT,
        "version": VERSION,
        "files": _files(gathered),
        "studies": [_study(study, gathered) for study in gathered.studies],
        **of_tables,
        **of_agents,
    }


def _of_tables(study: Study, ledger: Ledger) -> Result:
    compute = sections()
    return {**paper_tables(study.estimates, ledger), **{name: compute[name](study) for name in _BESIDE_TABLES}}


def table_intervals(study: Study) -> Result:
    """Return a 95 % interval for the figures of the tables, few of which ``variability`` holds (paper
    5.9; metrics: variability), in a tree like the sections that they belong to.

    2,000 draws with the fixed seed of ``variability``, the very same ones, resample whole blocks and
    recompute the pooled figure. A leaf is ``[low, high]``, or None where the figure has no interval.
    Thresholds and maps are not fitted anew in the draws.
    """
    from analytics.measures.recalibration import recalibration_intervals, thresholds_intervals
    from analytics.measures.table4 import table4_intervals
    from analytics.measures.tables import intervals_of_tables

    intervals = intervals_of_tables(study.estimates) | {
        "table4": table4_intervals(study),
        "thresholds": thresholds_intervals(study),
        "recalibration": recalibration_intervals(study),
    }
    return {name: intervals[name] for name in _INTERVALS}


def _of_agents(study: Study, judged_by: tuple[Sequence[str], bool]) -> Result:
    return {name: compute(study) for name, compute in sections(judged_by).items() if name not in _BESIDE_TABLES}


def _files(gathered: Gathered) -> Result:
    return {
        "read": len(gathered.files),
        "counted": sum(note.counted for note in gathered.files),
        "events": sum(note.events for note in gathered.files),
        "problems": [
            {"path": note.path, "game": note.game, "counted": note.counted, "problem": note.problem}
            for note in gathered.problems
        ],
    }


def _study(study: StudySource, gathered: Gathered) -> Result:
    fields: dict[str, Any] = {name: study.manifest.get(name) for name in _OF_STUDY}
    states = Counter(str(game.get("state")) for game in study.manifest.get("games", ()))
    checked = study_check(study, gathered.files).as_json()
    del checked["study"]
    complete = study.manifest.get("complete")
    return {**fields, "complete": complete, "games": dict(sorted(states.items())), "checked": checked}
