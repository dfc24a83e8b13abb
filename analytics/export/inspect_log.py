"""`write_inspect`: files of records into logs of the evaluation tool Inspect (inspect_ai), by its own log API;
a game is a sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Final

from analytics.export.inspect_samples import (
    InspectLibrary,
    Transcript,
    called_by,
    measures,
    model_of,
    models_by_agent,
    outcome,
)
from analytics.export.table_files import AtomicFiles
from analytics.export.tables import ExportedGame, read_games
from analytics.export.writing import Exported
from analytics.findings import Metrics
from analytics.gather import Collection, Criteria, FileNote, collect
from analytics.gather.reading import checks
from wolfbus import __version__
from wolfbus.files.canonical import canonical, sha256_hex
from wolfbus.game.config import rules_text
from wolfbus.game.roles import TABLE_ROLES

TASK: Final = "wolf"
"""Name of the task in Inspect."""

_FACTS: Final = ("name", "seed_sha256", "design", "complete", "totals", "prompts", "wolfbus", "python")
"""What of a study's manifest goes into the log."""


_FOREIGN = "A game of Werewolf at another table, whose log does not hold the rules."


def sample_of(library: InspectLibrary, game: ExportedGame) -> Any:
    """Return the ``EvalSample`` of a game.

    Its target is who the Werewolves are, which is what the others have to find out; its output says how it ended. A
    game whose file does not hold to its end has an error. A score that is undefined is left out, and the metadata
    ``undefined`` say why.

    Args:
        library: inspect_ai.
        game: the game.
    """
    rows, opened = game.rows, game.rows.opened
    scores, undefined = scores_of(library, game)
    problem = game.note.problem
    return library.log.EvalSample(
        id=game.id,
        epoch=1,
        input=_FOREIGN if opened is None else rules_text(opened.config),
        target=[seat.name for seat in rows.seats.values() if seat.role == "Werewolf"],
        messages=Transcript(library, game).messages(),
        output=_output(library, game),
        scores=scores,
        metadata={**_metadata(game), "undefined": undefined},
        started_at=iso_time(started(game)),
        completed_at=None if rows.seconds is None else iso_time(started(game) + rows.seconds),
        total_time=rows.seconds,
        working_time=rows.seconds,
        uuid=sha256_hex(game.id.encode(), rows.seed.encode())[:22],
        error=None if problem is None else library.log.EvalError(message=problem, traceback="", traceback_ansi=""),
    )


def scores_of(library: InspectLibrary, game: ExportedGame) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the scores of a game that are defined, and why each of the others is not."""
    board = Metrics()
    board.add(game.rows)
    results = board.results()
    scores: dict[str, Any] = {}
    undefined: dict[str, str] = {}
    for measure in measures():
        row = measure.row(results)
        if row.value is None:
            undefined[measure.name] = measure.undefined
        else:
            scores[measure.name] = library.scorer.Score(value=row.value, metadata={"n": row.n})
    return scores, undefined


def started(game: ExportedGame) -> float:
    """Return when a game began, in Unix seconds; of a log that does not say, when its file was last changed."""
    opened = game.rows.opened
    return Path(game.note.path).stat().st_mtime if opened is None else opened.started


def iso_time(seconds: float) -> str:
    """Return Unix seconds as Inspect writes times."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _output(library: InspectLibrary, game: ExportedGame) -> Any:
    rows, agents = game.rows, {seat.agent for seat in game.rows.seats.values()}
    sentence = f"{outcome(rows.winner)}." if rows.finished else "The game did not come to its end."
    return library.model.ModelOutput.from_content(model_of(agents, called_by(game)), sentence)


def _metadata(game: ExportedGame) -> dict[str, Any]:
    rows, planned, opened = game.rows, game.planned, game.rows.opened
    return {
        "winner": rows.winner,
        "reason": rows.reason,
        "finished": rows.finished,
        "rounds": rows.rounds,
        "statements": len(rows.statements),
        "judgements": len(rows.judgements),
        "roles": {seat.name: seat.role for seat in rows.seats.values()},
        "agents": {seat.name: seat.agent for seat in rows.seats.values()},
        "seed": rows.seed or None,
        "digest": game.digest,
        "study": None if planned is None else planned.study,
        "number": None if planned is None else planned.number,
        "block": game.block,
        "protocol": rows.protocol,
        "alpha": rows.alpha,
        "prior": rows.prior,
        "include_defaulted": rows.include_defaulted,
        "wolfbus": None if opened is None else opened.version,
        "file": Path(game.note.path).name,
    }


@dataclass(slots=True)
class LogBuilder:
    """Collects the games of one study, or of none, that the same agents played, and makes their log.

    Args:
        library: inspect_ai.
        study: the study's id; None for games of none.
        agents: who plays in its games; Inspect compares logs by their models.
        manifest: what its ``study.json`` says.
        criteria: how the games were recomputed.
    """

    library: InspectLibrary
    study: str | None
    agents: frozenset[str]
    manifest: Mapping[str, Any]
    criteria: Criteria
    samples: list[Any] = field(default_factory=list)
    _metrics: Metrics = field(default_factory=Metrics)
    _roles: dict[str, set[str]] = field(default_factory=dict)
    _called: dict[str, set[str]] = field(default_factory=dict)
    _begin: float = math.inf
    _end: float = -math.inf

    def add(self, game: ExportedGame) -> None:
        """Add one game."""
        self.samples.append(sample_of(self.library, game))
        self._metrics.add(game.rows)
        models = models_by_agent(game)
        for agent, called in called_by(game).items():
            self._called.setdefault(agent, set()).update(called)
        for seat in game.rows.seats.values():
            self._roles.setdefault(seat.role, set()).add(models[seat.agent])
        begin = started(game)
        self._begin, self._end = min(self._begin, begin), max(self._end, begin + (game.rows.seconds or 0.0))

    @property
    def model(self) -> str:
        """The model that Inspect shows; see `model_of`."""
        return model_of(self.agents, self._called)

    @property
    def name(self) -> str:
        """The study's id, or one made from the games' ids."""
        if self.study is not None:
            return self.study
        return "games-" + sha256_hex(canonical([sample.id for sample in self.samples]))[:8]

    @property
    def ident(self) -> str:
        """The name's letters and digits and some of the agents' hash, which is what Inspect takes for a task's id."""
        letters = "".join(letter for letter in self.name if letter.isalnum()) or "games"
        return letters + self._digest[:6]

    @property
    def _digest(self) -> str:
        return sha256_hex(canonical(sorted(self.agents)))

    @property
    def file(self) -> str:
        """Name of the log's file, as Inspect names its own: when it began, its task, its id."""
        return f"{datetime.fromtimestamp(self._begin, UTC):%Y-%m-%dT%H-%M-%S}+00-00_{TASK}_{self.ident}.eval"

    def log(self) -> Any:
        """Return the ``EvalLog``."""
        log = self.library.log
        completed = sum(sample.error is None for sample in self.samples)
        times = {"started_at": iso_time(self._begin), "completed_at": iso_time(self._end)}
        return log.EvalLog(
            status="success",
            eval=self._spec(),
            plan=log.EvalPlan(name="wolfbus", steps=[log.EvalPlanStep(solver="wolfbus")]),
            results=log.EvalResults(
                total_samples=len(self.samples), completed_samples=completed, scores=self._scores()
            ),
            stats=log.EvalStats(**times),
            samples=self.samples,
        )

    def _spec(self) -> Any:
        log, model = self.library.log, self.library.model
        ident = sha256_hex(self.name.encode(), self._digest.encode())[:22]
        roles = {
            role: [model.ModelConfig(model=name) for name in sorted(self._roles[role])]
            for role in TABLE_ROLES
            if role in self._roles
        }
        facts = {name: self.manifest[name] for name in _FACTS if name in self.manifest}
        git = self.manifest.get("git")
        return log.EvalSpec(
            eval_id=ident,
            run_id=ident,
            task=TASK,
            task_id=self.ident,
            task_display_name="WOLF: deception in Werewolf among language models",
            task_args={
                "study": self.study,
                "alpha": self.criteria.alpha,
                "prior": self.criteria.prior,
                "include_defaulted": self.criteria.include_defaulted,
            },
            created=iso_time(self._begin),
            tags=["wolfbus"],
            dataset=log.EvalDataset(
                name=self.name,
                samples=len(self.samples),
                sample_ids=[sample.id for sample in self.samples],
                shuffled=False,
            ),
            model=self.model,
            model_roles={role: names[0] if len(names) == 1 else names for role, names in roles.items()},
            config=log.EvalConfig(epochs=1, fail_on_error=False),
            revision=_revision(self.library, git) if isinstance(git, dict) else None,
            packages={"wolfbus": __version__, "inspect_ai": self.library.version},
            metadata={
                "study": self.study,
                **facts,
                "measures": {measure.name: measure.meaning for measure in measures()},
            },
            # so that Inspect can compute mean and stderr anew when somebody edits a score
            scorers=[
                {"name": measure.name, "metrics": [{"name": f"inspect_ai/{name}"} for name in ("mean", "stderr")]}
                for measure in measures()
            ],
        )

    def _scores(self) -> list[Any]:
        pooled = self._metrics.results()
        scores = []
        for measure in measures():
            values = [sample.scores[measure.name].value for sample in self.samples if measure.name in sample.scores]
            # over games
            mean = fmean(values) if values else None
            error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
            figures = {"mean": mean, "stderr": error, "pooled": measure.row(pooled).value}
            scores.append(
                self.library.log.EvalScore(
                    name=measure.name,
                    scorer=measure.name,
                    scored_samples=len(values),
                    unscored_samples=len(self.samples) - len(values),
                    metrics={
                        name: self.library.log.EvalMetric(name=name, value=value)
                        for name, value in figures.items()
                        if value is not None
                    },
                    metadata={"meaning": measure.meaning, "n": measure.row(pooled).n},
                )
            )
        return scores


def _revision(library: InspectLibrary, git: Mapping[str, Any]) -> Any:
    commit = git.get("commit")
    if not isinstance(commit, str):
        return None
    return library.log.EvalRevision(type="git", origin="", commit=commit, dirty=git.get("dirty"))


def write_inspect(
    sources: Sequence[str | Path],
    folder: str | Path,
    criteria: Criteria | None = None,
    *,
    force: bool = False,
    tell: Callable[[int, int], None] = lambda _read, _all: None,
) -> Exported:
    """Write an ``.eval`` log per study and set of agents, and so of the games that belong to none: Inspect compares
    logs by their models. Where agents call several models, the log has all of them for a model, as ``a+b``.

    The games of a study are held in memory until it is written. `Exported.counts` holds samples by file name.

    Args:
        sources: folders and files; see `analytics.gather.find`.
        folder: where the logs go; created if need be.
        criteria: how to compute labels and suspicion; as the games were played unless given.
        force: whether logs that are there already are replaced.
        tell: called after each file with the number of files read, and of all.

    Raises:
        ConfigError: inspect-ai is not installed, or a log is there already.
        RecordError: there is nothing to read.
        OSError: the folder cannot be written; the log that was being written does not appear.
    """
    library, criteria = InspectLibrary(), criteria or Criteria()
    collection = collect(sources, criteria.roles)
    notes: list[FileNote] = list(collection.refused)
    manifests = collection.manifests
    counts: dict[str, int] = {}
    read, total = 0, len(collection.files)
    for study, part in _by_study(collection):
        builders: dict[frozenset[str], LogBuilder] = {}
        for note, game in read_games(part, criteria):
            notes.append(note)
            if game is not None:
                agents = frozenset(seat.agent for seat in game.rows.seats.values())
                if agents not in builders:
                    builders[agents] = LogBuilder(library, study, agents, manifests.get(study or "", {}), criteria)
                builders[agents].add(game)
            read += 1
            tell(read, total)
        for builder in builders.values():
            with AtomicFiles(Path(folder), [builder.file], force=force) as atomic:
                library.log.write_eval_log(builder.log(), atomic.path(builder.file), format="eval")
            counts[builder.file] = len(builder.samples)
    return Exported(counts, tuple(notes), tuple(checks(collection.studies, notes)))


def _by_study(sources: Collection) -> list[tuple[str | None, Collection]]:
    parts: dict[str | None, list[Any]] = {}
    for source in sources.files:
        planned = sources.planned.get(source.game or "")
        parts.setdefault(None if planned is None else planned.study, []).append(source)
    return [(study, replace(sources, files=tuple(files), refused=())) for study, files in parts.items()]
