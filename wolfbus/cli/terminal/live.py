"""A game as it happens, full screen, arranged for the size of the terminal; for researchers: it sees everything, so it
is not for players.
"""

from __future__ import annotations

import threading
import time
from itertools import zip_longest
from typing import Final, Self

from rich.cells import cell_len
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from wolfbus.cli.terminal.panels import FAINT, STRONG, Lines, chronicle, fit, line, matrix, players, transcript
from wolfbus.cli.terminal.standing import Following, Standing
from wolfbus.cli.terminal.wording import names_of, over_in_words, rejections_in_words, usage_in_words
from wolfbus.files.printable import counted, name_of, printable
from wolfbus.game.roles import ASKED_FOR
from wolfbus.record.line import Recorded

_GAP: Final = 3
_TWO_COLUMNS: Final = 72
_PHASES: Final = ("night", "debate", "vote")


def frame(standing: Standing, console: Console, width: int, height: int, elapsed: float | None) -> Lines:
    """Return the game as lines of at most `width` cells, at most `height` of them.

    Below 72 columns the parts stand under each other; who suspects whom and older votes come in where there is room.
    Where models were called, the last line says what that took.

    Args:
        standing: the game so far.
        console: only asked how text wraps.
        width: cells of a line.
        height: lines.
        elapsed: seconds since the game began, None to leave the clock out.
    """
    head = _header(standing, width, elapsed)
    if height >= 30:
        head.append(line(""))
    foot = [line((usage, FAINT))] if (usage := usage_in_words(standing.sums.usage)) and height > len(head) else []
    room = height - len(head) - len(foot)
    if width < _TWO_COLUMNS:
        side = players(standing, width)
        # a small window is for following the debate
        side = [*side, line("")] if len(side) + 8 <= room else []
        body = [*side, *transcript(standing, console, width, room - len(side))]
    else:
        side_width = 36 if width < 100 else 46 if width < 140 else 60
        main_width = width - side_width - _GAP
        main = transcript(standing, console, main_width, room)
        columns = zip_longest(_side(standing, side_width, room), main, fillvalue=line(""))
        body = [fit(left, side_width) + line(" " * _GAP) + right for left, right in columns]
    return [fit(text, width) for text in [*[*head, *body][: height - len(foot)], *foot]]


def _side(standing: Standing, width: int, room: int) -> Lines:
    lines = players(standing, width)
    heat_map = matrix(standing, width)
    left = room - len(lines)
    if heat_map and left >= len(heat_map) + 8:
        lines += [line(""), *heat_map]
    left = room - len(lines) - 1
    if left >= 3:
        lines += [line(""), *chronicle(standing, width, left)]
    return lines[:room]


def _header(standing: Standing, width: int, elapsed: float | None) -> Lines:
    opened = standing.opened
    clock = "" if elapsed is None else clock_of(elapsed)
    if opened is None:
        waiting = line(("waiting for the game…", FAINT))
        return [_justified(line(("wolfbus", STRONG)), line((clock, FAINT)), width), waiting]
    title = line(("wolfbus", STRONG), "  ", opened.game, (f"  seed {printable(opened.seed, 40)}", FAINT))
    living = standing.living
    wolves = sum(seat.role == "Werewolf" for seat in living)
    alive = f"{wolves} Werewol{'f' if wolves == 1 else 'ves'} and {len(living) - wolves} others alive"
    short = f"{len(living)} of {len(standing.seats)} alive"
    where = _where(standing)
    for shorter in (short, ""):
        if where.cell_len + cell_len(alive) + 2 > width:
            alive = shorter
    return [
        _justified(title, line((clock, FAINT)), width),
        _justified(where, line(alive), width),
        fit(line((_progress(standing), FAINT)), width),
    ]


def _where(standing: Standing) -> Text:
    if standing.over is not None:
        words = over_in_words(standing.over)
        return line((words[0].upper() + words[1:], STRONG))
    round_ = standing.round
    text = line((f"Round {round_}" if round_ else "Before the first night", STRONG), "   " if round_ else "")
    for number, phase in enumerate(_PHASES if round_ else ()):
        turns = f" {standing.turn}/{standing.config.debate_turns}" if phase == "debate" == standing.phase else ""
        text.append(" › " if number else "", FAINT)
        text.append(f"{phase}{turns}", STRONG if phase == standing.phase else FAINT)
    return text


def _progress(standing: Standing) -> str:
    parts: list[str] = []
    if standing.floor is not None:
        parts.append(f"{name_of(standing.floor)} has the floor")
    waiting = {kind: seats for kind, seats in standing.waiting.items() if kind != "speak"}
    if waiting:
        answers = (counted(len(seats), ASKED_FOR[kind]) for kind, seats in waiting.items())
        parts.append("waiting for " + ", ".join(answers))
    if standing.absent:
        parts.append(f"not answering: {names_of(standing.absent)}")
    parts += rejections_in_words(standing.sums)
    return " · ".join(parts)


def _justified(left: Text, right: Text, width: int) -> Text:
    """Return one line with `left` and `right` at its two ends; the left end yields where they meet."""
    return fit(left, max(0, width - right.cell_len - 1)) + line(" ") + right


def clock_of(seconds: float) -> str:
    """Return a duration as "0:07", "12:30" or "1:02:03"."""
    minutes, remainder = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{remainder:02d}" if hours else f"{minutes}:{remainder:02d}"


_INTERVAL: Final = 1 / 8
"""Shortest time between two frames, in seconds; more would flicker and cost, and nobody reads faster."""
_TICK: Final = 1.0
"""Longest time between two frames, in seconds, so that the clock goes on while models think."""
_LATE: Final = 30.0
"""An event this many seconds old on arrival is from a record: the clock then goes by the record."""


class LiveView:
    """Shows one game on a terminal while it is played or played back; use it as a context manager.

    `show` may be called from any thread and returns at once; another thread draws the frames. On leaving, the screen is
    given back and the last frame stays, as ordinary text. On something that is no terminal, only that last frame is
    written. Colours follow the console: none of them under ``NO_COLOR``.

    Args:
        console: where to draw, usually stderr.
        hint: last line of the screen while it is shown, "" for none.
    """

    def __init__(self, console: Console, hint: str = "") -> None:
        self._hint = hint
        self._console = console
        self._following = Following()
        self._lock = threading.Lock()
        self._began: float | None = None
        self._latest = 0.0
        self._playing_now = False
        self._changed = threading.Event()
        self._stop = threading.Event()
        self._live: Live | None = None
        self._painter: threading.Thread | None = None

    def show(self, recorded: Recorded) -> None:
        """Show the next event of the game."""
        with self._lock:
            self._following.feed(recorded)
            if recorded.event.type == "opened":
                self._began = recorded.event.started
            self._latest = recorded.time
            self._playing_now = self._began is not None and time.time() - self._began - recorded.time < _LATE
        self._changed.set()

    def restart(self) -> None:
        """Forget the game so far; the next event is the first one again."""
        with self._lock:
            self._following = Following()

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            self._live = Live(console=self._console, get_renderable=self._frame, auto_refresh=False, screen=True)
            self._live.start(refresh=True)
            self._painter = threading.Thread(target=self._draw, args=(self._live,), name="live-view", daemon=True)
            self._painter.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._changed.set()
        if self._painter is not None:
            self._painter.join()
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
            standing = self._following.standing()
            return Group(*frame(standing, self._console, width, room, self._elapsed(standing)), *hint)

    def _elapsed(self, standing: Standing) -> float | None:
        if self._began is None:
            return None
        return time.time() - self._began if self._playing_now and standing.over is None else self._latest
