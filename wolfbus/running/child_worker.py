"""A worker that a run starts on its own machine: an `AgendaWorker` of the run's agenda, in a process of its own.

How it plays stands in the first line of its standard input, as JSON. The input stays open as long as the run lives, and
its end is the end of this process. What the run must know is printed, a line of JSON each: that it can play, what
model calls have taken, and why it cannot play any more.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, astuple
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from players.llm.settings import Model
from wolfbus.errors import ConfigError, WolfError, first_fault
from wolfbus.files.printable import error_in_words
from wolfbus.files.whole_file import write_all
from wolfbus.running.agenda_worker import AgendaWorker, WorkerSettings
from wolfbus.running.brains import CallOptions, calls_of, open_brain_context, open_shared_budget, quiet_brains
from wolfbus.running.loading import study_of_text
from wolfbus.service.lifecycle import Stopping
from wolfbus.service.redis import shut_down
from wolfbus.study.journal import CallsSoFar

if TYPE_CHECKING:
    from players.spec import BrainContext

AGENDA: Final = "run"
"""Name of the agenda; nobody else is on its server."""


class ChildSettings(BaseModel):
    """How a worker plays that a run starts itself."""

    model_config = ConfigDict(frozen=True)

    server: str
    """Address of the run's own server, with the agenda and the budget."""
    bus: str
    """Address of the bus that games are played on."""
    folder: Path
    """The study's folder; records are written there."""
    at_once: int
    """Games under way at a time."""
    brains: tuple[str, ...]
    """All that will play."""
    models: dict[str, Model]
    """Language models, by what brains name them by, each limited to this worker's share."""
    calls: CallOptions
    """How they are called; the budget is that of all workers together."""


_CALLS_EVERY_S: Final = 0.5
"""Seconds between two words on what model calls took."""

_telling = threading.Lock()


def tell(**members: Any) -> None:
    """Print a line for the run that started this process; any thread may call it."""
    with _telling:
        write_all(_output(), json.dumps(members).encode() + b"\n")


@cache
def _output() -> int:
    """Return where that is printed. What brains print goes elsewhere, also past Python or by what they start."""
    descriptor = os.dup(1)
    os.dup2(2, 1)
    return descriptor


@contextlib.contextmanager
def _tell_calls(brain_context: BrainContext) -> Iterator[None]:
    """Tell the run now and then what model calls have taken, and once more at the end."""
    ended = threading.Event()

    def run() -> None:
        reported = CallsSoFar()
        is_over = False
        while not is_over:
            is_over = ended.wait(_CALLS_EVERY_S)
            if (calls := calls_of(brain_context)) != reported:
                reported = calls
                tell(calls=astuple(calls))

    thread = threading.Thread(target=run, name="calls")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def play_for_parent() -> int:
    """Play for the run that started this process, until it has no more games or is gone; returns the exit code."""
    _output()
    try:
        settings = _read_settings()
        threading.Thread(target=_end_with_parent, args=(settings.server,), name="parent", daemon=True).start()
        with Stopping() as stopping, quiet_brains():
            _play(settings, stopping)
    except WolfError as error:
        tell(error=str(error))
        return 1
    except Exception as error:
        tell(error=f"a worker failed: {error_in_words(error)}")
        raise
    return 0


def _read_settings() -> ChildSettings:
    try:
        return ChildSettings.model_validate_json(sys.stdin.readline() if sys.stdin else "")
    except ValidationError as error:
        raise ConfigError(f"the first line on stdin does not say how to play: {first_fault(error)}") from None


def _end_with_parent(server: str) -> None:
    """Wait for the end of the input, which is the end of the run, and then of this process and of the run's server."""
    while sys.stdin.read(1):
        pass
    shut_down(server)
    # whatever this process is doing, it is not wanted any more
    os._exit(1)


def _play(settings: ChildSettings, stopping: Stopping) -> None:
    from wolfbus.study.redis_agenda import RedisAgenda

    with contextlib.closing(RedisAgenda(settings.server, AGENDA)) as agenda:
        plan = study_of_text(agenda.study() or "", "the run").plan()
        agenda.planned = plan.game
        agenda.agree_lease()
        calls = settings.calls
        with (
            open_shared_budget(settings.server, AGENDA, calls.budget, calls.budget_tokens, agenda.lease_s) as ledger,
            open_brain_context(
                settings.brains, settings.models, probe=False, ledger=ledger, **asdict(calls)
            ) as brain_context,
        ):
            how = WorkerSettings(
                settings.bus, plan.config, settings.folder, at_once=settings.at_once, new_house=agenda.new_house
            )
            worker = AgendaWorker(agenda, how, brain_context, lease_s=agenda.lease_s)
            tell(ready=True)
            with _tell_calls(brain_context):
                halt = worker.play(stopping)
            if halt is not None:
                tell(halt=halt.why, budget=halt.budget)
