"""A reading session that mistreats its reader: entries come late, or more than once, by a seed."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias, TypeVar

from wolfbus.bus import Entry, Reader
from wolfbus.errors import BusError, StreamLost
from wolfbus.game.draws import unit

Reading: TypeAlias = Literal["again", "reread", "delayed"]
"""What may happen to an entry on its way to a reader.

again: it is handed out twice in a row · reread: it and up to `REREAD` entries before it are handed out again behind it,
as by a reader that goes on from an older cursor · delayed: it, and all that follows it on its stream, comes up to
`DELAY_S` later.
"""

REREAD: Final = 3
DELAY_S: Final = 0.2

F = TypeVar("F", bound=str)


def drawn(point: float, shares: Mapping[F, float]) -> F | None:
    """Return the fault that a number from 0 to 1 falls on, None for the rest."""
    for fault, share in shares.items():
        point -= share
        if point < 0:
            return fault
    return None


class FaultyReader:
    """A `Reader` around another one. Nothing is lost, and every stream keeps its order, however often its entries come.

    Args:
        inner: the real session.
        seed: decides which entry meets which fault.
        shares: probability of each fault per entry.
        injected: where to count the faults.
        among: streams with none of these in their names are left alone; "" is in all.
    """

    def __init__(
        self,
        inner: Reader,
        seed: str,
        shares: Mapping[Reading, float],
        injected: Counter[str],
        among: Sequence[str] = ("",),
    ) -> None:
        self._inner = inner
        self._seed = seed
        self._shares = dict(shares)
        self._injected = injected
        self._among = tuple(among)
        self._lock = threading.Lock()
        self._seen = 0
        self._passed: dict[str, deque[Entry]] = {}
        self._waiting: dict[str, tuple[float, list[Entry]]] = {}  # stream -> when its entries are due, and they

    def follow(self, stream: str, after: str = "0-0") -> None:
        """See `Reader.follow`."""
        with self._lock:
            self._forget(stream)
            self._inner.follow(stream, after)

    def unfollow(self, stream: str) -> None:
        """See `Reader.unfollow`."""
        with self._lock:
            self._forget(stream)
            self._inner.unfollow(stream)

    def read(self, block_s: float, limit: int = 1000) -> list[tuple[str, list[Entry]]]:
        """See `Reader.read`; what comes more than once may go beyond `limit`."""
        until = time.monotonic() + block_s
        while True:
            found = self._due()
            with self._lock:
                pause = min([until, *(due for due, _ in self._waiting.values())]) - time.monotonic()
            started = time.monotonic()
            try:
                news = self._inner.read(0 if found else max(pause, 0), limit)
            except BusError as error:
                # What is due cannot be handed out together with an error: it comes with the next read.
                self._put_back(found)
                if isinstance(error, StreamLost):
                    with self._lock:
                        self._forget(error.stream)
                raise
            closed = not news and not found and time.monotonic() - started < pause
            found += self._treat(news)
            if found or closed or time.monotonic() >= until:
                return found

    def _due(self) -> list[tuple[str, list[Entry]]]:
        now = time.monotonic()
        with self._lock:
            names = [name for name, (due, _) in self._waiting.items() if due <= now]
            return [(name, self._waiting.pop(name)[1]) for name in names]

    def _put_back(self, found: list[tuple[str, list[Entry]]]) -> None:
        with self._lock:
            for stream, entries in found:
                self._waiting[stream] = (0.0, entries)

    def _treat(self, news: list[tuple[str, list[Entry]]]) -> list[tuple[str, list[Entry]]]:
        found = []
        with self._lock:
            for stream, entries in news:
                handed = entries
                if any(part in stream for part in self._among):
                    handed = [one for entry in entries for one in self._treated(stream, entry)]
                if handed:
                    found.append((stream, handed))
        return found

    def _treated(self, stream: str, entry: Entry) -> list[Entry]:
        """Return what is handed out now for an entry; the rest waits."""
        self._seen += 1
        fault = drawn(unit(self._seed, "reading", n=self._seen), self._shares)
        if fault is not None:
            self._injected[fault] += 1
        passed = self._passed.setdefault(stream, deque(maxlen=REREAD + 1))
        passed.append(entry)
        handed = [entry]
        if fault == "again":
            handed = [entry, entry]
        elif fault == "reread":
            handed = [entry, *passed]
        elif fault == "delayed" and stream not in self._waiting:
            delay_s = DELAY_S * unit(self._seed, "delay", n=self._seen)
            self._waiting[stream] = (time.monotonic() + delay_s, [])
        if stream in self._waiting:
            self._waiting[stream][1].extend(handed)
            return []
        return handed

    def _forget(self, stream: str) -> None:
        self._passed.pop(stream, None)
        self._waiting.pop(stream, None)

    def close(self) -> None:
        """See `Reader.close`."""
        self._inner.close()
