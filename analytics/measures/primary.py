"""`primary`: the few metrics that a study was to be judged by, tested and adjusted together (metrics:
verdicts). Whatever else the findings hold is exploratory.

Under the hypothesis that a metric is no better and no worse than its baseline, what a block of games
adds to their difference might as well have come with the other sign. So the signs of blocks are
flipped, every way or ten thousand drawn ways, those of all metrics together. A metric's statistic is
the sum of its blocks' parts over the root of their squares; p-values are adjusted by the greatest
statistic of each flip (`analytics.measures.rearranging.max_t`). Parts of blocks come from leaving
one block out at a time.

``best_detector`` and ``best_deceiver`` ask whether the first agent in sensitivity, or concealment,
is ahead of the second: their statistic is how far whoever is first in a flip is ahead of the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, sqrt
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from analytics import Result
from analytics.measures.abilities import ability_lead, ranked
from analytics.measures.bootstrap import draws_of, told
from analytics.measures.headlines import MEASURES
from analytics.measures.measure import Measure
from analytics.measures.rearranging import PERMUTATIONS, Rearrangements, max_t
from analytics.measures.study import Sheet, Study, describe
from wolfbus.errors import ConfigError

if TYPE_CHECKING:
    from analytics.columns import Array

Verdict: TypeAlias = Literal["above", "below", "unclear", "few", "undefined"]
"""Against its baseline: it is above, or below, by adjusted p and interval both; neither; too few
blocks of games to tell; or there is nothing to test.
"""

MOST: Final = 6
"""Primary metrics that a study may have."""
LEADS: Final[Mapping[str, str]] = {"best_detector": "sensitivity", "best_deceiver": "concealment"}
"""Questions of who leads, and in which ability, by the role as the ground of truth."""
PRIMARY: Final = (
    *("suspicion_gap", "balanced_accuracy", "truth_balanced_accuracy", "vote_hit_lift"),
    *LEADS,
)
"""Primary metrics of a study that declares none."""
ALPHA: Final = 0.02
"""Level of the adjusted tests. Signs of few blocks are not quite exchangeable where a metric is a ratio:
at .05, six in a hundred simulated studies of noise had a bold sentence, at .02 three.
"""
TELLING: Final = 8
"""Blocks of games below which nothing is called better than anything else: signs of fewer can be
flipped too few ways.
"""

_UNTESTED: Final = "it has no baseline to be tested against; it is for comparisons"


def check_primary(names: Sequence[str], source: str) -> tuple[str, ...]:
    """Return the names of primary metrics as they were declared.

    Raises:
        ConfigError: there is no such metric, one is there twice, or there are more than six.
    """
    for place, name in enumerate(names):
        if name not in MEASURES and name not in LEADS:
            known = ", ".join((*(known for known in MEASURES if "/" not in known), *LEADS))
            raise ConfigError(f"{source}: [report] primary: there is no metric {name!r}; there are {known}")
        if name in names[:place]:
            raise ConfigError(f"{source}: [report] primary: {name!r} is there twice")
    if not 0 < len(names) <= MOST:
        raise ConfigError(f"{source}: [report] primary: {len(names)} metrics; declare 1 to {MOST}")
    return tuple(names)


def primary_of(manifests: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, ...], bool]:
    """Return the primary metrics of some studies, and whether they declared them; where studies
    declared different ones, or one none, the usual ones.
    """
    declared = {tuple(told.get("primary") or ()) for told in manifests}
    names = declared.pop() if len(declared) == 1 else ()
    if names and all(name in MEASURES or name in LEADS for name in names):
        return names[:MOST], True
    return PRIMARY, False


@dataclass(frozen=True, slots=True, eq=False)
class _Tested:
    """A statistic and what it is in every flip; None where there is nothing to test."""

    observed: float
    flipped: Array


def primary(study: Study, names: Sequence[str] = PRIMARY, *, declared: bool = False) -> Result:
    """Return the primary metrics with adjusted p-values and verdicts.

    ``metrics`` has for each ``value`` and its ``baseline``; ``difference``, an estimate; ``p`` of
    the test alone and ``p_adjusted`` for all of them; ``verdict``, one of "above", "below",
    "unclear", "few" and "undefined" (``reason`` says why). ``best_detector`` and ``best_deceiver``
    have the ``agent`` that is first and the ``second`` instead of value and baseline. A verdict is
    "above" or "below" only where the adjusted p is below .02 and the interval of the difference
    leaves out 0. ``declared`` tells whether the study did declare them before it was played.

    Args:
        study: the games.
        names: of the metrics.
        declared: whether the study declared them.
    """
    flips = Rearrangements(study.blocks, 0, 0, PERMUTATIONS)
    measures = [MEASURES[name] for name in names if name in MEASURES]
    rows, tested = _metrics(study, measures, flips)
    for name in names:
        if name in LEADS:
            rows[name], own = _lead(study, LEADS[name], flips)
            if own is not None:
                tested[name] = own
    enough = study.blocks >= TELLING
    kept = slice(1, None) if flips.exact else slice(None)
    adjusted = max_t(
        {name: own.observed for name, own in tested.items()},
        {name: own.flipped[kept] for name, own in tested.items()},
    )
    for name, row in rows.items():
        alone = (
            max_t({name: tested[name].observed}, {name: tested[name].flipped[kept]})[name] if name in tested else None
        )
        row |= {"p": alone, "p_adjusted": adjusted.get(name)}
        row["verdict"] = _verdict(row, enough=enough)
    return {
        "metrics": {name: rows[name] for name in names},
        "declared": declared,
        "blocks": study.blocks,
        "flips": flips.count,
        "exact": flips.exact,
    }


def _verdict(row: Result, *, enough: bool) -> Verdict:
    difference = row["difference"]
    if difference["value"] is None:
        return "undefined"
    if not enough:
        return "few"
    if row["p_adjusted"] is None:
        return "undefined"
    if row["p_adjusted"] < ALPHA and None not in (difference["low"], difference["high"]):
        if difference["low"] > 0:
            return "above"
        if difference["high"] < 0:
            return "below"
    return "unclear"


def _metrics(
    study: Study, measures: Sequence[Measure], flips: Rearrangements
) -> tuple[dict[str, Result], dict[str, _Tested]]:
    import numpy as np

    sheet, draws = Sheet(study, study.columns.blocks, study.blocks), draws_of(study.blocks)
    pooled, held = sheet.pooled(measures), sheet.held(measures)
    rows: dict[str, Result] = {}
    tested: dict[str, _Tested] = {}
    against = [measure for measure in measures if measure.baseline is not None]

    def lifts(vary: Callable[[Array], Array]) -> dict[str, Array]:
        values, baselines = sheet.varied(against, vary)
        return {measure.name: values[measure.name] - baselines[measure.name] for measure in against}

    drawn = lifts(draws.sums) if against else {}
    without = lifts(lambda matrix: matrix.sum(axis=0, dtype=np.float64) - matrix) if against else {}
    for measure in measures:
        name = measure.name
        told_of = describe(measure, sheet.total)
        lift = float("nan") if told_of["baseline"] is None else pooled[name] - told_of["baseline"]
        reason = measure.reason if isnan(pooled[name]) else _UNTESTED
        interval = draws.interval(drawn[name], held[name]) if name in drawn else None
        rows[name] = {
            **told_of,
            "value": None if isnan(pooled[name]) else pooled[name],
            "difference": told(lift, round(float(measure.n(sheet.total))), interval, reason),
        }
        if not isnan(lift):
            n = measure.n(sheet.frame)
            parts = (study.blocks - 1) * (lift - without[name]) + lift * n * (n > 0).sum() / n.sum()
            parts = np.where(n > 0, parts, 0.0)
            # where all rests on one block, there is nothing without it
            if not np.isnan(parts).any() and (parts != 0).any():
                tested[name] = _flipped(parts, flips)
    return rows, tested


def _flipped(parts: Array, flips: Rearrangements) -> _Tested:
    norm = sqrt(float((parts**2).sum()))
    sums = parts.sum() - 2 * flips.moved(parts[:, None])[:, 0]
    found: Array = abs(sums) / norm
    return _Tested(float(found[0]), found)


def _lead(study: Study, ability: str, flips: Rearrangements) -> tuple[Result, _Tested | None]:
    """Return who leads in an ability, and the test of whether anybody does."""
    import numpy as np

    label = f"the first agent's {ability} minus the second's"
    about: Result = {"label": label, "unit": "logit", "better": "high", "agent": None, "second": None}
    lead, held = ability_lead(study, "role", ability), ranked(study, "role", ability)
    if lead is None or held is None:
        reason = "no two agents of one connected group can be held against each other"
        return {**about, "difference": told(None, 0, None, reason)}, None
    there = held.effects != 0
    parts = held.effects + there * (held.values - held.values.mean()) / np.maximum(1, there.sum(axis=0))
    norm = np.sqrt(((parts[:, :, None] - parts[:, None, :]) ** 2).sum(axis=0))
    every = np.arange(len(held.agents))
    norm[every, every] = 1
    if not norm.all():
        return {**about, **lead}, None
    sums = parts.sum(axis=0) - 2 * flips.moved(parts)
    # whoever is first in the flip against whoever is second, in units of their difference's spread
    found = np.full(len(sums), -np.inf)
    for at in every:
        others = every != at
        ahead = (sums[:, [at]] - sums[:, others]) / norm[at, others]
        found = np.maximum(found, ahead.min(axis=1))
    return {**about, **lead}, _Tested(float(found[0]), found)
