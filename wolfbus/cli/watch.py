"""`wolfbus watch`: the rolling picture of a house, as its analytics service posts it."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from wolfbus.errors import MessageError, StreamLost
from wolfbus.service.options import service_address

if TYPE_CHECKING:
    from wolfbus.bus.protocol import Bus, Entry
    from wolfbus.service.lifecycle import Stopping

_BLOCK_S: Final = 1.0
"""Seconds after which a request to stop is seen."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What there is to show.

    Attributes:
        picture: the newest one, None before the first.
        closed: whether the session that it is of has closed.
    """

    picture: dict[str, Any] | None
    closed: bool


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
    from wolfbus.service.lifecycle import Stopping, open_when_there

    with Stopping() as stopping, contextlib.ExitStack() as around:
        bus = open_when_there(url, stopping)
        if bus is None:
            return 1
        around.callback(bus.close)
        show = around.enter_context(_screen(plain=plain or once, as_json=as_json))
        seen = False
        for shown in _pictures(bus, house, stopping):
            if shown.picture is not None:
                seen = True
                show(shown)
                if once:
                    return 0
            if shown.closed:
                break
            if shown.picture is None:
                click.echo(f"wolfbus: nothing is posted in house {house} yet; waiting for its analytics", err=True)
                if once:
                    return 1
    if not seen:
        click.echo(f"wolfbus: nothing was ever shown of house {house}", err=True)
    return 0 if seen else 1


def _pictures(bus: Bus, house: str, stopping: Stopping) -> Iterator[Shown]:
    """Yield how it stands now, and then whenever that changes, until the session closes or somebody asks to stop."""
    from wolfbus.bus import streams
    from wolfbus.bus.protocol import every_entry

    live, games = streams.live(house), streams.games(house)
    closed, after = False, "0-0"
    for entry in every_entry(bus, games):
        closed, after = _closed(closed, entry), entry.id
    newest = None
    at = "0-0"
    for entry in every_entry(bus, live):
        newest, at = entry, entry.id
    yield Shown(_read(newest), closed)
    if closed:
        return
    reader = bus.reader()
    reader.follow(games, after)
    reader.follow(live, at)
    try:
        while not stopping.wait(0):
            try:
                found = dict(reader.read(_BLOCK_S))
            except StreamLost:
                # the bus lost its last second, or the house began anew: whatever comes next is the truth
                for stream in (games, live):
                    reader.follow(stream, bus.last_id(stream))
                continue
            for entry in found.get(games, ()):
                closed = _closed(closed, entry)
            posted = found.get(live, ())
            if closed:
                # analytics posts how it ended a moment after the moderator has closed the house
                posted = posted or dict(reader.read(_BLOCK_S)).get(live, ())
            if posted or closed:
                newest = posted[-1] if posted else newest
                yield Shown(_read(newest), closed)
            if closed:
                return
    finally:
        reader.close()


def _closed(before: bool, entry: Entry) -> bool:
    return {"house_opened": False, "house_closed": True}.get(entry.type, before)


def _read(entry: Entry | None) -> dict[str, Any] | None:
    from wolfbus.messages.codec import unpack

    if entry is None:
        return None
    try:
        return unpack(entry.body)
    except MessageError as error:
        click.echo(f"wolfbus: a picture cannot be read: {error}", err=True)
        return None


def _print_json(shown: Shown) -> None:
    try:
        line = json.dumps({**(shown.picture or {}), "closed": shown.closed}, allow_nan=False)
    except (ValueError, TypeError) as error:
        # msgpack holds more than JSON does: numbers that are none, bytes
        click.echo(f"wolfbus: a picture cannot be told as JSON: {error}", err=True)
        return
    click.echo(line)


@contextlib.contextmanager
def _screen(*, plain: bool, as_json: bool) -> Iterator[Callable[[Shown], None]]:
    if as_json:
        yield _print_json
        return
    from wolfbus.cli.watched import lines

    if plain or not sys.stdout.isatty():
        yield lambda shown: click.echo("\n".join(lines(shown.picture or {}, closed=shown.closed)) + "\n")
        return
    from rich.console import Console, Group
    from rich.live import Live

    from wolfbus.cli.watched import panel

    console = Console()
    with Live(console=console, auto_refresh=False, screen=True) as live:
        last: list[Shown] = []

        def show(shown: Shown) -> None:
            last[:] = [shown]
            rows = panel(shown.picture or {}, closed=shown.closed, width=console.width, height=console.height - 1)
            live.update(Group(*rows), refresh=True)

        yield show
    for shown in last:
        console.print(Group(*panel(shown.picture or {}, closed=shown.closed, width=console.width, height=1000)))
