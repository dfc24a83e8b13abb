"""What commands share that ask models about games that are over: the way to the models, and what came of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wolfbus.cli import FAILED
from wolfbus.errors import ConfigError, WolfError
from wolfbus.files.formats import count
from wolfbus.files.printable import counted

if TYPE_CHECKING:
    from players.llm.settings import Model
    from players.spec import BrainContext
    from wolfbus.running.asking import AskingRun


def ask_models(
    brains: Sequence[str],
    models: Mapping[str, Model],
    estimate: Callable[[BrainContext], str],
    play: Callable[[BrainContext], None],
    *,
    yes: bool,
    **options: Any,
) -> None:
    """Tell what it takes, and ask once somebody has agreed.

    Args:
        brains: who is asked.
        models: language models by alias.
        estimate: what it takes, in a line.
        play: asks.
        yes: whether nobody is to be asked before.
        options: those of `wolfbus.cli.options.model_options`.

    Raises:
        ConfigError: nobody is there who could agree; or as `open_brain_context` does.
    """
    from wolfbus.running.brains import open_brain_context

    with open_brain_context(brains, models, **{**options, "probe": False}) as context:
        click.echo(f"wolfbus: {estimate(context)}", err=True)
        if options["replay_cassette"] is None:
            _confirm(yes=yes)
            if options["probe"]:
                context.probe(brains)
        play(context)
        for line in context.accounts.lines() if context.accounts is not None else ():
            click.echo(f"wolfbus: {line}", err=True)


def _confirm(*, yes: bool) -> None:
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ConfigError("nobody is at a terminal to be asked whether to go ahead: give --yes")
    click.confirm("Go ahead?", abort=True, err=True)


def progress(verb: str, total: int) -> Callable[[int], None]:
    """Return what tells at a terminal how many of so many are done."""
    step = max(1, total // 20)

    def tell(done: int) -> None:
        if sys.stderr.isatty() and (done % step == 0 or done == total):
            click.echo(f"\r{verb} {count(done)} of {count(total)}", nl=done == total, err=True)

    return tell


def report_answers(run: AskingRun, path: Path, before: int, *, as_json: bool, head: str, answer: str, item: str) -> int:
    """Print what came of it; returns the exit code.

    Args:
        run: the run.
        path: the file of its answers.
        before: answers that were there.
        as_json: whether as JSON.
        head: what the file holds.
        answer: what one is called.
        item: what one is asked about.

    Raises:
        WolfError, OSError: why the run ended before its end.
    """
    if as_json:
        click.echo(json.dumps({"file": str(path), "written": run.written, "before": before, "unread": run.unread}))
    else:
        earlier = f", {count(before)} before" if before else ""
        click.echo(f"{head}: {path}, {counted(run.written, answer)}{earlier}")
    if run.unread:
        place, why = next(iter(run.unread.items()))
        click.echo(
            f"wolfbus: of {counted(len(run.unread), item)} nothing could be read, the first {place}: {why}; run it "
            "again to ask again",
            err=True,
        )
    if isinstance(run.ended, WolfError):
        raise type(run.ended)(f"{run.ended}; what was read is kept, and the same command goes on")
    if run.ended is not None:
        raise run.ended
    return FAILED if run.unread else 0
