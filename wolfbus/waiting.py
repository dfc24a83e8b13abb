"""`Waiting`: which seats have not answered yet."""

from __future__ import annotations

from collections.abc import Sequence

from wolfbus.messages.base import SeatName
from wolfbus.messages.events import AnyAnswered, Asked
from wolfbus.vocabulary import Kind


class Waiting:
    """Keeps the open requests of a game: fed what was asked and what became of it."""

    def __init__(self) -> None:
        self._batches: dict[int, dict[Kind, set[SeatName]]] = {}

    def ask(self, event: Asked) -> None:
        """Take in a batch of requests."""
        kinds = self._batches.setdefault(event.batch, {})
        for asking in event.asks:
            kinds.setdefault(asking.kind, set()).update(asking.seats)

    def close(self, event: AnyAnswered) -> None:
        """Take in what became of one request."""
        kinds = self._batches.get(event.batch, {})
        seats = kinds.get(event.kind, set())
        seats.discard(event.seat)
        if not seats:
            kinds.pop(event.kind, None)
        if not kinds:
            self._batches.pop(event.batch, None)

    def clear(self) -> None:
        """Forget all requests: the game is over."""
        self._batches.clear()

    def seats(self, names: Sequence[SeatName]) -> dict[Kind, tuple[SeatName, ...]]:
        """Return who has not answered, by kind of request, each in the order of `names`."""
        waiting: dict[Kind, set[SeatName]] = {}
        for kinds in self._batches.values():
            for kind, seats in kinds.items():
                waiting.setdefault(kind, set()).update(seats)
        return {kind: tuple(name for name in names if name in seats) for kind, seats in waiting.items()}
