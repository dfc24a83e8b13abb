"""Appending under explicit ids, so that Redis itself refuses what is there already, and looking at what it refused.

An ACL user that may only XADD, XRANGE and XINFO its own stream can do all of this.
"""

from __future__ import annotations

from collections.abc import Sequence

from wolfbus.bus.checks import ascending_ids, had_landed
from wolfbus.bus.protocol import Entry
from wolfbus.bus.redis.link import Link, ResponseError, Word, refusal
from wolfbus.bus.redis.wire import entry_of, extent_of, xadd

BATCH = 500
"""Most entries sent before their replies are read."""


def append(link: Link, stream: str, entries: Sequence[Entry]) -> None:
    """Append entries; see `Bus.append`. Safe to repeat on another link after a break."""
    ascending_ids(entries)
    for start in range(0, len(entries), BATCH):
        batch = entries[start : start + BATCH]
        replies = link.exchange([xadd(stream, entry, entry.id) for entry in batch])
        refused = []
        for entry, reply in zip(batch, replies, strict=True):
            if isinstance(reply, ResponseError):
                if "equal or smaller" not in str(reply):
                    raise refusal(reply, f"stream {stream}", stream) from reply
                refused.append(entry)
        if refused:
            _look(link, stream, refused)


def _look(link: Link, stream: str, refused: Sequence[Entry]) -> None:
    """Make sure that each refused entry had landed before."""
    commands: list[tuple[Word, ...]] = [("XRANGE", stream, entry.id, entry.id) for entry in refused]
    *found, info = link.exchange([*commands, ("XINFO", "STREAM", stream)])
    reach = extent_of(stream, info)
    for entry, items in zip(refused, found, strict=True):
        if isinstance(items, ResponseError):
            raise refusal(items, f"stream {stream}", stream) from items
        had_landed(stream, entry, entry_of(items[0]) if items else None, reach)
