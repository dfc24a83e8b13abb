"""`wolfbus view`: a page on which games are watched and studies browsed."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from wolfbus.errors import ConfigError
from wolfbus.printable import printable

if TYPE_CHECKING:
    from wolfbus.stage.serving import Served

RUNS: Final = Path("runs")


@click.command()
@click.argument("what", required=False, metavar="[RECORD|DIR]", type=click.Path(path_type=Path))
@click.option("--bus", "url", metavar="URL", help="Show the games of a house on this Redis.")
@click.option("--house", metavar="NAME", help="The house. [default: main]")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port; 0 takes a free one."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--name", "names", multiple=True, help="Another name by which this server is asked. May be repeated.")
@click.option("--open/--no-open", "browse", default=True, help="Open a browser.  [default: open]")
@click.option("--public", is_flag=True, help="Show of games that go on only what spectators may see.")
def view(
    what: Path | None,
    url: str | None,
    house: str | None,
    port: int,
    host: str,
    names: tuple[str, ...],
    *,
    browse: bool,
    public: bool,
) -> int:
    """Show games and studies on a page: live, finished, or both.

    RECORD is one game; DIR a folder of records and studies; without either, the newest game of ./runs. Whoever reaches
    the page sees everything, so it is served to this machine only, unless --host says otherwise.
    """
    from wolfbus.stage.serving import StageServer

    if what is not None and url is not None:
        raise click.UsageError("give a record or folder, or --bus, not both")
    if house is not None and url is None:
        raise click.UsageError("--house needs --bus")
    served, path = _served(what, url, house or "main", public=public)

    def ready(address: str) -> None:
        click.echo(f"{address}{path}")
        if browse:
            webbrowser.open(f"{address}{path}")

    StageServer(served, host, port, names).run(ready)
    return 0


def _served(what: Path | None, url: str | None, house: str, *, public: bool) -> tuple[Served, str]:
    """Return what is shown, and the path of the page that is shown first."""
    from wolfbus.stage.library import Library
    from wolfbus.stage.serving import Served
    from wolfbus.stage.sources import FolderSource, name_of_path, paths_under

    if url is not None:
        raise ConfigError("not yet")
    root = what or RUNS
    if not root.exists():
        shown = printable(str(root), 400)
        hint = "; play a game first: wolfbus play" if what is None else ""
        raise ConfigError(f"{shown}: no such file or folder{hint}")
    served = Served([FolderSource(root, public=public)], Library(root, public=public))
    if root.is_file():
        return served, f"/g/{name_of_path(root, root.parent)}"
    newest = max(paths_under(root).items(), key=lambda item: item[1].stat().st_mtime, default=None)
    return served, f"/g/{newest[0]}" if what is None and newest is not None else "/"
