"""`SilentBrain`: never answers. Every request of its seat times out, which is what it is for."""

from __future__ import annotations

from wolfbus.agent import NO_ANSWER, Agent, Answer
from wolfbus.messages.requests import Ask
from wolfbus.view import SeatView


class SilentBrain(Agent):
    """Lets every request time out."""

    quick = True

    def answer(self, _ask: Ask, _view: SeatView, /) -> Answer:
        """Answer nothing."""
        return NO_ANSWER
