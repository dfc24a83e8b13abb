"""`findings`: all figures of a set of games as one JSON-able value; a report shows it, ``report
--json`` prints it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, Final

from analytics import Result
from analytics.columns import Columns
from analytics.gather import Gathered
from analytics.gather import StudySource as Told
from analytics.gather.checks import study_check
from analytics.measures.ledger import Ledger
from analytics.measures.primary import primary_of
from analytics.measures.study import Study
from analytics.metrics import paper_tables

FORMAT: Final = "wolfbus-findings"
VERSION: Final = 1
LARGE: Final = 300_000
"""Judgements from which a second process is worth its start."""

_INTERVALS: Final = (
    *(
        "table1",
        "table2",
        "table4",
        "table5",
        "production",
        "thresholds",
        "recalibration",
        "truth_detection",
    ),
)
_TOLD: Final = (
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
    study, wanted = Study(gathered.columns), primary_of(each.manifest for each in gathered.studies)
    if len(gathered.columns.judgements["d"]) < LARGE:
        return _together(gathered, _of_agents(study, wanted), _of_tables(study, gathered.ledger))
    # numpy's work is divided: the two halves take about as long, and share nothing but the columns
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        others = pool.submit(_of_agents_in, gathered.columns, wanted)
        ours = _of_tables(study, gathered.ledger)
        return _together(gathered, others.result(), ours)


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
    from analytics.measures.recalibration import recalibration, thresholds
    from analytics.measures.table4 import curves, table4

    return {
        **paper_tables(study.estimates, ledger),
        "table4": table4(study),
        "curves": curves(study),
        "thresholds": thresholds(study),
        "recalibration": recalibration(study),
        "intervals": table_intervals(study),
    }


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

    found = intervals_of_tables(study.estimates) | {
        "table4": table4_intervals(study),
        "thresholds": thresholds_intervals(study),
        "recalibration": recalibration_intervals(study),
    }
    return {name: found[name] for name in _INTERVALS}


def _of_agents_in(columns: Columns, wanted: tuple[Sequence[str], bool]) -> Result:
    """Return the same in a process of its own; a study that is at work cannot be sent there."""
    return _of_agents(Study(columns), wanted)


def _of_agents(study: Study, wanted: tuple[Sequence[str], bool]) -> Result:
    from analytics.measures.abilities import abilities
    from analytics.measures.agents import agents, skill
    from analytics.measures.bias import bias
    from analytics.measures.primary import primary
    from analytics.measures.study import variability
    from analytics.measures.truth import lying, truth

    return {
        "primary": primary(study, wanted[0], declared=wanted[1]),
        "truth": truth(study.estimates),
        "abilities": abilities(study),
        "variability": variability(study),
        "agents": agents(study),
        "skill": skill(study),
        "bias": bias(study),
        "lying": lying(study),
    }


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


def _study(study: Told, gathered: Gathered) -> Result:
    told: dict[str, Any] = {name: study.manifest.get(name) for name in _TOLD}
    states = Counter(str(game.get("state")) for game in study.manifest.get("games", ()))
    checked = study_check(study, gathered.files).as_json()
    del checked["study"]
    complete = study.manifest.get("complete")
    return {**told, "complete": complete, "games": dict(sorted(states.items())), "checked": checked}
