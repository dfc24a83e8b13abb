"""`WordClaims`: the claims of a game as its measurements have them, those found in the words included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wolfbus.errors import RulesError

if TYPE_CHECKING:
    from wolfbus.messages.content import ScoredClaim
    from wolfbus.messages.events import AnyEvent


class WordClaims:
    """Gives the claims of one game, statement by statement; fed every event in order."""

    def __init__(self) -> None:
        from analytics.fold import GameFold

        self._fold: GameFold | None = GameFold()

    def __call__(self, event: AnyEvent) -> Sequence[ScoredClaim] | None:
        """Return all claims of the statement that an event is about, None for other events."""
        if self._fold is None:
            return event.claims if event.type == "claim_truth" else None
        try:
            self._fold.feed(event)
            if event.type == "statement" or event.type == "claim_truth":
                return self._fold.rows().statements[event.statement - 1].claims
        except (RulesError, IndexError):
            # a record whose events cannot stand where they are: the page shows what it says
            self._fold = None
        return None
