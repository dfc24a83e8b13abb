"""`Scores`: judgements as probabilities of deception, held against self-labels (paper, sections 4.5
and 5.7).

Every figure of them depends on no more than how often each score stands on a deceptive and on a
truthful statement. Suspicion has few values, mostly two decimals, so two million judgements become
about a hundred rows of counts. Point estimates are exact: there every distinct score is a cell. In
draws and in rearrangements there are at most `CELLS` cells of whole tied scores. Nothing is lost up
to as many distinct scores; with more, pairs within a cell count half, and draws are moved by what
that makes of the pooled value.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from analytics import Result
from analytics.measures.bootstrap import by_cell
from analytics.measures.formulas import BINS, average_precision, bins_of, number, roc_area
from analytics.measures.frames import ALL, Pairs
from analytics.measures.headlines import Score

if TYPE_CHECKING:
    from analytics.measures.columns import Array, Columns

    Cells: TypeAlias = tuple[Array, int]

CELLS: Final = 256


@dataclass(frozen=True, slots=True, eq=False)
class Tied:
    """Distinct scores in ascending order, with counts.

    Attributes:
        values: the scores.
        counts: judgements of truthful and of deceptive statements at each.
    """

    values: Array
    counts: Array

    @property
    def n(self) -> int:
        """Number of judgements."""
        return int(self.counts.sum())

    @property
    def positives(self) -> int:
        """Number of judgements of deceptive statements."""
        return int(self.counts[1].sum())

    @property
    def totals(self) -> Array:
        """Number of judgements at each score."""
        total: Array = self.counts.sum(axis=0)
        return total

    def weighted(self) -> tuple[Array, Array, Array]:
        """Return (labels, scores, weights), a row for each score and label that there is, as
        scikit-learn wants it.
        """
        import numpy as np

        labels, places = np.nonzero(self.counts[::-1])
        return 1 - labels, self.values[places], self.counts[::-1][labels, places].astype("f8")

    def one_sided(self) -> str | None:
        """Return why nothing that compares deceptive statements with truthful ones is defined; None
        if it is.
        """
        if not self.n:
            return "no judgement counts whose statement has a self-label that counts"
        if not self.positives:
            return "every statement judged is labelled truthful: there is nothing to tell apart"
        if self.positives == self.n:
            return "every statement judged is labelled deceptive: there is nothing to tell apart"
        return None


def tied(scores: Array, deceptive: Array) -> Tied:
    """Return the ties of scores in any order.

    Args:
        scores: finite numbers.
        deceptive: for each, whether its statement is deceptive.
    """
    import numpy as np

    values, rank = np.unique(scores, return_inverse=True)
    return Tied(values, _counts(rank, deceptive, len(values)))


def _counts(rank: Array, deceptive: Array, width: int) -> Array:
    import numpy as np

    counts: Array = np.bincount(deceptive.astype(np.int64) * width + rank, minlength=2 * width)
    return counts.reshape(2, width)


@dataclass(frozen=True)
class Scores:
    """Judgements whose flag and self-label both count, in ascending order of their scores.

    A judgement without a suspicion, as in a foreign log that has flags only, is left out of
    "suspicion". "before" is there for all: what smoothed suspicion (4.1) foretold before the
    statement was judged.

    Attributes:
        scores: what is taken for P(deceptive), in [0, 1].
        deceptive: the speaker calls the statement deceptive.
        flags: the observer does.
        observer: role of the observer, an index into `wolfbus.vocabulary.ROLES`.
        agent: agent of the observer, an index into `Columns.agents`.
        speaker: role of the speaker.
        blocks: block of the game, an index into `Columns.block_names`.
        games: game, an index into `Columns.ids`.
        informed: the observer knows whether the speaker is a Werewolf.
        block_count: number of blocks of all games.
    """

    scores: Array
    deceptive: Array
    flags: Array
    observer: Array
    agent: Array
    speaker: Array
    blocks: Array
    games: Array
    informed: Array
    block_count: int

    def subset(self, rows: Array) -> Scores:
        """Return some of the judgements, or all in another order."""
        columns = {name: column[rows] for name, column in vars(self).items() if name in _BY_JUDGEMENT}
        return replace(self, **columns)

    @cached_property
    def values(self) -> Array:
        """The distinct scores, ascending."""
        import numpy as np

        return np.unique(self.scores)

    @cached_property
    def rank(self) -> Array:
        """Place of each score among them."""
        import numpy as np

        return np.searchsorted(self.values, self.scores)

    def totals_over(self, pairs: Pairs) -> Array:
        """Return the number of judgements of some pairs at each distinct score."""
        import numpy as np

        return np.bincount(self.rank[self.over(pairs)], minlength=len(self.values))

    def over(self, pairs: Pairs) -> Array:
        """Return which judgements are of these pairs."""
        import numpy as np

        mask: Array = np.ones(len(self.games), bool) if pairs == ALL else ~self.informed.astype(bool)
        return mask

    def counts(self, mask: Array | None = None) -> Array:
        """Return counts by class and distinct score of some of the judgements, or all."""
        rank, deceptive = (self.rank, self.deceptive) if mask is None else (self.rank[mask], self.deceptive[mask])
        return _counts(rank, deceptive, len(self.values))

    def tied(self, mask: Array | None = None) -> Tied:
        """Return what figures of some of the judgements depend on, or of all."""
        counts = self.counts(mask)
        present = counts.any(axis=0)
        return Tied(self.values[present], counts[:, present])

    @property
    def own_cells(self) -> Cells:
        """The cells of the distinct scores where they are divided by themselves."""
        cells = cells_of(self.totals_over(ALL))
        return cells, int(cells.max(initial=-1)) + 1

    def histogram(self, cells: Cells, unit: Array, count: int, mask: Array) -> Array:
        """Return counts by unit, class and cell; float32, flat behind the units.

        Args:
            cells: cell of each distinct score, and the number of cells.
            unit: unit of each judgement, -1 for none.
            count: number of units.
            mask: which judgements.
        """
        import numpy as np

        mask = mask & (unit >= 0)
        cell = self.deceptive[mask] * cells[1] + cells[0][self.rank[mask]]
        return by_cell(unit[mask], count, cell, 2 * cells[1]).astype(np.float32)

    def by_game(self, games: int, mask: Array) -> Array:
        """Return counts by game, class and the game's own distinct scores, ascending."""
        import numpy as np

        width = max(1, len(self.values))
        code = self.games[mask].astype(np.int64) * width + self.rank[mask]
        ties, row = np.unique(code, return_inverse=True)
        game = ties // width
        place = np.arange(len(ties)) - np.searchsorted(game, game)
        size = int(place.max(initial=0)) + 1
        counts = np.bincount((game[row] * 2 + self.deceptive[mask]) * size + place[row], minlength=games * 2 * size)
        return counts.reshape(games, 2, size)


_BY_JUDGEMENT: Final = frozenset(field.name for field in fields(Scores)) - {"block_count"}


def scores_of(columns: Columns, score: Score) -> Scores:
    """Return the rows of Table 4: judgements whose flag and self-label both count (metrics: Table
    4).
    """
    import numpy as np

    table = columns.judgements
    scores = table["s" if score == "suspicion" else "before"]
    rows = np.flatnonzero(columns.scored() & ~np.isnan(scores))
    rows = rows[np.argsort(scores[rows], kind="stable")]
    games = table["game"][rows]
    return Scores(
        scores=scores[rows] + 0.0,  # a negative zero becomes an ordinary one
        deceptive=columns.label()[rows] == 1,
        flags=table["d"][rows] == 1,
        observer=table["observer_role"][rows],
        agent=table["observer_agent"][rows],
        speaker=table["target_role"][rows],
        blocks=columns.blocks[games],
        games=games,
        informed=table["informed"][rows],
        block_count=len(columns.block_names),
    )


def cells_of(counts: Array) -> Array:
    """Return the cell of each distinct score; where cells hold several scores, they hold about
    equal counts.

    Args:
        counts: judgements at each score, scores ascending.
    """
    import numpy as np

    if len(counts) <= CELLS:
        return np.arange(len(counts))
    cells: Array = (np.cumsum(counts) - counts) * CELLS // counts.sum()
    return cells


def recentred(drawn: Array, exact: float | None, coarse: Array, lowest: float = 0.0) -> Array:
    """Return an area in draws, moved by what cells that hold several scores make of the pooled value.

    Args:
        drawn: the area in every draw, of cells.
        exact: the pooled area of scores; None where it is undefined.
        coarse: the pooled area of cells.
        lowest: what it may be at least.
    """
    import numpy as np

    return drawn if exact is None else np.clip(drawn + (exact - float(coarse)), lowest, 1)


# -- figures


def base_rate(ties: Tied) -> float | None:
    """Return the share of deceptive statements among those judged, None over nothing."""
    return ties.positives / ties.n if ties.n else None


def brier(ties: Tied) -> float | None:
    """Return the mean of (score − label)² in [0, 1], None over nothing (paper 4.5; metrics: Table
    4).
    """
    if not ties.n:
        return None
    truthful, deceptive = ties.counts
    missed = deceptive * (1 - ties.values) ** 2 + truthful * ties.values**2
    return float(missed.sum()) / ties.n


def brier_skill(ties: Tied) -> float | None:
    """Return 1 − Brier / Brier of always saying the base rate, None where that is 0 (metrics: Table
    4).

    Above 0 the scores say more than the base rate, below 0 less.
    """
    share, score = base_rate(ties), brier(ties)
    if share is None or score is None or not 0 < share < 1:
        return None
    return 1 - score / (share * (1 - share))


def auc(ties: Tied) -> float | None:
    """Return the area under the ROC curve (paper 4.5; metrics: Table 4); see `roc_area`."""
    return number(roc_area(ties.counts))


def auprc(ties: Tied) -> float | None:
    """Return the average precision (paper 4.5; metrics: Table 4); see `average_precision`."""
    return number(average_precision(ties.counts))


def reliability(ties: Tied) -> list[Result]:
    """Return the reliability curve, a row a bin in ascending order (paper 4.5; metrics: Table 4).

    Each has ``low`` and ``high``, the least and the greatest score in it, ``mean_score``, ``share``
    of its judgements whose statement is deceptive, and ``n``. A bin that nothing falls into does
    not exist; see `bins_of`.
    """
    import numpy as np

    counts = ties.totals
    place = bins_of(counts)
    n = np.bincount(place, counts, BINS)
    yes = np.bincount(place, ties.counts[1], BINS)
    total = np.bincount(place, ties.values * counts, BINS)
    rows: list[Result] = []
    for bin_ in np.unique(place).tolist():
        values = ties.values[place == bin_]
        low, high = float(values[0]), float(values[-1])
        rows.append(
            {
                "low": low,
                "high": high,
                # rounding may carry the mean of equal scores beyond them
                "mean_score": min(high, max(low, float(total[bin_] / n[bin_]))),
                "share": float(yes[bin_] / n[bin_]),
                "n": int(n[bin_]),
            }
        )
    return rows


def expected_calibration_error(ties: Tied) -> float | None:
    """Return the mean over judgements of |mean score − share deceptive| of their bins, None over
    nothing (metrics: Table 4).

    It is not free of chance: well calibrated scores of few judgements do not reach 0.
    """
    n = ties.n
    if not n:
        return None
    off: float = sum(row["n"] * abs(row["mean_score"] - row["share"]) for row in reliability(ties))
    return off / n


def calibration(ties: Tied) -> Result:
    """Return ``brier ece auc n``: what recalibration is judged by (metrics: Recalibration)."""
    return {
        "brier": brier(ties),
        "ece": expected_calibration_error(ties),
        "auc": auc(ties),
        "n": ties.n,
    }
