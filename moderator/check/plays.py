"""What a trial lets an agent go through: whole games by the real rules, and single questions outside of any game's
course.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from moderator.check import rivals
from moderator.check.game import TrialGame
from moderator.rules.steps import Steps
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import AnyAnswered, AnyEvent, Asked, Asking, Statement
from wolfbus.vocabulary import Kind, Phase

PHASES: dict[Kind, Phase] = {
    "vote": "vote",
    "kill": "night",
    "protect": "night",
    "inspect": "night",
    "whisper": "night",
}
"""Part of the round in which a kind is asked for, where it is not the debate."""


class WholeGame:
    """A game by the rules, step by step, so that two can go on at once."""

    def __init__(self, game: TrialGame) -> None:
        self._game = game
        self._steps = Steps(game.opened)
        self._mine = {seat.name for seat in game.opened.seats if seat.agent != rivals.RIVALS}
        self._waits_for: tuple[int, ...] = ()
        self._begun = False
        self.over = False

    def go_on(self) -> None:
        """Tell the agent the next step."""
        joined = {batch: self._game.answers.pop(batch) for batch in self._waits_for} if self._begun else None
        step = self._steps.advance(joined)
        self._begun, self._waits_for, self.over = True, step.waits_for, step.ended is not None
        self._game.tell(step.events)
        for event in step.events:
            if isinstance(event, Asked):
                for asking in event.asks:
                    self._game.answer_for_rivals(event, rivals.contents(asking, self._mine, event.turn))

    def wait(self) -> None:
        """Wait for what the step waits for."""
        self._game.wait(self._waits_for)

    def play(self) -> None:
        """Play it to its end."""
        while not self.over:
            self.go_on()
            self.wait()


class Scene:
    """Single questions to one seat, each with what happens before it.

    Args:
        game: the game it is told in.
        seat: who is asked.
    """

    def __init__(self, game: TrialGame, seat: SeatName) -> None:
        self.game = game
        self.seat = seat
        self.rivals = tuple(each.name for each in game.opened.seats if each.name != seat)
        self.said = 0
        self._asked = 0
        self._news: list[AnyEvent] = [game.opened]

    def happen(self, *events: AnyEvent) -> None:
        """Let something happen; the agent hears of it with the next question."""
        self._news += events

    def say(self, text: str, speaker: SeatName | None = None) -> int:
        """Let somebody speak, the first rival unless named; returns the statement's number."""
        self.said += 1
        self.happen(
            Statement(
                statement=self.said,
                round=1,
                phase="debate",
                turn=self.said,
                speaker=speaker or self.rivals[0],
                text=text,
            )
        )
        return self.said

    def question(self, kind: Kind, legal: Sequence[SeatName | None] | None = None, about: int | None = None) -> Asked:
        """Return a question to the seat; its turn is counted up, so that no two are the same."""
        self._asked += 1
        asking = Asking(kind=kind, seats=(self.seat,), legal=None if legal is None else tuple(legal))
        phase = PHASES.get(kind, "debate")
        return Asked(batch=self._asked, round=1, phase=phase, turn=self._asked, about=about, asks=(asking,))

    def put(self, asked: Asked, deadline_s: float | None = None, *, caught_up: bool = False) -> None:
        """Put a question, after all that happened."""
        news, self._news = self._news, []
        self.game.tell([*news, asked], deadline_s, caught_up=caught_up)

    def answer(self, asked: Asked, *, strict: bool = True) -> AnyAnswered:
        """Wait for the answer; the seat hears it back with the next question, as in any game."""
        self.game.wait([asked.batch], strict=strict)
        answer = self.game.answers.pop(asked.batch)[self.seat]
        self.happen(answer)
        return answer

    def ask(self, kind: Kind, legal: Sequence[SeatName | None] | None = None, about: int | None = None) -> AnyAnswered:
        """Put a question and wait for its answer."""
        asked = self.question(kind, legal, about)
        self.put(asked)
        return self.answer(asked)

    def rewind(self) -> None:
        """Begin once more, behind the opening, as after a Redis that lost the rest; numbers begin anew."""
        self.game.rewind()
        self._news = []
        self.said = self._asked = 0

    def lose(self, events: Iterable[AnyEvent]) -> None:
        """Let things happen that the agent is not told, as when its mailbox was cut off."""
        news, self._news = self._news, []
        self.game.tell([*news, *events], lost=True)
