"""`wolfbus watch`: how the games of a house stand, as its analytics service posts it: lines of plain text, or JSON."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from wolfbus.bus import streams
from wolfbus.bus.protocol import every_entry
from wolfbus.cli.options import service_address
from wolfbus.errors import MessageError
from wolfbus.files.printable import counted, error_in_words, name_of, printable, visible
from wolfbus.messages.codec import unpack
from wolfbus.service.lifecycle import Stopping, await_bus
from wolfbus.service.session import Session

if TYPE_CHECKING:
    from wolfbus.bus.protocol import Bus, Entry

_EVERY_S: Final = 0.5
"""Seconds from one look to the next."""

_END_S: Final = 5.0
"""Seconds for which analytics is waited for, once a house has closed, to post how it ended."""


class Snapshot(NamedTuple):
    """What analytics has posted.

    Attributes:
        picture: how the games stand, None before the first.
        closed: whether the session that it is of has closed, and this is how it ended, as far as anybody tells.
    """

    picture: dict[str, Any] | None
    closed: bool


@click.command()
@service_address
@click.option("--once", is_flag=True, help="Show the newest picture and leave.")
@click.option("--json", "as_json", is_flag=True, help="Print every picture as one JSON object a line.")
def watch(url: str, house: str, *, once: bool, as_json: bool) -> int:
    """Print how a house's games stand whenever that changes: who has won, how well lies are detected, and of each game
    under way the suspicion towards every living player.

    Needs a running `wolfbus analytics`. For researchers: it tells players too much. Leaves when the house closes; exits
    1 if nothing was ever shown.
    """
    with Stopping() as stopping, contextlib.ExitStack() as stack:
        bus = await_bus(url, stopping)
        if bus is None:
            return 1
        stack.callback(bus.close)
        seen = False
        for snapshot in _snapshots(bus, house, stopping):
            if snapshot.picture is not None:
                seen = True
                _print(snapshot.picture, closed=snapshot.closed, as_json=as_json)
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
    session, last_id, closed_at = Session(), None, None
    while True:
        session.catch_up(bus, house)
        newest = None
        # analytics keeps the stream short
        for newest in every_entry(bus, streams.live(house)):  # noqa: B007 - the last one
            pass
        picture = _read(newest)
        if session.end is None:
            closed_at = None
        elif closed_at is None:
            closed_at = time.monotonic()
        # analytics posts how it ended a moment after the moderator has closed the house
        is_idle = picture is None or picture.get("running") == 0
        closed = closed_at is not None and (is_idle or time.monotonic() >= closed_at + _END_S)
        id_ = newest.id if newest is not None else ""
        if id_ != last_id or closed:
            last_id = id_
            yield Snapshot(picture, closed)
        if closed or stopping.wait(_EVERY_S):
            return


def _read(entry: Entry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    try:
        return unpack(entry.body)
    except MessageError as error:
        click.echo(f"wolfbus: a picture cannot be read: {error}", err=True)
        return None


def _print(picture: Mapping[str, Any], *, closed: bool, as_json: bool) -> None:
    try:
        if as_json:
            text = json.dumps({**picture, "closed": closed}, allow_nan=False)
        else:
            text = "\n".join(map(visible, _lines(picture, closed=closed))) + "\n"
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        # another version's analytics may have posted it; and msgpack holds more than JSON does: NaN, bytes
        click.echo(f"wolfbus: a picture cannot be told: {error_in_words(error)}", err=True)
    else:
        click.echo(text)


_WINNERS: Final = {"villagers": "villagers", "werewolves": "Werewolves", "nobody": "nobody"}


def _lines(picture: Mapping[str, Any], *, closed: bool) -> Iterator[str]:
    """Yield a picture as lines: the session, who won and how well lies are detected, and a line a game."""
    state = "has closed" if closed else f"{counted(int(picture.get('running', 0)), 'game')} running"
    yield f"Session {printable(str(picture.get('session', '')), 64)}: {picture.get('over', 0)} over, {state}"
    winners, scores = picture.get("winners", {}), picture.get("headline", {})
    yield "  won: " + ", ".join(f"{_WINNERS.get(name, name)} {count}" for name, count in winners.items())
    if scores.get("n"):
        accuracy, constant = _number(scores.get("accuracy")), _number(scores.get("constant_accuracy"))
        over = counted(int(scores["n"]), "judgement")
        yield f"  detection over {over}: accuracy {accuracy}, a constant guess has {constant}"
        balanced, area = _number(scores.get("balanced_accuracy")), _number(scores.get("auc"))
        yield f"  balanced accuracy {balanced}, AUC of suspicion {area}"
    for game in picture.get("games", ()):
        suspicions = ", ".join(f"{name_of(name)} {_number(value)}" for name, value in _by_suspicion(game))
        yield f"  {_game_state(game)}: {suspicions or 'nobody judged yet'}"


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
