"""`Reasons`: why a game's answers are missing, in the words of its record, for warnings that say so."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from wolfbus.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from wolfbus.record.line import Recorded

_SHOWN: Final = 160
"""Characters of a reason that are kept."""


class Reasons:
    """Watches one game and keeps why its answers are missing, by brain.

    Args:
        watch: sees every event as well; None for nobody.
    """

    def __init__(self, watch: Callable[[Recorded], None] | None = None) -> None:
        self._watch = watch
        self._brains: dict[str, str] = {}
        self._notes: dict[str, Counter[str]] = {}

    def take(self, recorded: Recorded) -> None:
        """Take in the next event of the record."""
        event = recorded.event
        if event.type == "opened":
            self._brains = {seat.name: seat.brain for seat in event.seats}
        elif event.type == "answered" and event.outcome in {"defaulted", "timed_out"} and event.note:
            self._notes.setdefault(self._brains[event.seat], Counter())[event.note] += 1
        if self._watch is not None:
            self._watch(recorded)

    def commonest(self) -> dict[str, str]:
        """Return the commonest reason of each brain that lacks answers, in one line of ASCII."""
        told = {brain: notes.most_common(1)[0][0] for brain, notes in self._notes.items()}
        return {
            brain: printable(note, _SHOWN).encode("ascii", "backslashreplace").decode() for brain, note in told.items()
        }
