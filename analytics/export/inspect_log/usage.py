"""What model calls took, in Inspect's words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from analytics.export.game import ExportedGame
from analytics.export.inspect_log.library import InspectLibrary
from wolfbus.messages.calls import Call


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
