"""What commands have in common that show their games on a page."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

if TYPE_CHECKING:
    import asyncio

    from wolfbus.record.line import Recorded
    from wolfbus.stage.serving import Served, StageServer
    from wolfbus.stage.sources import GameSource

_Command = TypeVar("_Command", bound=Callable[..., Any])


class LiveSource(Protocol):
    """A source that knows which of its games go on."""

    def live(self) -> list[dict[str, Any]]:
        """Return what a library tells of them."""

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin on the server's loop."""


def view_options(command: _Command) -> _Command:
    """Add ``view`` (--view) and ``port`` (--port)."""
    port = click.option(
        "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port of the page; 0 for any."
    )
    flag = click.option("--view", is_flag=True, help="Show the game on a page as it happens, until Ctrl-C.")
    return flag(port(command))


def served_with(
    sources: Sequence[GameSource], root: Path, live: LiveSource | None = None, *, public: bool = False
) -> Served:
    """Return what a server shows: games of some sources, and the library and studies of a folder.

    Args:
        sources: where games come from.
        root: a folder of records, or one record; it need not be there.
        live: the source among them whose games go on.
        public: whether only what is public may be seen of games that go on.
    """
    from wolfbus.cli.study_pages import MeasuredStudies
    from wolfbus.stage.library import Library
    from wolfbus.stage.serving import Served

    kept = root if root.exists() else None
    library = Library(kept, live.live if live is not None else list, public=public)
    starts = [live.start] if live is not None else []
    return Served(sources, library, starts, MeasuredStudies())


@contextlib.contextmanager
def on_a_page(game: str, out: Path, port: int) -> Iterator[Callable[[Recorded], None]]:
    """Show a game that this process plays on a page, to its end and then until Ctrl-C.

    Args:
        game: its id.
        out: the folder of records, which are shown as well.
        port: port to listen on; 0 takes a free one.

    Yields:
        What its events are to be told to.
    """
    from wolfbus.stage.serving import StageServer
    from wolfbus.stage.sources import FolderSource, PlayedSource

    out.mkdir(parents=True, exist_ok=True)
    played = PlayedSource(game)
    with StageServer(served_with([played, FolderSource(out)], out, played), port=port) as server:
        click.echo(f"wolfbus: watch it at {server.url}/g/{game}", err=True)

        try:
            yield played.see
        finally:
            played.finish()
        stay(server)


@contextlib.contextmanager
def house_on_a_page(url: str, house: str, out: Path, port: int) -> Iterator[None]:
    """Show a house on a page while it plays, and then its records until Ctrl-C.

    Args:
        url: address of its bus.
        house: its name.
        out: the folder of its records.
        port: port to listen on; 0 takes a free one.
    """
    from wolfbus.bus import open_bus
    from wolfbus.stage.house import HouseSource
    from wolfbus.stage.serving import StageServer
    from wolfbus.stage.sources import FolderSource

    live = HouseSource(open_bus(url), house)
    with StageServer(served_with([live, FolderSource(out)], out, live), port=port) as server:
        click.echo(f"wolfbus: watch it at {server.url}/", err=True)
        yield
        stay(server)


def stay(server: StageServer) -> None:
    """Serve on until Ctrl-C."""
    click.echo(f"wolfbus: {server.url} stays until Ctrl-C", err=True)
    with contextlib.suppress(KeyboardInterrupt):
        # a wait without a time-out cannot be interrupted on every platform
        while not threading.Event().wait(3600):
            pass
