"""`wolfbus view` and `wolfbus page`: a page on which games are watched and studies browsed, served or as one file."""

from __future__ import annotations

import contextlib
import webbrowser
from pathlib import Path
from typing import Any, Final

import click

from wolfbus.cli import FAILED
from wolfbus.cli.options import page_options, shared_bus, stream_name
from wolfbus.cli.viewing import MeasuredStudies, WordClaims, served_with
from wolfbus.errors import ConfigError, RecordError
from wolfbus.printable import printable
from wolfbus.service.lifecycle import DEFAULT_HOUSE
from wolfbus.study.manifest import FILE, load_manifest
from wolfbus.whole_file import write_whole

RUNS: Final = Path("runs")


@click.command()
@click.argument("what", required=False, metavar="[RECORD|DIR]", type=click.Path(path_type=Path))
@click.option("--bus", "url", callback=shared_bus, metavar="URL", help="Show the games of a house on this Redis.")
@click.option("--house", callback=stream_name, metavar="NAME", help="The house. [default: main]")
@page_options
@click.option("--name", "names", multiple=True, help="Another name by which this server is asked. May be repeated.")
@click.option("--open/--no-open", "browse", default=True, help="Open a browser.  [default: open]")
@click.option("--public", is_flag=True, help="Show of games that go on only what spectators may see.")
def view(
    what: Path | None,
    url: str | None,
    house: str | None,
    host: str,
    port: int,
    names: tuple[str, ...],
    *,
    browse: bool,
    public: bool,
) -> int:
    """Show games and studies on a page: live, finished, or both.

    RECORD is one game; DIR a folder of records and studies; without either, the newest game of ./runs. With --bus, the
    games of a house as they are played, too. Whoever reaches the page sees everything, so it is served to this machine
    only, unless --host says otherwise.
    """
    from wolfbus.bus import open_bus
    from wolfbus.stage.house import HouseSource
    from wolfbus.stage.serving import StageServer

    if house is not None and url is None:
        raise click.UsageError("--house needs --bus")
    root = what or RUNS
    if url is None and not root.exists():
        shown = printable(str(root), 400)
        hint = "; play a game first: wolfbus play" if what is None else ""
        raise ConfigError(f"{shown}: no such file or folder{hint}")
    path = _first(root, newest=what is None) if url is None else "/"
    live = HouseSource(open_bus(url), house or DEFAULT_HOUSE, public=public) if url is not None else None
    served = served_with(root, live, public=public)

    def ready(address: str) -> None:
        click.echo(f"{address}{path}")
        if browse:
            webbrowser.open(f"{address}{path}")

    StageServer(served, host, port, names).run(ready)
    return 0


def _first(root: Path, *, newest: bool) -> str:
    """Return the path of the page that is shown first: of the one game, of the newest, or of all there is."""
    from wolfbus.record.reader import newest_record
    from wolfbus.stage.sources import name_of_path

    if root.is_file():
        return f"/g/{name_of_path(root, root.parent)}"
    with contextlib.suppress(RecordError):
        if newest:
            return f"/g/{name_of_path(newest_record(root), root)}"
    return "/"


@click.command()
@click.argument("what", metavar="RECORD|STUDY", type=click.Path(path_type=Path, exists=True))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, dir_okay=False), help="The file. [default: NAME.html here]"
)
@click.option("--prompts", is_flag=True, help="Put in what models were asked and what they said.")
@click.option("--as", "word", default="", metavar="public|SEAT", help="Show only what these eyes may see.")
def page(what: Path, out: Path | None, word: str, *, prompts: bool) -> int:
    """Write a game or a study as one HTML file, for people who have nothing installed.

    The file asks nobody for anything. Of a game it holds all that the record knows, unless --as says otherwise; of a
    damaged record what is whole, and then the exit code is 1.
    """
    from wolfbus.stage.files import one_file
    from wolfbus.stage.fold import find_claims_with

    find_claims_with(WordClaims)
    target = out or Path(f"{what.name.partition('.')[0]}.html")
    if what.is_dir():
        if word or prompts:
            raise click.UsageError("--as and --prompts are for a game")
        data, title, problem = _study(what), f"{what.name} · wolfbus", None
    else:
        data, problem = _game(what, word, prompts=prompts)
        title = f"{data['heads'][0]['game'].get('id', what.name)} · wolfbus"
    text = one_file(data, title)
    write_whole(target, [text])
    click.echo(f"{target}  ({len(text.encode()) / 1000:,.0f} kB)")
    if problem is not None:
        click.echo(f"wolfbus: {printable(str(what), 400)}: {problem}", err=True)
        return FAILED
    return 0


def _game(path: Path, word: str, *, prompts: bool) -> tuple[dict[str, Any], str | None]:
    from wolfbus.stage.files import game_file
    from wolfbus.stage.sources import RecordTail

    tail = RecordTail(path)
    records = tail.read()
    problem = tail.cut_off()
    if not records:
        raise ConfigError(f"{printable(str(path), 400)}: {problem or 'there is no record in it'}")
    return game_file(records, word, problem, prompts=prompts), problem


def _study(folder: Path) -> dict[str, Any]:
    from wolfbus.stage.library import study_file

    manifest = load_manifest(folder / FILE) if (folder / FILE).is_file() else None
    if manifest is None:
        raise ConfigError(f"{printable(str(folder), 400)}: no study in it; give a study's folder or one record")
    return study_file(str(manifest.get("study") or folder.name), folder, MeasuredStudies())
