"""`wolfbus report`: a study, or any records, as a page to read and cite, and as Markdown, JSON, tables and BibTeX."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wolfbus.cli import FAILED
from wolfbus.cli.measuring import (
    cache_option,
    criteria_of,
    criteria_options,
    findings_of,
    page_of,
    print_problem_count,
    read_games,
    workers_option,
)
from wolfbus.cli.options import FILE, FOLDER
from wolfbus.files.printable import printable
from wolfbus.files.whole_file import check_writable, is_stdout, write_named, write_whole

if TYPE_CHECKING:
    from analytics.gather import Criteria, Gathered
    from analytics.report.report import Report

PAGE: Final = "report.html"
STDOUT: Final = Path("-")

_FILE_OR_STDOUT = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@dataclass(frozen=True, slots=True)
class Outputs:
    """What to write, each to a path; None where it is not asked for."""

    html: Path | None
    md: Path | None
    findings: Path | None
    csv: Path | None
    parquet: Path | None
    bibtex: bool
    as_json: bool

    @property
    def files(self) -> tuple[Path, ...]:
        """Files to write."""
        paths = (self.html, self.md, self.findings)
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
        outputs = replace(outputs, html=_own_place(sources))
    for path in outputs.files:
        check_writable(path)
    criteria = criteria_of(**options)
    gathered = read_games(sources, criteria, workers, cached=cached, with_words=_statements(outputs))
    _write(sources, outputs, criteria, gathered)
    print_problem_count(gathered.problems)
    return FAILED if gathered.problems else 0


def _statements(outputs: Outputs) -> int:
    """Return how many statements a page may show, whose words are then not read again."""
    from analytics.report.entries import STATEMENTS

    return 0 if outputs.html is None else STATEMENTS


def _own_place(sources: tuple[str, ...]) -> Path:
    """Return where the page goes unless somebody says so."""
    first = Path(sources[0])
    return first / PAGE if len(sources) == 1 and first.is_dir() else Path(PAGE)


def _write(sources: tuple[str, ...], outputs: Outputs, criteria: Criteria, gathered: Gathered) -> None:
    from analytics.export import write_csv, write_parquet

    study = None
    if outputs.csv is not None or outputs.parquet is not None:
        from analytics.metrics.study import Study

        study = Study(gathered.tables)
    findings = findings_of(gathered, study) if any((*outputs.files, outputs.md, outputs.as_json)) else {}
    if outputs.as_json:
        click.echo(json.dumps(findings, allow_nan=False))
    if outputs.findings is not None:
        _write_text(outputs.findings, json.dumps(findings, allow_nan=False, indent=1) + "\n")
    if outputs.pages:
        _write_pages(sources, outputs, criteria, gathered, findings)
    # last, for they may be refused: files that are there already, too few games
    if outputs.csv is not None:
        write_csv(sources, outputs.csv, criteria, measured=study)
    if outputs.parquet is not None:
        write_parquet(sources, outputs.parquet, criteria, measured=study)


def _write_pages(
    sources: tuple[str, ...], outputs: Outputs, criteria: Criteria, gathered: Gathered, findings: dict[str, Any]
) -> None:
    @functools.cache
    def report_once() -> Report:
        from analytics.report.report import Report

        return Report(findings, gathered, criteria)

    if outputs.md is not None:
        _write_text(outputs.md, report_once().markdown())
    if outputs.bibtex:
        click.echo(report_once().bibtex(), nl=False)
    if outputs.html is not None:
        page = page_of(gathered, report_once)
        # a link that lies there may be somebody else's, and lead anywhere
        write = write_whole if outputs.html == _own_place(sources) else write_named
        write(outputs.html, [page["html"]])
        lines = [*(printable(line, 1000) for line in page["headlines"]), *gathered.checked]
        aside = outputs.on_stdout > 0 or is_stdout(outputs.html)
        click.echo("\n  ".join([f"Report: {outputs.html}", *lines]), err=aside)


def _write_text(path: Path, text: str) -> None:
    if path == STDOUT:
        click.echo(text, nl=False)
    else:
        write_named(path, [text])
