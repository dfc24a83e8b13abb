"""`findings`: all figures of a set of games as one JSON-able value; a report shows it, ``report --json`` prints it."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from analytics.accumulator import Result
from analytics.gather import Gathered
from analytics.gather.sources import Study

FORMAT: Final = "wolfbus-findings"
VERSION: Final = 1

_TOLD: Final = ("study", "name", "seed", "design", "agents", "prompts", "budget_usd", "wolfbus", "python", "git")
"""What a study's manifest says once, for all of its games."""


def findings(gathered: Gathered) -> Result:
    """Return the figures of all games that were read, as plain values: undefined is None, never NaN.

    The sections of `Metrics.result` (the paper's tables), and those computed over all judgements at once: ``table4``,
    ``curves``, ``thresholds``, ``recalibration``, ``truth``, ``abilities``, ``variability``, ``agents``. ``files`` says
    what was read and what was wrong with it, ``studies`` what the studies' manifests say.
    """
    from analytics.abilities import abilities
    from analytics.headlines import agents, variability
    from analytics.scores.curves import curves
    from analytics.scores.recalibration import recalibration
    from analytics.scores.table4 import table4
    from analytics.scores.thresholds import thresholds
    from analytics.truth import truth

    columns = gathered.columns
    return {
        "format": FORMAT,
        "version": VERSION,
        "files": _files(gathered),
        "studies": [_study(study) for study in gathered.studies],
        **gathered.metrics.result(),
        "table4": table4(columns),
        "curves": curves(columns),
        "thresholds": thresholds(columns),
        "recalibration": recalibration(columns),
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


def _study(study: Study) -> Result:
    told: dict[str, Any] = {name: study.manifest.get(name) for name in _TOLD}
    states = Counter(str(game.get("state")) for game in study.manifest.get("games", ()))
    return {**told, "complete": study.manifest.get("complete"), "games": dict(sorted(states.items()))}
