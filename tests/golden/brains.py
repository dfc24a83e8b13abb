"""A brain that fails at some requests and answers others illegally: for records in which answers are missing."""

from players.scripted import RandomBrain
from wolfbus.game.draws import draw
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.requests import Ask


class Careless(RandomBrain):
    """Answers as `RandomBrain` does, but raises at one request in eight and names a stranger in another."""

    def answer(self, ask: Ask, view: SeatView, /):
        """Answer, fail or answer illegally; the seat's seed and what is asked decide which."""
        thrown = draw(view.brain_seed, f"careless {ask.phase} {ask.kind}", ask.round, ask.turn, ask.about or 0) % 8
        if thrown == 0:
            raise ValueError("this seat did not listen")
        if thrown == 1 and ask.legal:
            return super().answer(ask.model_copy(update={"legal": ("Nobody",)}), view)
        return super().answer(ask, view)
