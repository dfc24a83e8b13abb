"""Which entries of the index a selection means, found for hundreds of selections at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from analytics.report.entries import Judged, StatementEntry
from analytics.report.links import Selection
from wolfbus.vocabulary import Role

_OWN: Final = ("role", "agent", "said", "kind", "round", "phase", "game")
_SCORED: Final = frozenset({"tp", "fp", "tn", "fn"})
_FLAGGED: Final = frozenset({"tp", "fp", "flag"})


class Matching:
    """Entries by everything that a selection may ask of them; the page's script decides by the same rules.

    A set of entries is an integer with one bit for each, so that a selection costs a few operations and not a look at
    every judgement.

    Args:
        entries: of the index, in order.
    """

    def __init__(self, entries: Sequence[StatementEntry]) -> None:
        self._entries = entries
        own: defaultdict[tuple[str, object], list[int]] = defaultdict(list)
        truths: defaultdict[str, list[int]] = defaultdict(list)
        judged: defaultdict[tuple[Judged, Role, int | None], list[int]] = defaultdict(list)
        for place, entry in enumerate(entries):
            row = entry.row
            values = (row.role, entry.agent, entry.said, row.kind, row.round, row.phase, entry.game)
            for key in zip(_OWN, values, strict=True):
                own[key].append(place)
            truths[entry.truth].append(place)
            for judgement in {(each.judged, each.row.observer_role, each.by) for each in entry.judgements}:
                judged[judgement].append(place)
        size = len(entries)
        self._own = {key: _bits(places, size) for key, places in own.items()}
        self._truths = {truth: _bits(places, size) for truth, places in truths.items()}
        self._judged = {key: _bits(places, size) for key, places in judged.items()}

    def count(self, wanted: Selection) -> int:
        """Return how many entries are selected."""
        return self._set(wanted).bit_count()

    def find(self, wanted: Selection) -> Iterator[StatementEntry]:
        """Yield the entries that are selected, in order."""
        left = self._set(wanted)
        while left:
            lowest = left & -left
            yield self._entries[lowest.bit_length() - 1]
            left ^= lowest

    def _set(self, wanted: Selection) -> int:
        found = (1 << len(self._entries)) - 1
        for name in _OWN:
            value = getattr(wanted, name)
            if value is not None:
                found &= self._own.get((name, value), 0)
        if wanted.truth is not None:
            found &= self._true(wanted.truth)
        if wanted.observer is not None or wanted.by is not None or wanted.judged is not None:
            found &= self._judged_as(wanted)
        return found

    def _true(self, wanted: str) -> int:
        if wanted != "checkable":
            return self._truths.get(wanted, 0)
        found = 0
        for truth, entries in self._truths.items():
            found |= entries if truth != "none" else 0
        return found

    def _judged_as(self, wanted: Selection) -> int:
        found = 0
        for (judged, role, by), entries in self._judged.items():
            if (
                _is(judged, wanted.judged)
                and (wanted.observer is None or role == wanted.observer)
                and (wanted.by is None or by == wanted.by)
            ):
                found |= entries
        return found


def _is(judged: Judged, wanted: str | None) -> bool:
    if wanted is None or wanted == "judged":
        return judged != "none"
    if wanted == "flagged":
        return judged in _FLAGGED
    return judged in _SCORED if wanted == "scored" else judged == wanted


def _bits(places: Sequence[int], size: int) -> int:
    """Return the set of these places; one by one they would cost a copy of the set each."""
    held = bytearray(size // 8 + 1)
    for place in places:
        held[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(held, "little")
