"""`Expense`: what the model calls of a game took so far, for views; and what is to be known of a single call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from wolfbus.messages.calls import Call
from wolfbus.vocabulary import KINDS, Kind

_NAMED: Final = 3
"""Kinds that the name of a sort of call spells out."""


def kinds_of(call: Call) -> tuple[Kind, ...]:
    """Return the kinds of the requests that a call answers, in the order of `KINDS`, each once."""
    asked = {parts[3] for name in call.requests if len(parts := name.split("/", 4)) > 4}
    return tuple(kind for kind in KINDS if kind in asked) or (call.kind,)


def sort_of(call: Call) -> str:
    """Return what a call answers, in short: "bid", "assess_other+" for several of a kind, "bid+assess_other", or
    "speak+label" where the reply also labels what it says.
    """
    kinds = kinds_of(call)
    named = "+".join(kinds[:_NAMED]) + ("+more" if len(kinds) > _NAMED else "")
    if call.labels:
        return f"{named}+label"
    return f"{named}+" if len(kinds) == 1 and len(call.requests) > 1 else named


def is_free(call: Call) -> bool:
    """Return whether no server can have charged for a call: it was played from a cassette, never sent, or every attempt
    was turned away (429) or found no server.
    """
    return call.cassette or not call.attempts or not call.charged


@dataclass(slots=True)
class Expense:
    """Sums over model calls.

    Attributes:
        calls: calls, failed ones included.
        failed: calls without a reply.
        cassette: calls whose replies came from a cassette: their tokens are those of the recorded calls, and they
            cost nothing.
        tokens: tokens of prompts and replies, as far as servers counted them.
        counted: calls of which that is known.
        uncounted: calls that a server may have worked on, and of which it is not known.
        cost_usd: US dollars, as far as prices are configured.
        priced: calls of which that is known.
        unpriced: calls that a server may have charged for, and of which it is not known.
    """

    calls: int = 0
    failed: int = 0
    cassette: int = 0
    tokens: int = 0
    counted: int = 0
    uncounted: int = 0
    cost_usd: float = 0.0
    priced: int = 0
    unpriced: int = 0

    def add(self, call: Call) -> None:
        """Add one call."""
        self.calls += 1
        self.failed += call.error is not None
        self.cassette += call.cassette
        free = is_free(call)
        if call.prompt_tokens is not None or call.completion_tokens is not None:
            self.tokens += (call.prompt_tokens or 0) + (call.completion_tokens or 0)
            self.counted += 1
        else:
            self.uncounted += not free
        if call.cassette:
            return
        if call.cost_usd is not None:
            self.cost_usd += call.cost_usd
            self.priced += 1
        else:
            self.unpriced += not free
