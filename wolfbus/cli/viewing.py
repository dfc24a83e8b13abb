"""Pages that commands serve: the games they play or look at, with the claims and studies that pages show, measured."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from wolfbus.errors import RecordError, RulesError
from wolfbus.study.manifest import RECORDS

if TYPE_CHECKING:
    from analytics.gather import Gathered
    from wolfbus.messages.content import ScoredClaim
    from wolfbus.messages.events import AnyEvent
    from wolfbus.record.line import Recorded
    from wolfbus.stage.people import People
    from wolfbus.stage.serving import Served, StageServer
    from wolfbus.stage.sources import GameSource


def served_with(
    root: Path, live: GameSource | None = None, *, public: bool = False, people: People | None = None
) -> Served:
    """Return what a server shows: the games, library and studies of a folder, and games that go on.

    Args:
        root: a folder of records, or one record; it need not be there.
        live: where games come from that go on.
        public: whether only what is public may be seen of games that go on.
        people: persons who play at the server's pages.
    """
    from wolfbus.stage.fold import find_claims_with
    from wolfbus.stage.serving import Served

    find_claims_with(WordClaims)
    return Served(root, live, public, MeasuredStudies(), people)


class GamePage(NamedTuple):
    """The page of a game that this process plays.

    Attributes:
        see: told of every event of the game.
        people: persons who play at it; None where nobody does.
    """

    see: Callable[[Recorded], None]
    people: People | None


@contextlib.contextmanager
def page_server(served: Served, host: str, port: int, told: str) -> Iterator[StageServer]:
    """Serve pages while something goes on, and then until Ctrl-C; `told` is said at first, the address for ``URL``."""
    from wolfbus.stage.serving import StageServer

    with StageServer(served, host, port) as server:
        click.echo(f"wolfbus: {told.replace('URL', server.url, 1)}", err=True)
        yield server
        click.echo(f"wolfbus: {server.url} stays until Ctrl-C", err=True)
        with contextlib.suppress(KeyboardInterrupt):
            # a wait without a time-out cannot be interrupted on every platform
            while not threading.Event().wait(3600):
                pass


@contextlib.contextmanager
def on_a_page(game: str, out: Path, host: str, port: int, *, persons: bool) -> Iterator[GamePage]:
    """Show a game that this process plays on a page, to its end and then until Ctrl-C.

    Args:
        game: its id.
        out: the folder of records, which are shown as well.
        host: address to listen on.
        port: port to listen on.
        persons: whether somebody plays at the page; what only some may know is then shown to nobody else before the
            end.
    """
    from wolfbus.stage.sources import PlayedSource

    out.mkdir(parents=True, exist_ok=True)
    played = PlayedSource(game, public=persons)
    people = people_of(lambda: server.url) if persons else None
    served = served_with(out, played, public=persons, people=people)
    with page_server(served, host, port, f"watch it at URL/g/{game}") as server:
        try:
            yield GamePage(played.see, people)
        finally:
            played.finish()


def people_of(url: Callable[[], str]) -> People:
    """Return persons who are told their links on stderr.

    Args:
        url: gives the server's address, once it listens.
    """
    from wolfbus.stage.people import People

    return People(lambda seat, path: click.echo(f"wolfbus: {seat.seat} plays at {url()}{path}", err=True))


class WordClaims:
    """Gives the claims of one game, statement by statement; fed every event in order."""

    def __init__(self) -> None:
        from analytics.fold import GameFold

        self._fold: GameFold | None = GameFold()

    def __call__(self, event: AnyEvent) -> Sequence[ScoredClaim] | None:
        """Return all claims of the statement that an event is about, None for other events."""
        if self._fold is None:
            return event.claims if event.type == "claim_truth" else None
        try:
            self._fold.feed(event)
            if event.type == "statement" or event.type == "claim_truth":
                return self._fold.rows().statements[event.statement - 1].claims
        except (RulesError, IndexError):
            # a record whose events cannot stand where they are: the page shows what it says
            self._fold = None
        return None


class MeasuredStudies:
    """Computes what the pages of studies show, once for each state of a study; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, ...], tuple[tuple[float, ...], Any]] = {}

    def findings(self, folder: Path) -> dict[str, Any]:
        """Return what `wolfbus report --json` writes."""
        from analytics.findings import findings

        found: dict[str, Any] = self._once("findings", findings, folder)
        return found

    def report(self, folder: Path) -> str:
        """Return the page that `wolfbus report` writes."""
        from analytics.findings import findings
        from analytics.report.report import Report

        page: str = self._once("report", lambda read: Report(findings(read), read).html(), folder)
        return page

    def comparison(self, a: Path, b: Path) -> dict[str, Any]:
        """Return what `wolfbus compare --json` writes."""
        from analytics.compare import compare

        names = a.name, b.name
        found: dict[str, Any] = self._once(
            "comparison", lambda one, other: compare(one.columns, other.columns, names), a, b
        )
        return found

    def _once(self, what: str, compute: Callable[..., Any], *folders: Path) -> Any:
        state = tuple(_changed(folder) for folder in folders)
        key = (what, *map(str, folders))
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept[0] != state:
                kept = self._kept[key] = state, compute(*map(_gathered, folders))
        return kept[1]


def _changed(folder: Path) -> float:
    """Return when a study last changed."""
    places = (folder, folder / RECORDS, *(folder / RECORDS).glob("*.ndjson*"))
    return max((place.stat().st_mtime for place in places if place.exists()), default=0.0)


def _gathered(folder: Path) -> Gathered:
    from analytics.gather import Criteria, gather

    gathered = gather([str(folder)], Criteria(), workers=1)
    if not gathered.columns.ids:
        raise RecordError(f"{folder}: no game could be read, so there is nothing to report")
    return gathered
