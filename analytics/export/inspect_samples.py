"""A game as a sample of an Inspect log: its chat, its events and its scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from analytics import Result
from analytics.export.inspect_measures import (
    TABLES,
    InspectLibrary,
    UsageBook,
    called_by,
    measures,
    model_of,
    usage_of,
)
from analytics.export.tables import ExportedGame
from analytics.findings import Metrics
from analytics.rows import JudgementRow, Noted, StatementRow, Step
from analytics.rows.fields import call_id, statement_id
from wolfbus.canonical import sha256_hex
from wolfbus.config import rules_text
from wolfbus.messages.calls import ChatRole, ModelCall
from wolfbus.messages.events import Dawn, Ended, Exile, NightOutcome, Silence, Statement, Tally
from wolfbus.printable import counted, storable


class CallTexts(NamedTuple):
    """What a model was sent, as (role, text), and what it replied, if it did."""

    messages: list[tuple[ChatRole, str]]
    reply: str | None


_STOPS: Final = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter", "tool_calls": "tool_calls"}
_NOBODY: Final = "nobody"


class Transcript:
    """Makes the messages and events of one sample.

    Args:
        library: inspect_ai.
        game: the game.
        prompts: prompts of model calls by line; calls without one are shown without words.
    """

    def __init__(self, library: InspectLibrary, game: ExportedGame, prompts: Mapping[int, CallTexts]) -> None:
        self._library = library
        self._game = game
        self._prompts = prompts
        self._judged: dict[int, list[JudgementRow]] = {}
        for row in game.rows.judgements:
            self._judged.setdefault(row.statement, []).append(row)
        self._statements = {row.number: row for row in game.rows.statements}
        opened = game.rows.opened
        self._start = datetime.fromtimestamp(0 if opened is None else opened.started, UTC)

    def messages(self) -> list[Any]:
        """Return the public course of the game: the moderator as user, players as assistants."""
        if not self._game.rows.course:
            return [self._said(row) for row in self._game.rows.statements]
        return [
            self._said(self._statements[step.event.statement])
            if isinstance(step.event, Statement)
            else self._library.model.ChatMessageUser(
                id=f"{self._game.id}:{step.line}", content=storable(announced(step.event)), metadata={"line": step.line}
            )
            for step in self._game.rows.course
            if not isinstance(step.event, NightOutcome)
        ]

    def events(self) -> list[Any]:
        """Return spans of rounds and phases with what happened in them, model calls too, in the record's order."""
        event = self._library.event
        found: list[Any] = []
        open_spans: list[str] = []

        def close(down_to: int, at: float) -> None:
            while len(open_spans) > down_to:
                found.append(
                    event.SpanEndEvent(id=open_spans[-1], **self._place(open_spans, at, f"end:{open_spans[-1]}"))
                )
                open_spans.pop()

        place: tuple[int, str] | None = None
        time = 0.0
        for noted in self._noted():
            time, where = noted.time, self._where(noted)
            if where is not None and where != place:
                same_round = place is not None and place[0] == where[0]
                close(1 if same_round else 0, time)
                names = [where[1]] if same_round else [f"round {where[0]}", where[1]]
                for name in names:
                    span = f"{self._game.id}:{where[0]}" + ("" if not open_spans else f":{name}")
                    parent = open_spans[-1] if open_spans else None
                    kind = "phase" if open_spans else "round"
                    found.append(
                        event.SpanBeginEvent(
                            id=span,
                            name=name,
                            type=kind,
                            parent_id=parent,
                            **self._place([span], time, f"begin:{span}"),
                        )
                    )
                    open_spans.append(span)
                place = where
            found.append(self._event(noted, open_spans))
        close(0, time)
        return found

    def _noted(self) -> Iterator[Noted[Any]]:
        rows = self._game.rows
        all_of_it: list[Noted[Any]] = [*rows.course, *(Noted(row.line, row.time, row.call) for row in rows.call_rows)]
        return iter(sorted(all_of_it, key=lambda noted: noted.line))

    def _where(self, noted: Noted[Any]) -> tuple[int, str] | None:
        """Return round and phase of an event; a model call stays where the game is."""
        happened = noted.event
        if isinstance(happened, NightOutcome | Dawn):
            return happened.round, "night"
        if isinstance(happened, Statement):
            return happened.round, happened.phase
        if isinstance(happened, Silence):
            return happened.round, "debate"
        if isinstance(happened, Tally | Exile):
            return happened.round, "vote"
        return None

    def _place(self, spans: list[str], time: float, name: str) -> dict[str, Any]:
        return {
            "uuid": f"{self._game.id}#{name}",
            "span_id": spans[-1] if spans else None,
            "timestamp": self._start + timedelta(seconds=time),
            "working_start": time,
        }

    def _event(self, noted: Noted[Any], spans: list[str]) -> Any:
        place = self._place(spans, noted.time, str(noted.line))
        if isinstance(noted.event, ModelCall):
            return self._call(noted.event, noted.line, place)
        data: dict[str, Any] = noted.event.model_dump(mode="json", exclude_none=True)
        if isinstance(noted.event, Statement):
            row = self._statements[noted.event.statement]
            data = {**data, **self._assessed(row)}
        return self._library.event.InfoEvent(source=noted.event.type, data=data, **place)

    def _call(self, call: ModelCall, line: int, place: dict[str, Any]) -> Any:
        model, prompt = self._library.model, self._prompts.get(line)
        words = storable(prompt.reply or "") if prompt is not None else ""
        usage = usage_of(self._library, call)
        answer = model.ChatMessageAssistant(id=f"{call_id(self._game.id, line)}:reply", content=words, model=call.model)
        choice = model.ChatCompletionChoice(message=answer, stop_reason=_STOPS.get(call.finish or "", "unknown"))
        chat = {
            "system": model.ChatMessageSystem,
            "user": model.ChatMessageUser,
            "assistant": model.ChatMessageAssistant,
        }
        return self._library.event.ModelEvent(
            model=call.model,
            role=self._game.rows.seats[call.seat].role,
            input=[
                chat[role](id=f"{call_id(self._game.id, line)}:{at}", content=storable(text))
                for at, (role, text) in enumerate(prompt.messages if prompt is not None else ())
            ],
            tools=[],
            tool_choice="none",
            config=model.GenerateConfig(**_settings(call)),
            output=model.ModelOutput(
                model=call.served or call.model, choices=[choice], usage=usage, time=call.latency_s, error=call.error
            ),
            retries=max(0, call.attempts - 1),
            error=call.error,
            cache="read" if call.cassette else None,
            working_time=call.latency_s,
            metadata={"seat": call.seat, "line": line, "requests": list(call.requests), "reask": call.reask},
            **place,
        )

    def _said(self, row: StatementRow) -> Any:
        return self._library.model.ChatMessageAssistant(
            id=statement_id(self._game.id, row.number),
            content=storable(f"{row.speaker} ({row.role}): {row.text or ''}"),
            model=row.agent,
            source="generate",
            metadata={
                "statement_id": statement_id(self._game.id, row.number),
                "round": row.round,
                "phase": row.phase,
                "turn": row.turn,
                "speaker": row.speaker,
                "role": row.role,
                "agent": row.agent,
                **self._assessed(row),
            },
        )

    def _assessed(self, row: StatementRow) -> dict[str, Any]:
        """Return the self-label and the judgements of a statement."""
        label = None if row.d is None else {"deceptive": row.d, "confidence": row.c, "kind": row.kind}
        return {
            "self_label": label,
            "judgements": {
                judged.observer: None
                if judged.d is None
                else {"deceptive": judged.d, "suspicion": judged.s, "confidence": judged.c, "kind": judged.kind}
                for judged in self._judged.get(row.number, ())
            },
        }


def announced(event: Step) -> str:
    """Return what everybody learns of an event, as a sentence."""
    if isinstance(event, Dawn):
        return f"Round {event.round}. In the night {event.died or _NOBODY} died."
    if isinstance(event, Silence):
        return f"{event.seat} says nothing."
    if isinstance(event, Tally):
        votes = ", ".join(f"{voter} → {target or _NOBODY}" for voter, target in event.votes.items())
        return f"Votes: {votes}."
    if isinstance(event, Exile):
        return f"{event.seat or 'Nobody'} is exiled."
    if isinstance(event, Ended):
        return f"{outcome(event.winner)} after {counted(event.rounds, 'round')} ({event.reason.replace('_', ' ')})."
    return ""


def outcome(winner: str | None) -> str:
    """Return who won, in words."""
    return {"villagers": "The villagers win", "werewolves": "The Werewolves win"}.get(winner or "", "Nobody wins")


def _settings(call: ModelCall) -> dict[str, Any]:
    """Return those of the parameters sent that Inspect knows by the same name and kind."""
    kinds = {"temperature": float, "top_p": float, "max_tokens": int, "seed": int}
    return {
        name: float(value) if kind is float else value
        for name, kind in kinds.items()
        if isinstance(value := call.parameters.get(name), int | float)
        and not isinstance(value, bool)
        and (kind is float or isinstance(value, int))
    }


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
        started_at=instant(started(game)),
        completed_at=None if rows.seconds is None else instant(started(game) + rows.seconds),
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
    for measure in measures():
        value = measure.value(result)
        if value is None:
            undefined[measure.name] = measure.undefined
        else:
            scores[measure.name] = library.scorer.Score(value=value, metadata={"n": measure.counted(result)})
    return scores, undefined


def started(game: ExportedGame) -> float:
    """Return when a game began, in Unix seconds; of a log that does not say, when its file was last changed."""
    opened = game.rows.opened
    return Path(game.note.path).stat().st_mtime if opened is None else opened.started


def instant(seconds: float) -> str:
    """Return Unix seconds as Inspect writes times."""
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
