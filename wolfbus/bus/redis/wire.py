"""Entries and replies as Redis Streams hold them: the one place that knows their shape (RESP2).

Entries are appended under explicit ids, so that Redis itself refuses what is there already; what it refused is looked
at. An ACL user that may only XADD, XRANGE and XINFO its own stream can do all of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from redis.exceptions import ResponseError

from wolfbus.bus.landing import ascending_ids, check_landed
from wolfbus.bus.protocol import Entry
from wolfbus.bus.redis.connection import RedisLink, Word, refusal
from wolfbus.bus.streams import Extent, join_id, parse_id

_NAMES = [b"type", b"from", b"game", b"n", b"body"]


def xadd(stream: str, entry: Entry, entry_id: str) -> tuple[Word, ...]:
    """Return the command that appends an entry under an id (``*`` lets Redis choose): readable words, then the body."""
    words = ("type", entry.type, "from", entry.sender, "game", entry.game, "n", entry.number)
    return ("XADD", stream, entry_id, *words, "body", entry.body)


def entry_of(item: list[Any]) -> Entry:
    """Read an entry from ``[id, [name, value, ...]]``. What a stranger wrote comes out as far as it can be read."""
    entry_id, pairs = item
    if pairs[:10:2] == _NAMES and pairs[7].isdigit():
        return Entry(pairs[9], _text(pairs[1]), _text(pairs[3]), _text(pairs[5]), int(pairs[7][:18]), entry_id.decode())
    fields = dict(zip(pairs[::2], pairs[1::2], strict=False))
    number = fields.get(b"n", b"")
    return Entry(
        content=fields.get(b"body", b""),
        type=_text(fields.get(b"type", b"")),
        sender=_text(fields.get(b"from", b"")),
        game=_text(fields.get(b"game", b"")),
        number=int(number[:18]) if number.removeprefix(b"-").isdigit() else 0,
        id=entry_id.decode(),
    )


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")


def head_of(item: list[Any]) -> str:
    """Return the head that a step has left on its last record entry, "" if there is none."""
    _, pairs = item
    fields = dict(zip(pairs[::2], pairs[1::2], strict=False))
    return _text(fields.get(b"head", b""))


def extent_of(stream: str, reply: Any) -> Extent | None:
    """Read the reply to ``XINFO STREAM``, None if the stream does not exist.

    Raises:
        BusError: Redis refused, for example because this is no stream.
    """
    if isinstance(reply, ResponseError):
        if "no such key" in str(reply):
            return None
        raise refusal(reply, f"stream {stream}")
    facts = dict(zip(reply[::2], reply[1::2], strict=False))
    first = facts[b"first-entry"]
    return Extent(
        first=parse_id(first[0].decode()) if first else None,
        last=parse_id(facts[b"last-generated-id"].decode()),
        shortened=facts[b"entries-added"] > facts[b"length"],
    )


def extent(link: RedisLink, stream: str) -> Extent | None:
    """Ask how far a stream reaches, None if it does not exist."""
    (reply,) = link.exchange([("XINFO", "STREAM", stream)])
    return extent_of(stream, reply)


def find(link: RedisLink, stream: str, entry_id: str) -> Entry | None:
    """Return the entry that stands on a stream under an id."""
    items = link.ask("XRANGE", stream, entry_id, entry_id, doing=f"stream {stream}")
    return entry_of(items[0]) if items else None


def last_id(link: RedisLink, stream: str) -> str:
    """Return the id of the newest entry ever appended, "0-0" if none."""
    stored = extent(link, stream)
    return join_id(stored.last) if stored is not None else "0-0"


BATCH = 500
"""Most entries sent before their replies are read."""


def append(link: RedisLink, stream: str, entries: Sequence[Entry]) -> None:
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
            _check_landed(link, stream, refused)


def _check_landed(link: RedisLink, stream: str, refused: Sequence[Entry]) -> None:
    """Make sure that each refused entry had landed before."""
    commands: list[tuple[Word, ...]] = [("XRANGE", stream, entry.id, entry.id) for entry in refused]
    *replies, info = link.exchange([*commands, ("XINFO", "STREAM", stream)])
    stored = extent_of(stream, info)
    for entry, items in zip(refused, replies, strict=True):
        if isinstance(items, ResponseError):
            raise refusal(items, f"stream {stream}", stream) from items
        check_landed(stream, entry, entry_of(items[0]) if items else None, stored)
