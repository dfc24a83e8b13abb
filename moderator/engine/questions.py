"""`Questions`: what a game has asked so far, and of which seats; by this an id proves that it names a request."""

from __future__ import annotations

from wolfbus.messages.base import SeatName
from wolfbus.messages.events import Asked
from wolfbus.vocabulary import Kind


class Questions:
    """Keeps every question of one game with the seats that were asked.

    Closed requests are known by their question; keeping every id would cost a game most of its memory.

    Args:
        game: its id.
    """

    def __init__(self, game: str) -> None:
        self._game = game
        self._seats: dict[str, tuple[SeatName, ...]] = {}

    def add(self, asked: Asked, kind: Kind, seats: tuple[SeatName, ...]) -> list[str]:
        """Take in a question of a batch, and return the ids of its requests, one for each of `seats`."""
        # game/round/phase/turn/kind, the seat, and what it is about if it says
        stem = f"{self._game}/{asked.round}/{asked.phase}/{asked.turn}/{kind}"
        tail = "" if asked.about is None else f"/{asked.about}"
        known = self._seats.get(stem + tail)
        # most questions are asked once, and then the event's own tuple does
        self._seats[stem + tail] = seats if known is None else known + seats
        return [f"{stem}/{seat}{tail}" for seat in seats]

    def seat_asked(self, name: object) -> SeatName | None:
        """Return the seat of a request that was made in this game, whether or not it is open; None for no such."""
        if not isinstance(name, str):
            return None
        parts = name.split("/")
        if len(parts) not in {6, 7}:
            return None
        question = "/".join(parts[:5]) + "".join(f"/{part}" for part in parts[6:])
        return parts[5] if parts[5] in self._seats.get(question, ()) else None
