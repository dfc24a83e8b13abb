"""`SilentBrain`: never answers. Every request of its seat times out, which is what it is for."""

from __future__ import annotations

from players.brain import BaseBrain, Given
from wolfbus.messages.requests import Ask
from wolfbus.view import SeatView


class SilentBrain(BaseBrain):
    """Lets every request time out."""

    quick = True

    def answer(self, _ask: Ask, _view: SeatView, /) -> Given:
        """Answer nothing."""
        return None
