"""`wolfbus report`: a study, or any records, as a page to read and cite, and as Markdown, JSON, tables and BibTeX."""

from __future__ import annotations

import functools
import json
import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wolfbus.cli import FAILED
from wolfbus.cli.measuring import (
    cache_option,
    criteria_of,
    criteria_options,
    read_games,
    tell_how_many,
    workers_option,
)
from wolfbus.errors import ConfigError
from wolfbus.printable import printable
from wolfbus.whole_file import write_whole

if TYPE_CHECKING:
    from analytics.gather import Criteria, Gathered
    from analytics.report.report import Report

PAGE: Final = "report.html"
STDOUT: Final = Path("-")
_PATH_SHOWN: Final = 400

_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)
_FILE_OR_STDOUT = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to write, each to a path; None for not at all."""

    html: Path | None
    md: Path | None
    findings: Path | None
    csv: Path | None
    parquet: Path | None
    save_map: Path | None
    bibtex: bool
    as_json: bool

    @property
    def files(self) -> tuple[Path, ...]:
        """Files to write."""
        paths = (self.html, self.md, self.findings, self.save_map)
        return tuple(path for path in paths if path is not None and path != STDOUT)

    @property
    def on_stdout(self) -> int:
        """How many are to be printed."""
        return (self.md == STDOUT) + self.as_json + self.bibtex

    @property
    def pages(self) -> bool:
        """Whether anything is wanted that is laid out for readers."""
        return self.html is not None or self.md is not None or self.bibtex


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="DIR|FILE...")
@click.option("--html", type=_FILE, metavar="FILE", help="Write the page there. [default: DIR/report.html]")
@click.option("--md", type=_FILE_OR_STDOUT, metavar="FILE|-", help="Write the same tables as Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print all findings as one JSON object on stdout.")
@click.option("--findings", type=_FILE, metavar="FILE", help="Write that object into a file.")
@click.option("--csv", type=_FOLDER, metavar="DIR", help="Write flat tables of everything into DIR.")
@click.option("--parquet", type=_FOLDER, metavar="DIR", help="Write the same tables as Parquet.")
@click.option("--bibtex", is_flag=True, help="Print how to cite the paper, wolfbus and this study.")
@click.option("--save-map", type=_FILE, metavar="FILE", help="Save the recalibration, for replay --map.")
@criteria_options
@workers_option
@cache_option
def report(sources: tuple[str, ...], workers: int | None, *, cached: bool, **told: Any) -> int:
    """Report on the games in folders and files: a page to read and cite, with the way back from every number.

    DIR is a study's folder or any other with records in it; FILE a record or a log that the paper's authors published.
    Without another option the page goes to DIR/report.html, or ./report.html for files, and its headlines are printed.

    Records of a study are compared with what it noted of its games. It exits 1 if something is wrong with a file. What
    holds of a damaged one is counted all the same, one that is not what its study noted is not; the report says so.
    """
    wanted = Wanted(**{field.name: told.pop(field.name) for field in fields(Wanted)})
    if wanted.on_stdout > 1:
        raise click.UsageError("of --md -, --json and --bibtex, give one: each is printed on stdout")
    if not any((*wanted.files, wanted.on_stdout, wanted.csv, wanted.parquet)):
        first = Path(sources[0])
        wanted = replace(wanted, html=first / PAGE if len(sources) == 1 and first.is_dir() else Path(PAGE))
    for path in wanted.files:
        _check_place(path)
    criteria = criteria_of(**told)
    gathered = read_games(sources, criteria, workers, cached=cached, with_words=_statements(wanted))
    _write(sources, wanted, criteria, gathered)
    tell_how_many(gathered.problems)
    return FAILED if gathered.problems else 0


def _statements(wanted: Wanted) -> int:
    """Return how many statements a page may show, whose words are then not read again."""
    from analytics.report.entries import STATEMENTS

    return 0 if wanted.html is None else STATEMENTS


def _check_place(path: Path) -> None:
    """Refuse at once what could not be written after minutes of reading."""
    shown = printable(str(path), _PATH_SHOWN)
    if path.is_dir():
        raise ConfigError(f"{shown}: is a folder")
    if not path.parent.is_dir():
        raise ConfigError(f"{shown}: no such folder {printable(str(path.parent), _PATH_SHOWN)}")
    if not os.access(path.parent, os.W_OK):
        raise ConfigError(f"{shown}: the folder cannot be written to")


def _write(sources: tuple[str, ...], wanted: Wanted, criteria: Criteria, gathered: Gathered) -> None:
    from analytics.export import write_csv, write_parquet
    from analytics.measures.maps import save_map

    found = _findings(gathered) if any((*wanted.files, wanted.md, wanted.as_json)) else {}
    if wanted.as_json:
        click.echo(json.dumps(found, allow_nan=False))
    if wanted.findings is not None:
        _put(wanted.findings, json.dumps(found, allow_nan=False, indent=1) + "\n")
    if wanted.pages:
        _write_pages(wanted, criteria, gathered, found)
    # last, for they may be refused: files that are there already, too few games
    if wanted.csv is not None:
        write_csv(sources, wanted.csv, criteria)
    if wanted.parquet is not None:
        write_parquet(sources, wanted.parquet, criteria)
    if wanted.save_map is not None:
        save_map(found["recalibration"], wanted.save_map)


def _findings(gathered: Gathered) -> dict[str, Any]:
    from analytics.gather import once

    def computed() -> dict[str, Any]:
        from analytics.findings import findings

        return findings(gathered)

    return once("findings", [gathered.basis], computed)


def _write_pages(wanted: Wanted, criteria: Criteria, gathered: Gathered, found: dict[str, Any]) -> None:
    from analytics.gather import once

    @functools.cache
    def made() -> Report:
        from analytics.report.report import Report

        return Report(found, gathered, criteria)

    if wanted.md is not None:
        _put(wanted.md, made().markdown())
    if wanted.bibtex:
        click.echo(made().bibtex(), nl=False)
    if wanted.html is not None:
        page: dict[str, Any] = once(
            "page", [gathered.basis], lambda: {"html": made().html(), "headlines": made().headlines()}
        )
        _put(wanted.html, page["html"])
        lines = [*(printable(line, 1000) for line in page["headlines"]), *gathered.checked]
        click.echo("\n  ".join([f"Report: {wanted.html}", *lines]), err=wanted.on_stdout > 0)


def _put(path: Path, text: str) -> None:
    """Print or write; a reader never finds half a file, and a failure leaves the old one."""
    if path == STDOUT:
        click.echo(text, nl=False)
    elif path.exists() and not path.is_file():
        path.write_text(text, "utf-8")
    else:
        write_whole(path, [text])
