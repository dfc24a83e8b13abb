"""`wolfbus status`: what houses, games and agents there are on a Redis, and how far behind they are."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import click

from wolfbus.cli.options import bus_option, house_name
from wolfbus.files.formats import UNDEFINED, ago, aligned, size
from wolfbus.files.printable import counted, cut_middle, name_of, printable

if TYPE_CHECKING:
    from wolfbus.service.status import AgentStatus, GameStatus, HouseStatus, StatusReader

WATCH_S: Final = 2.0
"""Seconds between two pictures under --watch."""

_BRAIN_SHOWN: Final = 32
_HEADS: Final = ("agent", "service", "seats", "brain", "started", "knocked", "unread", "unprocessed")


@click.command()
@bus_option
@click.option("--house", callback=house_name, help="Only this house. All of them unless given.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (one a line with --watch).")
@click.option("--watch", is_flag=True, help=f"Look again every {WATCH_S:g} seconds, until interrupted.")
def status(url: str, house: str | None, *, as_json: bool, watch: bool) -> int:
    """Show houses, their games and their agents, without touching anything.

    "unread" is what waits in an agent's mailbox, "unprocessed" what it sent that the moderator could still have to read
    again after a crash. Exits 1 if the house that was named is not there.
    """
    from wolfbus.bus import open_bus
    from wolfbus.bus.redis.pool import Links
    from wolfbus.bus.url import read_address
    from wolfbus.service.lifecycle import Stopping
    from wolfbus.service.status import StatusReader

    with contextlib.closing(open_bus(url)) as bus, contextlib.closing(Links(read_address(url))) as links:
        reader = StatusReader(bus, links)
        if not watch:
            return _print_houses(reader, bus.url, house, as_json=as_json, watched=False)
        with Stopping() as stopping:
            while True:
                _print_houses(reader, bus.url, house, as_json=as_json, watched=True)
                if stopping.wait(WATCH_S):
                    return 0


def _print_houses(reader: StatusReader, url: str, house: str | None, *, as_json: bool, watched: bool) -> int:
    houses = [state for state in reader.read(house) if not state.empty]
    if as_json:
        click.echo(json.dumps({"bus": url, "houses": list(map(asdict, houses))}))
    else:
        lines = [line for state in houses for line in [*house_page(state), ""]]
        if not houses:
            absent = f"no house {house} on {url}" if house is not None else f"no house on {url}: nobody ever opened one"
            lines = [f"There is {absent}", ""]
        if watched:
            click.clear()
        click.echo("\n".join(lines if watched else lines[:-1]))
    return 1 if house is not None and not houses else 0


def house_page(house: HouseStatus) -> list[str]:
    """Return a house in lines for people."""
    if house.agenda and not house.epoch and not house.session:
        lines = [f"Agenda {house.house}: games of a study, which workers play, each in a house of its own"]
    else:
        lines = [f"House {house.house}: {_moderator(house)}; {_session(house)}"]
    if house.session:
        outcomes = ", ".join(f"{number} {outcome}" for outcome, number in house.outcomes.items())
        lines.append(f"  Games   {house.games} begun, {outcomes}, {len(house.running)} running")
        lines += (f"    {game.number:>4} {game.game}  {_game(game)}" for game in house.running)
    if house.agents:
        lines.append(f"  Agents  {len(house.agents)}")
        lines += (f"    {row}" for row in aligned([_HEADS, *map(_row, house.agents)]))
    elif house.unreadable.keys().isdisjoint({"cursors", "lobby"}) and not house.agenda:
        lines.append("  Agents  none")
    if house.memory is not None:
        lines.append(f"  Memory  {size(house.memory)} in {counted(house.keys, 'key')}")
    lines += (f"  Hidden  {part}: {printable(why)}" for part, why in house.unreadable.items())
    return lines


def _moderator(house: HouseStatus) -> str:
    if house.holder is None:
        return "who moderates it may not be read"
    if not house.epoch:
        return "nobody ever moderated it"
    holder = f"{printable(house.holder, 80) or '?'} under epoch {house.epoch}"
    if house.left_s > 0:
        return f"moderated by {holder}, lease for {house.left_s:.1f} s more"
    return f"last moderated by {holder}, no lease"


def _session(house: HouseStatus) -> str:
    if not house.session:
        return "no session" if "games" not in house.unreadable else "its games may not be read"
    return f"session {printable(house.session, 64)} {'runs' if house.open else 'is closed'}"


def _game(game: GameStatus) -> str:
    if game.lines is None:
        return "running"
    where = f"round {game.round}, {printable(str(game.phase), 16)}, " if game.round is not None else ""
    return f"{where}{counted(game.lines, 'line')}"


def _row(agent: AgentStatus) -> tuple[str, ...]:
    return (
        name_of(agent.name) if len(agent.name) <= 32 else cut_middle(printable(agent.name, 64), 32),
        agent.service or "?",
        "?" if agent.seats is None else str(agent.seats),
        "?" if agent.brain is None else cut_middle(printable(agent.brain, 300), _BRAIN_SHOWN),
        ago(agent.started_s),
        ago(agent.knocked_s),
        _count(agent.unread),
        _count(agent.unprocessed),
    )


def _count(number: int | None) -> str:
    from wolfbus.service.status import COUNT_AT_MOST

    if number is None:
        return UNDEFINED
    return f"{number}+" if number >= COUNT_AT_MOST else str(number)
