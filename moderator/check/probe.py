"""What a trial does that the engine would not: it loses, repeats and grows what a game tells the agent, and it watches
what goes past.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from wolfbus.bus.protocol import Bus, Commit, Entry
from wolfbus.bus.pump import BusReader, BusWriter, Deliver, Done, Lost, OnError
from wolfbus.messages.codec import pack, unpack

MEMBER: Final = "not_known_yet"
"""Name of the member that is added everywhere."""

_BY_NAME: Final = frozenset({"votes", "roles"})
"""Members that hold a map by players' names: what is added there would be a player."""


class ProbeReader(BusReader):
    """A bus reader that shows somebody all entries before those who follow their stream get them."""

    def __init__(self, bus: Bus, on_error: OnError, watch: Deliver) -> None:
        super().__init__(bus, on_error)
        self._watch = watch

    def follow(self, stream: str, deliver: Deliver, after: str = "0-0", lost: Lost | None = None) -> None:
        """Hand entries to `watch`, then to `deliver`; see `BusReader.follow`."""

        def both(name: str, entries: list[Entry]) -> None:
            self._watch(name, entries)
            deliver(name, entries)

        super().follow(stream, both, after, lost)


class ProbeWriter(BusWriter):
    """A bus writer that writes of each step what somebody makes of it."""

    def __init__(self, bus: Bus, on_error: OnError, change: Callable[[Commit], Commit]) -> None:
        super().__init__(bus, on_error)
        self._change = change

    def commit(self, commit: Commit, done: Done) -> None:
        """Queue what becomes of a step; see `BusWriter.commit`."""
        super().commit(self._change(commit), done)


def grown(entry: Entry) -> Entry:
    """Return a message for an agent with a member more in each of its maps, as later builds may add them."""
    return entry._replace(content=pack(_grown(unpack(entry.body))))


def _grown(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: each if name in _BY_NAME else _grown(each) for name, each in value.items()}
        return {**kept, MEMBER: {"since": 1, "words": ["a", None]}}
    return [_grown(each) for each in value] if isinstance(value, tuple) else value
