"""Entry ids: two integers ``A-B``, compared in order, as Redis Streams count them."""

from __future__ import annotations

from wolfbus.errors import BusError

Id = tuple[int, int]
"""An entry id taken apart."""

START: Id = (0, 0)
"""The cursor of a reader that has read nothing; no entry has this id."""


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
