"""Outcomes: who wins, and how long games are (paper, section 5.2)."""

from __future__ import annotations

import math
from collections import Counter
from typing import Final, get_args

from analytics.accumulator import Result
from analytics.intervals import wilson
from analytics.rows import GameRows
from wolfbus.vocabulary import Protocol

LENGTHS: Final = ("nights", "debate_turns", "voting_rounds", "statements", "judgements")
"""What is counted in every game."""

PROTOCOLS: Final[tuple[Protocol, ...]] = get_args(Protocol)


class Outcomes:
    """Win shares and lengths of games.

    Shares and per-game means are over finished games: a game that was cut off has no outcome and no length
    yet. Totals are over all. A turn of debate in which nothing was said is a turn but no statement;
    judgements are those that count.
    """

    def __init__(self) -> None:
        self._unfinished = 0
        self._protocols: Counter[str] = Counter()
        self._winners: Counter[str] = Counter()
        self._endings: Counter[str] = Counter()
        self._totals: Counter[str] = Counter()
        self._sums: Counter[str] = Counter()
        self._squares: Counter[str] = Counter()

    def add(self, game: GameRows) -> None:
        """Take in one game."""
        lengths = {
            "nights": game.night_count,
            "debate_turns": game.debate_turns,
            "voting_rounds": game.voting_rounds,
            "statements": len(game.statements),
            "judgements": sum(judgement.d is not None for judgement in game.judgements),
        }
        self._totals.update(lengths)
        self._protocols[game.protocol] += 1
        if not game.finished:
            self._unfinished += 1
            return
        self._winners[game.winner or "nobody"] += 1
        if game.reason is not None:
            self._endings[game.reason] += 1
        self._sums.update(lengths)
        self._squares.update({name: length * length for name, length in lengths.items()})

    def merge(self, other: Outcomes) -> None:
        """Add all that `other` holds."""
        self._unfinished += other._unfinished
        self._protocols.update(other._protocols)
        self._winners.update(other._winners)
        self._endings.update(other._endings)
        self._totals.update(other._totals)
        self._sums.update(other._sums)
        self._squares.update(other._squares)

    def result(self) -> Result:
        """Return shares with Wilson 95 % intervals, and mean ± sd per game (paper 5.2; metrics: outcomes).

        ``protocols`` counts all games by how model players were asked; ``mixed_protocols`` tells that there are games
        of more than one, whose numbers are not of one measurement.
        """
        finished = self._winners.total()
        return {
            "games": finished + self._unfinished,
            "finished": finished,
            "unfinished": self._unfinished,
            "protocols": {protocol: self._protocols[protocol] for protocol in PROTOCOLS},
            "mixed_protocols": sum(count > 0 for count in self._protocols.values()) > 1,
            "winners": {
                winner: _share(self._winners[winner], finished) for winner in ("villagers", "werewolves", "nobody")
            },
            "endings": dict(sorted(self._endings.items())),
            "per_game": {name: self._length(name, finished) for name in LENGTHS},
        }

    def _length(self, name: str, n: int) -> Result:
        total = self._sums[name]
        # whole numbers until the last division: the spread of equal lengths is exactly 0
        scaled = n * self._squares[name] - total * total
        return {
            "mean": total / n if n else None,
            "sd": math.sqrt(scaled / (n * (n - 1))) if n > 1 else None,
            "n": n,
            "total": self._totals[name],
        }


def _share(k: int, n: int) -> Result:
    interval = wilson(k, n)
    return {
        "k": k,
        "n": n,
        "share": k / n if n else None,
        "low": interval[0] if interval else None,
        "high": interval[1] if interval else None,
    }
