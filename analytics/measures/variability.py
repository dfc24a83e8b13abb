"""`variability`: every headline metric with its interval (paper, section 5.9)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from analytics import Result
from analytics.measures.bootstrap import draws_of
from analytics.measures.headlines import MEASURES
from analytics.measures.pairs import ALL
from analytics.measures.study import Sheet, Study, describe

if TYPE_CHECKING:
    from analytics.columns import Array


def variability(study: Study, names: Iterable[str] | None = None) -> Result:
    """Return every headline metric with a 95 % interval (paper 5.9; metrics: variability).

    ``value`` is pooled over games. ``low`` and ``high`` are the bootstrap's: 2,000 draws with a
    fixed seed resample whole blocks and recompute the pooled value from summed counts; the
    quantiles allow for few blocks, see `analytics.measures.bootstrap.tail_of`. ``undefined_draws``
    counts the draws in which it is undefined; above 5 % there is no interval, nor below five blocks
    that have anything to do with the metric, nor where every draw gives the same. Rates of games
    have Wilson's interval instead (`analytics.measures.bootstrap.rate_of_games`), the one that
    stands beside the winners. Point estimates and
    values of single games are exact; in draws, areas under curves come from histograms (see
    `analytics.measures.scores`), and the calibration error keeps to the bins of all games; like any
    calibration error it is biased upwards in draws, so its interval may lie above its value.

    A ``*_lift`` is a metric minus its baseline, both computed anew in every draw: only its interval
    tells whether the baseline, which is estimated from the same games, is beaten. The better
    constant guess is known with hindsight only: where classes are about even, the chance that makes
    it look better pulls a lift a little below 0.

    ``paper_mean`` ± ``paper_half`` is the paper's way: mean and 1.96 SEM over the ``paper_games``
    in which the metric is defined; a game of few rows weighs as much as one of many. A metric that
    is held against a maximum over each game has none.

    What is over pairs of observer and target is over the uninformed ones, for whoever knows whether
    somebody is a Werewolf detects nothing (`analytics.measures.pairs`). ``all_observers`` beside it
    is over all pairs, as the paper's figures are, and ``paper_mean`` is, too.
    ``raw_suspicion_gap`` is of suspicion as it was given, ``suspicion_gap`` of final D.
    ``lie_rate``, ``mistake_rate``, ``confession_rate``, ``coverage`` and ``truth_*`` rest on statements with a
    checkable claim; detection against truth is of lies among lies and true statements, whatever
    the self-label; mistakes deceive nobody knowingly and are left out.

    Args:
        study: the games.
        names: of the metrics; all unless given.

    Raises:
        KeyError: there is no such metric.
    """
    measures = [MEASURES[name] for name in (MEASURES if names is None else names)]
    columns = study.columns
    sheet = Sheet(study, columns.blocks, study.blocks)
    everybody = Sheet(study, columns.blocks, study.blocks, pairs=ALL)
    found, each = sheet.estimates(measures, draws_of(study.blocks)), Sheet(study, pairs=ALL).each(measures)
    beside = everybody.estimates([measure for measure in measures if measure.pairs], draws_of(study.blocks))
    games = len(columns.ids)
    rows = {}
    for measure in measures:
        estimate = found[measure.name]
        undefined_draws = estimate.pop("undefined_draws")
        rows[measure.name] = {
            **describe(measure, sheet.total),
            **estimate,
            "games": games,
            "undefined_draws": undefined_draws,
            **(
                {"all_observers": {**describe(measure, everybody.total), **beside[measure.name]}}
                if measure.pairs
                else {}
            ),
            **_paper(each[measure.name] if measure.by_game else each[measure.name][:0]),
        }
    return {
        "metrics": rows,
        "draws": draws_of(study.blocks).draws,
        "blocks": study.blocks,
        "games": games,
        "block_kind": "game" if study.blocks == games else "block",
    }


def _paper(values: Array) -> Result:
    import numpy as np

    defined = values[~np.isnan(values)]
    n = len(defined)
    return {
        "paper_mean": float(defined.mean()) if n else None,
        "paper_half": float(1.96 * defined.std(ddof=1) / np.sqrt(n)) if n > 1 else None,
        "paper_games": n,
    }
