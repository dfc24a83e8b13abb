"""Judgements both buses share: what a reader lost, whether a refused entry had landed, if a step makes sense."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wolfbus.bus.ids import START, Id, follows_directly, join_id, parse_id
from wolfbus.bus.protocol import Commit, Entry
from wolfbus.bus.streams import record
from wolfbus.errors import BusError, Fenced, HouseHeld, StaleWriter, StreamLost


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


def what_was_lost(cursor: Id, extent: Extent | None) -> str:
    """Say what a stream lost of that which lies after `cursor`, or "" if nothing.

    Args:
        cursor: id of the last entry read.
        extent: how far the stream reaches, None if it does not exist.
    """
    if cursor == START:
        return ""
    if extent is None:
        return "it is gone"
    if extent.last < cursor:
        return f"it now ends at {join_id(extent.last)}"
    if extent.last == cursor:
        return ""
    if extent.first is None:
        return f"all its entries up to {join_id(extent.last)} were cut away"
    if extent.first <= cursor or follows_directly(cursor, extent.first):
        return ""
    return f"it was cut and now begins at {join_id(extent.first)}"


def loss(stream: str, cursor: Id, lost: str, extent: Extent | None) -> StreamLost:
    """Return the error that tells a reader what its stream lost; see `what_was_lost`."""
    backwards = extent is None or extent.last < cursor
    return StreamLost(f"stream {stream} was read up to {join_id(cursor)}, but {lost}", stream, backwards=backwards)


def ascending_ids(entries: Sequence[Entry]) -> list[Id]:
    """Return the ids of a batch taken apart.

    Raises:
        BusError: an id is malformed or missing, or not greater than the one before it.
    """
    ids: list[Id] = []
    before = START
    for entry in entries:
        entry_id = parse_id(entry.id)
        if entry_id <= before:
            raise BusError(f"entry ids must ascend: {entry.id} comes after {join_id(before)}")
        ids.append(entry_id)
        before = entry_id
    return ids


def had_landed(stream: str, entry: Entry, found: Entry | None, extent: Extent | None) -> None:
    """Return quietly if an entry that the stream refused as too old had landed before.

    Args:
        stream: name of the stream, for the error's line.
        entry: what was to be appended.
        found: what stands under the same id, None if nothing does.
        extent: how far the stream reaches.

    Raises:
        StaleWriter: other bytes stand under this id, or the stream belongs to a newer incarnation.
        BusError: the writer passed this id over, so the entry can no longer be put in.
    """
    if found is not None:
        if found != entry:
            raise StaleWriter(f"stream {stream} already holds another entry under id {entry.id}", stream)
        return
    entry_id = parse_id(entry.id)
    if extent is not None and extent.last[0] > entry_id[0]:
        raise StaleWriter(
            f"stream {stream} belongs to a newer incarnation: "
            f"it ends at {join_id(extent.last)}, this writer is at {entry.id}",
            stream,
        )
    if extent is not None and extent.shortened and (extent.first is None or entry_id < extent.first):
        return
    raise BusError(f"stream {stream} has passed over id {entry.id}; an entry cannot be put in before newer ones")


def house_held(house: str, holder: str, left_s: float) -> HouseHeld:
    """Return the error that tells a claimant to wait."""
    return HouseHeld(f"house {house} is held by {holder} for another {left_s:.1f} s", holder, left_s)


def not_current(house: str, epoch: int, current: str, holder: str = "") -> Fenced:
    """Return the error that tells an owner it is owner no more.

    Args:
        house: the house's name.
        epoch: under which it was claimed.
        current: the epoch that is, "" for none.
        holder: who has it, where that matters.
    """
    if not current:
        return Fenced(f"house {house} has no owner any more: the bus lost its data (this moderator held epoch {epoch})")
    if current == str(epoch):
        return Fenced(f"house {house} belongs to {holder} under this epoch ({epoch})")
    return Fenced(f"epoch {epoch} is not the current one of house {house} ({current})")


def gone_backwards(house: str, steps: str) -> Fenced:
    """Return the error that tells an owner that the bus came back without steps it had confirmed.

    Args:
        house: the house's name.
        steps: how many it knows of now.
    """
    return Fenced(f"house {house}: the bus has lost steps that had landed; it knows of {steps} now")


def milliseconds(seconds: float) -> int:
    """Return a time in whole milliseconds, rounded up.

    Raises:
        BusError: it is negative or endless.
    """
    if not 0 <= seconds < math.inf:
        raise BusError(f"{seconds} is no number of seconds from 0")
    return math.ceil(seconds * 1000)


def nonsense(commit: Commit) -> str:
    """Say why no bus could land this step, or "" if it makes sense in itself."""
    if bool(commit.record) == (commit.expected == commit.head):
        return "a step changes the head of its record exactly when it has record entries"
    if not commit.game and (commit.record or commit.head):
        return "a step of the house itself has no record"
    if commit.record:
        first = parse_id(commit.record[0].id)[0]
        wanted = [f"{number}-0" for number in range(first, first + len(commit.record))]
        if first < 1 or [entry.id for entry in commit.record] != wanted:
            return "the ids of record entries count up as SEQ-0, from 1, without gaps"
    newest: dict[str, Id | None] = {}
    own = record(commit.house, commit.game)
    for stream, entry in commit.posts:
        if stream == own:
            return "a step posts nothing to its own record"
        entry_id = parse_id(entry.id) if entry.id else None
        if stream in newest:
            before = newest[stream]
            if (before is None) != (entry_id is None):
                return f"posts to {stream} have ids of their own either all or never"
            if before is not None and entry_id is not None and entry_id <= before:
                return f"the ids of posts to {stream} must ascend"
        newest[stream] = entry_id
    return ""
