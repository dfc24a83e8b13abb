"""`wolfbus watch`: the rolling picture of a house, as its analytics service posts it."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from wolfbus.bus import streams
from wolfbus.bus.protocol import every_entry
from wolfbus.cli.options import service_address
from wolfbus.cli.terminal.panels import FAINT, STRONG, Lines, fit, heat, hundredths, line, section
from wolfbus.errors import MessageError, StreamLost
from wolfbus.messages.codec import unpack
from wolfbus.printable import counted, name_of, printable
from wolfbus.service.lifecycle import Stopping, await_bus

if TYPE_CHECKING:
    from wolfbus.bus.protocol import Bus, Entry

_BLOCK_S: Final = 1.0
"""Seconds after which a request to stop is seen."""

_END_S: Final = 5.0
"""Seconds for which analytics is waited for, once a house has closed, to post how it ended."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What there is to show.

    Attributes:
        picture: the newest one, None before the first.
        closed: whether the session that it is of has closed, and this is how it ended, as far as anybody tells.
    """

    picture: dict[str, Any] | None
    closed: bool

    @property
    def games(self) -> list[dict[str, Any]]:
        """The games under way."""
        return list((self.picture or {}).get("games", ()))


@click.command()
@service_address
@click.option("--once", is_flag=True, help="Show the newest picture and leave.")
@click.option("--plain", is_flag=True, help="Print lines even in a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print every picture as one JSON object a line.")
def watch(url: str, house: str, *, once: bool, plain: bool, as_json: bool) -> int:
    """Show a house's games as they run: suspicion towards every living player, wins, and how well lies are detected.

    Needs a running `wolfbus analytics`. For researchers: it tells players too much. Leaves when the house closes; exits
    1 if nothing was ever shown.
    """
    with Stopping() as stopping, contextlib.ExitStack() as stack:
        bus = await_bus(url, stopping)
        if bus is None:
            return 1
        stack.callback(bus.close)
        show = stack.enter_context(_screen(plain=plain or once, as_json=as_json))
        seen = False
        for snapshot in _snapshots(bus, house, stopping):
            if snapshot.picture is not None:
                seen = True
                show(snapshot)
                if once:
                    return 0
            if snapshot.closed:
                break
            if snapshot.picture is None:
                click.echo(f"wolfbus: nothing is posted in house {house} yet; waiting for its analytics", err=True)
                if once:
                    return 1
    if not seen:
        click.echo(f"wolfbus: nothing was ever shown of house {house}", err=True)
    return 0 if seen else 1


def _snapshots(bus: Bus, house: str, stopping: Stopping) -> Iterator[Snapshot]:
    """Yield the newest snapshot, and then every new one, until the session closes or somebody asks to stop."""
    live, games = streams.live(house), streams.games(house)
    closed, games_id = False, "0-0"
    for entry in every_entry(bus, games):
        closed, games_id = _is_closed(closed, entry), entry.id
    newest = None
    live_id = "0-0"
    for entry in every_entry(bus, live):
        newest, live_id = entry, entry.id
    picture = _read(newest)
    snapshot = Snapshot(picture, closed and _is_idle(picture))
    yield snapshot
    reader = bus.reader()
    reader.follow(games, games_id)
    reader.follow(live, live_id)
    until = time.monotonic() + _END_S
    try:
        while not snapshot.closed and not stopping.wait(0):
            try:
                entries = dict(reader.read(_BLOCK_S))
            except StreamLost:
                # the bus lost its last second, or the house began anew: whatever comes next is the truth
                for stream in (games, live):
                    reader.follow(stream, bus.last_id(stream))
                continue
            for entry in entries.get(games, ()):
                closed = _is_closed(closed, entry)
                until = time.monotonic() + _END_S
            posted = entries.get(live, ())
            late = closed and time.monotonic() >= until
            if posted or late:
                picture = _read(posted[-1]) if posted else picture
                # analytics posts how it ended a moment after the moderator has closed the house
                snapshot = Snapshot(picture, closed and (late or _is_idle(picture)))
                yield snapshot
    finally:
        reader.close()


def _is_idle(picture: dict[str, Any] | None) -> bool:
    """Return whether no game is under way in a picture."""
    return picture is None or picture.get("running") == 0


def _is_closed(before: bool, entry: Entry) -> bool:
    return {"house_opened": False, "house_closed": True}.get(entry.type, before)


def _read(entry: Entry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    try:
        return unpack(entry.body)
    except MessageError as error:
        click.echo(f"wolfbus: a picture cannot be read: {error}", err=True)
        return None


def _print_json(snapshot: Snapshot) -> None:
    try:
        line = json.dumps({**(snapshot.picture or {}), "closed": snapshot.closed}, allow_nan=False)
    except (ValueError, TypeError) as error:
        # msgpack holds more than JSON does: numbers that are none, bytes
        click.echo(f"wolfbus: a picture cannot be told as JSON: {error}", err=True)
        return
    click.echo(line)


@contextlib.contextmanager
def _screen(*, plain: bool, as_json: bool) -> Iterator[Callable[[Snapshot], None]]:
    if as_json:
        yield _print_json
        return

    if plain or not sys.stdout.isatty():
        yield lambda snapshot: click.echo("\n".join(_lines(snapshot)) + "\n")
        return
    console = Console()
    with Live(console=console, auto_refresh=False, screen=True) as live:
        last: Snapshot | None = None

        def show(snapshot: Snapshot) -> None:
            nonlocal last
            last = snapshot
            live.update(Group(*_panel(snapshot, console.width, console.height - 1)), refresh=True)

        yield show
    if last is not None:
        console.print(Group(*_panel(last, console.width, 1000)))


_WINNERS: Final = {"villagers": "villagers", "werewolves": "Werewolves", "nobody": "nobody"}
_NAME: Final = 14
"""Cells of a player and its suspicion."""


def _lines(snapshot: Snapshot) -> list[str]:
    """Return a picture as plain lines."""
    rows = _summary(snapshot)
    for game in snapshot.games:
        suspicions = ", ".join(f"{name_of(name)} {_number(value)}" for name, value in _by_suspicion(game))
        rows.append(f"  {_game_state(game)}: {suspicions or 'nobody judged yet'}")
    return rows


def _panel(snapshot: Snapshot, width: int, height: int) -> Lines:
    """Return a picture as coloured lines that fit a terminal; games that do not fit are counted."""
    head, *figures = _summary(snapshot)
    rows: Lines = [line((head, STRONG)), *map(line, figures), Text()]
    games = snapshot.games
    if games:
        rows.append(section("Suspicion towards the living, smoothed, mean over observers", width, "00 to 99"))
    room = max(1, (height - len(rows) - 1) // 2)
    for game in games[:room]:
        rows.append(fit(line((_game_state(game), FAINT)), width))
        parts: list[Any] = ["  "]
        for name, value in _by_suspicion(game)[: max(1, (width - 2) // _NAME)]:
            parts += [
                (f"{name_of(name)[: _NAME - 5]} ", ""),
                (hundredths(value), heat(value)) if value is not None else ("--", FAINT),
                "  ",
            ]
        rows.append(fit(line(*parts), width))
    if len(games) > room:
        rows.append(line((f"and {counted(len(games) - room, 'more game')}", FAINT)))
    return rows


def _summary(snapshot: Snapshot) -> list[str]:
    """Return the session's state, and who won and how well lies are detected."""
    picture = snapshot.picture or {}
    state = "has closed" if snapshot.closed else f"{counted(int(picture.get('running', 0)), 'game')} running"
    head = f"Session {printable(str(picture.get('session', '')), 64)}: {picture.get('over', 0)} over, {state}"
    winners, scores = picture.get("winners", {}), picture.get("headline", {})
    won = "  won: " + ", ".join(f"{_WINNERS.get(name, name)} {count}" for name, count in winners.items())
    if not scores.get("n"):
        return [head, won]
    over = counted(int(scores["n"]), "judgement")
    accuracy, constant = _number(scores.get("accuracy")), _number(scores.get("constant_accuracy"))
    balanced, area = _number(scores.get("balanced_accuracy")), _number(scores.get("auc"))
    return [
        head,
        won,
        f"  detection over {over}: accuracy {accuracy}, a constant guess has {constant}",
        f"  balanced accuracy {balanced}, AUC of suspicion {area}",
    ]


def _game_state(game: Mapping[str, Any]) -> str:
    stage = f"round {game['round']}, {game['phase']}" if game.get("round") else "begins"
    counts = f"{counted(int(game['statements']), 'statement')}, {counted(int(game['judgements']), 'judgement')}"
    losses = f", out: {', '.join(name_of(name) for name in game['left'])}" if game["left"] else ""
    return f"{printable(str(game['game']), 64)} {stage}, {counts}{losses}"


def _by_suspicion(game: Mapping[str, Any]) -> list[tuple[str, float | None]]:
    suspicions = game.get("suspicion", {}).items()
    return sorted(suspicions, key=lambda pair: -1.0 if pair[1] is None else pair[1], reverse=True)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
