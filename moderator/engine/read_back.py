"""A game's record, read back from the bus."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry, every_entry
from wolfbus.errors import MessageError, RecordError
from wolfbus.messages.codec import unpack
from wolfbus.record.line import Recorded, parse_flat


def read_back(bus: Bus, house: str, game: str, types: Collection[str] | None = None) -> Iterator[Recorded]:
    """Yield the events of a game's record stream, in order.

    Args:
        bus: where it is.
        house: house name.
        game: the game's id.
        types: event types that are wanted; None for all.

    Raises:
        RecordError: there is none, it was trimmed, or an entry is no event; with the line, where there is one.
        BusError: it cannot be read now.
    """
    stream = streams.record(house, game)
    number = 0
    for entry in every_entry(bus, stream):
        number += 1
        if entry.id != f"{number}-0":
            raise RecordError(f"{stream}: entry {entry.id} stands here; what was before it was trimmed", number)
        if types is None or entry.type in types:
            yield _parse(entry, number)
    if not number:
        raise RecordError(f"{stream}: there is no record")


def _parse(entry: Entry, number: int) -> Recorded:
    try:
        value = unpack(entry.body)
    except MessageError as error:
        raise RecordError(str(error), number) from None
    recorded = parse_flat(value, number)
    if recorded.n != number:
        raise RecordError(f"number {recorded.n} stands under entry {entry.id}", number)
    return recorded
