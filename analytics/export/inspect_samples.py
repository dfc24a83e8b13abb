"""One game in the classes of Inspect: scores, what model calls took, chat and events."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from analytics import Result, value_at
from analytics.export.tables import ExportedGame
from analytics.rows import JudgementRow, StatementRow, Step, TimedEvent
from analytics.rows.fields import call_id, statement_id
from wolfbus.errors import ConfigError
from wolfbus.messages.calls import Call, ChatRole, ModelCall
from wolfbus.messages.events import Dawn, Ended, Exile, NightOutcome, Silence, Statement, Tally
from wolfbus.package_data import PackageData, read_data
from wolfbus.printable import counted, storable

TABLES: Final = ("outcomes", "production", "headline", "labels")
"""The sections that scores come from, of one game or of many."""


class InspectMeasure(PackageData):
    """One score.

    Attributes:
        name: its name.
        meaning: what it says of a game.
        undefined: why a game may lack it.
        of: where it stands in the `TABLES` of `analytics.findings.Metrics`.
        n: where the number of observations stands that it rests on.
    """

    name: str
    meaning: str
    undefined: str
    of: str
    n: str

    def value(self, result: Result) -> float | None:
        """Return the score of one game or of many, None where it is undefined."""
        value: float | None = value_at(result, self.of)
        return value

    def counted(self, result: Result) -> int:
        """Return how many observations it rests on."""
        return int(value_at(result, self.n))


class _Measures(PackageData):
    measures: tuple[InspectMeasure, ...]


@functools.cache
def measures() -> tuple[InspectMeasure, ...]:
    """Return all scores, in their order in a log."""
    return read_data("analytics.export", "inspect_measures", _Measures).measures


class InspectLibrary:
    """The modules of inspect_ai that make a log.

    Attributes:
        log: ``inspect_ai.log``.
        model: ``inspect_ai.model``.
        event: ``inspect_ai.event``.
        scorer: ``inspect_ai.scorer``.
        version: of the package.

    Raises:
        ConfigError: it is not installed, or too old.
    """

    def __init__(self) -> None:
        try:
            package: Any = importlib.import_module("inspect_ai")
            self.log: Any = importlib.import_module("inspect_ai.log")
            self.model: Any = importlib.import_module("inspect_ai.model")
            self.event: Any = importlib.import_module("inspect_ai.event")
            self.scorer: Any = importlib.import_module("inspect_ai.scorer")
        except ImportError as error:
            if error.name == "inspect_ai":
                raise ConfigError('Inspect logs need inspect-ai: pip install "wolfbus[inspect]"') from None
            reason = f'inspect-ai cannot be imported ({error}): pip install --upgrade "wolfbus[inspect]"'
            raise ConfigError(reason) from None
        self.version: str = package.__version__


def usage_of(library: InspectLibrary, call: Call) -> Any:
    """Return the ``ModelUsage`` of one call.

    Inspect counts cached tokens apart from the others. What a server did not count is 0 there, and a cost that is not
    known is none. Replies from a cassette have the tokens of the recorded call and no cost.
    """
    prompt, completion = call.prompt_tokens or 0, call.completion_tokens or 0
    cached = min(call.cached_tokens or 0, prompt)
    return library.model.ModelUsage(
        input_tokens=prompt - cached,
        output_tokens=completion,
        total_tokens=prompt + completion,
        input_tokens_cache_read=None if call.cached_tokens is None else cached,
        total_cost=None if call.cassette else call.cost_usd,
    )


class UsageSums:
    """Adds up usage by model, by the role of the seat, and by what answers for it.

    Attributes:
        models: by the model's name, as the server was told.
        roles: by role in the game.
        agents: by brain, as it was asked for.
    """

    def __init__(self, library: InspectLibrary) -> None:
        self._library = library
        self.models: dict[str, Any] = {}
        self.roles: dict[str, Any] = {}
        self.agents: dict[str, Any] = {}

    def add(self, game: ExportedGame) -> None:
        """Add the calls of a game."""
        for row in game.rows.call_rows:
            usage = usage_of(self._library, row.call)
            for book, name in ((self.models, row.model), (self.roles, row.role), (self.agents, row.agent)):
                book[name] = book[name] + usage if name in book else usage

    def by_agent(self) -> dict[str, Any]:
        """Return the usage by agent as plain values."""
        return {agent: usage.model_dump(exclude_none=True) for agent, usage in sorted(self.agents.items())}


def model_of(agents: Iterable[str], called: Mapping[str, Collection[str]]) -> str:
    """Return what Inspect shows as the model of some agents: theirs, all of them with ``+`` between if there are
    several, an agent's own name where it called none.

    Args:
        agents: the agents.
        called: the models that each called.
    """
    return "+".join(sorted({model for agent in agents for model in called.get(agent, (agent,))}))


def called_by(game: ExportedGame) -> dict[str, set[str]]:
    """Return the models that every agent of a game called."""
    called: dict[str, set[str]] = {}
    for row in game.rows.call_rows:
        called.setdefault(row.agent, set()).add(row.model)
    return called


def models_by_agent(game: ExportedGame) -> dict[str, str]:
    """Return for every agent of a game the model that it called, its own name if that is none or several."""
    called = called_by(game)
    names = {seat.agent for seat in game.rows.seats.values()}
    return {name: next(iter(called[name])) if len(called.get(name, ())) == 1 else name for name in names}


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
            return [self._message(row) for row in self._game.rows.statements]
        return [
            self._message(self._statements[step.event.statement])
            if isinstance(step.event, Statement)
            else self._library.model.ChatMessageUser(
                id=f"{self._game.id}:{step.line}",
                content=storable(announcement(step.event)),
                metadata={"line": step.line},
            )
            for step in self._game.rows.course
            if not isinstance(step.event, NightOutcome)
        ]

    def events(self) -> Iterator[Any]:
        """Yield spans of rounds and phases with what happened in them, model calls too, in the record's order."""
        spans: list[str] = []
        time = 0.0
        for timed in self._timed_events():
            time = timed.time
            # a model call stays where the game is
            path = _spans_of(timed.event) or spans
            yield from self._span_ends(spans, path, time)
            for name in path[len(spans) :]:
                yield self._span_begin(spans, name, time)
                spans.append(name)
            yield self._event(timed, spans)
        yield from self._span_ends(spans, [], time)

    def _timed_events(self) -> list[TimedEvent[Any]]:
        rows = self._game.rows
        calls = (TimedEvent(row.line, row.time, row.call) for row in rows.call_rows)
        return sorted([*rows.course, *calls], key=lambda timed: timed.line)

    def _span_begin(self, spans: list[str], name: str, time: float) -> Any:
        span = self._span(name)
        return self._library.event.SpanBeginEvent(
            id=span,
            name=name.rpartition(":")[2] if spans else f"round {name}",
            type="phase" if spans else "round",
            parent_id=self._span(spans[-1]) if spans else None,
            **self._event_fields([name], time, f"begin:{span}"),
        )

    def _span_ends(self, spans: list[str], path: list[str], time: float) -> Iterator[Any]:
        """Close, from within outwards, the open spans that are not of this path."""
        while spans != path[: len(spans)]:
            span = self._span(spans[-1])
            yield self._library.event.SpanEndEvent(id=span, **self._event_fields(spans, time, f"end:{span}"))
            spans.pop()

    def _span(self, name: str) -> str:
        return f"{self._game.id}:{name}"

    def _event_fields(self, spans: list[str], time: float, name: str) -> dict[str, Any]:
        return {
            "uuid": f"{self._game.id}#{name}",
            "span_id": self._span(spans[-1]) if spans else None,
            "timestamp": self._start + timedelta(seconds=time),
            "working_start": time,
        }

    def _event(self, timed: TimedEvent[Any], spans: list[str]) -> Any:
        place = self._event_fields(spans, timed.time, str(timed.line))
        if isinstance(timed.event, ModelCall):
            return self._call(timed.event, timed.line, place)
        data: dict[str, Any] = timed.event.model_dump(mode="json", exclude_none=True)
        if isinstance(timed.event, Statement):
            row = self._statements[timed.event.statement]
            data = {**data, **self._assessments(row)}
        return self._library.event.InfoEvent(source=timed.event.type, data=data, **place)

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
                chat[role](id=f"{call_id(self._game.id, line)}:{index}", content=storable(text))
                for index, (role, text) in enumerate(prompt.messages if prompt is not None else ())
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

    def _message(self, row: StatementRow) -> Any:
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
                **self._assessments(row),
            },
        )

    def _assessments(self, row: StatementRow) -> dict[str, Any]:
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


_PHASES: Final = {"night_outcome": "night", "dawn": "night", "silence": "debate", "tally": "vote", "exile": "vote"}


def _spans_of(event: Step | ModelCall) -> list[str]:
    """Return the spans in which an event is, round and phase: "2", "2:night"; none where it does not say."""
    phase = event.phase if isinstance(event, Statement) else _PHASES.get(event.type)
    return [] if phase is None or isinstance(event, ModelCall | Ended) else [f"{event.round}", f"{event.round}:{phase}"]


def announcement(event: Step) -> str:
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
