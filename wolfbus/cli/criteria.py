"""Options of all commands that measure games: how to compute, and how to read published logs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from wolfbus.cli.replay import Share

_Command = TypeVar("_Command", bound=Callable[..., Any])

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
)

workers_option = click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes that read.")


def criteria_options(command: _Command) -> _Command:
    """Give a command the options that are the fields of `analytics.gather.Criteria`, by their names."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
