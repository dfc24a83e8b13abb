"""What commands that measure games share: the options of what to count and how, reading with a progress bar, and
messages about files.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wolfbus.cli.options import PATH, Share, negated_flag, option_group
from wolfbus.errors import RecordError
from wolfbus.files.printable import NOTE_SHOWN, counted, printable
from wolfbus.study.manifest import FILE

if TYPE_CHECKING:
    from analytics.gather import Criteria, FileNote, Gathered
    from analytics.metrics.study import Study
    from analytics.report.report import Report

_PATH_SHOWN: Final = 400
_BLAS_THREADS: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
"""How many threads numpy's products of matrices take; it looks when it is loaded."""

prove_option = click.option(
    "--prove", is_flag=True, help="Re-execute every record by the rules; reading then takes about twice as long."
)

recompute_options = option_group(
    click.option("--alpha", type=Share(), help="Smoothing weight to recompute with."),
    click.option("--prior", type=Share(), help="Suspicion before any judgement to recompute with."),
    click.option(
        "--include-defaulted",
        is_flag=True,
        help="Count missing labels and judgements as the paper's code did: truthful, suspicion 0.5.",
    ),
)

criteria_options = option_group(
    recompute_options,
    click.option(
        "--as-recorded", is_flag=True, help="Read published logs as the paper's code stored them, fillers and all."
    ),
    click.option(
        "--roles",
        type=PATH,
        metavar="FILE",
        help="The run_meta.json of published logs; looked for beside each unless given.",
    ),
    prove_option,
    click.option(
        "--include-differing",
        is_flag=True,
        help="Count records, too, that are not what their study noted, or that the rules do not give.",
    ),
    click.option(
        "--include-spoilt",
        is_flag=True,
        help="Count games, too, of a seat of which too many answers are defaults for want of a reply.",
    ),
)
"""What `criteria_of` takes, by its names."""

workers_option = click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes that read.")

cache_option = negated_flag(
    "--no-cache",
    "cached",
    "Compute everything anew. What records came to is kept beside them, in .wolfbus, and taken from there as long as "
    "their bytes are the same.",
)


def criteria_of(*, prove: bool, **options: Any) -> Criteria:
    """Return what the options of `criteria_options` say."""
    from analytics.gather import Criteria
    from moderator.engine.reexecution import Verifier

    return Criteria(**options, prover=Verifier if prove else None)


def print_problems(problems: Sequence[FileNote]) -> None:
    """Print a line on stderr for every file with which something is wrong."""
    for note in problems:
        # what is wrong with a manifest is no game's fault
        left_out = "" if note.counted or Path(note.path).name == FILE else " (left out)"
        text = printable(f"{note.path}: {note.problem}", _PATH_SHOWN + 3 * NOTE_SHOWN)
        click.echo(f"wolfbus: {text}{left_out}", err=True)


def print_problem_count(problems: Sequence[FileNote]) -> None:
    """Print on stderr with how many files something is wrong, if with any."""
    if problems:
        click.echo(f"wolfbus: something is wrong with {counted(len(problems), 'file')}", err=True)


def print_spoilt(gathered: Gathered) -> None:
    """Print on stderr how many games are spoilt, for a command that has no option to count them."""
    if gathered.spoilt:
        games = counted(len(gathered.spoilt), "spoilt game")
        click.echo(f"wolfbus: {games}, in which too many answers of a seat are defaults: left out", err=True)


def print_forks(gathered: Gathered) -> None:
    """Print on stderr how many games are forks, for a command whose figures take games for a sample."""
    if forks := gathered.tables.forks.height:
        games = counted(gathered.tables.games.height, "game")
        line = f"{forks:,} of {games} are forks, which share what was said before: they are no sample of games"
        click.echo(f"wolfbus: {line}", err=True)


def read_games(
    sources: Sequence[str], criteria: Criteria, workers: int | None, *, cached: bool, with_words: int = 0
) -> Gathered:
    """Return the games in folders and files, and say with which files something is wrong; see `gather`.

    Raises:
        RecordError: no game could be read.
    """
    _multiply_in_one_thread()
    from analytics.gather import gather

    with reading_progress(in_bytes=True) as tell:
        gathered = gather(sources, criteria, workers=workers, cached=cached, with_words=with_words, tell=tell)
    print_problems(gathered.problems)
    if not gathered.tables.ids:
        spoilt = counted(len(gathered.spoilt), "game") if gathered.spoilt else ""
        why = f"no game can be counted, {spoilt} being spoilt (--include-spoilt)" if spoilt else "no game could be read"
        raise RecordError(f"{', '.join(sources)}: {why}")
    return gathered


def findings_of(gathered: Gathered, study: Study | None = None) -> dict[str, Any]:
    """Return all figures of what was gathered, those that are kept of the very same files if there are any; see
    `findings`.
    """
    from analytics.gather import once

    def computed() -> dict[str, Any]:
        from analytics.findings import findings

        return findings(gathered, study)

    return once("findings", [gathered.basis], computed)


def page_of(gathered: Gathered, report: Callable[[], Report]) -> dict[str, Any]:
    """Return the ``html`` and the ``headlines`` of a report, those that are kept of the very same files likewise."""
    from analytics.gather import once

    return once("page", [gathered.basis], lambda: {"html": report().html(), "headlines": report().headlines()})


def _multiply_in_one_thread() -> None:
    """Let numpy multiply in one thread unless the user said otherwise: the many small products of a bootstrap take less
    time than the start of threads, and threads that wait keep their processors busy.
    """
    if not any(name in os.environ for name in _BLAS_THREADS):
        os.environ[_BLAS_THREADS[0]] = "1"


@contextlib.contextmanager
def reading_progress(*, in_bytes: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show how much is read so far, in files or bytes, in a terminal."""
    if not sys.stderr.isatty():
        yield lambda _read, _all: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    amount = DownloadColumn() if in_bytes else MofNCompleteColumn()
    console = Console(stderr=True)
    with Progress("reading", BarColumn(), amount, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda read, total: bar.update(task, completed=read, total=total)
