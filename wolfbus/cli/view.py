"""`wolfbus view` and `wolfbus page`: a page on which games are watched and studies browsed, served or as one file.

Commands that play serve their pages by what stands here, too.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import quote

import click

from wolfbus.cli import FAILED
from wolfbus.cli.options import FILE, house_name, page_options, refuse, shared_bus
from wolfbus.errors import ConfigError, RecordError, RulesError, reason_of
from wolfbus.files.printable import printable, storable, visible
from wolfbus.files.whole_file import is_stdout, open_file, write_named, write_whole
from wolfbus.service.lifecycle import DEFAULT_HOUSE
from wolfbus.service.signals import end_signals

if TYPE_CHECKING:
    from types import FrameType

    from analytics.gather import Gathered
    from wolfbus.messages.content import ScoredClaim
    from wolfbus.messages.events import AnyEvent
    from wolfbus.record.line import Recorded
    from wolfbus.stage.people import People
    from wolfbus.stage.serving import Served, StageServer
    from wolfbus.stage.sources import GameSource

T = TypeVar("T")


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
        show: takes every event of the game.
        people: persons who play at it; None where nobody does.
    """

    show: Callable[[Recorded], None]
    people: People | None


@contextlib.contextmanager
def page_server(served: Served, host: str, port: int, notice: str) -> Iterator[StageServer]:
    """Serve pages during the block, and then until Ctrl-C or one of `end_signals`; after one of these during it,
    no longer.

    Args:
        served: what is shown.
        host: address to listen on.
        port: port to listen on.
        notice: printed on stderr at first, with the address in place of ``URL``.
    """
    from wolfbus.stage.serving import StageServer

    terminated = False
    previous = {number: signal.getsignal(number) for number in end_signals()}

    def terminate(number: int, frame: FrameType | None) -> None:
        nonlocal terminated
        terminated = True
        if callable(handler := previous[signal.Signals(number)]):
            handler(number, frame)

    with StageServer(served, host, port) as server:
        for number in previous:
            signal.signal(number, terminate)
        click.echo(f"wolfbus: {notice.replace('URL', server.url, 1)}", err=True)
        yield server
        if terminated:
            return
        click.echo(f"wolfbus: {server.url} stays until Ctrl-C", err=True)
        with contextlib.suppress(KeyboardInterrupt):
            # the block may have left it ignored
            for number in previous:
                signal.signal(number, signal.default_int_handler)
            # a long wait cannot be interrupted on every platform, nor by a signal that comes just before it
            while not threading.Event().wait(1.0):
                pass


@contextlib.contextmanager
def game_page(
    game: str, out: Path, host: str, port: int, *, persons: bool, private_thoughts: bool = False
) -> Iterator[GamePage]:
    """Show a game that this process plays on a page, to its end and then until Ctrl-C or SIGTERM.

    Args:
        game: its id.
        out: the folder of records, which are shown as well.
        host: address to listen on.
        port: port to listen on.
        persons: whether somebody plays at the page; what only some may know is then shown to nobody else before the
            end.
        private_thoughts: whether what these persons think is left out of pages and exports.
    """
    from wolfbus.stage.sources import PlayedSource

    out.mkdir(parents=True, exist_ok=True)
    played = PlayedSource(game, public=persons)
    people = announced_people(lambda: server.url, private_thoughts=private_thoughts) if persons else None
    served = served_with(out, played, public=persons, people=people)
    with page_server(served, host, port, f"watch it at URL/g/{game}") as server:
        try:
            yield GamePage(played.see, people)
        finally:
            played.finish()


def announced_people(url: Callable[[], str], *, private_thoughts: bool) -> People:
    """Return persons whose links are printed on stderr.

    Args:
        url: gives the server's address, once it listens.
        private_thoughts: whether what they think is left out of pages and exports.
    """
    from wolfbus.stage.people import People, PersonSeat

    def invite(seat: PersonSeat, path: str) -> None:
        link = f"{url()}{path}"
        if seat.occupied.is_set():
            words = f"somebody opened the used link of {seat.seat}; if they may take the seat over, send them {link}"
        else:
            words = f"{seat.seat} plays at {link}"
        click.echo(f"wolfbus: {words}", err=True)

    return People(invite, private_thoughts=private_thoughts)


class WordClaims:
    """Gives the claims of one game, statement by statement; fed every event in order."""

    def __init__(self) -> None:
        from analytics.fold import GameFold

        self._fold: GameFold | None = GameFold(with_knowable=False)

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


_MEASURES_CACHED: Final = 64
"""Visitors may ask for the comparison of any two studies, and all of them would fill any memory."""


class MeasuredStudies:
    """Measures what the pages of studies show, once for each state of a study, and caches the latest; safe from any
    thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cached: dict[tuple[Any, ...], tuple[list[Any], Any]] = {}

    def measured(self, folder: Path, tell: Callable[[int, int], None]) -> dict[str, Any]:
        """Return the report's first screen, and the findings that a study's page draws."""
        return self._measured(_first_screen, folder, tell=tell)

    def report(self, folder: Path) -> str:
        """Return the page that `wolfbus report` writes."""
        return self._measured(_report, folder)

    def comparison(self, a: Path, b: Path) -> dict[str, Any]:
        """Return what `wolfbus compare --json` writes."""
        return self._measured(_comparison, a, b)

    def _measured(self, measure: Callable[..., T], *folders: Path, **how: Any) -> T:
        key, changes = (measure, *folders), list(map(_changed, folders))
        with self._lock:
            cached = self._cached.pop(key, None)
            if cached is None or cached[0] != changes:
                cached = changes, measure(*folders, **how)
            # in the place of what the studies came to before, and the last to be dropped
            self._cached[key] = cached
            if len(self._cached) > _MEASURES_CACHED:
                del self._cached[next(iter(self._cached))]
        measured: T = cached[1]
        return measured


def load_measures() -> None:
    """Load what measures studies, which takes longer than to look up what was kept of one."""
    import analytics.report.report  # noqa: F401 - loaded to be there


def _first_screen(folder: Path, tell: Callable[[int, int], None]) -> dict[str, Any]:
    from analytics.report.report import Report
    from wolfbus.cli.measuring import findings_of

    gathered = _gathered(folder, tell)
    findings = findings_of(gathered)
    drawn = {name: findings[name] for name in ("abilities", "agents", "figure1", "studies")}
    return {"findings": drawn, **Report(findings, gathered).first_screen()}


def _report(folder: Path) -> str:
    from analytics.report.report import Report
    from wolfbus.cli.measuring import findings_of, page_of

    gathered = _gathered(folder)
    html: str = page_of(gathered, lambda: Report(findings_of(gathered), gathered))["html"]
    return html


def _comparison(a: Path, b: Path) -> dict[str, Any]:
    from analytics.compare import compare
    from analytics.metrics.primary import primary_of

    one, other = _gathered(a), _gathered(b)
    primary, _ = primary_of(study.manifest for study in (*one.studies, *other.studies))
    return compare(one.tables, other.tables, (a.name, b.name), primary=primary)


def _changed(folder: Path) -> list[tuple[str, float]]:
    """Return what a study consists of, with what was said of it afterwards, and when each last changed; not what is
    kept beside its records.
    """
    from analytics.annotations.beliefs import FILE as BELIEFS
    from analytics.annotations.file import FOLDER as ANNOTATIONS
    from wolfbus.files.cache import FOLDER as KEPT
    from wolfbus.study.manifest import RECORDS

    inner = (path for name in (RECORDS, ANNOTATIONS) for path in (folder / name).glob("*") if path.name != KEPT)
    changes = []
    for path in sorted((folder, folder / BELIEFS, *inner)):
        # it may be gone by now
        with contextlib.suppress(FileNotFoundError):
            changes.append((path.name, path.stat().st_mtime))
    return changes


def _gathered(folder: Path, tell: Callable[[int, int], None] = lambda _read, _all: None) -> Gathered:
    from analytics.gather import Criteria, gather

    gathered = gather([str(folder)], Criteria(), workers=1, cached=True, tell=tell)
    if not gathered.tables.ids:
        raise RecordError(f"{folder}: no game could be read, so there is nothing to report")
    return gathered


RUNS: Final = Path("runs")


@click.command()
@click.argument("source", required=False, metavar="[RECORD|DIR]", type=click.Path(path_type=Path, readable=False))
@click.option("--bus", "url", callback=shared_bus, metavar="URL", help="Show the games of a house on this Redis.")
@click.option("--house", callback=house_name, metavar="NAME", help="The house. [default: main]")
@page_options
@click.option("--name", "names", multiple=True, help="Another name by which this server is asked. May be repeated.")
@click.option("--open/--no-open", "browse", default=True, help="Open a browser.  [default: open]")
@click.option("--public", is_flag=True, help="Show of games that go on only what spectators may see.")
def view(
    source: Path | None,
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
    root = source or RUNS
    name = printable(str(root), 400)
    if url is None and not root.exists():
        hint = "; play a game first: wolfbus play" if source is None else ""
        raise ConfigError(f"{name}: no such file or folder{hint}")
    if root.exists() and not os.access(root, os.R_OK | (os.X_OK if root.is_dir() else 0)):
        raise ConfigError(
            f"{name}: not readable by the user of this process, in a container that of its image; its owner lets "
            "others read it: chmod -R o+rX"
        )
    if root.exists() and not root.is_dir():
        try:
            open_file(root).close()
        except OSError as error:
            raise ConfigError(f"{name}: {reason_of(error)}") from None
    if url is None and (missing := _game_missing(root)) is not None:
        click.echo(f"wolfbus: {missing}", err=True)
        return FAILED
    path = _start_path(root, newest=source is None) if url is None else "/"
    live = HouseSource(open_bus(url), house or DEFAULT_HOUSE, public=public) if url is not None else None
    served = served_with(root, live, public=public)
    threading.Thread(target=load_measures, daemon=True).start()

    def ready(address: str) -> None:
        import webbrowser

        click.echo(f"{address}{path}")
        if browse:
            webbrowser.open(f"{address}{path}")

    StageServer(served, host, port, names).run(ready)
    return 0


def _start_path(root: Path, *, newest: bool) -> str:
    """Return the path of the page that is shown first: of the one game, of the newest, or of all there is."""
    from wolfbus.record.reader import newest_record
    from wolfbus.stage.sources import name_of_path

    if root.is_file():
        return f"/g/{quote(name_of_path(root, root.parent))}"
    with contextlib.suppress(RecordError):
        if newest:
            return f"/g/{quote(name_of_path(newest_record(root), root))}"
    return "/"


@click.command()
@click.argument("source", metavar="RECORD|STUDY", type=click.Path(path_type=Path, exists=True))
@click.option("-o", "--out", type=FILE, help="The file. [default: NAME.html here]")
@click.option("--prompts", is_flag=True, help="Put in what models were asked and what they said.")
@click.option("--as", "word", default="", metavar="public|SEAT", help="Show only what these eyes may see.")
@click.option(
    "--spoiler-free", is_flag=True, help="Open without what comes: no roles, judgements or suspicion till the end."
)
@click.option("--picture", is_flag=True, help="Write a picture of a game that is over, 1200 × 630 (PNG), in its place.")
def page(source: Path, out: Path | None, word: str, *, prompts: bool, spoiler_free: bool, picture: bool) -> int:
    """Write a game or a study as one HTML file, for people who have nothing installed.

    The file asks nobody for anything. Of a game it holds all that the record knows, unless --as says otherwise; of a
    damaged record what is whole, and then the exit code is 1.
    """
    from wolfbus.stage.files import one_file, photographed
    from wolfbus.stage.fold import find_claims_with

    find_claims_with(WordClaims)
    if not source.name.strip("."):
        source = source.resolve()
    target = out or Path(f"{source.name.partition('.')[0]}{'.png' if picture else '.html'}")
    refuse(
        (
            source.is_dir() and (word or prompts or spoiler_free or picture),
            "--as, --prompts, --spoiler-free and --picture are for a game",
        ),
        (
            picture and (word or prompts or spoiler_free),
            "--picture tells how the game ended; it goes with no other option",
        ),
        (word and spoiler_free, "--spoiler-free goes with all eyes: give no --as"),
    )
    if source.is_dir():
        data, title, problem = _study(source), f"{storable(source.name)} · wolfbus", None
    else:
        data, problem = _game(source, word, prompts=prompts, spoiler_free=spoiler_free)
        title = f"{data['heads'][0]['game'].get('id', source.name)} · wolfbus"
    if picture and not data["heads"][0].get("story"):
        raise ConfigError(f"{printable(str(source), 400)}: the game has not ended, so there is no picture of it")
    text = one_file(data, title)
    written = photographed(text) if picture else text.encode()
    # where nobody named the file, a link that lies there may lead anywhere
    (write_named if out is not None else write_whole)(target, [written])
    click.echo(f"{target}  ({len(written) / 1000:,.0f} kB)", err=is_stdout(target))
    if problem is not None:
        click.echo(f"wolfbus: {printable(str(source), 400)}: {visible(problem)}", err=True)
        return FAILED
    return 0


def _game(path: Path, word: str, *, prompts: bool, spoiler_free: bool) -> tuple[dict[str, Any], str | None]:
    from wolfbus.stage.files import game_file
    from wolfbus.stage.sources import RecordTail

    tail = RecordTail(path)
    records = tail.read()
    problem = tail.cut_off()
    if not records:
        raise ConfigError(_without_game(path, problem))
    if prompts and tail.log is not None:
        raise ConfigError(f"{printable(str(path), 400)}: --prompts needs a wolfbus record; this is a log")
    return game_file(records, word, problem, prompts=prompts, spoiler_free=spoiler_free, log=tail.log), problem


def _without_game(path: Path, problem: str | None) -> str:
    """Return what to say of a file that holds no game: what is wrong with it, and what else it looks like."""
    from wolfbus.foreign.kinds import hint_for

    return printable(f"{path}: {problem or 'there is no record in it'}{hint_for(path)}", 600)


def _game_missing(root: Path) -> str | None:
    """Return why there is no game to show in a file or folder, in one line; None where there is one, or a study."""
    from wolfbus.record.reader import records_under
    from wolfbus.stage.sources import RecordTail
    from wolfbus.study.manifest import FILE as MANIFEST

    if root.is_dir():
        is_empty = not records_under(root) and next(root.rglob(MANIFEST), None) is None
        return (
            f"{printable(str(root), 400)}: there is no game in it: no *.ndjson and no *.ndjson.gz" if is_empty else None
        )
    tail = RecordTail(root)
    return None if tail.read() else _without_game(root, tail.cut_off())


def _study(folder: Path) -> dict[str, Any]:
    from wolfbus.stage.library import study_file
    from wolfbus.study.manifest import FILE as MANIFEST
    from wolfbus.study.manifest import load_manifest

    manifest = load_manifest(folder / MANIFEST) if (folder / MANIFEST).is_file() else None
    if manifest is None:
        raise ConfigError(f"{printable(str(folder), 400)}: no study in it; give a study's folder or one record")
    return study_file(str(manifest.get("study") or folder.name), folder, MeasuredStudies())
