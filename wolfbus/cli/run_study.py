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

from wolfbus.cli import FAILED, INTERRUPTED
from wolfbus.cli.options import (
    PATH,
    config_option,
    model_options,
    processes_option,
    read_name,
    refuse,
    seed_option,
    stream_name,
)
from wolfbus.errors import ConfigError
from wolfbus.printable import counted, printable
from wolfbus.service.lifecycle import read_shared_bus
from wolfbus.study.designs import KINDS_OF_DESIGN
from wolfbus.study.manifest import FILE
from wolfbus.study.settings import MOST_GAMES

if TYPE_CHECKING:
    from wolfbus.cli.studying.loading import RunOptions
    from wolfbus.cli.studying.study_run import StudyRun


def _check_houses(_context: click.Context, _option: click.Parameter, houses: tuple[str, ...]) -> tuple[str, ...]:
    """Return houses, each NAME or NAME@URL, once their names and addresses can be understood."""
    from wolfbus.bus.url import read_address

    for house in houses:
        name, at, url = house.partition("@")
        try:
            read_name(name)
            if at:
                read_address(read_shared_bus(url))
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    if len(set(houses)) < len(houses):
        raise click.BadParameter("a house is told twice")
    return houses


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
    "houses",
    multiple=True,
    callback=_check_houses,
    metavar="NAME[@URL]",
    help="Have the agents play that have joined this house on the bus: --players then names brains as they announce "
    "them, and without it whoever has joined plays. This process is the house's moderator. The "
    "--bus is then WOLFBUS_BUS or REDIS_URL unless given. Several houses, each told with a --house, on one --bus or "
    "each at its own URL, share the games; --at-once is of each.",
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
    kill lose only what was under way: `--resume` plays what is missing. Exits 0 if every game ended.

    \b
    wolfbus run --games 100 --players scripted --seed 1 --out runs/first
    wolfbus run study.toml --workers 2
    wolfbus run --resume --out runs/first
    wolfbus run --house main --bus redis://localhost --players "scripted*4,outside:alice*4" --out runs/house
    wolfbus run --house a@redis://one --house b@redis://two --games 1000 --out runs/wide
    """  # noqa: D301 - click takes the backspace for "keep these lines"
    from wolfbus.cli.studying.loading import RunOptions, load_study
    from wolfbus.cli.studying.study_run import StudyRun

    run_options = RunOptions(**{field.name: options.pop(field.name) for field in fields(RunOptions)})
    if run_options.houses and run_options.url == "memory://":
        # where a ticket, or anybody who shows no password on a command line, has put it
        url = os.environ.get("WOLFBUS_BUS") or os.environ.get("REDIS_URL") or run_options.url
        run_options = replace(run_options, url=url)
    _check_options(run_options)
    resume, quiet = run_options.resume, run_options.quiet
    if options["games"] is None and study_file is None and not resume and not quiet and _is_terminal():
        options["games"] = click.prompt("Games", default=20, type=click.IntRange(1, MOST_GAMES), err=True)
    if study_file is not None and study_file.is_dir():
        raise ConfigError(
            f"{study_file}: is a directory; wolfbus run --resume --out {shlex.quote(str(study_file))} "
            "goes on with a study's folder"
        )
    config_first = False
    if resume and study_file is None and out is not None:
        _check_study_exists(out)
        # the folder's own file says what it is; keys and limits of servers may be others now
        study_file, config_first = out / "study.toml", True
    study = load_study(study_file, config_file, options, house=bool(run_options.houses), config_first=config_first)
    if run_options.share is not None and (study.settings.workers or 1) > 1:
        raise ConfigError("--share: workers are processes that somebody else starts: no --workers")
    if resume and out is None and study.settings.seed is None:
        raise ConfigError("--resume: a study's folder is what goes on: give its --out")
    plan = study.plan()
    folder = out if out is not None else Path("runs") / plan.study
    if resume:
        _check_study_exists(folder)
    study_run = StudyRun(study, plan, folder, run_options)
    ending = study_run.play()
    return _report(study_run, ending, as_json=as_json)


def _check_options(options: RunOptions) -> None:
    """Refuse options that do not go together."""
    tape = options.cassette or options.replay_cassette
    in_memory = options.url.startswith("memory:")
    refuse(
        (
            options.cassette is not None and options.replay_cassette is not None,
            "--cassette records and --replay-cassette plays: give one of them",
        ),
        (options.tickets and not options.houses, "--tickets are those of a --house"),
        (
            any(address.url.startswith("memory:") for address in options.addresses()) or (options.houses and tape),
            "--house is a house on a Redis: give its --bus, and no cassette, for models are its agents' affair",
        ),
        (
            options.share is not None and (options.houses or in_memory or tape),
            "--share is an agenda on a Redis: give its --bus, no --house, and cassettes to workers",
        ),
    )


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _check_study_exists(out: Path) -> None:
    if not (out / FILE).exists():
        raise ConfigError(f"{out}: no study to resume here; without --resume one is begun")


def _report(study_run: StudyRun, ending: str, *, as_json: bool) -> int:
    """Print how a run went, and how to go on; returns the exit code."""
    from wolfbus.study.showing import replay_command, summary_lines

    manifest, settings = study_run.manifest, study_run.study.settings
    totals, folder = manifest.totals(), shlex.quote(str(study_run.folder))
    if as_json:
        result = {"study": study_run.plan.study, "folder": str(study_run.folder), "complete": manifest.complete}
        result["study_hash"] = manifest.study_hash
        click.echo(json.dumps({**result, **totals}, allow_nan=False))
    else:
        click.echo(
            "\n".join(summary_lines(totals, study_run.folder, study_run.plan.study, settings.name, study_run.errors))
        )
        if totals["ended"]:
            scope = "all records; publish it" if manifest.complete else "the records so far; more games change it"
            click.echo(f"Hash    {manifest.study_hash}  (of {scope})")
            if not study_run.options.houses:
                click.echo(f"Again   {replay_command(study_run.plan.game(1), study_run.folder)}")
            click.echo(f"Next    wolfbus report {folder}")
    for brain, games in sorted(study_run.unheard.items()):
        if brain != "silent":
            name = printable(brain, 64)
            _warn(f"in {counted(games, 'game')}, no answer of {name} could be used: all are defaults")
    if not manifest.complete:
        # what games cost that did not end stands nowhere else
        for line in study_run.usage_lines:
            _warn(f"in this run, {line}")
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
    if not manifest.complete:
        _warn(f"{totals['failed']} of {totals['games']} games failed; try them again with: {command}")
        return FAILED
    return 0


def _warn(line: str) -> None:
    click.echo(f"wolfbus: {line}", err=True)
