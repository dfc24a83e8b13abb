"""`wolfbus view`: a page on which games are watched and studies browsed."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from wolfbus.cli.viewing import page_options
from wolfbus.errors import ConfigError
from wolfbus.printable import printable
from wolfbus.service.options import DEFAULT_HOUSE, check_house

if TYPE_CHECKING:
    from wolfbus.stage.sources import GameSource

RUNS: Final = Path("runs")


@click.command()
@click.argument("what", required=False, metavar="[RECORD|DIR]", type=click.Path(path_type=Path))
@click.option("--bus", "url", metavar="URL", help="Show the games of a house on this Redis.")
@click.option("--house", metavar="NAME", help="The house. [default: main]")
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
    from wolfbus.cli.viewing import served_with
    from wolfbus.stage.house import HouseSource
    from wolfbus.stage.serving import StageServer
    from wolfbus.stage.sources import FolderSource

    if house is not None and url is None:
        raise click.UsageError("--house needs --bus")
    root = what or RUNS
    if url is None and not root.exists():
        shown = printable(str(root), 400)
        hint = "; play a game first: wolfbus play" if what is None else ""
        raise ConfigError(f"{shown}: no such file or folder{hint}")
    sources: list[GameSource] = [FolderSource(root, public=public)] if root.exists() else []
    path = _first(root, newest=what is None) if url is None else "/"
    if url is None:
        served = served_with(sources, root, public=public)
    else:
        if url.startswith("memory:"):
            raise click.BadParameter("memory:// is another process's own: nobody can look in", param_hint="--bus")
        house_source = HouseSource(open_bus(url), check_house(house or DEFAULT_HOUSE), public=public)
        served = served_with([house_source, *sources], root, house_source, public=public)

    def ready(address: str) -> None:
        click.echo(f"{address}{path}")
        if browse:
            webbrowser.open(f"{address}{path}")

    StageServer(served, host, port, names).run(ready)
    return 0


def _first(root: Path, *, newest: bool) -> str:
    """Return the path of the page that is shown first: of the one game, of the newest, or of all there is."""
    from wolfbus.stage.sources import name_of_path, paths_under

    if root.is_file():
        return f"/g/{name_of_path(root, root.parent)}"
    last = max(paths_under(root).items(), key=lambda item: item[1].stat().st_mtime, default=None)
    return f"/g/{last[0]}" if newest and last is not None else "/"
