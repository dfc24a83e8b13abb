"""Claims counted: given by speakers and found in their words (metrics: objective truth)."""

from __future__ import annotations

from collections import Counter
from typing import Final, get_args

from analytics.accumulator import Result
from analytics.rows import GameRows
from wolfbus.vocabulary import Verdict

CLAIM_KINDS: Final = ("role", "inspection", "protection", "accusation")


class Claims:
    """Every claim of every statement, by where it comes from, its kind and its verdict."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[bool, str, str]] = Counter()

    def add(self, game: GameRows) -> None:
        """Take in one game."""
        self._counts.update(
            (scored.extracted, scored.claim.claim, scored.verdict)
            for statement in game.statements
            for scored in statement.claims
        )

    def merge(self, other: Claims) -> None:
        """Add all that `other` holds."""
        self._counts.update(other._counts)

    def result(self) -> Result:
        """Return ``given`` and ``extracted`` (totals), and ``by_kind``: for each kind of claim the same two, each with
        its total ``n`` and the verdicts (metrics: objective truth). Accusations are counted here, but are opinions and
        decide nothing; extracted ones that repeat what the speaker attached are not counted twice.
        """
        verdicts = get_args(Verdict)
        by_kind: Result = {
            kind: {
                name: {
                    "n": sum(self._counts[found, kind, verdict] for verdict in verdicts),
                    **{verdict: self._counts[found, kind, verdict] for verdict in verdicts},
                }
                for name, found in (("given", False), ("extracted", True))
            }
            for kind in CLAIM_KINDS
        }
        totals = {name: sum(of[name]["n"] for of in by_kind.values()) for name in ("given", "extracted")}
        return {**totals, "by_kind": by_kind}
