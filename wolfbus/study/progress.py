"""`StudyProgress`: shows how far a study is while it is played: a bar in a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final, Self

import click

from wolfbus.study.folder import Manifest

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_LINE_S: Final = 5.0
_RECENT: Final = 200
"""Finished games that the rate is taken over."""


class StudyProgress:
    """Tells how far a study is; a context manager.

    Args:
        manifest: what is known of it.
        quiet: tell nothing.
        plain: lines even in a terminal.
    """

    def __init__(self, manifest: Manifest, *, quiet: bool = False, plain: bool = False) -> None:
        self._manifest = manifest
        self._quiet = quiet
        self._plain = plain or not sys.stderr.isatty()
        self._finished: deque[float] = deque([time.monotonic()], maxlen=_RECENT)
        self._next_line = time.monotonic() + _LINE_S
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def game(self) -> None:
        """Take note that a game is through."""
        self._finished.append(time.monotonic())

    def look(self) -> None:
        """Bring what is shown up to date; call it now and then."""
        now = time.monotonic()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._manifest.done, words=self._words(now))
        elif not self._quiet and self._plain and now >= self._next_line:
            self._next_line = now + _LINE_S
            done, total = self._manifest.done, sum(self._manifest.states.values())
            click.echo(f"wolfbus: {done} of {total} games, {self._words(now)}", err=True)

    def say(self, line: str) -> None:
        """Say something that is not about games; any thread may call it."""
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False)
        else:
            click.echo(f"wolfbus: {line}", err=True)

    def _words(self, now: float) -> str:
        """Return rate, time left, wins, failures and cost."""
        manifest = self._manifest
        said = []
        count, seconds = len(self._finished) - 1, now - self._finished[0]
        if count and seconds > 0:
            left = sum(manifest.states.values()) - manifest.done
            said += [_rate(count / seconds), f"{_time(left * seconds / count)} left"]
        wins = manifest.wins
        said.append(f"wolves {wins['werewolves']}, villagers {wins['villagers']}, nobody {wins['nobody']}")
        if manifest.states["failed"]:
            said.append(f"{manifest.states['failed']} failed")
        if manifest.cost_usd is not None:
            said.append(f"${manifest.cost_usd:,.2f}")
        return ", ".join(said)

    def __enter__(self) -> Self:
        if not self._quiet and not self._plain:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns: tuple[Any, ...] = (BarColumn(24), MofNCompleteColumn(), TextColumn("{task.fields[words]}"))
            self._bar = Progress(*columns, console=Console(stderr=True), refresh_per_second=4)
            self._bar.start()
            total = sum(self._manifest.states.values())
            self._task = self._bar.add_task("", total=total, completed=self._manifest.done, words="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self.look()
            self._bar.stop()


def _rate(rate: float) -> str:
    return f"{rate:.1f} games/s" if rate >= 0.1 else f"{rate * 3600:.0f} games/h"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
