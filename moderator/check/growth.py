"""What later builds may do within this version of the protocol: add members to the messages that agents get."""

from __future__ import annotations

from typing import Any, Final

from wolfbus.bus.protocol import Entry
from wolfbus.messages.codec import pack, unpack

MEMBER: Final = "not_known_yet"
"""Name of the member that is added everywhere."""

_BY_NAME: Final = frozenset({"votes", "roles"})
"""Members that hold a map by players' names: what is added there would be a player."""


def grown(entry: Entry) -> Entry:
    """Return a message for an agent with a member more in each of its maps."""
    return entry._replace(content=pack(_grown(unpack(entry.body))))


def _grown(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: each if name in _BY_NAME else _grown(each) for name, each in value.items()}
        return {**kept, MEMBER: {"since": 1, "words": ["a", None]}}
    return [_grown(each) for each in value] if isinstance(value, tuple) else value
