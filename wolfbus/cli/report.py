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
    print_problem_count,
    read_games,
    workers_option,
)
from wolfbus.cli.options import FILE, FOLDER
from wolfbus.errors import ConfigError
from wolfbus.printable import printable
from wolfbus.whole_file import write_whole

if TYPE_CHECKING:
    from analytics.gather import Criteria, Gathered
    from analytics.report.report import Report

PAGE: Final = "report.html"
STDOUT: Final = Path("-")
_PATH_SHOWN: Final = 400

_FILE_OR_STDOUT = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@dataclass(frozen=True, slots=True)
class Outputs:
    """What to write, each to a path; None where it is not asked for."""

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
        """How many of them are printed."""
        return (self.md == STDOUT) + self.as_json + self.bibtex

    @property
    def pages(self) -> bool:
        """Whether any is laid out for readers."""
        return self.html is not None or self.md is not None or self.bibtex


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="DIR|FILE...")
@click.option("--html", type=FILE, metavar="FILE", help="Write the page there. [default: DIR/report.html]")
@click.option("--md", type=_FILE_OR_STDOUT, metavar="FILE|-", help="Write the same tables as Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print all findings as one JSON object on stdout.")
@click.option("--findings", type=FILE, metavar="FILE", help="Write that object into a file.")
@click.option("--csv", type=FOLDER, metavar="DIR", help="Write flat tables of everything into DIR.")
@click.option("--parquet", type=FOLDER, metavar="DIR", help="Write the same tables as Parquet.")
@click.option("--bibtex", is_flag=True, help="Print how to cite the paper, wolfbus and this study.")
@click.option("--save-map", type=FILE, metavar="FILE", help="Save the recalibration, for replay --map.")
@criteria_options
@workers_option
@cache_option
def report(sources: tuple[str, ...], workers: int | None, *, cached: bool, **options: Any) -> int:
    """Report on the games in folders and files: a page to read and cite, with the way back from every number.

    DIR is a study's folder or any other with records in it; FILE a record or a log that the paper's authors published.
    Without another option the page goes to DIR/report.html, or ./report.html for files, and its headlines are printed.

    Records of a study are compared with what it noted of its games. It exits 1 if something is wrong with a file. What
    holds of a damaged one is counted all the same, one that is not what its study noted is not; the report says so.
    """
    outputs = Outputs(**{field.name: options.pop(field.name) for field in fields(Outputs)})
    if outputs.on_stdout > 1:
        raise click.UsageError("of --md -, --json and --bibtex, give one: each is printed on stdout")
    if not any((*outputs.files, outputs.on_stdout, outputs.csv, outputs.parquet)):
        first = Path(sources[0])
        outputs = replace(outputs, html=first / PAGE if len(sources) == 1 and first.is_dir() else Path(PAGE))
    for path in outputs.files:
        _check_writable(path)
    criteria = criteria_of(**options)
    gathered = read_games(sources, criteria, workers, cached=cached, with_words=_statements(outputs))
    _write(sources, outputs, criteria, gathered)
    print_problem_count(gathered.problems)
    return FAILED if gathered.problems else 0


def _statements(outputs: Outputs) -> int:
    """Return how many statements a page may show, whose words are then not read again."""
    from analytics.report.entries import STATEMENTS

    return 0 if outputs.html is None else STATEMENTS


def _check_writable(path: Path) -> None:
    """Refuse at once what could not be written after minutes of reading."""
    text = printable(str(path), _PATH_SHOWN)
    if path.is_dir():
        raise ConfigError(f"{text}: is a folder")
    if not path.parent.is_dir():
        raise ConfigError(f"{text}: no such folder {printable(str(path.parent), _PATH_SHOWN)}")
    if not os.access(path.parent, os.W_OK):
        raise ConfigError(f"{text}: the folder cannot be written to")


def _write(sources: tuple[str, ...], outputs: Outputs, criteria: Criteria, gathered: Gathered) -> None:
    from analytics.export import write_csv, write_parquet
    from analytics.measures.maps import save_map

    findings = _findings(gathered) if any((*outputs.files, outputs.md, outputs.as_json)) else {}
    if outputs.as_json:
        click.echo(json.dumps(findings, allow_nan=False))
    if outputs.findings is not None:
        _write_text(outputs.findings, json.dumps(findings, allow_nan=False, indent=1) + "\n")
    if outputs.pages:
        _write_pages(outputs, criteria, gathered, findings)
    # last, for they may be refused: files that are there already, too few games
    if outputs.csv is not None:
        write_csv(sources, outputs.csv, criteria)
    if outputs.parquet is not None:
        write_parquet(sources, outputs.parquet, criteria)
    if outputs.save_map is not None:
        save_map(findings["recalibration"], outputs.save_map)


def _findings(gathered: Gathered) -> dict[str, Any]:
    from analytics.gather import once

    def computed() -> dict[str, Any]:
        from analytics.findings import findings

        return findings(gathered)

    return once("findings", [gathered.basis], computed)


def _write_pages(outputs: Outputs, criteria: Criteria, gathered: Gathered, findings: dict[str, Any]) -> None:
    from analytics.gather import once

    @functools.cache
    def report_once() -> Report:
        from analytics.report.report import Report

        return Report(findings, gathered, criteria)

    if outputs.md is not None:
        _write_text(outputs.md, report_once().markdown())
    if outputs.bibtex:
        click.echo(report_once().bibtex(), nl=False)
    if outputs.html is not None:
        page: dict[str, Any] = once(
            "page", [gathered.basis], lambda: {"html": report_once().html(), "headlines": report_once().headlines()}
        )
        _write_text(outputs.html, page["html"])
        lines = [*(printable(line, 1000) for line in page["headlines"]), *gathered.checked]
        click.echo("\n  ".join([f"Report: {outputs.html}", *lines]), err=outputs.on_stdout > 0)


def _write_text(path: Path, text: str) -> None:
    """Print or write; a reader never finds half a file, and a failure leaves the old one."""
    if path == STDOUT:
        click.echo(text, nl=False)
    elif path.exists() and not path.is_file():
        path.write_text(text, "utf-8")
    else:
        write_whole(path, [text])
