"""`View`: sums and histograms of scores in any number of variants, and the headline metrics of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analytics.measures.frames import Frame
from analytics.measures.measure import Measure, Score
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array

    Cells = Callable[[Score, int], Array]


@dataclass(frozen=True, slots=True)
class View:
    """Sums, and histograms of scores, of the same units: what a headline metric is a formula of.

    Attributes: frame: the sums. cells: counts by class and cell of judgements with a score by
        observers of a role, by index into `ROLES`.
    """

    frame: Frame
    cells: Cells


def evaluate(measures: Iterable[Measure], view: View) -> dict[str, Array]:
    """Return the metrics of every variant of the sums that a view holds, NaN where undefined."""
    wanted = list(measures)
    found = {measure.name: measure.value(view.frame) for measure in wanted if measure.value is not None}
    for score in dict.fromkeys(measure.score for measure in wanted if measure.score is not None):
        areas = [measure for measure in wanted if measure.score == score]
        whole = [measure for measure in areas if measure.role is None]
        total: Any = None
        for role in range(len(ROLES)):
            own = [measure for measure in areas if role_of_area(measure) == role]
            if own or whole:
                flat = view.cells(score, role)
                counts = flat.reshape(*flat.shape[:-1], 2, flat.shape[-1] // 2)
                found |= {measure.name: _area(measure, counts) for measure in own}
                total = counts if total is None else total + counts
        found |= {measure.name: _area(measure, total) for measure in whole}
    return {measure.name: found[measure.name] for measure in wanted}


def role_of_area(measure: Measure) -> int | None:
    """Return the index of the role whose judgements an area is over, None for all."""
    return None if measure.role is None else ROLES.index(measure.role)


def _area(measure: Measure, counts: Array) -> Array:
    import numpy as np

    if measure.area is None:
        raise TypeError(f"{measure.name} is no area")
    # some rows at a time: cumulating takes several times the memory of the counts
    flat = counts.reshape(-1, *counts.shape[-2:])
    step = max(1, 1_000_000 // max(1, flat.shape[-1]))
    parts = [measure.area(flat[at : at + step]) for at in range(0, len(flat), step)]
    return np.concatenate(parts or [np.zeros(0)]).reshape(counts.shape[:-2])
