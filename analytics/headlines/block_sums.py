"""`BlockSums`: sums by block, and the intervals of whatever is a formula over them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from analytics.headlines import formulas
from analytics.resampling import Draws, ratio

if TYPE_CHECKING:
    from analytics.columns import Array, Columns

Leaf: TypeAlias = "list[float] | None"
"""A 95 % interval, [low, high], or None where there is none."""


class BlockSums:
    """The blocks of some games and the draws of `variability`: one figure has one interval, wherever it is printed.

    Args:
        columns: the games.

    Attributes:
        count: number of blocks.
    """

    def __init__(self, columns: Columns) -> None:
        self.count = len(columns.block_names)
        self._draws = Draws([self.count])

    def sums(self, blocks: Array, shape: Sequence[int], codes: Sequence[Array], weights: Array | None = None) -> Array:
        """Return sums by block and combination of codes, blocks by `shape`.

        Args:
            blocks: block of each row.
            shape: number of codes of each kind.
            codes: for each kind, the code of each row.
            weights: what is summed; rows are counted unless given.
        """
        import numpy as np

        code = blocks.astype(np.int64)
        for size, part in zip(shape, codes, strict=True):
            code = code * size + part
        found = np.bincount(code, weights=weights, minlength=self.count * math.prod(shape))
        return found.reshape(self.count, *shape)

    def drawn(self, sums: Array) -> Array:
        """Return sums in every draw, draws by what stands behind the blocks, in float64.

        Args:
            sums: blocks by anything; multiplied in float32 if they are that, which is for counts.
        """
        import numpy as np

        exact = sums if sums.dtype == np.float32 else sums.astype(np.float64)
        flat = exact.reshape(self.count, math.prod(sums.shape[1:]))
        return self._draws.sums(flat).reshape(self._draws.draws, *sums.shape[1:])

    def leaf(self, drawn: Array, held: int) -> Leaf:
        """Return the percentile interval of a figure, None where there is none.

        Args:
            drawn: the figure in every draw, NaN where it is undefined.
            held: number of blocks with anything in them that it is over.
        """
        low, high, _ = self._draws.interval(drawn, held)
        return None if low is None or high is None else [low, high]

    def quotients(self, above: Array, below: Array, names: Sequence[str]) -> dict[str, Leaf]:
        """Return the intervals of quotients of sums, by name; blocks by names are the sums."""
        import numpy as np

        drawn = self.drawn(np.stack([above, below], axis=-1))
        shares = ratio(drawn[..., 0], drawn[..., 1])
        held = (below > 0).sum(axis=0)
        return {name: self.leaf(shares[:, at], int(held[at])) for at, name in enumerate(names)}

    def flags(self, blocks: Array, positive: Array, flagged: Array, measures: Sequence[str]) -> dict[str, Leaf]:
        """Return the intervals of what `Confusion.measures` tells of flags, by name.

        Args:
            blocks: block of each judgement.
            positive: whether it belongs to the class to be found.
            flagged: whether it flags.
            measures: which, of `MEASURES`.
        """
        counts = self.sums(blocks, (2, 2), [positive.astype("i8"), flagged.astype("i8")])
        drawn, held = self.drawn(counts), int(counts.any(axis=(1, 2)).sum())
        return {name: self.leaf(MEASURES[name](drawn), held) for name in measures}


def dprime(counts: Array) -> Array:
    """Return z(hit rate) - z(false-alarm rate), log-linear; NaN if a class is empty (metrics: Table 3)."""
    hits, alarms = _signal(counts)
    return hits - alarms


def criterion(counts: Array) -> Array:
    """Return minus the mean of z(hit rate) and z(false-alarm rate), log-linear; NaN if a class is empty."""
    hits, alarms = _signal(counts)
    return -(hits + alarms) / 2


def _signal(counts: Array) -> tuple[Array, Array]:
    import numpy as np
    from scipy.special import ndtri

    classes = counts.sum(axis=-1)
    both = (classes > 0).all(axis=-1)
    rates = ndtri((counts[..., 1] + 0.5) / (classes + 1))
    return np.where(both, rates[..., 1], np.nan), np.where(both, rates[..., 0], np.nan)


MEASURES: Final[Mapping[str, Callable[[Array], Array]]] = {
    "accuracy": formulas.accuracy,
    "precision": formulas.precision,
    "recall": formulas.recall,
    "f1": formulas.f1,
    "balanced_accuracy": formulas.balanced_accuracy,
    "mcc": formulas.mcc,
    "base_rate": formulas.base_rate,
    "constant_accuracy": formulas.constant_accuracy,
    "dprime": dprime,
    "criterion": criterion,
}
"""What `Confusion.measures` tells beside counts, as formulas over counts ``[class][flag]``."""
