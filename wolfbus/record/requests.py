"""`RequestNames`: which request an answer closes, by the name that model calls know it by."""

from __future__ import annotations

from wolfbus.messages.events import AnyAnswered, Asked


class RequestNames:
    """Names requests as ``round/phase/turn/kind/seat[/about]``, from the batches that they went out with."""

    def __init__(self) -> None:
        self._stems: dict[int, str] = {}

    def ask(self, event: Asked) -> str:
        """Take in a batch and return what the names of its requests begin with: ``round/phase/turn/``."""
        stem = self._stems[event.batch] = f"{event.round}/{event.phase}/{event.turn}/"
        return stem

    def of(self, event: AnyAnswered) -> str | None:
        """Return the name of the request that `event` closes; None for one of a batch that was not taken in."""
        stem = self._stems.get(event.batch)
        if stem is None:
            return None
        return f"{stem}{event.kind}/{event.seat}" + ("" if event.about is None else f"/{event.about}")
