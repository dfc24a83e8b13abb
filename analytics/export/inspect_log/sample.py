"""A game as a sample of an Inspect log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from analytics import Result
from analytics.export.game import ExportedGame
from analytics.export.inspect_log.library import InspectLibrary
from analytics.export.inspect_log.measures import MEASURES, TABLES
from analytics.export.inspect_log.transcript import CallTexts, Transcript, outcome
from analytics.export.inspect_log.usage import UsageBook, called_by, model_of
from analytics.findings import Metrics
from wolfbus.canonical import sha256_hex
from wolfbus.rules import rules_text

_FOREIGN = "A game of Werewolf, played by the paper's own code: its log does not hold the rules."


def sample_of(library: InspectLibrary, game: ExportedGame, prompts: Mapping[int, CallTexts]) -> Any:
    """Return the ``EvalSample`` of a game.

    Its target is who the Werewolves are, which is what the others have to find out; its output says how it ended. A
    game whose file does not hold to its end has an error. A score that is undefined is left out, and the metadata
    ``undefined`` say why.

    Args:
        library: inspect_ai.
        game: the game.
        prompts: prompts of model calls by line; those that are not there are left out.
    """
    rows, opened, usage = game.rows, game.rows.opened, UsageBook(library)
    usage.add(game)
    scores, undefined = scores_of(library, game)
    transcript = Transcript(library, game, prompts)
    error = None
    if game.note.problem is not None:
        error = library.log.EvalError(message=game.note.problem, traceback="", traceback_ansi="")
    return library.log.EvalSample(
        id=game.id,
        epoch=1,
        input=_FOREIGN if opened is None else rules_text(opened.config),
        target=[seat.name for seat in rows.seats.values() if seat.role == "Werewolf"],
        messages=transcript.messages(),
        output=_output(library, game),
        scores=scores,
        metadata={**_metadata(game), "undefined": undefined, "usage_by_agent": usage.by_agent()},
        events=transcript.events(),
        model_usage=usage.models,
        role_usage=usage.roles,
        started_at=_instant(started(game)),
        completed_at=None if rows.seconds is None else _instant(started(game) + rows.seconds),
        total_time=rows.seconds,
        working_time=rows.seconds,
        uuid=sha256_hex(game.id.encode(), rows.seed.encode())[:22],
        error=error,
    )


def scores_of(library: InspectLibrary, game: ExportedGame) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the scores of a game that are defined, and why each of the others is not."""
    board = Metrics()
    board.add(game.rows)
    result: Result = board.sections(*TABLES)
    scores: dict[str, Any] = {}
    undefined: dict[str, str] = {}
    for measure in MEASURES:
        value = measure.of(result)
        if value is None:
            undefined[measure.name] = measure.undefined
        else:
            scores[measure.name] = library.scorer.Score(value=value, metadata={"n": measure.n(result)})
    return scores, undefined


def started(game: ExportedGame) -> float:
    """Return when a game began, in Unix seconds; of a log that does not say, when its file was last changed."""
    opened = game.rows.opened
    return Path(game.note.path).stat().st_mtime if opened is None else opened.started


def _instant(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _output(library: InspectLibrary, game: ExportedGame) -> Any:
    rows, agents = game.rows, {seat.agent for seat in game.rows.seats.values()}
    said = f"{outcome(rows.winner)}." if rows.finished else "The game did not come to its end."
    return library.model.ModelOutput.from_content(model_of(agents, called_by(game)), said)


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
