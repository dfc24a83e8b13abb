"""Showing a game while it happens, or at reading pace under single key presses."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Final, Literal, NamedTuple, Self, TypeAlias

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

TOLD = 20
"""Warnings that are told after a live view."""


KEYS = "space pauses · ← → sentence by sentence · q to the end"


class Shower(NamedTuple):
    """What shows events: `see` takes the next one, `restart` forgets all so far, where that can be."""

    see: Callable[[Recorded], None]
    restart: Callable[[], None] | None = None


@contextlib.contextmanager
def shown(*, quiet: bool, plain: bool, paced: bool = False) -> Iterator[Shower | None]:
    """Give what shows events on stderr: a live view in a terminal, plain lines elsewhere, nothing when quiet.

    Args:
        quiet: show nothing.
        plain: plain lines even in a terminal.
        paced: whether keys are listened to, so that the view says which.
    """
    if quiet:
        yield None
    elif plain or not sys.stderr.isatty():
        from wolfbus.cli.terminal.lines import PlainLines

        yield Shower(PlainLines(sys.stderr).see)
    else:
        from rich.console import Console

        from wolfbus.cli.terminal.live import LiveView

        with _kept_back(), LiveView(Console(stderr=True), hint=KEYS if paced else "") as view:
            yield Shower(view.see, view.restart)


@contextlib.contextmanager
def _kept_back() -> Iterator[None]:
    """Keep warnings back while a live view holds the screen, and tell them when it is gone."""
    told: list[str] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())

    keeper = Keeper(logging.WARNING)
    root = logging.getLogger()
    root.addHandler(keeper)
    try:
        yield
    finally:
        root.removeHandler(keeper)
        for line in list(dict.fromkeys(told))[:TOLD]:
            sys.stderr.write(f"wolfbus: {line}\n")


Key: TypeAlias = Literal["pause", "on", "back", "quit"]

_MEANINGS: Final[dict[bytes, Key]] = {
    b" ": "pause",
    b"\x1b[C": "on",
    b"\x1bOC": "on",
    b"\x1b[D": "back",
    b"\x1bOD": "back",
    b"q": "quit",
    b"Q": "quit",
}


class KeyPresses:
    """Reads single keys from standard input while it is open as a context manager.

    Where standard input is no terminal, or the platform knows no termios, no key is ever pressed.
    """

    def __init__(self) -> None:
        self._descriptor: int | None = None
        self._before: object = None

    def __enter__(self) -> Self:
        try:
            import termios
            import tty

            descriptor = sys.stdin.fileno()
            self._before = termios.tcgetattr(descriptor)
            tty.setcbreak(descriptor)
            self._descriptor = descriptor
        except (ImportError, OSError, ValueError, AttributeError):
            return self
        except termios.error:
            return self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._descriptor is None:
            return
        import termios

        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)  # type: ignore[arg-type]
        self._descriptor = None

    def wait(self, seconds: float | None) -> Key | None:
        """Wait for a key that means something, at most so many seconds; None for as long as it takes.

        Returns:
            What the key means, or None if none came in time. Where there are no keys, waiting
            without an end returns ``on`` at once.
        """
        if self._descriptor is None:
            if seconds is None:
                return "on"
            time.sleep(seconds)
            return None
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            ready, _, _ = select.select([self._descriptor], [], [], left)
            if not ready:
                return None
            pressed = os.read(self._descriptor, 16)
            if not pressed:
                # the terminal is gone
                self.__exit__(None, None, None)
                return "quit"
            if pressed in _MEANINGS:
                return _MEANINGS[pressed]


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
