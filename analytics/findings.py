"""`findings`: all figures of a set of games as one JSON-able value, which a report shows and ``report --json`` prints:
selections of the one table of results; `Metrics`: the paper's tables and figures alone, over games as they come (paper,
sections 4.5 and 5.2-5.9; metrics: tables and figures of the paper).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from analytics import Result
from analytics.gather import Gathered, StudySource
from analytics.gather.reading import study_check
from analytics.metrics import beyond, selections
from analytics.metrics.abilities import abilities, ability_rows
from analytics.metrics.agents import agent_rows, agents
from analytics.metrics.agreement import agreement, agreement_rows
from analytics.metrics.beliefs import belief_rows, beliefs
from analytics.metrics.bias import bias, bias_rows
from analytics.metrics.comprehension import comprehension, comprehension_rows
from analytics.metrics.detection import detection_rows
from analytics.metrics.forks import fork_rows, forks
from analytics.metrics.games import game_rows
from analytics.metrics.headlines import headline_rows
from analytics.metrics.ladder import ladder, ladder_rows
from analytics.metrics.monitor import monitor, monitor_rows
from analytics.metrics.primary import PRIMARY, primary, primary_of
from analytics.metrics.recalibration import recalibration, recalibration_rows, threshold_rows, thresholds
from analytics.metrics.scores import clean_score_rows, curves, score_rows
from analytics.metrics.skill import skill, skill_rows
from analytics.metrics.statements import lying_rows, statement_rows
from analytics.metrics.study import Study
from analytics.metrics.suspicion import course_rows, event_rows, pair_rows, retention_rows
from analytics.metrics.sway import sway, sway_rows
from analytics.metrics.votes import vote_rows
from analytics.reference import DEFINITIONS
from analytics.replies import Ledger
from analytics.results import ResultRow, Results
from analytics.rows import GameRows
from analytics.tables import TablesBuilder

FORMAT: Final = "wolfbus-findings"
VERSION: Final = 1

_OF_STUDY: Final = (
    "study",
    "name",
    "seed_sha256",
    "design",
    "agents",
    "prompts",
    "budget_usd",
    "wolfbus",
    "python",
    "git",
)
"""What a study's manifest says once, for all of its games."""

_FLAGS: Final = ("accuracy", "balanced_accuracy", "precision", "recall", "f1")

Family = Callable[[Study], Iterator[ResultRow]]
PAPER: Final[Sequence[Family]] = (
    game_rows,
    headline_rows,
    statement_rows,
    detection_rows,
    clean_score_rows,
    pair_rows,
    course_rows,
    event_rows,
    retention_rows,
    vote_rows,
)
"""The families of metrics that live and finished games have alike."""
BEYOND: Final[Sequence[Family]] = (
    score_rows,
    threshold_rows,
    recalibration_rows,
    lying_rows,
    agent_rows,
    skill_rows,
    ability_rows,
    bias_rows,
    monitor_rows,
    agreement_rows,
    ladder_rows,
    belief_rows,
    fork_rows,
    sway_rows,
    comprehension_rows,
)
"""Those that are computed of finished studies alone."""

TABLES: Final[Mapping[str, Callable[[Study, Results], Result]]] = {
    section.__name__: section
    for section in (
        selections.outcomes,
        selections.production,
        selections.table1,
        selections.table2,
        selections.table3,
        selections.table5,
        selections.figure1,
        selections.trends,
        selections.events,
        selections.votes,
        selections.claims,
        selections.labels,
        selections.headline,
    )
}
"""The sections that live and finished games have alike, in their order."""
SECTIONS: Final[Mapping[str, Callable[[Study, Results], Result]]] = {
    **TABLES,
    "table4": beyond.table4,
    "curves": lambda study, _results: curves(study),
    "thresholds": thresholds,
    "recalibration": recalibration,
    "intervals": beyond.intervals,
    "truth": beyond.truth,
    "abilities": abilities,
    "variability": beyond.variability,
    "agents": agents,
    "skill": skill,
    "bias": bias,
    "lying": beyond.lying,
    "monitor": monitor,
    "agreement": agreement,
    "ladder": ladder,
    "beliefs": beliefs,
    "forks": forks,
    "sway": sway,
    "comprehension": comprehension,
}
"""The sections that are selections of the table."""


def results_of(study: Study, families: Iterable[Family] = (*PAPER, *BEYOND)) -> Results:
    """Return the one table of results over some games, made once."""
    chosen = tuple(families)
    return study.cached(("results", chosen), lambda: Results(row for family in chosen for row in family(study)))


_LIVE: Final = ("villager_wins", "werewolf_wins", "no_winner", *_FLAGS, "auc")


class Metrics:
    """Adds up games one by one, in any order."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._games = TablesBuilder()

    def add(self, game: GameRows) -> None:
        """Add one game, which is its own block."""
        self._ledger.add(game)
        self._games.add(game)

    def __len__(self) -> int:
        return len(self._games)

    def results(self) -> Results:
        """Return the table of results of the families that live and finished games have alike, without intervals."""
        return results_of(Study(self._games.tables(), with_intervals=False), PAPER)

    def live(self) -> Result:
        """Return the sections ``outcomes`` and ``headline`` without what takes longer: intervals and clean replies."""
        study = Study(self._games.tables(), with_intervals=False)
        results = Results((*game_rows(study), *headline_rows(study, _LIVE)))
        return {name: TABLES[name](study, results) for name in ("outcomes", "headline")}

    def result(self) -> Result:
        """Return everything as plain values: JSON takes it as it stands, undefined is None."""
        return paper_tables(Study(self._games.tables()), self._ledger)


def paper_tables(study: Study, ledger: Ledger, results: Results | None = None) -> Result:
    """Return the sections that live and finished games have alike: ``definitions``, the version of what the numbers
    mean, ``settings``, all `TABLES`, ``repair`` and ``cost``.

    Args:
        study: the games.
        ledger: how replies were read, and what model calls took.
        results: the table; computed unless given.
    """
    if results is None:
        results = results_of(study, PAPER)
    return {
        "definitions": DEFINITIONS,
        "settings": ledger.settings(),
        **{name: section(study, results) for name, section in TABLES.items()},
        "repair": ledger.repair(),
        "cost": ledger.cost(),
    }


def metrics(games: Iterable[GameRows]) -> Result:
    """Return all figures of `games`; see `Metrics.result`."""
    summary = Metrics()
    for game in games:
        summary.add(game)
    return summary.result()


def findings(gathered: Gathered, study: Study | None = None) -> Result:
    """Return the figures of all games that were read, as plain values: undefined is None, never NaN.

    The sections of `Metrics.result` (the paper's tables), those of `SECTIONS`, and ``primary``. ``files`` says what was
    read and what was wrong with it, ``studies`` what the studies' manifests say, and what was checked of their records.

    Args:
        gathered: what was read.
        study: its games, where somebody else has a use for their table of results.
    """
    study = Study(gathered.tables) if study is None else study
    names, declared = primary_of(source.manifest for source in gathered.studies)
    results = results_of(study)
    return {
        "format": FORMAT,
        "version": VERSION,
        "files": _files(gathered),
        "studies": [_study(source, gathered) for source in gathered.studies],
        **paper_tables(study, gathered.ledger, results),
        **{name: section(study, results) for name, section in SECTIONS.items() if name not in TABLES},
        "primary": primary(study, names, declared=declared),
    }


def _files(gathered: Gathered) -> Result:
    return {
        "read": len(gathered.files),
        "counted": sum(note.counted for note in gathered.files),
        "spoilt": len(gathered.spoilt),
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


__all__ = ["FORMAT", "PRIMARY", "SECTIONS", "TABLES", "VERSION", "Metrics", "findings", "metrics", "paper_tables"]
