"""What voters thought when they voted, from columns: the vectorised twin of `analytics.tables.votes`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analytics.tables.votes import TIE
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array, Columns

WOLF = ROLES.index("Werewolf")


@dataclass(frozen=True, slots=True, eq=False)
class VoteColumns:
    """One entry a row of ``columns.votes``.

    Attributes:
        living: how many were alive: those who could vote.
        wolves: how many of them are Werewolves.
        credit: 1/m if the vote is for one of the m living others whom the voter suspects most (by D after the day's
            last debate statement), else 0; NaN for an abstention, and for a voter who has not judged anybody alive.
    """

    living: Array
    wolves: Array
    credit: Array


def vote_columns(columns: Columns) -> VoteColumns:
    """Return what is known about every vote (metrics: does suspicion drive votes)."""
    import numpy as np

    votes = columns.votes
    spread = int(votes["round"].max(initial=0)) + 1
    _, held = np.unique(votes["game"].astype(np.int64) * spread + votes["round"], return_inverse=True)
    living = np.bincount(held)[held]
    wolves = np.bincount(held, weights=votes["role"] == WOLF)[held]
    return VoteColumns(living, wolves, _credit(columns, held))


def _credit(columns: Columns, held: Array) -> Array:
    import numpy as np

    votes = columns.votes
    seats = int(columns.games["seats"].max(initial=0))
    alive = np.zeros((int(held.max(initial=-1)) + 1, seats), bool)
    alive[held, votes["voter"]] = True
    found = _Suspicions(columns, seats)
    highest = np.full(len(held), -np.inf)
    ties = np.zeros(len(held))
    named = np.full(len(held), np.nan)
    judged = np.zeros(len(held), bool)
    by_seat = []
    for seat in range(seats):
        here = alive[held, seat] & (votes["voter"] != seat)
        value, known = found.at_vote(np.full(len(held), seat))
        value = np.where(here, value, -np.inf)
        judged |= here & known
        highest = np.maximum(highest, value)
        named = np.where(votes["target"] == seat, value, named)
        by_seat.append(value)
    for value in by_seat:
        ties += value >= highest - TIE
    credit = np.where(named >= highest - TIE, 1 / np.maximum(ties, 1), 0.0)
    return np.where(judged & (votes["target"] >= 0), credit, np.nan)


class _Suspicions:
    """D of every pair at every vote.

    Each judgement tells D before it, so D at a moment is D before the pair's next judgement, its final D if none
    follows, and the prior, which the game's first judgement tells, if there never was one.
    """

    def __init__(self, columns: Columns, seats: int) -> None:
        import numpy as np

        judgements, pairs, votes = columns.judgements, columns.pairs, columns.votes
        games = len(columns.ids)
        self._seats = seats
        self._span = 2 * int(max(judgements["round"].max(initial=0), votes["round"].max(initial=0))) + 3
        pair = self._pair(judgements["game"], judgements["observer"], judgements["target"])
        time = 2 * judgements["round"].astype(np.int64) + judgements["phase"]
        key = pair * self._span + time
        order = np.argsort(key, kind="stable")
        self._keys, self._before = key[order], judgements["before"][order]
        self._first = np.full(games * seats * seats, np.iinfo(np.int64).max)
        counts = (judgements["d"] >= 0) & ~np.isnan(judgements["s"])
        np.minimum.at(self._first, pair[counts], time[counts])
        prior = np.full(games, np.nan)
        opened, at = np.unique(judgements["game"], return_index=True)
        prior[opened] = judgements["before"][at]
        self._final = np.repeat(prior, seats * seats)
        self._final[self._pair(pairs["game"], pairs["observer"], pairs["target"])] = pairs["d"]
        self._votes = votes
        self._vote_time = 2 * votes["round"].astype(np.int64)

    def _pair(self, game: Array, observer: Array, target: Array) -> Array:
        import numpy as np

        return (game.astype(np.int64) * self._seats + observer) * self._seats + target

    def at_vote(self, targets: Array) -> tuple[Array, Array]:
        """Return per vote the voter's D towards a seat, and whether it has judged that seat by then."""
        import numpy as np

        pair = self._pair(self._votes["game"], self._votes["voter"], targets)
        at = np.searchsorted(self._keys, pair * self._span + self._vote_time + 1)
        inside = np.minimum(at, max(0, len(self._keys) - 1))
        value = self._final[pair]
        if len(self._keys):
            follows = (at < len(self._keys)) & (self._keys[inside] // self._span == pair)
            value = np.where(follows, self._before[inside], value)
        return value, self._first[pair] <= self._vote_time
