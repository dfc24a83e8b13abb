"""`wolfbus import`: games of other tables, as logs that report, compare, export, page and view take."""

from __future__ import annotations

from pathlib import Path

import click

from wolfbus.cli import FAILED
from wolfbus.cli.options import PATH
from wolfbus.errors import ConfigError
from wolfbus.files.printable import counted, printable
from wolfbus.foreign.kinds import KINDS

_SHOWN = 1000


@click.command("import")
@click.argument("kind", type=click.Choice(list(KINDS)), metavar="KIND")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="The folder for the logs, one a game; nothing in it is overwritten.")  # fmt: skip
@click.option("--roles", type=PATH, metavar="FILE", help="Of wolf: the run_meta.json, where it is not beside the log.")
def import_games(kind: str, files: tuple[Path, ...], out: Path, roles: Path | None) -> int:
    """Bring over games that another engine played, so that they are measured and shown as ours are.

    KIND is aiwolf (a log of an AIWolf server), kaggle (a replay of Kaggle's environment werewolf), arena (a game of
    Google's Werewolf Arena, or a result of it on AgentBeats), wolf (a log of the paper's code) or table (CSV or NDJSON,
    a row an event, into which any log can be turned).

    What comes of it is a log, not a record: nothing seals it. What could not be brought over is counted by kind.
    """
    from wolfbus.foreign.importing import import_files

    if roles is not None and kind != "wolf":
        raise click.UsageError("--roles is for logs of the paper's code: wolf")
    imported = import_files(kind, files, out, roles)
    # where nothing came over, the last problem is what the command ends with
    last = None if imported.games else imported.problems.pop()
    for line in (*imported.problems, *imported.again):
        click.echo(f"wolfbus: {printable(line, _SHOWN)}", err=True)
    if last is not None:
        raise ConfigError(printable(last, _SHOWN))
    winners = [log.ended.winner for log in imported.games.values() if log.ended is not None]
    wins = ", ".join(f"{winners.count(side)} won by {word}" for side, word in _SIDES if side in winners)
    unfinished = len(imported.games) - len(winners)
    parts = [*([wins] if wins else []), *([f"{unfinished} unfinished"] if unfinished else [])]
    click.echo(f"{out}  {counted(len(imported.games), 'game')}: {', '.join(parts)}")
    if imported.left_out.total():
        kinds = [f"{printable(what, 100)} ({number:,})" for what, number in imported.left_out.most_common() if number]
        total = f"not brought over: {counted(imported.left_out.total(), 'line')} of {counted(len(kinds), 'kind')}"
        click.echo(f"wolfbus: {total}: {', '.join(kinds)}", err=True)
    return FAILED if imported.problems else 0


_SIDES = (("villagers", "the villagers"), ("werewolves", "the Werewolves"), (None, "nobody"))
