"""What a statement does to its listeners: their smoothed suspicion of its speaker before it and after it, and how far
either is from the truth (beyond the paper).

The truth is 1 for a Werewolf and 0 for anybody else. A listener is whoever judged the statement. What is told is
change, not cause: a statement comes with all else that happened since the one before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

from analytics import Result
from analytics.metrics.study import Scope, Study, rows_of
from analytics.metrics.sums import Axes, Figure, share, sums_of
from analytics.results import PAIRS, Observers, ResultRow, Results

_UNMOVED: Final = "no listener gave a suspicion of such a statement"
FIGURES: Final[dict[str, Figure]] = {
    "suspicion_moved": share("moved", "judgements", _UNMOVED, baseline=lambda s: 0.0 * s.judgements),
    "distance_moved": share("farther", "judgements", _UNMOVED, baseline=lambda s: 0.0 * s.judgements),
}
_BY: Final[dict[str, Axes]] = {
    "by_truth": {"truth": "truth"},
    "by_role": {"role": "target_role"},
    "by_speaker": {"speaking": "target_agent"},
}


def sway_rows(study: Study) -> Iterator[ResultRow]:
    """Yield by how much suspicion of the speaker, and its distance from the truth, change from before a statement to
    after it: of all, by truth of the statement, by role and by agent of the speaker.
    """
    truth = pl.col("wolf").cast(pl.Float64)
    moved, farther = (
        pl.col("after") - pl.col("before"),
        (pl.col("after") - truth).abs() - (pl.col("before") - truth).abs(),
    )
    for observers in PAIRS:
        heard_by = Scope(study, observers).judged.filter(
            pl.col("suspicion").is_not_null() & pl.col("after").is_not_null()
        )
        for place, axes in enumerate(_BY.values()):
            sums = sums_of(heard_by, study.games, axes, total=not place, moved=moved, farther=farther, judgements=1.0)
            yield from rows_of(study, observers, sums, FIGURES)


def _sway(results: Results, observers: Observers) -> Result:
    def of(**group: str) -> Result:
        return {name: results.row(metric, observers, **group).estimate() for name, metric in _NAMES.items()}

    return {
        "overall": of(),
        **{
            by: {value: of(**{axis: value}) for value in results.groups(axis, "suspicion_moved", observers)}
            for by, axes in _BY.items()
            for axis in axes
        },
    }


_NAMES: Final = {"suspicion": "suspicion_moved", "distance": "distance_moved"}


def sway(_study: Study, results: Results) -> Result:
    """Return by how much suspicion of a speaker changes with a statement, over uninformed pairs: ``overall``,
    ``by_truth`` of the statement, ``by_role`` and ``by_speaker``; of each ``suspicion``, and its ``distance`` from the
    truth. Over all pairs under ``all_observers``.
    """
    uninformed, everybody = (_sway(results, observers) for observers in PAIRS)
    return {**uninformed, "all_observers": everybody}
