"""Labels: how self-labels and judgements were come by; what stands behind every other table."""

from __future__ import annotations

from collections import Counter

from analytics.accumulator import Result
from analytics.rows import GameRows, JudgementRow, StatementRow


class Labels:
    """Counts self-labels and judgements together: read cleanly, read with some repair, or missing.

    The true outcome decides, whether or not missing ones were filled in. A label that is still awaited is not counted.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, game: GameRows) -> None:
        """Take in one game."""
        self._counts.update(_how(row) for row in game.statements if row.outcome is not None)
        self._counts.update(_how(row) for row in game.judgements)

    def merge(self, other: Labels) -> None:
        """Add all that `other` holds."""
        self._counts.update(other._counts)

    def result(self) -> Result:
        """Return ``total`` = ``clean`` + ``repaired`` (accepted, but not clean) + ``defaulted`` (all others)."""
        return {
            "total": self._counts.total(),
            **{name: self._counts[name] for name in ("clean", "repaired", "defaulted")},
        }


def _how(row: StatementRow | JudgementRow) -> str:
    if row.outcome != "accepted":
        return "defaulted"
    return "clean" if row.reading == "clean" else "repaired"
