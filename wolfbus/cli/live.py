"""A game as it happens, full screen, for researchers: it sees everything, so it is not for players."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group
from rich.live import Live

from wolfbus.cli.frame import frame
from wolfbus.cli.panels import FAINT, fit, line
from wolfbus.record.line import Recorded
from wolfbus.state import GameState

_INTERVAL: Final = 1 / 8
"""Shortest time between two frames, in seconds; more would flicker and cost, and nobody reads faster."""
_TICK: Final = 1.0
"""Longest time between two frames, in seconds, so that the clock goes on while models think."""
_LATE: Final = 30.0
"""An event this many seconds old on arrival is from a record: the clock then goes by the record."""


class LiveView:
    """Shows one game on a terminal while it is played or played back; use it as a context manager.

    `see` may be called from any thread and returns at once; frames are drawn by a thread of the view's own. On leaving,
    the screen is given back and the last frame stays, as ordinary text. On something that is no terminal, only that
    last frame is written. Colours follow the console: none of them under ``NO_COLOR``.

    Args:
        console: where to draw, usually stderr.
        clock: Unix time in seconds.
        hint: last line of the screen while it is shown, "" for none.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.time, hint: str = "") -> None:
        self._hint = hint
        self._console = console
        self._clock = clock
        self._state = GameState()
        self._lock = threading.Lock()
        self._began: float | None = None
        self._latest = 0.0
        self._playing_now = False
        self._changed = threading.Event()
        self._stop = threading.Event()
        self._live: Live | None = None
        self._artist: threading.Thread | None = None

    def see(self, recorded: Recorded) -> None:
        """Take in the next event of the game."""
        with self._lock:
            self._state.feed(recorded.event)
            if recorded.event.type == "opened":
                self._began = recorded.event.started
            self._latest = recorded.time
            self._playing_now = self._began is not None and self._clock() - self._began - recorded.time < _LATE
        self._changed.set()

    def restart(self) -> None:
        """Forget the game so far; the next event is the first one again."""
        with self._lock:
            self._state = GameState()

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            self._live = Live(console=self._console, get_renderable=self._frame, auto_refresh=False, screen=True)
            self._live.start(refresh=True)
            self._artist = threading.Thread(target=self._draw, args=(self._live,), name="live-view", daemon=True)
            self._artist.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        self._changed.set()
        if self._artist is not None:
            self._artist.join()
        if self._live is not None:
            self._live.stop()
        self._console.print(self._frame())

    def _draw(self, live: Live) -> None:
        while not self._stop.is_set():
            self._changed.wait(_TICK)
            self._changed.clear()
            live.refresh()
            self._stop.wait(_INTERVAL)

    def _frame(self) -> Group:
        width, height = self._console.size
        hint = [] if self._stop.is_set() or not self._hint else [fit(line((self._hint, FAINT)), width)]
        with self._lock:
            # the last row stays free for the shell's prompt and for terminals that scroll on it
            room = max(1, height - 1 - len(hint))
            return Group(*frame(self._state, self._console, width, room, self._elapsed()), *hint)

    def _elapsed(self) -> float | None:
        if self._began is None:
            return None
        over = self._state.ended is not None or self._state.stopped is not None
        return self._clock() - self._began if self._playing_now and not over else self._latest
