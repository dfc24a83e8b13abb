"""`findings`: all figures of a set of games as one JSON-able value; a report shows it, ``report --json`` prints it."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, Final

from analytics.accumulator import Result
from analytics.columns import Columns
from analytics.gather import Gathered
from analytics.gather.checks import study_check
from analytics.gather.sources import Study

FORMAT: Final = "wolfbus-findings"
VERSION: Final = 1
LARGE: Final = 300_000
"""Judgements from which a second process is worth its start."""

_TOLD: Final = ("study", "name", "seed", "design", "agents", "prompts", "budget_usd", "wolfbus", "python", "git")
"""What a study's manifest says once, for all of its games."""


def findings(gathered: Gathered) -> Result:
    """Return the figures of all games that were read, as plain values: undefined is None, never NaN.

    The sections of `Metrics.result` (the paper's tables), and those computed over all judgements at once: ``table4``,
    ``curves``, ``thresholds``, ``recalibration``, ``truth``, ``abilities``, ``variability``, ``agents``, and
    ``intervals`` of the tables' figures. ``files`` says what was read and what was wrong with it, ``studies`` what the
    studies' manifests say, and what was checked of their records.
    """
    columns = gathered.columns
    if len(columns.judgements["d"]) < LARGE:
        return _together(gathered, _of_agents(columns), _of_tables(gathered))
    # numpy's work is divided: the two halves take about as long, and share nothing but the columns
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        others = pool.submit(_of_agents, columns)
        ours = _of_tables(gathered)
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


def _of_tables(gathered: Gathered) -> Result:
    from analytics.headlines.table_intervals import table_intervals
    from analytics.scores.curves import curves
    from analytics.scores.judged import Judged
    from analytics.scores.recalibration import recalibration
    from analytics.scores.table4 import table4
    from analytics.scores.thresholds import thresholds

    columns = gathered.columns
    judged = Judged(columns)
    return {
        **gathered.metrics.result(),
        "table4": table4(columns, judged),
        "curves": curves(columns, judged),
        "thresholds": thresholds(columns, judged),
        "recalibration": recalibration(columns, judged),
        "intervals": table_intervals(columns, judged),
    }


def _of_agents(columns: Columns) -> Result:
    from analytics.abilities import abilities
    from analytics.headlines import agents, variability
    from analytics.truth import truth

    return {
        "truth": truth(columns),
        "abilities": abilities(columns),
        "variability": variability(columns),
        "agents": agents(columns),
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


def _study(study: Study, gathered: Gathered) -> Result:
    told: dict[str, Any] = {name: study.manifest.get(name) for name in _TOLD}
    states = Counter(str(game.get("state")) for game in study.manifest.get("games", ()))
    checked = study_check(study, gathered.files).as_json()
    del checked["study"]
    complete = study.manifest.get("complete")
    return {**told, "complete": complete, "games": dict(sorted(states.items())), "checked": checked}
