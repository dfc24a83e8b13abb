"""`CallLines`: which model call made which answer."""

from __future__ import annotations

from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.events import AnyAnswered, Asked
from wolfbus.record.prompts import RequestNames


class CallLines:
    """Keeps, for the requests of a game, the line of the model call that answered each last.

    Attributes:
        models: the model that each seat called last.
    """

    def __init__(self) -> None:
        self.models: dict[SeatName, str] = {}
        self._names = RequestNames()
        self._lines: dict[str, int] = {}
        self._took: dict[int, float] = {}
        self._labelling: set[int] = set()

    def ask(self, event: Asked) -> None:
        """Take in a batch of requests."""
        self._names.ask(event)

    def call(self, line: int, event: ModelCall) -> None:
        """Take in a model call."""
        self.models[event.seat] = event.model
        self._took[line] = event.latency_s
        if event.labels:
            self._labelling.add(line)
        self._lines |= dict.fromkeys(event.requests, line)

    def of(self, event: AnyAnswered) -> int | None:
        """Return the line of the call that made an answer; None where no model did."""
        name = self._names.of(event)
        return self._lines.get(name) if name is not None else None

    def labels(self, line: int | None) -> bool:
        """Return whether the call at `line` also labelled the statement that it made."""
        return line in self._labelling

    def took(self, line: int | None) -> float | None:
        """Return the seconds that the call at `line` took; None where there was none."""
        return self._took.get(line) if line is not None else None
