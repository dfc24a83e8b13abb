"""How claims are found in the words of a game; who can do that is told from outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from wolfbus.messages.content import ScoredClaim
from wolfbus.messages.events import AnyEvent

ClaimFinder: TypeAlias = Callable[[AnyEvent], Sequence[ScoredClaim] | None]
"""Fed every event of one game in order; returns all claims of the statement that an event is about, or None."""


def _given(event: AnyEvent) -> Sequence[ScoredClaim] | None:
    """Return the claims that a speaker gave with its words."""
    return event.claims if event.type == "claim_truth" else None


_make: Callable[[], ClaimFinder] = lambda: _given  # noqa: E731 - replaced as a whole


def find_claims_with(make: Callable[[], ClaimFinder]) -> None:
    """Have claims found by what `make` returns, one for each game, from now on in this process."""
    global _make  # noqa: PLW0603 - it is the process's
    _make = make


def claim_finder() -> ClaimFinder:
    """Return what finds the claims of one game: those given with the words and, where that is known how, in them."""
    return _make()
