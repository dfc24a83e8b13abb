"""`wolfbus play`: one whole game in this process."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wolfbus.cli import FAILED, HALTED, INTERRUPTED, SPOILT, options
from wolfbus.cli.seating import seat_in_roles
from wolfbus.cli.terminal.ending import GameEnding
from wolfbus.cli.terminal.playback import open_display, play_back_with_keys
from wolfbus.cli.view import game_page
from wolfbus.errors import ConfigError, ModelHalted
from wolfbus.game.vocabulary import SCRIPTS
from wolfbus.running.brains import load_config, open_brain_context, print_estimate, quiet_brains, rehearse

if TYPE_CHECKING:
    from players.llm.accounts import Accounts
    from wolfbus.game.config import GameConfig
    from wolfbus.record.line import Recorded
    from wolfbus.running.house import Game
    from wolfbus.stage.people import People

PACE: Final = 2.0
"""Times reading pace at which a game of scripted players is shown in a terminal."""
PAGE_PATIENCE_S: Final = 600.0
"""Seconds that every request waits for its answer where a person plays at a page."""
_LEAST_REPLY_BYTES: Final = 1024
"""What the first reply of a person at a page holds beside the answer, with room for some words."""


@click.command()
@options.seed_option("Seed of names, roles and every draw (any text; a number is usual). Fresh unless given.")
@options.bus_given(f"memory://, {options.BUSES}", "memory://")
@click.option(
    "--players",
    help="Who plays: scripted, bayes, random, silent, llm:MODEL, llm:MODEL@URL, human, exec:COMMAND, "
    "http(s)://…, text:module:callable or module:Class, "
    "as in 'llm:gpt-4o-mini*6,scripted*2'.",
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="[BRAIN=]ROLE",
    help="Seat a player in a role: Seer for the person or for your own agent, human=Seer where several play. "
    "May be repeated.",
)
@options.config_option("Rules, players and models.")
@click.option(
    "--local",
    metavar="MODEL",
    help="Serve a model of this machine and play it, as llm:local: a GGUF file, or a name by which Ollama, LM Studio, "
    "llama.cpp or Hugging Face keep one. Without --config a small game: llm:local*3,scripted*2.",
)
@options.model_options
@click.option("--out", type=options.PATH, default=Path("runs"), show_default=True, help="Folder of the record.")
@click.option("--game", "game_id", callback=options.stream_name, metavar="ID", help="Game id; fresh unless given.")
@click.option(
    "--title", callback=options.title, metavar="TEXT", help="What people call the game, in its record and on its page."
)
@options.json_option
@click.option("--tables", is_flag=True, help="Print every table that a single game has numbers for, too.")
@click.option(
    "--pace",
    type=options.Number(0, 1_000_000),
    metavar="N",
    help="Show a game of scripted players at N times reading pace; 0 as it is played. Space pauses, arrows go from "
    "sentence to sentence, q ends the showing. [default: 2 in a terminal, else 0]",
)
@click.option("--quiet", "-q", is_flag=True, help="Do not show the game as it happens.")
@click.option("--plain", is_flag=True, help="Show plain lines even in a terminal.")
@options.view_options
@options.private_thoughts_option
@click.option(
    "--patience",
    callback=options.duration,
    metavar="TIME",
    help="How long every request waits for its answer, as 90s, 10m or 2h. [default: as the rules say; 10m with people "
    "at a page]",
)
@click.pass_context
def play(
    context: click.Context,
    /,
    seed: str | None,
    url: str,
    players: str | None,
    roles: tuple[str, ...],
    config_file: Path | None,
    local: str | None,
    out: Path,
    game_id: str | None,
    title: str | None,
    host: str,
    port: int,
    pace: float | None,
    patience: float | None,
    *,
    as_json: bool,
    tables: bool,
    quiet: bool,
    plain: bool,
    view: bool,
    private_thoughts: bool,
    **calls: Any,
) -> int:
    """Play one game: eight players, a moderator and an analyst as actors on a bus, in this process.

    The game is shown on stderr as it happens; its record is written to OUT/GAME.ndjson; how it ended is told on stdout.
    It exits 0, 1 if the game did not end, 3 if it halted since a model can be asked no more for now, or 4 if it is
    spoilt: too many of a seat's answers are defaults, since no reply came.
    """
    from moderator.rules.game import deal
    from players.spec import expand
    from wolfbus.game.fresh import fresh_id, seed_of
    from wolfbus.record.writer import check_are_new
    from wolfbus.running.play import play_game

    seed = seed_of(seed)
    game_id = game_id or fresh_id()
    path = out / f"{game_id}.ndjson"
    check_are_new([path])
    if local is None:
        loaded = load_config(config_file)
    else:
        from wolfbus.running.local_model import with_local_model

        log = out / f"{game_id}.server.log"
        loaded = context.with_resource(with_local_model(local, config_file, players, expand, log))
    brains = loaded.brains(players, expand)
    if roles:
        brains = seat_in_roles(brains, [role for _, role in deal(loaded.config, seed)], roles)

    persons = view and "human" in brains
    config = options.with_patience(loaded.config, patience) if not persons else _at_a_page(loaded.config, patience)
    # it stays when all else of the command is done
    page = None
    if view:
        page = context.with_resource(
            game_page(game_id, out, host, port, persons=persons, private_thoughts=private_thoughts)
        )
    with contextlib.ExitStack() as stack:
        stack.enter_context(quiet_brains())
        calls |= {"logs": out / f"{game_id}.stderr", "people": page.people if page is not None else None}
        brain_context = stack.enter_context(
            open_brain_context(brains, loaded.models, patience_s=patience or 0.0, **calls)
        )
        if not quiet and not as_json and calls.get("replay_cassette") is None:
            took = rehearse(config, brains, loaded.models)
            print_estimate(took, 1, brain_context.slowest(brains), config.deadlines)
        # with a page the game is not paced here
        speed = _speed(0.0 if view else pace, brains)
        # a person at this terminal must not see what the others know
        is_hidden = quiet or as_json or "human" in brains
        display = stack.enter_context(open_display(quiet=is_hidden, plain=plain, paced=speed > 0))
        records: list[Recorded] = []
        ending = GameEnding(beats=not as_json)
        watchers = [ending.feed, records.append if speed and not is_hidden else display.show]
        watchers += [] if page is None else [page.show]
        game: Game | None = None
        with contextlib.suppress(KeyboardInterrupt):
            if page is not None and page.people is not None:
                names = [name for name, _ in deal(config, seed)]
                seats = [name for name, brain in zip(names, brains, strict=True) if brain == "human"]
                _gather(page.people, game_id, seats, config.deadlines.bid)
            game = play_game(config, seed, brains, path, game_id, title, brain_context, watchers, url)
        accounts = brain_context.accounts
        if records:
            with contextlib.suppress(KeyboardInterrupt):
                play_back_with_keys(records, display, speed)
    return _print_result(game, ending, path, accounts, as_json=as_json, tables=tables)


def _at_a_page(config: GameConfig, patience: float | None) -> GameConfig:
    """Return the rules of a game in which people play at a page.

    Raises:
        ConfigError: no reply can hold what they agree to.
    """
    if config.max_reply_bytes < _LEAST_REPLY_BYTES:
        words = "with people at a page, whose first reply holds what they agreed to"
        raise ConfigError(f"max_reply_bytes: {_LEAST_REPLY_BYTES} or more {words}")
    return options.with_patience(config, PAGE_PATIENCE_S if patience is None else patience)


def _gather(people: People, game: str, seats: Sequence[str], patience_s: float) -> None:
    """Wait until every person sits, so that no clock runs before they do; after the patience, begin all the same."""
    wait = f"{patience_s / 60:g} min"
    notice = f"the game begins when everybody sits, or in {wait}; each link is good for one browser"
    click.echo(f"wolfbus: {notice}", err=True)
    if not people.gather(game, seats, patience_s):
        click.echo(f"wolfbus: it begins, though not everybody has sat down within {wait}", err=True)


def _speed(pace: float | None, brains: Sequence[str]) -> float:
    """Return how fast a game that is over at once is shown, 0 for as it is played."""
    if pace is not None:
        return pace
    is_instant = all(brain.partition(":")[0] in SCRIPTS for brain in brains)
    return PACE if is_instant and sys.stderr.isatty() and sys.stdin.isatty() else 0.0


def _print_result(
    game: Game | None, ending: GameEnding, path: Path, accounts: Accounts | None, *, as_json: bool, tables: bool
) -> int:
    """Print how a game ended, or that it did not; returns the exit code."""
    if game is not None and game.over is not None and game.over.error is None and ending.ended is not None:
        if as_json:
            _print_summary(game, ending, game.over.digest, path, accounts)
        else:
            if tables:
                from analytics.findings import metrics
                from analytics.fold import GameFold
                from analytics.gather.reading import read_rows
                from analytics.report.report import terminal_text
                from wolfbus.record.reader import open_lines

                _, rows = read_rows(open_lines(path), GameFold(), lenient=True)
                click.echo(terminal_text(metrics([] if rows is None else [rows])))
            _print_ending(ending, game.over.digest, path, accounts)
        return SPOILT if ending.ended.spoilt else 0
    if game is None:
        code = INTERRUPTED
        click.echo(f"wolfbus: interrupted{f'; the record so far is in {path}' if path.exists() else ''}", err=True)
    else:
        error = game.over.error if game.over is not None else None
        code = HALTED if isinstance(error, ModelHalted) else FAILED
        click.echo(f"wolfbus: {error if error is not None else 'the game did not finish'}", err=True)
        if path.exists():
            click.echo(f"wolfbus: the record so far is in {path}", err=True)
    for line in accounts.lines() if accounts is not None else ():
        click.echo(f"wolfbus: {line}", err=True)
    if as_json and accounts is not None:
        click.echo(json.dumps({"calls": accounts.summary()}))
    return code


def _print_summary(game: Game, ending: GameEnding, digest: str, path: Path, accounts: Accounts | None) -> None:
    """Print a game that is over as one JSON object, and warnings on stderr."""
    ended, seed = ending.ended, game.opened.seed
    if ended is None:
        return
    warnings = [f"WARNING: {warning}" for warning in ending.warnings()]
    # who reads no JSON may still look here
    for line in warnings:
        click.echo(f"wolfbus: {line}", err=True)
    brains = ending.brains.values()
    summary: dict[str, Any] = {
        "game": game.opened.game,
        # a number that was given as one comes back as one, if JSON's readers can hold it
        "seed": int(seed) if re.fullmatch("0|[1-9][0-9]{0,308}", seed) else seed,
        "digest": digest,
        "winner": ended.winner,
        "reason": ended.reason,
        "rounds": ended.rounds,
        "statements": ending.statements,
        "judgements": ending.judgements,
        "record": str(path),
        "seconds": round(game.seconds, 3),
        "answers": sum(brain["replies"] for brain in brains),
        "defaulted": sum(brain["defaulted"] + brain["timed_out"] for brain in brains),
        **({} if accounts is None else {"calls": accounts.summary()}),
        "warnings": warnings,
    }
    click.echo(json.dumps(summary))


def _print_ending(ending: GameEnding, digest: str, path: Path, accounts: Accounts | None) -> None:
    """Print how a game ended, and what to do next."""
    for line in ending.warnings():
        click.echo(f"WARNING: {line}")
    for line in ending.lines(accounts.lines() if accounts is not None else ()):
        click.echo(line)
    seed = ending.opened.seed if ending.opened is not None else ""
    # these commands take the newest record of ./runs by themselves
    file = "" if path.parent == Path("runs") else f" {shlex.quote(str(path))}"
    click.echo("One game is an anecdote: `wolfbus run --games 20` measures.")
    click.echo(
        f"Check it  wolfbus replay{file}    Numbers  wolfbus replay --tables{file}    Watch it  wolfbus view{file}"
    )
    click.echo(f"Record    {path}  (seed {seed})")
    click.echo(f"Digest    {digest}")
