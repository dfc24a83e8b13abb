"""Cost: model calls, tokens, money, wall time and the critical path in calls (metrics: cost)."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from analytics.accumulator import Result
from analytics.calls import TOKENS, CallSums
from analytics.rows import GameRows
from analytics.sums import Sample, ratio

BY: Final = ("model", "kind", "role", "brain")
"""What calls are split by, beside the seats of a single game."""


class Cost:
    """Sums over the games in which models were called, finished or not.

    Seats are told apart while there is one such game: names mean nothing across games.
    """

    def __init__(self) -> None:
        self._games = 0
        self._statements = 0
        self._total = CallSums()
        self._by: dict[str, defaultdict[str, CallSums]] = {name: defaultdict(CallSums) for name in BY}
        self._seats: defaultdict[str, CallSums] = defaultdict(CallSums)
        self._seconds = Sample()
        self._paths = Sample()

    def add(self, game: GameRows) -> None:
        """Take in one game."""
        if not game.calls:
            return
        self._games += 1
        self._statements += len(game.statements)
        self._paths.add(game.critical_path)
        if game.seconds is not None:
            self._seconds.add(game.seconds)
        if self._games > 1:
            self._seats.clear()
        for (name, model, kind), sums in game.calls.items():
            seat = game.seats[name]
            self._total.merge(sums)
            for split, key in zip(BY, (model, kind, seat.role, seat.brain), strict=True):
                self._by[split][key].merge(sums)
            if self._games == 1:
                self._seats[name].merge(sums)

    def merge(self, other: Cost) -> None:
        """Add all that `other` holds."""
        if not other._games:
            return
        self._games += other._games
        self._statements += other._statements
        self._total.merge(other._total)
        for split, parts in other._by.items():
            for key, sums in parts.items():
                self._by[split][key].merge(sums)
        if self._games > 1:
            self._seats.clear()
        else:
            for name, sums in other._seats.items():
                self._seats[name].merge(sums)
        self._seconds.merge(other._seconds)
        self._paths.merge(other._paths)

    def result(self) -> Result:
        """Return sums ``total`` and by model, kind (several joined by +), role, brain and seat (None over several
        games); ``wall_s``, the seconds that games took by their records' clock; ``critical_path``, the longest chain of
        calls that had to wait for one another, see `CallBook`; and all of it per game and per statement.

        Undefined is None: tokens that no server told, money without prices, anything without a game.
        """
        seats = {name: sums.result() for name, sums in self._seats.items()} if self._games <= 1 else None
        return {
            "games": self._games,
            "statements": self._statements,
            "total": self._total.result(),
            **{f"by_{name}": {key: parts[key].result() for key in sorted(parts)} for name, parts in self._by.items()},
            "by_seat": seats,
            "wall_s": _spread(self._seconds),
            "critical_path": _spread(self._paths),
            "per_game": self._per(self._games),
            "per_statement": self._per(self._statements),
        }

    def _per(self, n: int) -> Result:
        tokens = {name: self._total.tokens(name) for name in TOKENS}
        sums: dict[str, float | None] = {
            "calls": self._total.calls,
            **tokens,
            "cost_usd": self._total.cost_usd(),
            "wall_s": sum(self._seconds.values()) if len(self._seconds) == self._games else None,
            "critical_path": sum(self._paths.values()),
        }
        return {name: None if total is None else ratio(total, n) for name, total in sums.items()}


def _spread(sample: Sample) -> Result:
    values = sample.values()
    return {
        "n": len(values),
        "total": sum(values),
        "mean": sample.mean(),
        "sd": sample.sd(),
        "max": values[-1] if values else None,
    }
