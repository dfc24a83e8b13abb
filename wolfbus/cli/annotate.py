"""`wolfbus annotate`: what a reader model, a monitor of thoughts and people make of a study's statements afterwards."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wolfbus.cli import FAILED
from wolfbus.cli.asking import ask_models, progress, report_answers
from wolfbus.cli.measuring import (
    cache_option,
    print_problem_count,
    print_problems,
    print_spoilt,
    read_games,
    workers_option,
)
from wolfbus.cli.options import (
    FILE,
    checked,
    config_option,
    json_option,
    model_options,
    read_name,
    refuse,
    seed_option,
)
from wolfbus.errors import ConfigError
from wolfbus.files.printable import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wolfbus.knowledge.passage import Passage

_SAMPLE = 120
_MODEL = "llm:"


@checked
def _name(text: str) -> str:
    if read_name(text).casefold() in {"self-label", "claims"}:
        raise ValueError(f"{text!r}: agreement calls the speaker's own label and the claims in the words so")
    return text


@click.command()
@click.argument("study", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--reader", metavar="llm:MODEL", help="Have this model read every statement.")
@click.option(
    "--private",
    is_flag=True,
    help="With --reader: a monitor, which reads the speaker's private thought beside the statement, as it is and with "
    "the names of roles masked.",
)
@click.option("--name", callback=_name, help="With --reader: the annotator's name. [default: the model's]")
@click.option(
    "--export", "sheet_out", type=FILE, metavar="SHEET.csv", help="Write a blind sheet for people to fill in."
)
@click.option(
    "--statements",
    "number",
    type=click.IntRange(1),
    metavar="N",
    help=f"With --export: how many to sample. [default: {_SAMPLE}] With --reader: read such a sample only.",
)
@seed_option("Of the sample; the same seed draws the same statements. [default: 0]")
@click.option("--import", "sheet_in", type=FILE, metavar="SHEET.csv", help="Take in what somebody filled in.")
@click.option("--rater", callback=_name, metavar="NAME", help="With --import: who filled it in.")
@click.option("--agreement", is_flag=True, help="Print how far all that annotated agree: kappa, alpha, intervals.")
@config_option("With --reader: models and endpoints, as for `wolfbus play`.")
@model_options
@click.option("--yes", is_flag=True, help="Go ahead with what --reader will take, without asking.")
@workers_option
@cache_option
@json_option
def annotate(
    study: Path,
    reader: str | None,
    sheet_out: Path | None,
    sheet_in: Path | None,
    number: int | None,
    seed: str | None,
    workers: int | None,
    *,
    agreement: bool,
    cached: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Have a study's statements judged after its games, and say how far all who judged agree.

    A reader model gets each statement with the public transcript before it, never a role or a private word, and says
    how likely it is meant to deceive, and for or against whom it speaks. What it says stands in
    STUDY/annotations/NAME.jsonl, each line with the hash of the statement that it is of. Run again, it goes on. A
    folder of records or logs is annotated alike.

    \b
    wolfbus annotate runs/first --reader llm:mini --config models.toml --budget 2
    wolfbus annotate runs/first --reader llm:mini --config models.toml --private
    wolfbus annotate runs/first --export sheet.csv --statements 120
    wolfbus annotate runs/first --import sheet.csv --rater anna
    wolfbus annotate runs/first --agreement
    """  # noqa: D301 - click takes the backspace for "keep these lines"
    rater, private, name = options.pop("rater"), options.pop("private"), options.pop("name")
    chosen = [reader is not None, sheet_out is not None, sheet_in is not None, agreement]
    refuse(
        (sum(chosen) != 1, "give one of --reader, --export, --import and --agreement"),
        ((sheet_in is None) != (rater is None), "--import and --rater go together: a sheet, and who filled it in"),
        (reader is None and (private or name), "--private and --name go with --reader"),
        (reader is not None and not reader.startswith(_MODEL), "--reader: a model, as in llm:gpt-4o-mini"),
        (
            (number is not None or seed is not None) and not (reader or sheet_out),
            "--statements and --seed go with --export or --reader",
        ),
    )
    if agreement:
        return _agreement(study, workers, cached=cached, as_json=as_json)

    from analytics.annotations.sheets import export, sampled, take_in
    from wolfbus.running.annotating import statements_of

    items, problems, unfinished = statements_of(study)
    print_problems(problems)
    if unfinished:
        click.echo(f"wolfbus: {counted(unfinished, 'game')} not ended: what was said there is left out", err=True)
    if private:
        items = [item for item in items if item.thought]
    if not items:
        where = " in a game that has ended" if unfinished else ""
        raise ConfigError(f"{study}: no {'private thought' if private else 'statement'} was recorded{where}")
    if reader is not None:
        sample = items if number is None else sampled(items, number, seed or "0")
        return _read(study, reader, sample, items, name, private=private, as_json=as_json, **options)
    if sheet_out is not None:
        rows = export(sampled(items, number or _SAMPLE, seed or "0"), sheet_out, study)
        result: dict[str, Any] = {"sheet": str(sheet_out), "rows": rows}
        line = f"Sheet: {sheet_out}, {counted(rows, 'statement')}; the key stays in {study / 'annotations'}"
    else:
        assert sheet_in is not None  # noqa: S101 - one of the four was given
        new, changed, empty = take_in(sheet_in, rater, study, items)
        result = {"rater": rater, "new": new, "changed": changed, "empty": empty}
        line = f"{rater}: {counted(new, 'new statement')}, {changed} changed, {counted(empty, 'empty row')} passed over"
    click.echo(json.dumps(result) if as_json else line)
    return FAILED if problems else 0


def _read(
    study: Path,
    reader: str,
    chosen: Sequence[Passage],
    items: Sequence[Passage],
    name: str | None,
    *,
    private: bool,
    as_json: bool,
    yes: bool,
    config_file: Path | None,
    **options: Any,
) -> int:
    """Have a model read the chosen ones of a study's statements; returns the exit code."""
    from analytics.annotations.file import FOLDER
    from analytics.annotations.lines import SUFFIX, alone
    from players.llm.settings import model_of
    from wolfbus.running.annotating import ReaderRun, header_of, left_over
    from wolfbus.running.brains import load_config

    models = load_config(config_file).models
    model = model_of(reader.removeprefix(_MODEL), models)
    file_name = name or _slug(model.model) + ("-private" if private else "")
    path, header = study / FOLDER / f"{file_name}{SUFFIX}", header_of(model, private=private)
    with alone(path):
        run = ReaderRun(model, left_over(path, header, chosen, items), private)
        if run.items:
            ask_models(
                [reader],
                models,
                lambda context: run.estimate(context.gateway),
                lambda context: run.play(context, path, header, progress("read", len(run.items))),
                yes=yes,
                **options,
            )
    before = len(chosen) - len(run.items)
    names = {"head": "Annotations", "answer": "new statement", "item": "statement"}
    return report_answers(run, path, before, as_json=as_json, **names)


def _slug(model: str) -> str:
    """Return a model's name as a file's may be."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-._")[:48] or "model"


def _agreement(study: Path, workers: int | None, *, cached: bool, as_json: bool) -> int:
    """Print agreement of all who annotated; returns the exit code."""
    from analytics.gather import Criteria

    gathered = read_games([str(study)], Criteria(), workers, cached=cached)
    print_spoilt(gathered)

    from analytics.findings import results_of
    from analytics.metrics.agreement import agreement, agreement_rows
    from analytics.metrics.study import Study
    from analytics.report.context import Context
    from analytics.report.sections.people import people
    from wolfbus.files.document import written

    games = Study(gathered.tables)
    agreeing = agreement(games, results_of(games, [agreement_rows]))
    if not agreeing["annotators"]:
        raise ConfigError(f"{study}: nobody has annotated it: --reader, or --export and --import")
    if as_json:
        click.echo(json.dumps(agreeing, allow_nan=False))
    else:
        click.echo(written(people({"agreement": agreeing}, Context()).blocks), nl=False)
    print_problem_count(gathered.problems)
    return FAILED if gathered.problems else 0
