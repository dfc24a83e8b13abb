"""`Scene`: what happens in a game of a trial, told as the rules tell theirs: by a coroutine that the engine plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from moderator.check.game import TrialGame
from moderator.check.rivals import Rivals
from moderator.rules.table import BatchJoin, Script
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import AnyAnswered, Asked, Asking, Ended, Opened, Statement
from wolfbus.vocabulary import Kind, Phase

PHASES: dict[Kind, Phase] = {
    "vote": "vote",
    "kill": "night",
    "protect": "night",
    "inspect": "night",
    "whisper": "night",
}
"""Part of the round in which a kind is asked for, where it is not the debate."""

Plot: TypeAlias = Callable[["Scene"], Script[Any]]
"""What happens in a scene; what it returns is the scene's `result`."""


class Scene:
    """Single questions to one seat, each with what happens before it.

    Args:
        game: the game it is told in.
        seat: who is asked.
        rivals: who plays all others.
        plot: what happens.

    Attributes:
        seat: who is asked.
        others: everybody else, in seating order.
        said: statements so far.
        result: what the plot has returned.
    """

    def __init__(self, game: TrialGame, seat: SeatName, rivals: Rivals, plot: Plot) -> None:
        self.game = game
        self.seat = seat
        self.others = tuple(each.name for each in game.opened.seats if each.name != seat)
        self.said = 0
        self.result: Any = None
        self._rivals = rivals
        self._plot = plot
        self._asked = 0

    def play(self, opened: Opened) -> Script[Ended]:
        """Play it from the game's opening to its end."""
        yield opened
        self.result = yield from self._plot(self)
        if self.game.told != "lost":
            # an answer that comes twice comes before the end
            yield from self.pause(0)
        ended = Ended(winner=None, reason="max_rounds", rounds=1)
        yield ended
        return ended

    def say(self, text: str, speaker: SeatName | None = None) -> Script[int]:
        """Let somebody speak, the first rival unless named; returns the statement's number."""
        self.said += 1
        speaker = speaker or self.others[0]
        turn = self.said
        yield Statement(statement=turn, round=1, phase="debate", turn=turn, speaker=speaker, text=text)
        return turn

    def ask(self, kind: Kind, legal: Sequence[SeatName | None] | None = None, about: int | None = None) -> Script[Any]:
        """Put a question to the seat and wait for its answer, which is returned; it is that of the scene's game."""
        return self._ask(self.seat, kind, legal, about)

    def pause(self, seconds: float) -> Script[Any]:
        """Let a while pass: a rival takes it to answer a question."""
        self._rivals.pause_s = seconds
        return self._ask(self.others[0], "speak")

    def _ask(
        self, seat: SeatName, kind: Kind, legal: Sequence[SeatName | None] | None = None, about: int | None = None
    ) -> Script[AnyAnswered]:
        # its turn is counted up, so that no two questions are the same
        self._asked += 1
        asking = Asking(kind=kind, seats=(seat,), legal=None if legal is None else tuple(legal))
        phase, turn = PHASES.get(kind, "debate"), self._asked
        yield Asked(batch=turn, round=1, phase=phase, turn=turn, about=about, asks=(asking,))
        (answers,) = yield BatchJoin((turn,))
        return answers[seat]
