"""`wolfbus export`: records as tables, for pandas, polars, R, …, and as logs that Inspect reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from wolfbus.cli import FAILED
from wolfbus.cli.measuring import criteria_of, criteria_options, print_problem_count, print_problems, reading_progress
from wolfbus.cli.options import FOLDER, PATH, checked, option_group
from wolfbus.files.printable import counted

if TYPE_CHECKING:
    from analytics.export import Exported

_source_options = option_group(
    click.argument("sources", nargs=-1, required=True, type=PATH, metavar="SOURCES..."),
    click.option("--out", required=True, type=FOLDER, metavar="DIR", help="Where to."),
    click.option("--force", is_flag=True, help="Replace files that are there already."),
    criteria_options,
)


@checked
def _tables(text: str) -> tuple[str, ...]:
    from analytics.export import TABLES

    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [name for name in names if name not in TABLES]
    if unknown or not names:
        fault = f"no table {unknown[0]!r}" if unknown else "no table is named"
        raise ValueError(f"{fault}; there are {', '.join(TABLES)}")
    return names


_tables_options = option_group(
    click.option("--tables", callback=_tables, metavar="NAMES", help="Only these tables, separated by commas."),
    click.option(
        "--licence",
        metavar="ID",
        help="The data's licence, an SPDX identifier such as CC-BY-4.0, for the descriptions.",
    ),
)


@click.group()
def export() -> None:
    """Write the games in SOURCES (folders of records, studies, files) as data for other programs.

    \b
    wolfbus export csv runs --out tables
    wolfbus export parquet runs --out tables --tables statements,judgements
    wolfbus export inspect runs --out logs && inspect view --log-dir logs

    What holds of a damaged record is exported; one that is not what its study noted is not. Either is named, and the
    exit code is 1. docs/data.md says what every column means.
    """  # noqa: D301 - click takes the backspace for "keep these lines"


@export.command("csv", short_help="A CSV file per table.")
@_source_options
@_tables_options
def csv_(**options: Any) -> int:
    """Write a CSV file per table into DIR, and what describes them: datapackage.json, croissant.json and README.md, a
    dataset card for Hugging Face.
    """
    from analytics.export import write_csv

    return _export(write_csv, options, "tables", "licence")


@export.command(short_help="A Parquet file per table.")
@_source_options
@_tables_options
def parquet(**options: Any) -> int:
    """Write a Parquet file per table into DIR, croissant.json, and README.md, a dataset card for Hugging Face.

    This needs pyarrow: pip install "wolfbus[parquet]".
    """
    from analytics.export import write_parquet

    return _export(write_parquet, options, "tables", "licence")


@export.command(short_help="A log per study and its agents for the evaluation tool Inspect.")
@_source_options
def inspect(**options: Any) -> int:
    """Write an .eval log per study, and per set of agents that play, into DIR.

    This needs inspect-ai: pip install "wolfbus[inspect]".
    """
    from analytics.export.inspect_log import write_inspect

    return _export(write_inspect, options)


def _export(write: Callable[..., Exported], options: dict[str, Any], *writer_options: str) -> int:
    """Write by the options, those of `writer_options` passed on to the writer, the others saying what to count."""
    from analytics.report.caveats import spoilt_games

    sources, out = options.pop("sources"), options.pop("out")
    passed_on = {name: options.pop(name) for name in ("force", *writer_options)}
    with reading_progress() as tell:
        exported = write(sources, out, criteria_of(**options), tell=tell, **passed_on)
    print_problems(exported.problems)
    if line := spoilt_games(exported.files):
        click.echo(f"wolfbus: {line}", err=True)
    for check in exported.checks:
        click.echo(f"wolfbus: {check.sentence}", err=True)
    for name, count in exported.counts.items():
        click.echo(f"{name}: {counted(count, 'sample' if name.endswith('.eval') else 'row')}")
    games = sum(note.counted for note in exported.files)
    click.echo(f"{counted(games, 'game')} of {counted(len(exported.files), 'file')}, written to {out}")
    print_problem_count(exported.problems)
    return FAILED if exported.problems else 0
