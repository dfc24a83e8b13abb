"""`wolfbus fork`: a game played on from one of its statements, with others in its place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wolfbus.cli import options
from wolfbus.cli.run_study import report_run
from wolfbus.errors import ConfigError, RecordError
from wolfbus.files.printable import counted, printable
from wolfbus.running.brains import print_estimate, quiet_brains
from wolfbus.study.forks import TRIES

if TYPE_CHECKING:
    from analytics.rows.fork import ForkRow
    from wolfbus.running.forking import PlayedFork

_WORDS_SHOWN = 60


@click.command()
@click.argument("source", type=options.PATH, metavar="RECORD|STUDY")
@click.option("--at", type=click.IntRange(1), metavar="STATEMENT", help="Of a RECORD: number of the statement.")
@click.option(
    "--lies",
    type=click.IntRange(1),
    metavar="N",
    help="Of a STUDY: fork at N of its lies, drawn by --seed from all, whatever came after them. [default: 100]",
)
@click.option(
    "--arm",
    "arms",
    multiple=True,
    metavar="ARM",
    help="What to put in its place beside keep and honest, which are always played: silence, redraw, 'say WORDS' or "
    "by:AGENT. May be repeated.",
)
@click.option("--times", type=click.IntRange(1, 999), help="Forks of each arm. [default: 1; 2 of a study]")
@click.option(
    "--tries",
    type=click.IntRange(1, 100),
    default=TRIES,
    show_default=True,
    help="Statements that are drawn at most for one fork, until one is honest.",
)
@options.seed_option("Of a STUDY: which lies are chosen follows from it. [default: 1]")
@options.config_option("Where models are named; rules in it count for nothing.")
@options.model_options
@click.option(
    "--trust",
    is_flag=True,
    help="Run the programs and modules and ask the addresses that the RECORD or STUDY names. Otherwise it is refused "
    "where you did not play that STUDY on this machine, and where a RECORD names any.",
)
@click.option("--out", type=options.FOLDER, help="Folder of the records. [default: runs/forks; of a study, runs/STUDY]")
@click.option("--at-once", type=click.IntRange(1), help="Forks of a study under way at a time. [default: 16]")
@options.processes_option
@click.option("--quiet", "-q", is_flag=True, help="Do not show how far a study is.")
@options.json_option
def fork(
    source: Path,
    at: int | None,
    lies: int | None,
    arms: tuple[str, ...],
    times: int | None,
    tries: int,
    seed: str | None,
    config_file: Path | None,
    out: Path | None,
    at_once: int | None,
    workers: int | None,
    *,
    trust: bool,
    quiet: bool,
    as_json: bool,
    **calls: Any,
) -> int:
    """Play games on from statements of debates, with something else in their place.

    All before a statement is as recorded, and nobody is asked for it again; all behind it is played live. Two arms are
    always played: keep, the statement as it was, and honest, one that is drawn of its speaker until label and claims
    say that it is honest. The recorded ending is one draw of many, and is compared with nothing.

    Of a RECORD, --at names one statement. Of a STUDY, its lies are forked: a study of its own, which `wolfbus run
    --resume` goes on with, and `wolfbus report` measures.
    """
    from wolfbus.running.forking import cost_after
    from wolfbus.running.forking import fork as fork_record
    from wolfbus.running.lies import forks_of
    from wolfbus.running.loading import RunOptions
    from wolfbus.running.study import prepare_run
    from wolfbus.running.trust import named_by_record

    if source.is_dir():
        options.refuse((at is not None, "--at is a statement of one RECORD; a STUDY has --lies"))
        settings = {"at_once": at_once, "workers": workers}
        settings |= {name: calls.pop(name) for name in ("budget", "budget_tokens")}
        run_options = RunOptions(trust=trust, quiet=quiet or as_json, **calls)
        chosen = forks_of(source, lies=lies or 100, times=times or 2, arms=arms, tries=tries, seed=seed or "1")
        run = prepare_run(chosen, config_file, settings, run_options, out)
        return report_run(run, run.play(), as_json=as_json)
    if not source.exists():
        raise RecordError(f"{source}: no such file or folder")
    only_of_study = {"--lies": lies, "--seed": seed, "--at-once": at_once, "--workers": workers}
    options.refuse(
        *((value is not None, f"{name} is for a STUDY; a RECORD has --at") for name, value in only_of_study.items()),
        (at is None, "give --at, the number of a statement of the RECORD"),
    )
    number = at or 0
    if not trust and (named := named_by_record(source, config_file)):
        raise ConfigError(f"{source}: it {', '.join(named)}; --trust plays it on if you trust whoever made it")

    def tell(forks: int) -> None:
        if not as_json:
            print_estimate(cost_after(source, number), forks)

    with quiet_brains():
        played = fork_record(
            source,
            at=number,
            arms=arms,
            times=times or 1,
            tries=tries,
            config=config_file,
            out=out or Path("runs/forks"),
            announce=tell,
            **calls,
        )
    rows = [next(iter(one.rows().forks()), None) if one.events else None for one in played]
    if as_json:
        click.echo(json.dumps({"forks": [_plain(one, row) for one, row in zip(played, rows, strict=True)]}))
    else:
        for line in _lines(played, rows):
            click.echo(line)
    return 0


def _plain(played: PlayedFork, row: ForkRow | None) -> dict[str, Any]:
    from analytics.rows.fork import OUTCOMES

    return {
        "arm": played.arm,
        "k": played.k,
        "tries": played.tries,
        "refused": played.refused,
        "words": played.words,
        "record": None if played.record is None else str(played.record),
        "digest": played.digest or None,
        "winner": played.winner,
        "labelled": None if row is None else row.label,
        **{name: None if row is None else getattr(row, name) for name in OUTCOMES},
    }


def _lines(played: Sequence[PlayedFork], rows: Sequence[ForkRow | None]) -> list[str]:
    speaker = next(row.speaker for row in rows if row is not None) if any(rows) else "the speaker"
    lines = [f"{'arm':<12} {'k':>3}  {'suspicion':>9} {'at dusk':>8} {'votes':>6}  exiled  won    words"]
    for one, row in zip(played, rows, strict=True):
        if row is None:
            what = "an honest statement" if one.arm == "honest" else "a usable statement"
            lines.append(f"{one.arm:<12.12} {one.k:>3}  refused: {what} did not come in {counted(one.tries, 'draw')}")
            continue
        numbers = f"{_number(row.suspicion):>9} {_number(row.dusk):>8} {_number(row.votes):>6}"
        words = "(silent)" if one.words is None else printable(one.words, _WORDS_SHOWN)
        lines.append(f"{one.arm:<12.12} {one.k:>3}  {numbers}  {_yes(row.exiled):<6}  {_yes(row.won):<5}  {words}")
    outcomes = "suspicion right after and at dusk, share of the day's votes, exiled that day, its side won"
    lines.append(f"Of {speaker}: {outcomes}.")
    lines.append("One statement is an anecdote; `wolfbus fork STUDY --lies 100` measures.")
    return lines


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _yes(value: bool | None) -> str:
    return "-" if value is None else "yes" if value else "no"
