"""What Inspect is told in numbers: `measures`, the scores of games, and what model calls took, in its own classes."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from analytics import Result, at
from analytics.export.tables import ExportedGame
from wolfbus.errors import ConfigError
from wolfbus.messages.calls import Call
from wolfbus.package_data import PackageData, read_data

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

    def value(self, found: Result) -> float | None:
        """Return the score of one game or of many, None where it is undefined."""
        value: float | None = at(found, self.of)
        return value

    def counted(self, found: Result) -> int:
        """Return how many observations it rests on."""
        return int(at(found, self.n))


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


class UsageBook:
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
        """Take in the calls of a game."""
        for row in game.rows.call_rows:
            usage = usage_of(self._library, row.call)
            for book, name in ((self.models, row.model), (self.roles, row.role), (self.agents, row.agent)):
                book[name] = book[name] + usage if name in book else usage

    def by_agent(self) -> dict[str, Any]:
        """Return the usage by agent as plain values."""
        return {agent: usage.model_dump(exclude_none=True) for agent, usage in sorted(self.agents.items())}


def model_of(agents: Iterable[str], called: Mapping[str, Collection[str]]) -> str:
    """Return what Inspect is told is the model of some agents: theirs, all of them with ``+`` between if there are
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
