"""Production: how often speakers call their own statements deceptive (paper, sections 4.5, 5.2 and 5.3)."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from analytics.accumulator import Result
from analytics.rows import GameRows
from analytics.sums import Share
from wolfbus.vocabulary import ROLES

BY: Final = ("role", "brain", "agent", "round", "phase")
"""What production is split by."""

_PHASES: Final = ("debate", "vote")


class Production:
    """Mean of d over statements with a self-label that counts: overall (the base rate) and by role, brain,
    agent, round and phase.
    """

    def __init__(self) -> None:
        self._overall = Share()
        self._by: dict[str, defaultdict[str | int, Share]] = {name: defaultdict(Share) for name in BY}

    def add(self, game: GameRows) -> None:
        """Take in one game."""
        for statement in game.statements:
            if statement.d is None:
                continue
            self._overall.add(statement.d)
            for name in BY:
                self._by[name][getattr(statement, name)].add(statement.d)

    def merge(self, other: Production) -> None:
        """Add all that `other` holds."""
        self._overall.merge(other._overall)
        for name, shares in other._by.items():
            for key, share in shares.items():
                self._by[name][key].merge(share)

    def result(self) -> Result:
        """Return rates, each with its n (paper 5.2, 5.3; metrics: production).

        Roles and phases are all there, with a null rate where n = 0; rounds are keys in ascending order.
        """
        found: Result = {"overall": _rate(self._overall)}
        for name in BY:
            shares = self._by[name]
            keys = {"role": ROLES, "phase": _PHASES}.get(name) or sorted(shares)
            found[f"by_{name}"] = {str(key): _rate(shares.get(key, Share())) for key in keys}
        return found


def _rate(share: Share) -> Result:
    return {"rate": share.share(), "deceptive": share.k, "n": share.n}
