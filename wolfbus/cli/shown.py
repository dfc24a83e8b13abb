"""How a game is shown while it happens, here or in a playback."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from wolfbus.record.line import Recorded


@contextlib.contextmanager
def shown(*, quiet: bool, plain: bool) -> Iterator[Callable[[Recorded], None] | None]:
    """Give what shows events on stderr: a live view in a terminal, plain lines elsewhere, nothing when quiet."""
    if quiet:
        yield None
    elif plain or not sys.stderr.isatty():
        from wolfbus.cli.lines import PlainLines

        yield PlainLines(sys.stderr).see
    else:
        from rich.console import Console

        from wolfbus.cli.live import LiveView

        with LiveView(Console(stderr=True)) as view:
            yield view.see
