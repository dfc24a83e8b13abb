"""`wolfbus replay`: prove a record, print its metrics, play it back, look into it, publish it again."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wolfbus.cli import FAILED
from wolfbus.cli.options import Share

if TYPE_CHECKING:
    from wolfbus.cli.proof import Proof
    from wolfbus.cli.terminal.ending import GameEnding


def is_house(name: str) -> bool:
    """Return whether `name` can stand in stream names."""
    from wolfbus.messages.base import ID_PATTERN

    return re.fullmatch(ID_PATTERN, name) is not None


@click.command()
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--tables", is_flag=True, help="Print every table that a single game has numbers for, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout and nothing else.")
@click.option("--alpha", type=Share(), help="Smoothing weight to recompute with.")
@click.option("--prior", type=Share(), help="Suspicion before any judgement to recompute with.")
@click.option(
    "--include-defaulted",
    is_flag=True,
    help="Count missing labels and judgements as the paper's code did: truthful, suspicion 0.5.",
)
@click.option(
    "--map",
    "map_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Recalibrate suspicion by a saved map, and score it before and after.",
)
@click.option("--speed", type=click.FloatRange(0.01, 1_000_000), help="Play the game back, N times reading pace.")
@click.option("--until", type=click.IntRange(1), metavar="SEQ", help="Stop at this event and show the state there.")
@click.option("--as", "seat", metavar="SEAT", help="Show what this seat knows (at the end, or at --until).")
@click.option("--calls", is_flag=True, help="List the model calls.")
@click.option("--prompt", type=click.IntRange(1), metavar="LINE", help="Show prompt and reply of the model call there.")
@click.option("--to-bus", "url", metavar="URL", help="Publish the record on a bus for live subscribers.")
@click.option("--house", default="replay", show_default=True, help="House to publish into.")
@click.option("--roles", type=click.Path(path_type=Path), metavar="FILE", help="The run_meta.json of a published log.")
@click.option(
    "--as-recorded", is_flag=True, help="Read a published log as the paper's code stored it, fillers and all."
)
@click.option("--plain", is_flag=True, help="Play back in plain lines even in a terminal.")
def replay(
    file: str | None,
    alpha: float | None,
    prior: float | None,
    map_file: Path | None,
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
    include_defaulted: bool,
    calls: bool,
    as_recorded: bool,
    plain: bool,
) -> int:
    """Re-execute the record in FILE, say whether every event follows from the rules, and how the game ended.

    FILE is a wolfbus record or a log that the paper's authors published; "-" is standard input, .gz is read too.
    Without it, the newest record in ./runs is taken.
    """
    from wolfbus.cli import proof
    from wolfbus.cli.terminal.ending import GameEnding

    if file is None:
        from wolfbus.record.reader import newest_record

        file = str(newest_record(Path("runs")))
        click.echo(f"wolfbus: {file}", err=True)

    looks = until is not None or seat is not None
    audits = calls or prompt is not None
    recomputes = alpha is not None or prior is not None or include_defaulted or map_file is not None
    if looks and (as_json or recomputes):
        raise click.UsageError(
            "--until and --as show the game as it was played: not with --json, --alpha, --prior, --map or "
            "--include-defaulted"
        )
    if audits and (looks or recomputes or speed is not None or url is not None or (calls and prompt is not None)):
        raise click.UsageError("--calls and --prompt show model calls and nothing else; of the other views, give none")
    _check_bus(url, house, other=looks or speed is not None)
    # before the record: a map that cannot be read must not cost the reading of gigabytes
    saved = None if map_file is None else proof.saved_map(map_file)
    criteria = proof.ProofCriteria(alpha, prior, include_defaulted=include_defaulted, saved_map=saved)
    source = proof.open_source(file)
    if source.is_paper_log:
        _refuse(speed=speed, until=until, seat=seat, url=url, calls=calls or None, prompt=prompt)
        result = proof.read_paper(source, roles, criteria, as_recorded=as_recorded)
        _print(result, None, map_file, as_json=as_json)
        return 0
    if roles is not None or as_recorded:
        raise click.UsageError("--roles and --as-recorded are for logs of the paper's code; this is a wolfbus record")
    keep = speed is not None or looks or audits or url is not None
    # whoever computes anew asks for numbers
    ending = None if tables or recomputes or looks or audits or as_json else GameEnding()
    result = proof.prove(source, criteria, keep=keep, watch=None if ending is None else ending.take)
    if until is not None and until > len(result.records):
        raise click.UsageError(f"--until {until}: the record has {len(result.records)} readable events")
    if speed is not None:
        _play_back(result, speed, until, plain=plain)
    if url is not None:
        _publish(result, url, house)
    if audits:
        _audit(result, prompt, as_json=as_json)
    elif looks:
        _show(result, until, seat)
    else:
        _print(result, ending, map_file, as_json=as_json)
    return 0 if result.verified else FAILED


def _check_bus(url: str | None, house: str, *, other: bool) -> None:
    if url is not None and other:
        raise click.UsageError("--to-bus publishes the whole record at once: not with --until, --as or --speed")
    if url is not None and url.startswith("memory:"):
        raise click.UsageError("--to-bus: memory:// ends with this process, so nobody could read it there")
    if not is_house(house):
        reason = f"{house!r}: 1 to 64 letters, digits, dots, dashes and underscores"
        raise click.BadParameter(reason, param_hint="--house")


def _refuse(**given: object) -> None:
    names = {"seat": "--as", "url": "--to-bus"}
    for name, value in given.items():
        if value is not None:
            raise click.UsageError(
                f"{names.get(name, '--' + name)} needs a wolfbus record; this is a log of the paper's code"
            )


def _publish(result: Proof, url: str, house: str) -> None:
    from wolfbus.record.publish import publish

    if not result.verified:
        click.echo("wolfbus: only a verified record is published", err=True)
        return
    count = publish(result.records, url, house)
    click.echo(f"wolfbus: published {count} events into house {house}", err=True)


def _play_back(result: Proof, speed: float, until: int | None, *, plain: bool) -> None:
    from wolfbus.cli.terminal.playback import KeyPresses, play_back, shown

    with shown(quiet=False, plain=plain, paced=True) as shower, KeyPresses() as keys:
        if shower is not None:
            play_back(result.records, shower.see, speed, until, keys.wait, shower.restart)


def _show(result: Proof, until: int | None, seat: str | None) -> None:
    from wolfbus.cli.terminal.pages import seat_page, state_page, view_at
    from wolfbus.state import GameState

    if seat is not None:
        click.echo(seat_page(view_at(result.records, seat, until)), nl=False)
    else:
        state = GameState()
        for recorded in result.records[:until]:
            state.feed(recorded.event)
        click.echo(state_page(state), nl=False)
    for problem in result.problems:
        click.echo(f"wolfbus: {problem}", err=True)


def _audit(result: Proof, prompt: int | None, *, as_json: bool) -> None:
    from wolfbus.cli.terminal.calls import calls_of, calls_page, exchange_at

    # first, for the call that is asked for may stand behind what is wrong
    for problem in result.problems:
        click.echo(f"wolfbus: {result.name}: {problem}", err=True)
    if prompt is not None:
        exchange = exchange_at(result.records, prompt)
        shown = json.dumps(exchange.as_json()) + "\n" if as_json else exchange.page()
    elif as_json:
        shown = json.dumps({"calls": [made.as_json() for made in calls_of(result.records)]}, allow_nan=False) + "\n"
    else:
        shown = calls_page(result.records)
    click.echo(shown, nl=False)


def _print(result: Proof, ending: GameEnding | None, map_file: Path | None, *, as_json: bool) -> None:
    """Print what was found, then how the game ended, or without `ending` all its tables."""
    if as_json:
        click.echo(json.dumps(result.as_json(), allow_nan=False))
        return
    if ending is None:
        from analytics.report.terminal import text

        click.echo("\n".join([*result.summary(), ""]))
        click.echo(text(result.metrics), nl=False)
    elif ending.beats:
        for line in [*ending.lines(), *result.proof_lines()]:
            click.echo(line)
        click.echo("Numbers: wolfbus replay --tables")
    if result.recalibrated is not None:
        from analytics.report.terminal import recalibration_table
        from wolfbus.document.writers import written

        click.echo("\n" + written([recalibration_table(result.recalibrated, str(map_file))]), nl=False)
    sys.stdout.flush()
    for problem in result.problems:
        click.echo(f"wolfbus: {result.name}: {problem}", err=True)
