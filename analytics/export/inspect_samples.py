"""One game in the classes of Inspect: its scores and its chat."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, cast

from analytics.export.tables import ExportedGame
from analytics.results import NOBODY, Observers, ResultRow, Results
from analytics.rows.course import Step
from analytics.rows.fields import statement_id
from analytics.rows.talk import JudgementRow, StatementRow
from wolfbus.errors import ConfigError
from wolfbus.files.package_data import PackageData, read_data
from wolfbus.files.printable import counted, storable
from wolfbus.knowledge.departure import departure, departure_in_words
from wolfbus.messages.events import Dawn, Departing, Ended, Silence, Statement, Tally


class InspectMeasure(PackageData):
    """One score.

    Attributes:
        name: its name.
        meaning: what it says of a game.
        undefined: why a game may lack it.
        metric: which row of the table of results it is.
        group: whose.
        observers: over which pairs.
    """

    name: str
    meaning: str
    undefined: str
    metric: str
    group: Mapping[str, str] = {}
    observers: Observers = NOBODY

    def row(self, results: Results) -> ResultRow:
        """Return the score of one game or of many, with the number of observations that it rests on."""
        return results.row(self.metric, self.observers, **self.group)


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
            self.scorer: Any = importlib.import_module("inspect_ai.scorer")
        except ImportError as error:
            if error.name == "inspect_ai":
                raise ConfigError('Inspect logs need inspect-ai: pip install "wolfbus[inspect]"') from None
            reason = f'inspect-ai cannot be imported ({error}): pip install --upgrade "wolfbus[inspect]"'
            raise ConfigError(reason) from None
        self.version: str = package.__version__


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


_NOBODY: Final = "nobody"


class Transcript:
    """Makes the messages of one sample.

    Args:
        library: inspect_ai.
        game: the game.
    """

    def __init__(self, library: InspectLibrary, game: ExportedGame) -> None:
        self._library = library
        self._game = game
        self._judged: dict[int, list[JudgementRow]] = {}
        for row in game.rows.judgements:
            self._judged.setdefault(row.statement, []).append(row)
        self._statements = {row.number: row for row in game.rows.statements}

    def messages(self) -> list[Any]:
        """Return the public course of the game: the moderator as user, players as assistants."""
        return [
            self._message(self._statements[step.event.statement])
            if isinstance(step.event, Statement)
            else self._library.model.ChatMessageUser(
                # lines of a log of another table have no numbers
                id=f"{self._game.id}:{step.line or place}",
                content=storable(announcement(step.event)),
                metadata={"line": step.line or None},
            )
            for place, step in enumerate(self._game.rows.course, 1)
        ]

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


def announcement(event: Step) -> str:
    """Return what everybody learns of an event, as a sentence."""
    if isinstance(event, Dawn):
        return f"Round {event.round}. In the night {event.died or _NOBODY} died."
    if isinstance(event, Silence):
        return f"{event.seat} says nothing."
    if isinstance(event, Tally):
        votes = ", ".join(f"{voter} → {target or _NOBODY}" for voter, target in event.votes.items())
        return f"Votes: {votes}."
    if isinstance(event, Departing):
        departed = departure(event)
        return f"{departure_in_words(event, 'Nobody' if departed is None else departed.seat)}."
    if isinstance(event, Ended):
        # a log of another table does not tell
        reason = cast("str | None", event.reason)
        why = "" if reason is None else f" ({reason.replace('_', ' ')})"
        return f"{outcome(event.winner)} after {counted(event.rounds, 'round')}{why}."
    return ""


def outcome(winner: str | None) -> str:
    """Return who won, in words."""
    return {"villagers": "The villagers win", "werewolves": "The Werewolves win"}.get(winner or "", "Nobody wins")
