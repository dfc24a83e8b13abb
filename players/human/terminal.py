"""The person's terminal: what it shows, and what is typed there, line by line and never for longer
than there is time.
"""

from __future__ import annotations

import logging
import os
import re
import selectors
import sys
import threading
import time
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from wolfbus.errors import PlayerError
from wolfbus.reading.text import clean_text

logger = logging.getLogger(__name__)

Style: TypeAlias = Literal["", "bold", "dim", "cyan", "yellow"]

WIDTH: Final = 100
"""Columns where there is no terminal that has its own."""


class Screen:
    """Writes what one person may read on standard error, for standard output is for results; safe from any thread.

    Colours only stand on a terminal, and not under ``NO_COLOR``. What is written on a closed screen is dropped.
    """

    def __init__(self) -> None:
        from rich.console import Console

        is_terminal = sys.stderr.isatty()
        self._console = Console(
            file=sys.stderr,
            force_terminal=is_terminal,
            width=None if is_terminal else WIDTH,
            markup=False,
            highlight=False,
            emoji=False,
        )
        self._lock = threading.Lock()
        self._ended = False

    def say(self, lines: Iterable[str], style: Style = "") -> None:
        """Write paragraphs, each on a line of its own."""
        with self._lock:
            for line in lines:
                self._write(line, style, "\n")

    def prompt(self, text: str) -> None:
        """Write what stands before the person's own words, and stay on that line."""
        with self._lock:
            self._write(text, "cyan", " ")

    def _write(self, text: str, style: Style, end: str) -> None:
        from rich.text import Text

        if self._ended:
            return
        try:
            self._console.print(Text(text, style), end=end)
            self._console.file.flush()
        except (OSError, ValueError) as error:
            # the person's terminal was closed: the game goes on without it
            self._ended = True
            logger.debug("the screen is gone: %s", error)


LONGEST: Final = 16_384
"""Bytes of a line; a terminal itself takes 4,096."""

NoLine: TypeAlias = Literal["late", "left out", "long", "ended", "closed"]
"""Why there is no line: the time is up · Ctrl-D at a terminal · it was too long · the input has ended for good · the
keyboard was closed.
"""

_KEYS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O?.)")
"""What arrow and function keys send."""


@dataclass(frozen=True, slots=True)
class TypedLine:
    """A line as it was typed, without its end and without what keys other than letters send."""

    text: str


class Keyboard:
    """Reads lines from standard input, be it a terminal in its ordinary mode, a pipe or a file.

    Raises:
        PlayerError: there is no standard input.
    """

    def __init__(self) -> None:
        try:
            self._descriptor = sys.stdin.fileno()
            status = os.fstat(self._descriptor)
        except (AttributeError, OSError, ValueError) as error:
            raise PlayerError("a person cannot play without a keyboard: there is no standard input") from error
        self.place = (status.st_dev, status.st_ino)
        """What is behind standard input: equal for two keyboards that are one."""
        self.is_terminal = os.isatty(self._descriptor)
        self._typed = bytearray()
        self._dropping = False
        """Whether the rest of the line is to be dropped."""
        self._ended = False
        # whoever reads holds the keyboard, and so both ends, however soon it is closed
        self._closed, self._close = os.pipe()
        for end in (self._closed, self._close):
            weakref.finalize(self, os.close, end)

    def flush(self) -> None:
        """Discard what was typed while nothing was asked; a pipe or file keeps its lines."""
        if self.is_terminal:
            self._discard()

    def close(self) -> None:
        """Read no more, and wake up who waits for a line; safe from any thread."""
        os.write(self._close, b"!")

    def read_line(self, due: float) -> TypedLine | NoLine:
        """Return the next line, or why there is none.

        A line that is only half typed when the time is up is dropped, with what is typed of it afterwards.

        Args:
            due: when to give up, on the clock of `time.monotonic`.
        """
        # unlike epoll, poll also takes files
        with getattr(selectors, "PollSelector", selectors.SelectSelector)() as selector:
            selector.register(self._closed, selectors.EVENT_READ)
            if not self._ended:
                selector.register(self._descriptor, selectors.EVENT_READ)
            while True:
                line = self._line()
                if line is not None:
                    return line
                if self._ended:
                    return "ended"
                left = due - time.monotonic()
                ready = {key.fd for key, _ in selector.select(left)} if left > 0 else set()
                if self._closed in ready:
                    return "closed"
                if self._descriptor in ready:
                    no_line = self._read()
                    if no_line is not None:
                        return no_line
                elif time.monotonic() >= due:
                    self._dropping = bool(self._typed) or self._dropping
                    self._discard()
                    return "late"

    def _line(self) -> TypedLine | NoLine | None:
        """Return the next whole line of what was typed; None while there is none."""
        while (end := self._typed.find(b"\n")) >= 0:
            line = bytes(self._typed[:end])
            del self._typed[: end + 1]
            if self._dropping:
                self._dropping = False
                continue
            return _line_of(line) if len(line) <= LONGEST else "long"
        if self._dropping:
            self._typed.clear()
        elif len(self._typed) > LONGEST:
            self._typed.clear()
            self._dropping = True
            return "long"
        return None

    def _read(self) -> NoLine | None:
        try:
            data = os.read(self._descriptor, 4096)
        except BlockingIOError:
            return None
        except OSError:
            # what a terminal says that is no longer there
            data = b""
            self._ended = True
        if data:
            self._typed += data
            return None
        if self.is_terminal and not self._ended:
            self._typed.clear()
            return "left out"
        self._ended = True
        if self._typed:
            # a last line without an end
            self._typed += b"\n"
        return None

    def _discard(self) -> None:
        self._typed.clear()
        if self.is_terminal:
            import termios  # not on every platform

            self._dropping = False
            try:
                termios.tcflush(self._descriptor, termios.TCIFLUSH)
            except termios.error:
                self._ended = True


def _line_of(line: bytes) -> TypedLine:
    return TypedLine(clean_text(_KEYS.sub("", line.decode("utf-8", "replace"))).rstrip("\r"))
