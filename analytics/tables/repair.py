"""Repair report: how the replies of every kind were read, and what became of them (metrics: repair report)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, get_args

from analytics.accumulator import Result
from analytics.rows import GameRows, ReplyKey
from analytics.sums import ratio
from wolfbus.vocabulary import KINDS, Fault, Outcome, Reading

READINGS: Final[tuple[Reading, ...]] = get_args(Reading)
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)


class Repair:
    """Counts replies by brain, kind, reading, outcome and fault.

    Only accepted replies have a reading. Replies of all kinds count: bids, statements, labels, judgements, votes and
    what is done at night.
    """

    def __init__(self) -> None:
        self._counts: Counter[ReplyKey] = Counter()

    def add(self, game: GameRows) -> None:
        """Take in one game."""
        self._counts.update(game.replies)

    def merge(self, other: Repair) -> None:
        """Add all that `other` holds."""
        self._counts.update(other._counts)

    def result(self) -> Result:
        """Return counts ``overall``, ``by_kind`` of reply and ``by_brain``, there with the kinds once more.

        ``replies`` = ``accepted`` + ``defaulted`` + ``timed_out`` + ``declined``; ``accepted`` = ``clean`` +
        ``extracted`` + ``repaired`` + ``coerced`` + ``reasked``. ``faults`` counts by what was wrong. ``lost_share`` is
        the share of defaulted and timed-out ones among those that were not declined, None without any.
        """
        counts = list(self._counts.items())
        brains = sorted({brain for (brain, *_), _ in counts})
        return {
            "overall": _row(counts),
            "by_kind": _by_kind(counts),
            "by_brain": {
                brain: {"overall": _row(own), "by_kind": _by_kind(own)}
                for brain in brains
                for own in ([(key, count) for key, count in counts if key[0] == brain],)
            },
        }


def _by_kind(counts: list[tuple[ReplyKey, int]]) -> Result:
    present = {key[1] for key, _ in counts}
    return {kind: _row([(key, count) for key, count in counts if key[1] == kind]) for kind in KINDS if kind in present}


def _row(counts: Iterable[tuple[ReplyKey, int]]) -> Result:
    outcomes: Counter[Outcome] = Counter()
    readings: Counter[Reading | None] = Counter()
    faults: Counter[Fault | None] = Counter()
    for (_, _, outcome, reading, fault), count in counts:
        outcomes[outcome] += count
        readings[reading] += count
        faults[fault] += count
    return {
        "replies": outcomes.total(),
        **{outcome: outcomes[outcome] for outcome in OUTCOMES},
        **{reading: readings[reading] for reading in READINGS},
        "lost_share": ratio(outcomes["defaulted"] + outcomes["timed_out"], outcomes.total() - outcomes["declined"]),
        "faults": {fault: faults[fault] for fault in FAULTS},
    }
