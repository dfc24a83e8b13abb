"""`CallBook`: what the model calls of one game took, and how many of them had to wait for one
another.
"""

from __future__ import annotations

from typing import TypeAlias

from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.events import AnyAnswered, Asked
from wolfbus.record.prompts import RequestNames
from wolfbus.usage import Usage, sort_of

CallKey: TypeAlias = tuple[SeatName, str, str]
"""Seat, model, and what the call answers: a kind of request, or several as `sort_of` names them."""


class CallBook:
    """Takes down asks, calls and answers in record order.

    The critical path is the longest chain of calls each of which had to wait for the one before: a
    call waits for every call whose answer was joined before its first request went out, and for
    earlier calls about the same request. What was asked at once counts once, however many calls it
    took. A call that is reported after its request was closed (the request had timed out) is on no
    path, as the game did not wait for it.

    Attributes:
        path: calls on the critical path so far.
    """

    def __init__(self) -> None:
        self.path = 0
        self._sums: dict[CallKey, Usage] = {}
        self._names = RequestNames()
        self._began: dict[str, int] = {}
        """Length of the path when a kind of a batch was asked for, by ``round/phase/turn/kind``."""
        self._through: dict[str, int] = {}
        """Length of the path up to and with the latest call about an open request."""

    def ask(self, event: Asked) -> None:
        """Take in a batch of requests."""
        stem = self._names.ask(event)
        for asking in event.asks:
            self._began[stem + asking.kind] = self.path

    def call(self, event: ModelCall) -> None:
        """Take in a call."""
        key = (event.seat, event.model, sort_of(event))
        sums = self._sums.get(key)
        if sums is None:
            sums = self._sums[key] = Usage()
        sums.add(event, len(event.requests), reask=event.reask)
        # a request that was not asked yet is answered ahead of its time, which holds up nothing
        asked = {name: self._began.get("/".join(name.split("/", 4)[:4])) for name in event.requests}
        starts = [max(began, self._through.get(name, 0)) for name, began in asked.items() if began is not None]
        through = 1 + max(starts, default=self.path)
        for name in event.requests:
            self._through[name] = through

    def answer(self, event: AnyAnswered) -> None:
        """Take in what became of a request."""
        if not self._through:
            return
        name = self._names.of(event)
        if name is not None:
            self.path = max(self.path, self._through.pop(name, 0))

    def sums(self) -> dict[CallKey, Usage]:
        """Return the calls so far by seat, model and sort (see `sort_of`); later calls do not
        change it.
        """
        return {key: sums.copy() for key, sums in self._sums.items()}
