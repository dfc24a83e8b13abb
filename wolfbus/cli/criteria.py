"""Options of all commands that measure games: how to compute, how to read published logs, what to check and count."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wolfbus.cli.replay import Share
from wolfbus.printable import NOTE_SHOWN, counted, printable
from wolfbus.study.manifest import FILE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analytics.gather import Criteria, FileNote

_PATH_SHOWN = 400

_Command = TypeVar("_Command", bound=Callable[..., Any])

prove_option = click.option(
    "--prove", is_flag=True, help="Re-execute every record by the rules; reading then takes about twice as long."
)

_OPTIONS = (
    click.option("--alpha", type=Share(), help="Smoothing weight to recompute with."),
    click.option("--prior", type=Share(), help="Suspicion before any judgement to recompute with."),
    click.option(
        "--include-defaulted",
        is_flag=True,
        help="Count missing labels and judgements as the paper's code did: truthful, suspicion 0.5.",
    ),
    click.option(
        "--as-recorded", is_flag=True, help="Read published logs as the paper's code stored them, fillers and all."
    ),
    click.option(
        "--roles",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="The run_meta.json of published logs; looked for beside each unless given.",
    ),
    prove_option,
    click.option(
        "--include-differing",
        is_flag=True,
        help="Count records, too, that are not what their study noted, or that the rules do not give.",
    ),
)

workers_option = click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes that read.")

cache_option = click.option(
    "--no-cache",
    is_flag=True,
    help="Compute everything anew. What records came to is kept beside them, in .wolfbus, and taken from there as long"
    " as their bytes are the same.",
)


def criteria_options(command: _Command) -> _Command:
    """Give a command the options that `criteria_of` takes, by their names."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def criteria_of(*, prove: bool, **options: Any) -> Criteria:
    """Return what the options of `criteria_options` say."""
    from analytics.gather import Criteria
    from moderator.engine.reexecution import Verifier

    return Criteria(**options, prover=Verifier if prove else None)


def tell_problems(problems: Sequence[FileNote]) -> None:
    """Print a line on stderr for every file with which something is wrong."""
    for note in problems:
        # what is wrong with a manifest is no game's fault
        left_out = "" if note.counted or Path(note.path).name == FILE else " (left out)"
        told = printable(f"{note.path}: {note.problem}", _PATH_SHOWN + 3 * NOTE_SHOWN)
        click.echo(f"wolfbus: {told}{left_out}", err=True)


def tell_how_many(problems: Sequence[FileNote]) -> None:
    """Print on stderr with how many files something is wrong, if with any."""
    if problems:
        click.echo(f"wolfbus: something is wrong with {counted(len(problems), 'file')}", err=True)
