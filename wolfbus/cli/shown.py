"""How a game is shown while it happens, here or in a playback."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

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
        from wolfbus.cli.lines import PlainLines

        yield Shower(PlainLines(sys.stderr).see)
    else:
        from rich.console import Console

        from wolfbus.cli.live import LiveView

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
