"""`wolfbus replay`: prove a record, print its metrics, play it back, look into it, publish it again."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wolfbus.cli import FAILED
from wolfbus.cli.measuring import recompute_options
from wolfbus.cli.options import PATH, Number, json_option, refuse, shared_bus, stream_name
from wolfbus.cli.terminal.playback import open_display, play_back_with_keys
from wolfbus.files.printable import visible

if TYPE_CHECKING:
    from wolfbus.cli.proof import Proof
    from wolfbus.cli.terminal.ending import GameEnding


@click.command()
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--tables", is_flag=True, help="Print every table that a single game has numbers for, too.")
@json_option
@recompute_options
@click.option("--speed", type=Number(0.01, 1_000_000), help="Play the game back, N times reading pace.")
@click.option("--until", type=click.IntRange(1), metavar="SEQ", help="Stop at this event and show the state there.")
@click.option("--as", "seat", metavar="SEAT", help="Show what this seat knows (at the end, or at --until).")
@click.option("--calls", is_flag=True, help="List the model calls.")
@click.option("--prompt", type=click.IntRange(1), metavar="LINE", help="Show prompt and reply of the model call there.")
@click.option(
    "--to-bus", "url", callback=shared_bus, metavar="URL", help="Publish the record on a bus for live subscribers."
)
@click.option("--house", callback=stream_name, default="replay", show_default=True, help="House to publish into.")
@click.option("--roles", type=PATH, metavar="FILE", help="The run_meta.json of a published log.")
@click.option(
    "--as-recorded", is_flag=True, help="Read a published log as the paper's code stored it, fillers and all."
)
@click.option("--plain", is_flag=True, help="Play back in plain lines even in a terminal.")
def replay(
    file: str | None,
    speed: float | None,
    until: int | None,
    seat: str | None,
    prompt: int | None,
    url: str | None,
    house: str,
    roles: Path | None,
    *,
    as_json: bool,
    tables: bool,
    calls: bool,
    as_recorded: bool,
    plain: bool,
    **recomputing: Any,
) -> int:
    """Re-execute the record in FILE, say whether every event follows from the rules, and how the game ended.

    FILE is a wolfbus record, a log that the paper's authors published, or one that `wolfbus import` wrote; "-" is
    standard input, .gz is read too.
    Without it, the newest record in ./runs is taken.
    """
    from analytics.gather import Criteria
    from wolfbus.cli import proof
    from wolfbus.cli.terminal.ending import GameEnding
    from wolfbus.record.reader import newest_record

    if file is None:
        file = str(newest_record(Path("runs")))
        click.echo(f"wolfbus: {file}", err=True)

    shows_state = until is not None or seat is not None
    shows_calls = calls or prompt is not None
    recomputes = any(value is not None and value is not False for value in recomputing.values())
    replays = speed is not None or url is not None
    refuse(
        (
            shows_state and (as_json or tables or recomputes),
            "--until and --as show what was played: not with --json, --tables, --alpha, --prior or --include-defaulted",
        ),
        (
            shows_calls and (shows_state or tables or recomputes or replays or (calls and prompt is not None)),
            "--calls and --prompt show model calls and nothing else; of the other views, give none",
        ),
        (
            url is not None and (shows_state or speed is not None),
            "--to-bus publishes the whole record at once: not with --until, --as or --speed",
        ),
    )
    criteria = Criteria(**recomputing, as_recorded=as_recorded, roles=roles)
    source = proof.open_source(file)
    if source.log is not None:
        wolfbus_options = {"--speed": speed, "--until": until, "--as": seat, "--to-bus": url, "--prompt": prompt}
        names = (name for name, value in {**wolfbus_options, "--calls": calls or None}.items() if value is not None)
        refuse(*((name, f"{name} needs a wolfbus record; this is {source.log}") for name in names))
        read = proof.read_paper if source.is_paper_log else proof.read_foreign
        _print(read(source, criteria), None, as_json=as_json)
        return 0
    if roles is not None or as_recorded:
        raise click.UsageError("--roles and --as-recorded are for logs of the paper's code; this is a wolfbus record")
    keep = replays or shows_state or shows_calls
    # the ending shows none of the numbers that are computed anew
    ending = None if tables or recomputes or shows_state or shows_calls or as_json else GameEnding()
    result = proof.prove(source, criteria, keep=keep, watch=None if ending is None else ending.feed)
    if until is not None and until > len(result.records):
        raise click.UsageError(f"--until {until}: the record has {len(result.records)} readable events")
    if speed is not None:
        with open_display(quiet=False, plain=plain, paced=True) as display:
            play_back_with_keys(result.records, display, speed, until)
    if url is not None:
        _publish(result, url, house)
    if shows_state or shows_calls:
        # first: the call that is asked for may stand behind the problem
        _print_problems(result)
        click.echo(_page(result, until, seat) if shows_state else _calls(result, prompt, as_json=as_json), nl=False)
    else:
        _print(result, ending, as_json=as_json)
    return 0 if result.verified else FAILED


def _publish(result: Proof, url: str, house: str) -> None:
    from wolfbus.record.publish import publish

    if not result.verified:
        click.echo("wolfbus: only a verified record is published", err=True)
        return
    count = publish(result.records, url, house)
    click.echo(f"wolfbus: published {count} events into house {house}", err=True)


def _print_problems(result: Proof) -> None:
    for problem in result.problems:
        click.echo(f"wolfbus: {visible(f'{result.name}: {problem}')}", err=True)


def _page(result: Proof, until: int | None, seat: str | None) -> str:
    from wolfbus.cli.terminal.pages import seat_page, state_page, view_at
    from wolfbus.cli.terminal.standing import Following

    if seat is not None:
        return seat_page(view_at(result.records, seat, until))
    following = Following()
    for recorded in result.records[:until]:
        following.feed(recorded)
    return state_page(following.standing())


def _calls(result: Proof, prompt: int | None, *, as_json: bool) -> str:
    from wolfbus.cli.terminal.calls import call_as_json, calls_page, exchange_at
    from wolfbus.stage.inspector import calls_of

    if prompt is not None:
        exchange = exchange_at(result.records, prompt)
        return json.dumps(exchange.as_json()) + "\n" if as_json else exchange.page()
    if as_json:
        entries = calls_of(result.records)
        return json.dumps({"calls": [call_as_json(entry) for entry in entries]}, allow_nan=False) + "\n"
    return calls_page(result.records)


def _print(result: Proof, ending: GameEnding | None, *, as_json: bool) -> None:
    """Print how the game ended and the proof, or without `ending` the proof and all tables; problems on stderr."""
    if as_json:
        click.echo(json.dumps(result.as_json(), allow_nan=False))
        return
    if ending is None:
        from analytics.report.report import terminal_text

        click.echo("\n".join([*result.summary(), ""]))
        click.echo(terminal_text(result.metrics), nl=False)
    elif lines := ending.lines():
        numbers = f"Numbers: wolfbus replay --tables {shlex.quote(result.name)}"
        click.echo("\n".join([*lines, *result.proof_lines(), numbers]))
    sys.stdout.flush()
    _print_problems(result)
