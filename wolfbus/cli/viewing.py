"""What commands have in common that show their games on a page."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

if TYPE_CHECKING:
    import asyncio

    from wolfbus.record.line import Recorded
    from wolfbus.stage.people import People
    from wolfbus.stage.serving import Served, StageServer
    from wolfbus.stage.sources import GameSource

_Command = TypeVar("_Command", bound=Callable[..., Any])


class LiveSource(Protocol):
    """A source that knows which of its games go on."""

    def live(self) -> list[dict[str, Any]]:
        """Return what a library tells of them."""

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin on the server's loop."""


@dataclass(frozen=True, slots=True)
class PageAddress:
    """Where a page is served: the address to listen on, and the port, 0 for a free one."""

    host: str
    port: int


def view_options(command: _Command) -> _Command:
    """Add ``view`` (--view), ``host`` (--host) and ``port`` (--port)."""
    flag = click.option("--view", is_flag=True, help="Show it on a page as it happens, until Ctrl-C.")
    return flag(page_options(command))


def page_options(command: _Command) -> _Command:
    """Add ``host`` (--host) and ``port`` (--port)."""
    port = click.option(
        "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port of the page; 0 for any."
    )
    host = click.option("--host", default="127.0.0.1", show_default=True, help="Address on which the page is served.")
    return port(host(command))


def served_with(
    sources: Sequence[GameSource],
    root: Path,
    live: LiveSource | None = None,
    *,
    public: bool = False,
    people: People | None = None,
) -> Served:
    """Return what a server shows: games of some sources, and the library and studies of a folder.

    Args:
        sources: where games come from.
        root: a folder of records, or one record; it need not be there.
        live: the source among them whose games go on.
        public: whether only what is public may be seen of games that go on.
        people: persons who play at the server's pages.
    """
    from wolfbus.cli.found import WordClaims
    from wolfbus.cli.study_pages import MeasuredStudies
    from wolfbus.stage.fold import find_claims_with
    from wolfbus.stage.library import Library
    from wolfbus.stage.serving import Served

    find_claims_with(WordClaims)
    kept = root if root.exists() else None
    library = Library(
        kept, live.live if live is not None else list, people.open if people is not None else list, public=public
    )
    starts = [live.start] if live is not None else []
    return Served(sources, library, starts, MeasuredStudies(), people)


@dataclass(frozen=True, slots=True)
class GamePage:
    """The page of a game that this process plays.

    Attributes:
        see: told of every event of the game.
        people: persons who play at it; None where nobody does.
    """

    see: Callable[[Recorded], None]
    people: People | None


@contextlib.contextmanager
def on_a_page(game: str, out: Path, at: PageAddress, *, persons: bool) -> Iterator[GamePage]:
    """Show a game that this process plays on a page, to its end and then until Ctrl-C.

    Args:
        game: its id.
        out: the folder of records, which are shown as well.
        at: where to listen.
        persons: whether somebody plays at the page; what only some may know is then shown to nobody else before the
            end.
    """
    from wolfbus.stage.serving import StageServer
    from wolfbus.stage.sources import FolderSource, PlayedSource

    out.mkdir(parents=True, exist_ok=True)
    played = PlayedSource(game, public=persons)
    people = people_of(lambda: server.url) if persons else None
    served = served_with([played, FolderSource(out, public=persons)], out, played, public=persons, people=people)
    with StageServer(served, at.host, at.port) as server:
        click.echo(f"wolfbus: watch it at {server.url}/g/{game}", err=True)
        try:
            yield GamePage(played.see, people)
        finally:
            played.finish()
        stay(server)


def people_of(url: Callable[[], str]) -> People:
    """Return persons who are told their links on stderr.

    Args:
        url: gives the server's address, once it listens.
    """
    from wolfbus.stage.people import People

    return People(lambda seat, path: click.echo(f"wolfbus: {seat.seat} plays at {url()}{path}", err=True))


@contextlib.contextmanager
def house_on_a_page(url: str, house: str, out: Path, at: PageAddress) -> Iterator[None]:
    """Show a house on a page while it plays, and then its records until Ctrl-C.

    Args:
        url: address of its bus.
        house: its name.
        out: the folder of its records.
        at: where to listen.
    """
    from wolfbus.bus import open_bus
    from wolfbus.stage.house import HouseSource
    from wolfbus.stage.serving import StageServer
    from wolfbus.stage.sources import FolderSource

    live = HouseSource(open_bus(url), house)
    with StageServer(served_with([live, FolderSource(out)], out, live), at.host, at.port) as server:
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
