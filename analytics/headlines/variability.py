"""Statistical variability: every headline metric with its interval (paper, section 5.9; metrics: variability)."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from typing import TYPE_CHECKING

from analytics.accumulator import Result
from analytics.headlines.measures import MEASURES, Measure
from analytics.headlines.sheet import Sheet
from analytics.headlines.sums import Games
from analytics.resampling import Draws, undefined

if TYPE_CHECKING:
    from analytics.columns import Array, Columns


def variability(columns: Columns, names: Iterable[str] | None = None) -> Result:
    """Return every headline metric with a 95 % interval (paper 5.9; metrics: variability).

    ``value`` is pooled over games. ``low`` and ``high`` are the percentile bootstrap: 2,000 draws with a fixed seed
    resample whole blocks and recompute the pooled value from summed counts. ``undefined_draws`` counts the draws in
    which it is undefined; above 5 % there is no interval, nor below five blocks that have anything to do with the
    metric, nor where every draw gives the same; intervals of fewer than about thirty blocks are somewhat too narrow.
    Point estimates and values of single games are exact; in draws, areas under curves come from histograms (see
    `analytics.headlines.cells`), and the calibration error keeps to the bins of all games; like any calibration error
    it is biased upwards in draws, so its interval may lie above its value.

    A ``*_lift`` is a metric minus its baseline, both computed anew in every draw: only its interval tells whether the
    baseline, which is estimated from the same games, is beaten. The better constant guess is known with hindsight only:
    where classes are about even, the chance that makes it look better pulls a lift a little below 0.

    ``paper_mean`` ± ``paper_half`` is the paper's way: mean and 1.96 SEM over the ``paper_games`` in which the metric
    is defined; a game of few rows weighs as much as one of many. ``suspicion_gap`` is over the pairs of all observers,
    Werewolves too, as Table 2 is. ``lie_rate``, ``confession_rate``, ``coverage`` and ``truth_*`` rest on statements
    with a checkable claim; detection against truth takes lies and mistakes for false, whatever the self-label.

    Args:
        columns: the games.
        names: of the metrics; all unless given.

    Raises:
        KeyError: there is no such metric.
    """
    measures = [MEASURES[name] for name in (MEASURES if names is None else names)]
    study = Games(columns)
    blocks = len(columns.block_names)
    games = Sheet(study)
    sheet = Sheet(study, None, columns.blocks, blocks)
    draws = Draws([blocks])
    drawn = sheet.drawn(measures, draws)
    each, held = games.each(measures), sheet.held(measures)
    values, totals = games.pooled(measures), games.totals()
    found = {}
    for measure in measures:
        found[measure.name] = {
            **describe(measure, totals),
            **draws.estimate(
                *(values[measure.name], int(measure.n(totals)), drawn[measure.name], measure.reason),
                held=held[measure.name],
            ),
            "games": len(columns.ids),
            "undefined_draws": undefined(drawn[measure.name]),
            **_paper(each[measure.name]),
        }
    return {
        "metrics": found,
        "draws": draws.draws,
        "blocks": blocks,
        "games": len(columns.ids),
        "block_kind": "game" if blocks == len(columns.ids) else "block",
    }


def describe(measure: Measure, totals: dict[str, Array]) -> Result:
    """Return a metric's label, unit, better end and baseline over the games that `totals` sums."""
    baseline = None if measure.baseline is None else number(measure.baseline(totals))
    return {
        "label": measure.label,
        "unit": measure.unit,
        "better": measure.better,
        "baseline": baseline,
        "baseline_label": None if baseline is None else measure.baseline_label,
    }


def number(value: Array | float) -> float | None:
    """Return a finite number as it stands and NaN as None."""
    found = float(value)
    return None if isnan(found) else found


def _paper(values: Array) -> Result:
    import numpy as np

    defined = values[~np.isnan(values)]
    n = len(defined)
    return {
        "paper_mean": float(defined.mean()) if n else None,
        "paper_half": float(1.96 * defined.std(ddof=1) / np.sqrt(n)) if n > 1 else None,
        "paper_games": n,
    }
