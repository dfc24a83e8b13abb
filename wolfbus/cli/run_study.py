"""`wolfbus run`: a study, many games of one design, in one process or several; resumable at any time."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wolfbus.cli import FAILED, HALTED, INTERRUPTED, SPOILT
from wolfbus.cli.options import (
    PATH,
    config_option,
    model_options,
    processes_option,
    refuse,
    seed_option,
    stream_name,
)
from wolfbus.files.printable import counted, printable
from wolfbus.study.designs import KINDS_OF_DESIGN
from wolfbus.study.settings import MOST_GAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wolfbus.running.factorial import FactorialRun
    from wolfbus.running.loading import RunOptions
    from wolfbus.running.study_run import StudyRun


@click.command()
@click.argument("study_file", metavar="[STUDY.toml]", required=False, type=PATH)
@click.option(
    "--games", type=click.IntRange(1, MOST_GAMES), help="Games of the study. [default: 20; asked for in a terminal]"
)
@click.option("--players", help="Who plays, as for `wolfbus play`: 'llm:mini*4,llm:local*4'. [default: scripted]")
@seed_option("Seed of the study (any text; a number is usual), from which every game's is drawn.")
@click.option(
    "--design",
    type=click.Choice(KINDS_OF_DESIGN),
    help="Who sits where: always the same, drawn anew for every game, or every agent in every role equally often. "
    "mirrored: one agent is all Werewolves against another, and again from the same deal with sides swapped. "
    "joined: whoever has joined a --house. [default: balanced; joined for a house without --players]",
)
@click.option("--out", type=PATH, metavar="DIR", help="The study's folder. [default: runs/STUDY]")
@click.option("--at-once", type=click.IntRange(1), help="Games under way at a time, over all workers. [default: 16]")
@processes_option
@click.option("--name", help="A title for people.")
@config_option("Rules, players and models.")
@click.option("--resume", is_flag=True, help="Go on with the study in the folder: play what is missing.")
@click.option(
    "--trust",
    is_flag=True,
    help="With --resume: run the programs and modules and ask the addresses that the folder's file names, though "
    "somebody else made it. Otherwise you are asked, or it is refused where there is no terminal.",
)
@model_options
@click.option(
    "--bus",
    "url",
    default="memory://",
    show_default=True,
    help="Bus to play on: memory://, redis://HOST:PORT/DB, rediss://…, unix:///PATH or redis+cluster://HOST:PORT.",
)
@click.option(
    "--house",
    callback=stream_name,
    metavar="NAME",
    help="Have the agents play that have joined this house on the bus: --players then names brains as they announce "
    "them, and without it whoever has joined plays. This process is the house's moderator. The "
    "--bus is then WOLFBUS_BUS or REDIS_URL unless given.",
)
@click.option(
    "--tickets",
    is_flag=True,
    help="Let in holders of a ticket of the --house only (see `wolfbus tickets`): seats and tables "
    "then know an agent as outside:NAME by its ticket, whatever it announces; only what has a "
    "player's ticket is what it says.",
)
@click.option(
    "--share",
    callback=stream_name,
    metavar="AGENDA",
    help="Play nothing here, but put the games on an agenda of this name on the --bus, a Redis; `wolfbus worker` plays "
    "them, in as many processes and on as many machines as there are.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the totals as one JSON object on stdout.")
@click.option("--quiet", "-q", is_flag=True, help="Do not show progress and design.")
@click.option("--plain", is_flag=True, help="Show plain lines even in a terminal.")
def run(study_file: Path | None, out: Path | None, config_file: Path | None, *, as_json: bool, **options: Any) -> int:
    """Play a study: many games of the same rules, each with its own seed, seated by a design.

    The folder gets a manifest (study.json), the study as TOML, and a record of every game. Ctrl-C, a full disk or a
    kill lose only what was under way: `--resume` plays what is missing. Exits 0 if every game ended, 3 if games halted
    since a model of theirs can be asked no more for now, as where credits ran out: `--resume` goes on with them. 4 is
    for games that ended, but are spoilt: too many of a seat's answers are defaults, since no reply came.

    A file with [factors] is several studies, one for each combination of levels, in folders of its own within --out.

    \b
    wolfbus run --games 100 --players scripted --seed 1 --out runs/first
    wolfbus run study.toml --workers 2
    wolfbus run --resume --out runs/first
    wolfbus run --house main --bus redis://localhost --players "scripted*4,outside:alice*4" --out runs/house
    """  # noqa: D301 - click takes the backspace for "keep these lines"
    from wolfbus.running.factorial import prepare_factorial
    from wolfbus.running.loading import RunOptions
    from wolfbus.running.study import prepare_run

    run_options = RunOptions(**{field.name: options.pop(field.name) for field in fields(RunOptions)})
    if run_options.house and run_options.url == "memory://":
        # where a ticket, or anybody who shows no password on a command line, has put it
        url = os.environ.get("WOLFBUS_BUS") or os.environ.get("REDIS_URL") or run_options.url
        run_options = replace(run_options, url=url)
    _check_options(run_options)
    resume, quiet = run_options.resume, run_options.quiet
    if options["games"] is None and study_file is None and not resume and not quiet and _is_terminal():
        options["games"] = click.prompt("Games", default=20, type=click.IntRange(1, MOST_GAMES), err=True)
    factorial = prepare_factorial(study_file, config_file, options, run_options, out, _confirm)
    if factorial is not None:
        return report_factorial(factorial, factorial.play(), as_json=as_json)
    study_run = prepare_run(study_file, config_file, options, run_options, out, _confirm)
    ending = study_run.play()
    return report_run(study_run, ending, as_json=as_json)


def _check_options(options: RunOptions) -> None:
    """Refuse options that do not go together."""
    from wolfbus.bus.url import is_in_process

    tape = options.cassette or options.replay_cassette
    in_memory = is_in_process(options.url)
    refuse(
        (
            options.cassette is not None and options.replay_cassette is not None,
            "--cassette records and --replay-cassette plays: give one of them",
        ),
        (options.tickets and not options.house, "--tickets are those of a --house"),
        (
            options.house and (in_memory or tape),
            "--house is a house on a Redis: give its --bus, and no cassette, for models are its agents' affair",
        ),
        (
            options.share is not None and (options.house or in_memory or tape),
            "--share is an agenda on a Redis: give its --bus, no --house, and cassettes to workers",
        ),
    )


def _confirm(folder: Path, named: Sequence[str]) -> bool:
    """Ask whether to run what the file of a folder names; False where nobody can be asked."""
    if not _is_terminal():
        return False
    lines = "".join(f"\n  it {words}" for words in named)
    click.echo(f"{folder}: this study was not begun by you on this machine:{lines}", err=True)
    return click.confirm("Go on, and trust whoever made it?", err=True)


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def report_run(study_run: StudyRun, ending: str, *, as_json: bool) -> int:
    """Print how a run went, and how to go on; returns the exit code."""
    from wolfbus.messages.defaults import defaults_in_words
    from wolfbus.study.showing import replay_command, summary_lines

    manifest, settings = study_run.manifest, study_run.study.settings
    totals, folder = manifest.totals(), shlex.quote(str(study_run.folder))
    if as_json:
        result = {"study": study_run.plan.study, "folder": str(study_run.folder), "complete": manifest.complete}
        result["study_hash"] = manifest.study_hash
        click.echo(json.dumps({**result, **totals}, allow_nan=False))
    else:
        games_named = study_run.errors, study_run.halts, manifest.spoilt
        lines = summary_lines(totals, study_run.folder, study_run.plan.study, settings.name, *games_named)
        click.echo("\n".join(lines))
        if defaults := defaults_in_words(manifest.defaults, totals["answers"]):
            click.echo(f"Missing {defaults}")
        if totals["ended"]:
            scope = "all records; publish it" if manifest.complete else "the records so far; more games change it"
            click.echo(f"Hash    {manifest.study_hash}  (of {scope})")
            if not study_run.options.house and settings.forks is None:
                click.echo(f"Again   {replay_command(study_run.plan.game(1), study_run.folder)}")
            click.echo(f"Next    wolfbus report {folder}")
    _warn_of_answers(study_run)
    if not manifest.complete:
        # what games cost that did not end stands nowhere else
        for line in study_run.usage_lines:
            _warn(f"in this run, {line}")
    return _report_ending(study_run, ending, totals)


def _warn_of_answers(study_run: StudyRun, where: str = "") -> None:
    """Print who never answered, which other models did, and which model changed under way."""
    from wolfbus.messages.defaults import SILENT
    from wolfbus.record.served import served_in_words
    from wolfbus.study.canaries import canaries_in_words

    for brain, games in sorted(study_run.unheard.items()):
        if brain != SILENT:
            name = printable(brain, 64)
            _warn(f"{where}in {counted(games, 'game')}, no answer of {name} could be used: all are defaults")
    for line in served_in_words(study_run.manifest.served):
        _warn(f"{where}{printable(line, 400)}")
    for line, changed in canaries_in_words(study_run.manifest.canaries):
        if changed:
            _warn(f"{where}{line}")


def report_factorial(factorial: FactorialRun, ending: str, *, as_json: bool) -> int:
    """Print how a run of a study with factors went, a line a cell, and how to go on; returns the exit code."""
    from wolfbus.messages.defaults import defaults_in_words

    folder, runs = shlex.quote(str(factorial.folder)), factorial.runs
    totals = {name: runs[name].manifest.totals() for name in factorial.cells.cells if name in runs}
    if as_json:
        click.echo(json.dumps({"folder": str(factorial.folder), "cells": totals}, allow_nan=False))
    else:
        for name, counts in totals.items():
            wins = ", ".join(f"{side} {games}" for side, games in runs[name].manifest.wins.items())
            defaults = defaults_in_words(runs[name].manifest.defaults, counts["answers"])
            missing = f"; missing {defaults}" if defaults else ""
            click.echo(f"{name}: {counts['ended']} of {counted(counts['games'], 'game')}; wins: {wins}{missing}")
        for factor in factorial.cells.factors:
            click.echo(f"Next    wolfbus compare {folder} --factor {factor}")
    for name, run in runs.items():
        _warn_of_answers(run, f"{name}: ")
    if not all(run.manifest.complete for run in runs.values()):
        why = next((run.halted.why for run in runs.values() if run.halted is not None), None)
        if why is None:
            why = "interrupted" if ending == "interrupted" else "games halted or failed"
        again = f"wolfbus run --resume --out {folder}{factorial.run_options.resume_options()}"
        played = counted(sum(counts["ended"] for counts in totals.values()), "game")
        _warn(f"{why}; {played} played to the end; go on with: {again}")
        if ending == "interrupted":
            return INTERRUPTED
        return HALTED if ending == "through" and any(counts["halted"] for counts in totals.values()) else FAILED
    return SPOILT if any(counts["spoilt"] for counts in totals.values()) else 0


def _report_ending(study_run: StudyRun, ending: str, totals: Mapping[str, Any]) -> int:
    """Print how to go on with a study that is not complete; returns the exit code."""
    settings, folder = study_run.study.settings, shlex.quote(str(study_run.folder))
    command = f"wolfbus run --resume --out {folder}{study_run.options.resume_options()}"
    if ending == "interrupted":
        _warn(f"interrupted; {totals['ended']} of {totals['games']} games are played; go on with: {command}")
        return INTERRUPTED
    if study_run.halted is not None:
        if study_run.halted.budget:
            command += " --budget MORE" if settings.budget is not None else ""
            command += " --budget-tokens MORE" if settings.budget_tokens is not None else ""
        _warn(f"{study_run.halted.why}; go on with: {command}")
        return FAILED
    if totals["halted"]:
        halted = f"{totals['halted']} of {totals['games']} games halted: a model of theirs can be asked no more for now"
        _warn(f"{halted}; once it can, go on with: {command}")
        return HALTED
    if not study_run.manifest.complete:
        _warn(f"{totals['failed']} of {totals['games']} games failed; try them again with: {command}")
        return FAILED
    return SPOILT if totals["spoilt"] else 0


def _warn(line: str) -> None:
    click.echo(f"wolfbus: {line}", err=True)
