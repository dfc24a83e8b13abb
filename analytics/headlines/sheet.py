"""`Sheet`: the sums of any number of units (games, blocks, pairs of games), and the headline metrics of any linear
combinations of them: of their total, of each, of bootstrap draws, of rearrangements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, TypeAlias

from analytics.headlines.measures import Measure
from analytics.headlines.sums import Games, Scope, Score, game_sums, unpack
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array
    from analytics.resampling import Draws

Key: TypeAlias = "tuple[Score, int] | None"
"""What a matrix holds: the histogram of a score by observers of a role, or (None) the sums."""
Matrix: TypeAlias = "Callable[[Key], Array]"


class Sheet:
    """Sums by unit.

    Args:
        study: the games.
        scope: what of them counts.
        units: unit of each game; -1 for a game left out.
        count: number of units.
        bins: calibration bins to keep to, by score; those of the study unless given.
    """

    def __init__(
        self,
        study: Games,
        scope: Scope | None = None,
        units: Array | None = None,
        count: int | None = None,
        bins: Mapping[Score, Array] | None = None,
    ) -> None:
        import numpy as np

        self.study = study
        self.scope = scope or Scope()
        self._units = np.arange(len(study.columns.ids)) if units is None else units
        self.count = len(self._units) if count is None else count
        self._bins = bins

    def matrix(self, key: Key) -> Array:
        """Return sums or a histogram, units by columns."""
        if key is None:
            return self._sums
        return self.study.histogram(*key, self.scope, self._units, self.count)

    @cached_property
    def _sums(self) -> Array:
        import numpy as np

        games = game_sums(self.study, self.scope, self._bins)
        found = np.zeros((self.count, games.shape[1]))
        kept = self._units >= 0
        np.add.at(found, self._units[kept], games[kept])
        return found

    def totals(self) -> dict[str, Array]:
        """Return the sums over all units, by name."""
        return unpack(self._sums.sum(axis=0))

    def pooled(self, measures: Iterable[Measure]) -> dict[str, float]:
        """Return the pooled value of each metric, exact; NaN where it is undefined. All games must be in some unit."""
        totals = self.totals()
        found = {}
        for measure in measures:
            if measure.value is not None:
                found[measure.name] = float(measure.value(totals))
            elif measure.score is not None and measure.area is not None:
                chosen = self.study.chosen(measure.score, self.scope, measure.role)
                found[measure.name] = float(measure.area(self.study.scores[measure.score].exact(chosen)))
        return found

    def drawn(self, measures: Iterable[Measure], draws: Draws) -> dict[str, Array]:
        """Return each metric in every draw, NaN where it is undefined. All games must be in some unit.

        Draws of areas are moved by what the cells of histograms make of the pooled value (nothing if each distinct
        score has its own).
        """
        import numpy as np

        wanted = list(measures)
        held: dict[Key, Array] = {}

        def drawn_sums(key: Key) -> Array:
            matrix = self.matrix(key)
            held[key] = matrix.sum(axis=0, dtype=np.float64)
            return draws.sums(matrix)

        found = evaluate(wanted, drawn_sums)
        coarse, exact = evaluate(wanted, held.__getitem__), self.pooled(wanted)
        areas = [measure for measure in wanted if measure.area is not None and not isnan(exact[measure.name])]
        for measure in areas:
            name = measure.name
            lowest = -1 if measure.unit == "points" else 0
            found[name] = np.clip(found[name] + (exact[name] - coarse[name]), lowest, 1)
        return found

    def each(self, measures: Iterable[Measure]) -> dict[str, Array]:
        """Return each metric of every game, exact, NaN where undefined; units must be the games in their order."""
        wanted = list(measures)
        found = evaluate([measure for measure in wanted if measure.area is None], self.matrix)
        for measure in wanted:
            if measure.score is not None and measure.by_game is not None:
                chosen = self.study.chosen(measure.score, self.scope, measure.role)
                found[measure.name] = measure.by_game(self.study.sorted[measure.score].ties(chosen))
        return found

    def held(self, measures: Iterable[Measure]) -> dict[str, int]:
        """Return for each metric in how many units there is anything that it is over."""
        sums = unpack(self._sums)
        return {measure.name: int((measure.n(sums) > 0).sum()) for measure in measures}


def evaluate(measures: Iterable[Measure], matrix: Matrix) -> dict[str, Array]:
    """Return the metrics of every row of what `matrix` gives, NaN where undefined.

    Args:
        measures: which.
        matrix: for a key, the combined sums or histograms: any axes, the columns of `Sheet.matrix` last.
    """
    wanted = list(measures)
    found: dict[str, Array] = {}
    sums = unpack(matrix(None))
    for measure in wanted:
        if measure.value is not None:
            found[measure.name] = measure.value(sums)
    for score in dict.fromkeys(measure.score for measure in wanted if measure.score is not None):
        areas = [measure for measure in wanted if measure.score == score]
        found |= _areas(score, areas, matrix)
    return {measure.name: found[measure.name] for measure in wanted}


def _areas(score: Score, areas: list[Measure], matrix: Matrix) -> dict[str, Array]:
    whole = [measure for measure in areas if measure.role is None]
    total: Array | None = None
    found = {}
    for role in range(len(ROLES)):
        own = [measure for measure in areas if measure.role == role]
        if not own and not whole:
            continue
        flat = matrix((score, role))
        counts = flat.reshape(*flat.shape[:-1], 2, flat.shape[-1] // 2)
        for measure in own:
            found[measure.name] = _area(measure, counts)
        if whole:
            total = counts if total is None else total + counts
    for measure in whole:
        if total is not None:
            found[measure.name] = _area(measure, total)
    return found


def _area(measure: Measure, counts: Array) -> Array:
    import numpy as np

    if measure.area is None:
        raise TypeError(f"{measure.name} is no area")
    # some rows at a time: cumulating takes several times the memory of the counts
    flat = counts.reshape(-1, *counts.shape[-2:])
    step = max(1, 1_000_000 // max(1, flat.shape[-1]))
    parts = [measure.area(flat[at : at + step]) for at in range(0, len(flat), step)]
    return np.concatenate(parts or [np.zeros(0)]).reshape(counts.shape[:-2])
