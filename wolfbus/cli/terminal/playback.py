"""Showing a game while it happens, or at reading pace under single key presses."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import select
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from logging.handlers import MemoryHandler
from typing import Final, Literal, NamedTuple, TypeAlias

from wolfbus.files.printable import printable
from wolfbus.knowledge.audience import PRIVATE_TYPES, PUBLIC_TYPES
from wolfbus.messages.events import AnyEvent
from wolfbus.record.line import Recorded

WARNINGS_SHOWN: Final = 20
"""Warnings that are printed after a live view."""
CHARACTERS_PER_SECOND: Final = 25.0
"""Reading speed: about 250 words a minute."""
SHORTEST: Final = 1.0
"""Seconds that even the shortest statement stays."""
GLANCE: Final = 0.5
"""Seconds for any other event that changes what is seen."""

_VISIBLE: Final = PUBLIC_TYPES | PRIVATE_TYPES | {"opened", "night_outcome", "absent", "returned", "stopped"}

Key: TypeAlias = Literal["pause", "on", "back", "quit"]
Wait: TypeAlias = Callable[[float | None], Key | None]
"""Waits so many seconds, or without an end for None, and returns what the key means that was pressed meanwhile."""

_KEYS: Final[dict[bytes, Key]] = {
    b" ": "pause",
    b"\x1b[C": "on",
    b"\x1bOC": "on",
    b"\x1b[D": "back",
    b"\x1bOD": "back",
    b"q": "quit",
    b"Q": "quit",
}
_KEY: Final = re.compile(rb"\x1b[\[O].|.", re.DOTALL)
_HINT: Final = "space pauses · ← → sentence by sentence · q to the end"


_DUMB: Final = frozenset({"dumb", "unknown"})
"""Terminals that cannot move their cursor."""


class Display(NamedTuple):
    """Shows a game: `show` the next event, `restart` from the first one, where that can be."""

    show: Callable[[Recorded], None]
    restart: Callable[[], None] | None = None


@contextlib.contextmanager
def open_display(*, quiet: bool, plain: bool, paced: bool = False) -> Iterator[Display]:
    """Show a game on stderr: a live view in a terminal, plain lines elsewhere, nothing when quiet.

    A terminal that cannot move its cursor gets plain lines where somebody reads along, else the last frame.

    Args:
        quiet: show nothing.
        plain: plain lines even in a terminal.
        paced: whether keys are listened to, so that the view says which.
    """
    if quiet:
        yield Display(lambda _: None)
    elif plain or not sys.stderr.isatty() or (paced and os.environ.get("TERM", "").lower() in _DUMB):
        from wolfbus.cli.terminal.lines import PlainLines

        yield Display(PlainLines(sys.stderr).show)
    else:
        from rich.console import Console

        from wolfbus.cli.terminal.live import LiveView

        console = Console(stderr=True)

        def switch(*, on: bool) -> None:
            console.set_alt_screen(on)
            console.show_cursor(not on)

        with (
            _warnings_held(),
            LiveView(console, hint=_HINT if paced else "") as view,
            lent_while_stopped(partial(switch, on=False), partial(switch, on=True)),
        ):
            yield Display(view.show, view.restart)


@contextlib.contextmanager
def lent_while_stopped(give_back: Callable[[], None], take: Callable[[], None]) -> Iterator[None]:
    """Give the terminal back to the shell for as long as Ctrl-Z stops this process, and take it again on ``fg``.

    Args:
        give_back: leaves the terminal as a shell wants it.
        take: makes it what it was before that.
    """
    # some platforms stop no process
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGTSTP"):
        yield
        return

    def stop(*_: object) -> None:
        give_back()
        signal.signal(signal.SIGTSTP, previous)
        signal.raise_signal(signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, stop)
        take()

    previous = signal.signal(signal.SIGTSTP, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTSTP, previous)


@contextlib.contextmanager
def _warnings_held() -> Iterator[None]:
    """Hold warnings back while a live view has the screen, and print them when it is closed."""
    handler = MemoryHandler(sys.maxsize, flushLevel=sys.maxsize)
    handler.setLevel(logging.WARNING)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        for line in list(dict.fromkeys(record.getMessage() for record in handler.buffer))[:WARNINGS_SHOWN]:
            sys.stderr.write(f"wolfbus: {line}\n")


@contextlib.contextmanager
def key_presses() -> Iterator[Wait]:
    """Read single keys from standard input; yields a function that waits for one that means something.

    Where standard input is no terminal, or the platform knows no termios, no key is ever pressed, and waiting without
    an end returns ``on`` at once.
    """
    try:
        import termios
        import tty

        descriptor = sys.stdin.fileno() if sys.stdin.isatty() else None
    except (ImportError, OSError, ValueError, AttributeError):
        descriptor = None
    if descriptor is None:
        yield _wait_without_keys
        return
    before = termios.tcgetattr(descriptor)
    # one that is held down, or that was pressed while the game was shown, comes with others
    keys = deque[Key]()

    def wait(seconds: float | None) -> Key | None:
        end = None if seconds is None else time.monotonic() + seconds
        while not keys:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not select.select([descriptor], [], [], left)[0]:
                return None
            pressed = os.read(descriptor, 4096)
            if not pressed:
                # the terminal was closed
                return "quit"
            keys.extend(_KEYS[key] for key in _KEY.findall(pressed) if key in _KEYS)
        return keys.popleft()

    def give_back() -> None:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)

    def take() -> None:
        with contextlib.suppress(termios.error):
            tty.setcbreak(descriptor)

    take()
    try:
        with lent_while_stopped(give_back, take):
            yield wait
    finally:
        give_back()


def _wait_without_keys(seconds: float | None) -> Key | None:
    if seconds is None:
        return "on"
    time.sleep(seconds)
    return None


def play_back_with_keys(records: Sequence[Recorded], display: Display, speed: float, until: int | None = None) -> None:
    """Play back what `display` shows, as `play_back` does, under the keys that are pressed."""
    with key_presses() as wait:
        play_back(records, display.show, speed, until, wait, display.restart)


def pause_for(event: AnyEvent) -> float:
    """Return the seconds to stay on `event` at speed 1.

    A statement stays as long as it takes to read what views show of it. What is not seen (questions, answers, verdicts)
    takes no time, nor do rejected messages, prompts and model calls: there may be thousands.
    """
    if event.type == "statement":
        return max(SHORTEST, len(printable(event.text)) / CHARACTERS_PER_SECOND)
    return GLANCE if event.type in _VISIBLE else 0.0


def beat_lines(records: Sequence[Recorded]) -> list[int]:
    """Return the numbers of the lines that the game's beats are about, in order."""
    from wolfbus.stage.document import GameFeed
    from wolfbus.stage.viewers import EVERYTHING

    feed = GameFeed(EVERYTHING)
    for recorded in records:
        feed.feed(recorded)
    return [beat.at for beat in feed.beats]


def play_back(
    records: Sequence[Recorded],
    show: Callable[[Recorded], None],
    speed: float,
    until: int | None = None,
    wait: Wait = _wait_without_keys,
    restart: Callable[[], None] | None = None,
) -> None:
    """Show events one after the other, with time to read; keys pause, step by beats, and leave.

    Args:
        records: a record's events in order.
        show: called with each event, before its pause.
        speed: divides all pauses; above 0, and infinity for none.
        until: number of the last event to show; None for all.
        wait: waits for a key: ``pause`` stays until the next key, ``on`` goes to the next beat, ``back`` to the one
            before, ``quit`` shows the rest at once.
        restart: forgets all that was shown; None where that cannot be, then ``back`` does nothing.
    """
    played = [recorded for recorded in records if until is None or recorded.n <= until]
    beats: list[int] | None = None
    index, skip_to = 0, 0
    while index < len(played):
        recorded = played[index]
        show(recorded)
        index += 1
        pause = pause_for(recorded.event) / speed
        if recorded.n < skip_to or pause <= 0:
            continue
        key = wait(pause)
        if key == "pause":
            key = wait(None)
        if key == "quit":
            skip_to = played[-1].n + 1
        elif key in {"on", "back"}:
            beats = beat_lines(played) if beats is None else beats
            if key == "on":
                skip_to = next((n for n in beats if n > recorded.n), recorded.n)
            elif restart is not None:
                current = max((n for n in beats if n <= recorded.n), default=0)
                skip_to = max((n for n in beats if n < current), default=0)
                restart()
                index = 0
