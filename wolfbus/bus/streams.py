"""Names of the streams of a house, ids of their entries, and how far a stream reaches; one place, so that ACLs, routers
and people agree.

Ids are two integers ``A-B``, compared in order, as Redis Streams count them.
"""

from __future__ import annotations

from dataclasses import dataclass

from wolfbus.errors import BusError, StreamLost

Id = tuple[int, int]
"""An entry id taken apart."""

START: Id = (0, 0)
"""The cursor of a reader that has read nothing; no entry has this id."""


def house_key(house: str, name: str) -> str:
    """Return ``wolf:{HOUSE}:NAME``; the braces put a whole house into one Redis Cluster slot."""
    return f"wolf:{{{house}}}:{name}"


def inbox(house: str, agent: str) -> str:
    """All that is addressed to `agent`; filled only by the moderator's commits."""
    return house_key(house, f"in:{agent}")


def outbox(house: str, agent: str) -> str:
    """All that `agent` sends; only it writes here."""
    return house_key(house, f"out:{agent}")


def record(house: str, game: str) -> str:
    """Return the record of a game: the truth, for researchers."""
    return house_key(house, f"record:{game}")


def table(house: str, game: str) -> str:
    """Return the stream of what everybody may know of a game, for spectators."""
    return house_key(house, f"table:{game}")


def games(house: str) -> str:
    """Return the stream that tells what games there are."""
    return house_key(house, "games")


def lobby(house: str) -> str:
    """Agents joining; the one stream with many writers."""
    return house_key(house, "lobby")


def heads(house: str) -> str:
    """Return the hash of game id to record head."""
    return house_key(house, "heads")


def owner(house: str) -> str:
    """Who owns the house, and under which epoch."""
    return house_key(house, "owner")


def cursors(house: str) -> str:
    """Return the hash of stream name to durable cursor."""
    return house_key(house, "cursors")


def tickets(house: str) -> str:
    """Return the set of names that hold a ticket; it exists only where nobody else may join."""
    return house_key(house, "tickets")


def live(house: str) -> str:
    """Return the stream of rolling metrics, from analytics."""
    return house_key(house, "live")


def parse_id(text: str) -> Id:
    """Take ``"A-B"`` apart.

    Raises:
        BusError: `text` is not two whole numbers joined by a dash.
    """
    first, dash, second = text.partition("-")
    if not (dash and first.isdecimal() and second.isdecimal()):
        raise BusError(f"{text!r} is no entry id (two whole numbers joined by a dash)")
    return int(first), int(second)


def join_id(entry_id: Id) -> str:
    """Return the id as ``"A-B"``."""
    return f"{entry_id[0]}-{entry_id[1]}"


def follows_directly(cursor: Id, entry_id: Id) -> bool:
    """Tell whether no entry can lie between the two: ``A-B`` to ``A-(B+1)``, or ``SEQ-0`` to ``(SEQ+1)-0``."""
    return entry_id == (cursor[0], cursor[1] + 1) or (cursor[1] == 0 and entry_id == (cursor[0] + 1, 0))


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a stream reaches.

    Attributes:
        first: id of the oldest entry still there, None if there is none.
        last: id of the newest entry ever appended.
        shortened: whether entries were ever taken away.
    """

    first: Id | None
    last: Id
    shortened: bool


def check_loss(stream: str, cursor: Id, extent: Extent | None) -> None:
    """Check that a stream lost nothing of that which lies after `cursor`.

    Args:
        stream: its name.
        cursor: id of the last entry read.
        extent: how far the stream reaches, None if it does not exist.

    Raises:
        StreamLost: it did.
    """
    if cursor == START or (extent is not None and extent.last == cursor):
        return
    if extent is None:
        lost = "it is gone"
    elif extent.last < cursor:
        lost = f"it now ends at {join_id(extent.last)}"
    elif extent.first is None:
        lost = f"all its entries up to {join_id(extent.last)} were cut away"
    elif extent.first <= cursor or follows_directly(cursor, extent.first):
        return
    else:
        lost = f"it was cut and now begins at {join_id(extent.first)}"
    backwards = extent is None or extent.last < cursor
    raise StreamLost(f"stream {stream} was read up to {join_id(cursor)}, but {lost}", stream, backwards=backwards)
