"""`Presence`: which seats are absent, and which of them get their full time again because they showed life."""

from __future__ import annotations

from collections.abc import Iterable

from wolfbus.messages.base import SeatName
from wolfbus.messages.events import AnyAnswered, AnyEvent


class Presence:
    """Follows one game's absences. The rules count strikes; here is only how long a batch waits for whom."""

    def __init__(self) -> None:
        self._absent: set[SeatName] = set()
        self._waking: set[SeatName] = set()
        # batches in which absent seats that showed life got their full time; only there does a time-out count against
        # them: what was asked before with the grace alone says nothing
        self._full_time: dict[int, set[SeatName]] = {}

    @property
    def hasty(self) -> set[SeatName]:
        """Seats that a batch waits for no longer than `absent_grace`."""
        return self._absent - self._waking

    def feed(self, event: AnyEvent) -> None:
        """Take in one event, in record order, as it is written."""
        if event.type == "asked":
            if waking := self._absent & self._waking:
                self._full_time[event.batch] = waking
        elif event.type == "absent":
            self._absent.add(event.seat)
        elif event.type == "returned":
            self._absent.discard(event.seat)
            self._waking.discard(event.seat)

    def stir(self, seats: Iterable[SeatName]) -> None:
        """Note that these seats showed life: an absent one gets its full time from the next question on."""
        self._waking.update(self._absent.intersection(seats))

    def close(self, answer: AnyAnswered) -> None:
        """Note how a request was closed."""
        if answer.outcome == "timed_out" and answer.seat in self._full_time.get(answer.batch, ()):
            self._waking.discard(answer.seat)

    def forget(self, batch: int) -> None:
        """Note that all requests of a batch are closed."""
        self._full_time.pop(batch, None)
