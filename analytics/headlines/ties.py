"""Areas under curves of every single game, exact: one sort by game and score, then sums within games.

A game has few judgements, so histograms over all cells would be mostly zeros, and coarse where there are more distinct
scores than cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analytics.resampling import ratio

if TYPE_CHECKING:
    from analytics.columns import Array
    from analytics.headlines.cells import Scores


@dataclass(frozen=True, slots=True, eq=False)
class Ties:
    """Judgements of one game with one score, a row each, by game and within a game by ascending score.

    Attributes:
        games: number of games.
        game: whose they are.
        truthful: how many of them judge truthful statements.
        deceptive: how many judge deceptive ones.
    """

    games: int
    game: Array
    truthful: Array
    deceptive: Array

    def per_game(self, values: Array) -> Array:
        """Return the sum of `values` over the rows of each game."""
        import numpy as np

        return np.bincount(self.game, weights=values, minlength=self.games)

    def below(self, counts: Array) -> Array:
        """Return for each row the sum of `counts` over the rows of its game with a lower score."""
        import numpy as np

        earlier = np.cumsum(counts) - counts
        totals = self.per_game(counts)
        found: Array = earlier - (np.cumsum(totals) - totals)[self.game]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Sorted:
    """Scores in the order of their games and, within a game, of their size.

    Attributes:
        games: number of games.
        order: rows of the scores in this order.
        key: game and rank of each as one number, ascending.
        width: distinct scores.
        label: the class of each.
    """

    games: int
    order: Array
    key: Array
    width: int
    label: Array

    def ties(self, chosen: Array) -> Ties:
        """Return the ties of the scores that `chosen` marks, in the order of the scores."""
        import numpy as np

        kept = chosen[self.order]
        key, label = self.key[kept], self.label[kept]
        if not len(key):
            none = np.zeros(0, np.int64)
            return Ties(self.games, none, none, none)
        starts = np.concatenate([[0], np.flatnonzero(key[1:] != key[:-1]) + 1])
        counts = np.diff(np.append(starts, len(key)))
        deceptive = np.add.reduceat(label, starts)
        return Ties(self.games, key[starts] // self.width, counts - deceptive, deceptive)


def sorted_scores(scores: Scores, game: Array, games: int) -> Sorted:
    """Return the scores sorted.

    Args:
        scores: the scores.
        game: of each of them.
        games: number of games.
    """
    import numpy as np

    width = max(1, len(scores.values))
    key = game.astype(np.int64) * width + scores.rank
    order = np.argsort(key, kind="stable")
    return Sorted(games, order, key[order], width, scores.label[order])


def roc_areas(ties: Ties) -> Array:
    """Return each game's area under the ROC curve, equal scores counted half; NaN unless both classes are there."""
    pairs = ties.deceptive * (ties.below(ties.truthful) + ties.truthful / 2)
    return ratio(ties.per_game(pairs), ties.per_game(ties.deceptive) * ties.per_game(ties.truthful))


def average_precisions(ties: Ties) -> Array:
    """Return each game's average precision; NaN unless both classes are there."""
    import numpy as np

    deceptive, truthful = ties.per_game(ties.deceptive), ties.per_game(ties.truthful)
    hits = deceptive[ties.game] - ties.below(ties.deceptive)
    reached = hits + truthful[ties.game] - ties.below(ties.truthful)
    return ratio(ties.per_game(ties.deceptive * ratio(hits, reached)), np.where(truthful > 0, deceptive, 0))


def average_precision_lifts(ties: Ties) -> Array:
    """Return each game's average precision minus its share of deceptive statements."""
    deceptive, truthful = ties.per_game(ties.deceptive), ties.per_game(ties.truthful)
    found: Array = average_precisions(ties) - ratio(deceptive, deceptive + truthful)
    return found
