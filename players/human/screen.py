"""Where a person reads: paragraphs and questions on a terminal, or the same without colours anywhere else."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterable
from typing import Final, Literal, TextIO, TypeAlias

logger = logging.getLogger(__name__)

Style: TypeAlias = Literal["", "bold", "dim", "cyan", "yellow"]

WIDTH: Final = 100
"""Columns where there is no terminal that has its own."""


class Screen:
    """Writes what one person may read; safe from any thread.

    Colours only stand on a terminal, and not under ``NO_COLOR``. A screen that is gone swallows what is written.

    Args:
        stream: where to write; standard error unless given, for standard output is for results.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        from rich.console import Console

        stream = stream or sys.stderr
        is_terminal = stream.isatty()
        self._console = Console(
            file=stream,
            force_terminal=is_terminal,
            width=None if is_terminal else WIDTH,
            markup=False,
            highlight=False,
            emoji=False,
        )
        self._lock = threading.Lock()
        self._gone = False

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

        if self._gone:
            return
        try:
            self._console.print(Text(text, style), end=end)
            self._console.file.flush()
        except (OSError, ValueError) as error:
            # the person's terminal was closed: the game goes on without it
            self._gone = True
            logger.debug("the screen is gone: %s", error)
