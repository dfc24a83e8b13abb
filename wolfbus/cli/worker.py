"""`wolfbus worker`: plays games of a study that `wolfbus run --share` has put on an agenda."""

from __future__ import annotations

import contextlib
import logging
import queue
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wolfbus.cli import FAILED
from wolfbus.cli.calling import model_options, open_venue
from wolfbus.service.options import DEFAULT_BUS, check_house

if TYPE_CHECKING:
    from wolfbus.bus.protocol import Bus
    from wolfbus.cli.studying.playing import Playing, Word
    from wolfbus.service.stop import Stopping
    from wolfbus.study.agenda import SharedAgenda, Taken
    from wolfbus.study.plan import Plan

logger = logging.getLogger(__name__)

DEATHS: Final = 3
"""Workers that may die under a game before it counts as failed."""

_GLANCE_S: Final = 0.1
_HOLDS: Final = 3
"""How often a worker says that it lives in the time after which it counts as dead."""
_BREAK_S: Final = 5.0


@click.command()
@click.option(
    "--bus",
    "url",
    envvar=["WOLFBUS_BUS", "REDIS_URL"],
    default=DEFAULT_BUS,
    show_default=True,
    help="redis://HOST:PORT/DB, rediss://… or unix:///PATH. Also from REDIS_URL.",
)
@click.option("--agenda", "name", required=True, help="The agenda's name, as told to `wolfbus run --share`.")
@click.option("--at-once", type=click.IntRange(1), default=4, show_default=True, help="Games under way at a time.")
@click.option(
    "--lease",
    type=click.FloatRange(0.1),
    default=15.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a worker may be silent before another plays its games anew.",
)
@model_options
def worker(url: str, name: str, at_once: int, lease: float, **calls: Any) -> int:
    """Play games of a shared study until all are played; start as many as you like, on any machine.

    It waits for the agenda if that is not there yet. Games of a worker that dies are played by another; on SIGTERM it
    gives back what it has not finished. Budgets and cassettes are each worker's own.

    \b
    wolfbus run study.toml --bus redis://HOST --share mine
    wolfbus worker --bus redis://HOST --agenda mine
    """  # noqa: D301 - click takes the backspace for "keep these lines"
    from wolfbus.cli.embedded import tune_garbage_collection
    from wolfbus.cli.studying.loading import study_of_text
    from wolfbus.cli.studying.playing import quiet_brains
    from wolfbus.service.stop import Stopping
    from wolfbus.study.agenda import SharedAgenda

    check_house(name)
    if url.startswith("memory:"):
        raise click.UsageError("workers meet on a Redis, not on memory://")
    with (
        Stopping() as stopping,
        contextlib.closing(SharedAgenda(url, name, lease)) as agenda,
        quiet_brains(),
        tempfile.TemporaryDirectory() as folder,
    ):
        text = _wait_for(agenda, name, stopping)
        if text is None:
            return 0
        tune_garbage_collection()
        study = study_of_text(text, f"agenda {name}")
        plan = study.plan()
        with open_venue(plan.agents, study.models, logs=Path(folder), **calls) as venue:
            (Path(folder) / "records").mkdir()
            return _Player(url, plan, Path(folder), venue, agenda, at_once).play(stopping, lease)


def _wait_for(agenda: SharedAgenda, name: str, stopping: Stopping) -> str | None:
    """Return the study on an agenda, once there is one; None if somebody asks to stop before."""
    text = agenda.study()
    if text is None:
        click.echo(f"wolfbus: waiting for agenda {name} (wolfbus run --share {name})", err=True)
    while text is None and not stopping.wait(_GLANCE_S):
        text = agenda.study()
    return text


class _Player:
    """Takes games from an agenda, plays them in a house of this process, and tells what came of them."""

    def __init__(self, url: str, plan: Plan, folder: Path, venue: Any, agenda: SharedAgenda, at_once: int) -> None:
        from wolfbus.bus import open_bus
        from wolfbus.cli.studying.playing import Playing

        self._plan = plan
        self._agenda = agenda
        self._at_once = at_once
        self._held: dict[int, Taken] = {}
        self._words: queue.SimpleQueue[Word] = queue.SimpleQueue()
        self._why: str | None = None
        self._bus: Bus = open_bus(url)
        # a record stays on the bus until whoever runs the study has it
        self._playing: Playing = Playing(url, plan.config, folder, venue, self._words.put, keep_s=None)
        self._house = self._playing.house

    def play(self, stopping: Stopping, lease_s: float) -> int:
        """Play until the agenda is gone, somebody asks to stop, or no more can be played; returns the exit code."""
        hold_at = time.monotonic()
        hasty = True
        try:
            while not stopping.asked and self._why is None:
                if not self._held and not self._agenda.is_open:
                    break
                if time.monotonic() >= hold_at:
                    self._agenda.hold(self._house, [taken.entry for taken in self._held.values()])
                    hold_at = time.monotonic() + lease_s / _HOLDS
                self._take()
                self._hear(_GLANCE_S)
            self._break_off()
            hasty = self._why is not None
        finally:
            self._playing.close(hasty=hasty)
            self._bus.close()
        if self._why is not None:
            click.echo(f"wolfbus: {self._why}", err=True)
            return FAILED
        return 0

    def _take(self) -> None:
        room = self._at_once - len(self._held)
        for taken in self._agenda.take(self._house, room) if room else ():
            if taken.number in self._held:
                # silent for so long that it was thought dead, and quick enough to take it again
                continue
            game = self._plan.game(taken.number)
            if taken.house not in {"", self._house}:
                self._bus.expire(taken.house, game.game, 0)
            if taken.times >= DEATHS:
                error = f"{DEATHS} workers died while they played it"
                self._agenda.finish(taken, self._house, error, 0.0)
                continue
            self._held[taken.number] = taken
            self._playing.play(game)

    def _hear(self, patience_s: float) -> None:
        from wolfbus.cli.studying.playing import Broken, Done

        try:
            word = self._words.get(timeout=patience_s)
            while True:
                if isinstance(word, Done):
                    result = word.result
                    taken = self._held.pop(result.number)
                    if not self._agenda.finish(taken, self._house, result.error, result.seconds or 0.0):
                        logger.info("another worker was first", extra={"game": result.game})
                        self._bus.expire(self._house, result.game, 0)
                elif isinstance(word, Broken):
                    taken = self._held.pop(word.number)
                    self._bus.expire(self._house, self._plan.game_id(word.number), 0)
                    self._agenda.give_back(self._house, taken.entry)
                else:
                    self._why = word.why
                word = self._words.get_nowait()
        except queue.Empty:
            return

    def _break_off(self) -> None:
        """Give back what is under way."""
        self._playing.end("the worker stops")
        until = time.monotonic() + _BREAK_S
        while self._held and time.monotonic() < until:
            self._hear(_GLANCE_S)
