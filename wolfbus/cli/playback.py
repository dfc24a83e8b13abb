"""Playing a record back at reading pace."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Final

from wolfbus.errors import ConfigError
from wolfbus.messages.events import (
    Absent,
    AnyEvent,
    Dawn,
    Ended,
    Exile,
    Inspection,
    NightOutcome,
    Opened,
    Returned,
    Silence,
    Statement,
    Stopped,
    Tally,
)
from wolfbus.printable import printable
from wolfbus.record.line import Recorded

CHARACTERS_PER_SECOND: Final = 25.0
"""Reading speed: about 250 words a minute."""
SHORTEST: Final = 1.0
"""Seconds that even the shortest statement stays."""
GLANCE: Final = 0.5
"""Seconds for any other event that changes what is seen."""

_SEEN: Final = (Opened, NightOutcome, Inspection, Dawn, Silence, Tally, Exile, Absent, Returned, Stopped, Ended)
_never = threading.Event()


def pause_for(event: AnyEvent) -> float:
    """Return the seconds to stay on `event` at speed 1.

    A statement stays as long as it takes to read what views show of it. What is not seen (questions, answers, verdicts)
    takes no time, nor do rejected messages, prompts and model calls: there may be thousands.
    """
    if isinstance(event, Statement):
        return max(SHORTEST, len(printable(event.text)) / CHARACTERS_PER_SECOND)
    return GLANCE if isinstance(event, _SEEN) else 0.0


def play_back(
    records: Iterable[Recorded],
    show: Callable[[Recorded], None],
    speed: float,
    until: int | None = None,
    sleep: Callable[[float], object] = _never.wait,
) -> int:
    """Show events one after the other, with time to read.

    Args:
        records: a record's events in order.
        show: called with each event, before its pause.
        speed: divides all pauses; above 0, and infinity for none.
        until: number of the last event to show; None for all.
        sleep: waits so many seconds; a true result ends the playback.

    Returns:
        The number of the last event shown, 0 for none.

    Raises:
        ConfigError: the speed is no number above 0.
    """
    if not speed > 0:
        raise ConfigError(f"speed {speed:g}: it must be above 0; 2 is twice as fast as one reads")
    last = 0
    for recorded in records:
        if until is not None and recorded.n > until:
            break
        show(recorded)
        last = recorded.n
        pause = pause_for(recorded.event) / speed
        if pause > 0 and sleep(pause):
            break
    return last
