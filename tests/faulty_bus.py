"""A bus that mistreats what agents send (doubled, late, lost, reordered, malformed, oversized and forged replies), and
what readers get (entries late, or more than once), by a seed.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from tests.faulty_reader import FaultyReader, Reading, drawn
from wolfbus.bus import Bus, Entry, Reader
from wolfbus.game.draws import choose, unit
from wolfbus.messages.codec import pack, unpack

Fault: TypeAlias = Literal[
    "doubled", "late", "lost", "malformed", "illegal", "oversized", "forged", "stranger", "old_version"
]
"""What may happen to a reply.

doubled: it arrives twice · late: some later replies overtake it, perhaps past its deadline · lost: it never arrives ·
malformed: its bytes or fields make no sense · illegal: its content is against the rules · oversized: it is too long ·
forged: it names another seat ·
stranger: it answers a question that nobody asked · old_version: it speaks another protocol version.
"""

LATE_BY: Final = 5
"""Replies on the same stream that overtake a late one."""


class FaultyBus:
    """A `Bus` around another one that lets a share of replies and of deliveries go wrong. All else passes through.

    Args:
        inner: the real bus.
        seed: decides which reply, and which delivery, meets which fault.
        shares: probability of each fault per reply; the rest arrive as sent.
        readings: probability of each fault per entry that a reader of this bus gets; see `FaultyReader`.
        among: readers are mistreated only on streams with one of these in their names.

    Attributes:
        injected: how many replies and deliveries met each fault so far.
    """

    def __init__(
        self,
        inner: Bus,
        seed: str,
        shares: Mapping[Fault, float],
        readings: Mapping[Reading, float] | None = None,
        among: Sequence[str] = (":in:", ":out:"),
    ) -> None:
        self._inner = inner
        self._seed = seed
        self._shares = dict(shares)
        self._readings = dict(readings or {})
        self._among = tuple(among)
        self._readers = 0
        self._lock = threading.Lock()
        self._seen = 0
        self._sent: Counter[str] = Counter()
        self._held: list[tuple[int, str, Entry]] = []
        self.injected: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def append(self, stream: str, entries: Sequence[Entry], within_s: float | None = None) -> None:
        """Append what is left of `entries`, under ids counted anew, for their number may have changed."""
        if ":out:" not in stream:
            self._inner.append(stream, entries, within_s)
            return
        with self._lock:
            passed: list[Entry] = []
            for entry in entries:
                self._seen += 1
                passed.extend(self._treat(stream, entry))
                due = [held for held in self._held if held[0] <= self._seen and held[1] == stream]
                self._held = [held for held in self._held if held not in due]
                passed.extend(held for _, _, held in due)
            numbered = [self._numbered(stream, entry) for entry in passed]
            if numbered:
                self._inner.append(stream, numbered, within_s)

    def _numbered(self, stream: str, entry: Entry) -> Entry:
        self._sent[stream] += 1
        return entry._replace(id=f"{entry.id.split('-')[0]}-{self._sent[stream]}")

    def _treat(self, stream: str, entry: Entry) -> list[Entry]:
        fault = self._fault()
        if fault is None:
            return [entry]
        self.injected[fault] += 1
        if fault == "doubled":
            return [entry, entry]
        if fault == "lost":
            return []
        if fault == "late":
            self._held.append((self._seen + LATE_BY, stream, entry))
            return []
        return [entry._replace(content=self._spoil(fault, entry.body))]

    def _fault(self) -> Fault | None:
        return drawn(unit(self._seed, "fault", n=self._seen), self._shares)

    def _spoil(self, fault: Fault, body: bytes) -> bytes:
        reply = unpack(body)
        if fault == "malformed":
            way: Callable[[dict[str, Any], bytes], bytes] = choose(self._seed, "way", _MALFORMED, n=self._seen)
            return way(reply, body)
        if fault == "illegal":
            return pack({**reply, "content": _ILLEGAL[reply["kind"]]})
        if fault == "oversized":
            return pack({**reply, "thought": "x" * 70_000})
        if fault == "forged":
            return pack({**reply, "seat": "Somebody Else"})
        if fault == "stranger":
            return pack({**reply, "request": f"{reply['request']}/999"})
        return pack({**reply, "v": 0})

    def reader(self) -> Reader:
        """See `Bus.reader`."""
        inner = self._inner.reader()
        if not self._readings:
            return inner
        with self._lock:
            self._readers += 1
            return FaultyReader(inner, f"{self._seed}/{self._readers}", self._readings, self.injected, self._among)


_MALFORMED: Final[Sequence[Callable[[dict[str, Any], bytes], bytes]]] = (
    lambda _reply, _body: b"",
    lambda _reply, _body: b"\xc1 no msgpack \xff",
    lambda _reply, body: body[: len(body) // 2],
    lambda reply, _body: pack({**reply, "content": "yes please"}),
    lambda reply, _body: pack({**reply, "content": None}),
    lambda reply, _body: pack({**reply, "kind": "dance"}),
    lambda reply, _body: pack({**reply, "surprise": 1}),
    lambda reply, _body: pack({**reply, "type": "delivery"}),
    lambda _reply, _body: pack({"v": 1}),
)

_ILLEGAL: Final[dict[str, dict[str, Any]]] = {
    "bid": {"bid": 1_000_000},
    "speak": {"text": "   "},
    "assess_own": {"deceptive": True, "confidence": 7.0},
    "assess_other": {"deceptive": True, "confidence": 0.5, "suspicion": -1.0},
    "vote": {"target": "Nobody Here"},
    "kill": {"target": "Nobody Here"},
    "protect": {"target": "Nobody Here"},
    "inspect": {"target": "Nobody Here"},
    "whisper": {"target": "Nobody Here", "word": "psst"},
}
