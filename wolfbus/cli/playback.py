"""Playing a record back at reading pace."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from wolfbus.cli.keys import Key
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


def _wait(seconds: float | None) -> Key | None:
    time.sleep(seconds or 0.0)
    return None


def pause_for(event: AnyEvent) -> float:
    """Return the seconds to stay on `event` at speed 1.

    A statement stays as long as it takes to read what views show of it. What is not seen (questions, answers, verdicts)
    takes no time, nor do rejected messages, prompts and model calls: there may be thousands.
    """
    if isinstance(event, Statement):
        return max(SHORTEST, len(printable(event.text)) / CHARACTERS_PER_SECOND)
    return GLANCE if isinstance(event, _SEEN) else 0.0


def beat_lines(records: Sequence[Recorded]) -> list[int]:
    """Return the numbers of the lines that the game's beats are about, in order."""
    from wolfbus.stage.document import GameFeed
    from wolfbus.stage.eyes import EVERYTHING

    feed = GameFeed(EVERYTHING)
    for recorded in records:
        feed.feed(recorded)
    return [beat.at for beat in feed.beats]


def play_back(
    records: Sequence[Recorded],
    show: Callable[[Recorded], None],
    speed: float,
    until: int | None = None,
    wait: Callable[[float | None], Key | None] = _wait,
    restart: Callable[[], None] | None = None,
) -> int:
    """Show events one after the other, with time to read; keys pause, step by beats, and leave.

    Args:
        records: a record's events in order.
        show: called with each event, before its pause.
        speed: divides all pauses; above 0, and infinity for none.
        until: number of the last event to show; None for all.
        wait: waits so many seconds, or without an end for None, and returns the key that was
            pressed meanwhile: ``pause`` stays until the next key, ``on`` goes to the next beat,
            ``back`` to the one before, ``quit`` shows the rest at once.
        restart: forgets all that was shown; None where that cannot be, then ``back`` does nothing.

    Returns:
        The number of the last event shown, 0 for none.

    Raises:
        ConfigError: the speed is no number above 0.
    """
    if not speed > 0:
        raise ConfigError(f"speed {speed:g}: it must be above 0; 2 is twice as fast as one reads")
    shown = [recorded for recorded in records if until is None or recorded.n <= until]
    beats: list[int] | None = None
    place, hurry_to, last = 0, 0, 0
    while place < len(shown):
        recorded = shown[place]
        show(recorded)
        place, last = place + 1, recorded.n
        pause = pause_for(recorded.event) / speed
        if recorded.n < hurry_to or pause <= 0:
            continue
        key = wait(pause)
        if key == "pause":
            key = wait(None)
        if key == "quit":
            hurry_to = shown[-1].n + 1
        elif key in {"on", "back"}:
            beats = beat_lines(shown) if beats is None else beats
            if key == "on":
                hurry_to = next((n for n in beats if n > last), last)
            elif restart is not None:
                here = max((n for n in beats if n <= last), default=0)
                hurry_to = max((n for n in beats if n < here), default=0)
                restart()
                place = 0
    return last
