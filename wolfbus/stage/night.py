"""`NightDraft`: a night that goes on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from wolfbus.messages.events import (
    AnsweredInspect,
    AnsweredKill,
    AnsweredProtect,
    AnsweredWhisper,
    Dawn,
    Inspection,
    NightOutcome,
)
from wolfbus.messages.requests import Whispered
from wolfbus.stage.beats import NightMove, NightShown


@dataclass(slots=True)
class NightDraft:
    """A night that goes on, as far as the viewer knows.

    Attributes:
        moves: what was chosen, in order.
        outcome: what the night came to, once that is known.
    """

    moves: list[NightMove] = field(default_factory=list)
    outcome: NightOutcome | None = None

    def take(self, event: AnsweredKill | AnsweredProtect | AnsweredInspect | AnsweredWhisper, call: int | None) -> None:
        """Take in what a seat chose."""
        content = event.content
        self.moves.append(
            NightMove(
                event.seat,
                event.kind,
                content.target if content is not None else None,
                word=event.content.word if isinstance(event, AnsweredWhisper) and event.content is not None else None,
                thought=event.thought,
                outcome=None if event.outcome == "accepted" else event.outcome,
                call=call,
            )
        )

    def overhear(self, fact: Whispered) -> None:
        """Take in a partner's proposal."""
        self.moves.append(NightMove(fact.seat, "whisper", fact.target, word=fact.word))

    def inspect(self, event: Inspection) -> None:
        """Take in what an inspection showed."""
        for place, move in enumerate(self.moves):
            if (move.seat, move.kind, move.target) == (event.seat, "inspect", event.target):
                self.moves[place] = replace(move, role=event.role)

    def shown(self, event: Dawn) -> NightShown:
        """Return the night as it is shown at dawn."""
        target = self.outcome.target if self.outcome is not None else None
        blocked = None
        if self.outcome is not None and target is not None:
            blocked = target in self.outcome.protected
        return NightShown(event.died, event.role, event.team, target, blocked, tuple(self.moves))
