"""Reading a whole stream, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wolfbus.bus.protocol import Bus, Entry

PAGE: Final = 1000
"""Entries read at a time."""


def every_entry(bus: Bus, stream: str, after: str = "0-0", page: int = PAGE) -> Iterator[Entry]:
    """Yield all entries of a stream after id `after`, to its end as it is when that is reached.

    Raises:
        BusError: it cannot be read, or not any further.
    """
    while found := bus.entries(stream, after, page):
        yield from found
        after = found[-1].id
