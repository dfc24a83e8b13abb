"""Intervals of what is made of scores: Table 4, held-out flags of thresholds, held-out probabilities of maps.

Areas under curves come from the same histograms as those of `variability` (see `analytics.headlines.cells`), and the
calibration error keeps to the bins that the rows have over all games. Held-out predictions stay as they are in every
draw: the intervals tell what games were met, not what other games would have fitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from analytics.accumulator import Result
from analytics.headlines.block_sums import BlockSums, Leaf
from analytics.headlines.cells import Merged, average_precision, cells_of, roc_area
from analytics.resampling import ratio
from analytics.scores import measures
from analytics.scores.judged import Judged
from analytics.scores.maps import KINDS
from analytics.scores.predictions import QUANTITIES, Predictions
from analytics.scores.recalibration import held_out_probabilities
from analytics.scores.reliability import BINS, bins_of
from analytics.scores.thresholds import MEASURES, RULES, held_out_flags
from analytics.scores.tied import tied_in_order
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array
    from analytics.scores.tied import Tied

TABLE4: Final = ("brier", "brier_skill", "auc", "auprc", "auprc_lift", "ece")
"""Figures of a row of Table 4 that have an interval."""
CALIBRATION: Final = ("brier", "ece", "auc")
"""Figures that a map is judged by."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Judgements in ascending order of their scores.

    Attributes:
        scores: the scores.
        deceptive: whether the statement is, 0 or 1.
        blocks: block of the game.
        cells: cell of the score, for histograms.
        width: number of cells.
    """

    scores: Array
    deceptive: Array
    blocks: Array
    cells: Array
    width: int

    def of(self, mask: Array) -> Rows:
        """Return some of the rows, in the same cells."""
        return Rows(self.scores[mask], self.deceptive[mask], self.blocks[mask], self.cells[mask], self.width)

    def tied(self) -> Tied:
        """Return what figures of these rows depend on."""
        return tied_in_order(self.scores, self.deceptive)

    def counts(self) -> Array:
        """Return counts by class and cell over all games."""
        import numpy as np

        return np.bincount(self.deceptive * self.width + self.cells, minlength=2 * self.width).reshape(2, self.width)

    def histogram(self, sums: BlockSums) -> Array:
        """Return counts by draw, class and cell."""
        import numpy as np

        return sums.drawn(sums.sums(self.blocks, (2, self.width), [self.deceptive, self.cells]).astype(np.float32))


def rows_of(scores: Array, deceptive: Array, blocks: Array) -> Rows:
    """Return judgements that are in ascending order of their scores already."""
    import numpy as np

    held = tied_in_order(scores, deceptive)
    cells = cells_of(Merged(held.counts, ()))
    width = int(cells.max(initial=-1)) + 1
    return Rows(scores, deceptive.astype(np.int64), blocks, np.repeat(cells, held.counts), width)


def table4_intervals(judged: Judged, sums: BlockSums) -> Result:
    """Return the intervals of Table 4, in its shape (paper 5.7; metrics: Table 4)."""
    return {quantity: _section(judged.predictions(quantity), sums) for quantity in QUANTITIES}


def thresholds_intervals(judged: Judged, sums: BlockSums) -> Result:
    """Return the intervals of what held-out flags come to (paper 4.5; metrics: Thresholds)."""
    names = [name for name in MEASURES if name != "n"]
    found: Result = {}
    for quantity in QUANTITIES:
        held = judged.predictions(quantity)
        found[quantity] = {}
        for rule in RULES:
            out = held_out_flags(judged, quantity, rule)
            found[quantity][rule] = (
                dict.fromkeys(names) if out is None else sums.flags(held.blocks, held.deceptive, out.flags, names)
            )
    return found


def recalibration_intervals(judged: Judged, sums: BlockSums) -> Result:
    """Return the intervals of Brier score, calibration error and AUC before and after held-out maps (paper 5.7;
    metrics: Recalibration).
    """
    import numpy as np

    held, (folds, _) = judged.predictions("suspicion"), judged.split("suspicion")
    if folds is None:
        return {kind: {when: dict.fromkeys(CALIBRATION) for when in ("before", "after")} for kind in KINDS}
    before = _calibration(rows_of(held.scores, held.deceptive, held.blocks), sums)
    found: Result = {}
    for kind in KINDS:
        probabilities = held_out_probabilities(held, folds, kind)
        order = np.argsort(probabilities, kind="stable")
        after = rows_of(probabilities[order], held.deceptive[order], held.blocks[order])
        found[kind] = {"before": dict(before), "after": _calibration(after, sums)}
    return found


def _calibration(rows: Rows, sums: BlockSums) -> dict[str, Leaf]:
    found = _row(rows, rows.histogram(sums), sums)
    return {name: found[name] for name in CALIBRATION}


def _section(held: Predictions, sums: BlockSums) -> Result:
    import numpy as np

    rows = rows_of(held.scores, held.deceptive, held.blocks)
    observers = [rows.of(held.observer == code) for code in range(len(ROLES))]
    speakers = [rows.of(held.speaker == code) for code in range(len(ROLES))]
    heard = [own.histogram(sums) for own in observers]
    total = sum(heard, np.zeros((1, 2, rows.width)))
    spoken = [own.histogram(sums) for own in speakers[:-1]]
    # every judgement is of some role's statement, and counts are whole numbers: what is left is exact
    spoken.append(total - sum(spoken, np.zeros((1, 2, rows.width))))
    return {
        "overall": _row(rows, total, sums),
        "by_observer": {role: _row(observers[at], heard[at], sums) for at, role in enumerate(ROLES)},
        "by_speaker": {role: _row(speakers[at], spoken[at], sums) for at, role in enumerate(ROLES)},
    }


def _row(rows: Rows, histogram: Array, sums: BlockSums) -> dict[str, Leaf]:
    """Return the intervals of one row of Table 4."""
    import numpy as np

    held = rows.tied()
    if not held.n:
        return dict.fromkeys(TABLE4)
    squares = (rows.scores - rows.deceptive) ** 2
    bins = np.repeat(bins_of(held.counts), held.counts)
    binned = [sums.sums(rows.blocks, (BINS,), [bins], weights) for weights in (rows.scores, rows.deceptive, None)]
    missed = sums.sums(rows.blocks, (), [], squares)[:, None]
    drawn = sums.drawn(np.concatenate([missed, *binned], axis=1))
    told, yes, n = (drawn[:, 1 + at * BINS : 1 + (at + 1) * BINS] for at in range(3))
    total = n.sum(axis=1)
    share, brier = ratio(yes.sum(axis=1), total), ratio(drawn[:, 0], total)
    whole = rows.counts()
    average = _area(average_precision(histogram), measures.auprc(held), average_precision(whole))
    figures = {
        "brier": brier,
        "brier_skill": 1 - ratio(brier, share * (1 - share)),
        "auc": _area(roc_area(histogram), measures.auc(held), roc_area(whole)),
        "auprc": average,
        "auprc_lift": average - share,
        "ece": ratio(np.abs(told - yes).sum(axis=1), total),
    }
    blocks = int(binned[2].any(axis=1).sum())
    return {name: sums.leaf(figures[name], blocks) for name in TABLE4}


def _area(drawn: Array, exact: float | None, coarse: Array) -> Array:
    """Return the draws of an area, moved by what cells of several scores make of the pooled value."""
    import numpy as np

    return drawn if exact is None else np.clip(drawn + (exact - float(coarse)), 0, 1)
