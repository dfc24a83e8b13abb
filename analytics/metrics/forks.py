"""What a lie did: differences between forks of one statement, which differ in what stands in its place.

The estimand is the effect on those who lied, E[Y(lie) − Y(honest) | a lie was told]. Of one statement it is the mean,
over k, of the difference between the fork of arm ``keep`` and that of arm ``honest`` with the same k, which share their
draws; means are taken within games, then within blocks, and the estimate is the mean over blocks, which are resampled.
A statement without an honest fork is in none of this: the share of those is told beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from analytics import Result
from analytics.metrics.bootstrap import draws_of
from analytics.metrics.formulas import Array
from analytics.metrics.primary import Rearrangements, add_verdicts, of_flips
from analytics.metrics.study import Study
from analytics.metrics.sums import in_order
from analytics.results import NOBODY, Group, ResultRow, Results, defined, group_text
from analytics.rows.fork import OUTCOMES

KEEP: Final = "keep"
HONEST: Final = "honest"
AXES: Final = ("kind", "role", "agent")
"""By what effects are told apart; all of it exploratory."""

_NO_PAIR: Final = "no statement has both arms"
_STATEMENT: Final = ("parent", "number")
_LIE: Final = pl.col("lie")
_OTHER: Final = pl.col("other")
"""The outcome in ``keep``, and in what that is held against."""


class ForkSet:
    """All forks of some games, by statement.

    Args:
        study: the games.

    Attributes:
        forks: the table ``forks``, with the ``unit`` that each is in.
        statements: that have any.
        units: blocks that they are in.
    """

    def __init__(self, study: Study) -> None:
        forks = study.tables.forks.sort("parent", "number").with_columns(pl.col("arm", *AXES).cast(pl.String))
        blocks = [int(study.block[game]) for game in forks["game"]]
        units = {block: unit for unit, block in enumerate(dict.fromkeys(blocks))}
        unit = pl.Series("unit", [units[block] for block in blocks], dtype=pl.Int64)
        # a statement that was forked in two studies is in one block
        self.forks = forks.with_columns(unit).with_columns(pl.col("unit").first().over(_STATEMENT))
        self.statements = forks.select(_STATEMENT).n_unique()
        self.units = len(units)

    @property
    def arms(self) -> list[str]:
        """The arms that are held against ``keep``, the honest one first."""
        return sorted({*self.forks["arm"]} - {KEEP}, key=lambda arm: (arm != HONEST, arm))

    def values(self, axis: str) -> list[str]:
        """Return whom effects are told apart by on an axis."""
        return sorted(self.forks[axis].drop_nulls().unique())

    def by_unit(
        self, arm: str, outcome: str, of: pl.Expr = _LIE - _OTHER, group: Group | None = None
    ) -> tuple[Array, int]:
        """Return the mean of every unit, NaN where it has none, and over how many statements. Of several forks with one
        k all pairs count.

        Args:
            arm: what ``keep`` is held against.
            outcome: a column.
            of: what is taken of the outcome in both.
            group: whose statements count, by `AXES`; all unless given.
        """
        chosen = self.forks.filter(**(group or {})).filter(pl.col(outcome).is_not_null())
        value = pl.col(outcome).cast(pl.Float64)
        keep = chosen.filter(arm=KEEP).select("unit", *_STATEMENT, "k", lie=value)
        other = chosen.filter(arm=arm).select(*_STATEMENT, "k", other=value)
        means = keep.join(other, on=[*_STATEMENT, "k"]).select("unit", *_STATEMENT, "k", value=of)
        means = _mean_by(_mean_by(means, "unit", *_STATEMENT, "k"), "unit", *_STATEMENT)
        by_unit = _mean_by(_mean_by(means, "unit", "parent"), "unit")
        values = np.full(self.units, np.nan)
        values[by_unit["unit"].to_numpy()] = by_unit["value"].to_numpy()
        return values, len(means)


def _mean_by(rows: pl.DataFrame, *keys: str) -> pl.DataFrame:
    return rows.group_by(*keys, maintain_order=True).agg(in_order(pl.col("value")).mean())


def effect_row(metric: str, group: Mapping[str, Any], values: Array, n: int) -> ResultRow:
    """Return the mean over units as a row of the table, with the interval of resampled units.

    Args:
        metric: its name.
        group: whose it is.
        values: by unit, NaN where it has none.
        n: over how many statements.
    """
    has = ~np.isnan(values)
    if not has.any():
        return ResultRow(metric, group_text(group), NOBODY, None, n=0, reason=_NO_PAIR)
    value = float(values[has].mean())
    draws = draws_of(len(values))
    drawn = draws.sums(np.column_stack((np.where(has, values, 0.0), has.astype(np.float64))))
    with np.errstate(invalid="ignore"):
        means = drawn[:, 0] / drawn[:, 1]
    interval = draws.interval(means, int(has.sum()))
    undefined = int(np.isnan(means).sum())
    return ResultRow(
        metric, group_text(group), NOBODY, value, interval.low, interval.high, n, 0.0, interval.reason, undefined
    )


def fork_rows(study: Study) -> Iterator[ResultRow]:
    """Yield effects of statements (beyond the paper): ``lie_effect_OUTCOME``, of the statement as it was against an
    honest one in its place, of all, and by the kind of deception that its label named, by role and by agent; and
    ``fork_contrast_OUTCOME``, by arm, against what else was other there.
    """
    forks = fork_set(study)
    for outcome in OUTCOMES if forks.statements else ():
        metric = f"lie_effect_{outcome}"
        yield effect_row(metric, {}, *forks.by_unit(HONEST, outcome))
        for axis in AXES:
            for name in forks.values(axis):
                means = forks.by_unit(HONEST, outcome, group={axis: name})
                yield effect_row(metric, {axis: name}, *means)
        for arm in forks.arms:
            if arm != HONEST:
                means = forks.by_unit(arm, outcome)
                yield effect_row(f"fork_contrast_{outcome}", {"arm": arm}, *means)


def fork_set(study: Study) -> ForkSet:
    """Return the forks of some games, made when they are first asked for."""
    return study.cached("forks", lambda: ForkSet(study))


def forks(study: Study, results: Results) -> Result:
    """Return what lies did (beyond the paper); of games that are no forks all is 0 or empty.

    ``statements``, ``forks``, ``parents`` and ``blocks`` count. ``refused``: of the forks that keep a statement, the
    share without an honest one of the same number, since none was drawn, or since it was not played. ``arms``: by arm
    its ``forks``, mean ``tries``, and the share ``labelled`` deceptive of those whose label counts. ``effects``: by
    outcome the means in both arms, their ``difference``, an estimate, ``p`` alone and ``p_adjusted`` for all outcomes
    together (max-T), and ``verdict``, as `primary` has them. ``by_kind``, ``by_role``, ``by_agent`` and ``contrasts``
    (by arm) hold differences alone; they are exploratory.
    """
    fork_data = fork_set(study)
    keep = fork_data.forks.filter(arm=KEEP).select(*_STATEMENT, "k").unique()
    honest = fork_data.forks.filter(arm=HONEST)
    keeps = len(keep)
    pairs = len(keep.join(honest, on=[*_STATEMENT, "k"], how="semi"))
    return {
        "statements": fork_data.statements,
        "forks": len(fork_data.forks),
        "parents": fork_data.forks["parent"].n_unique(),
        "blocks": fork_data.units,
        "refused": {"value": 1 - pairs / keeps if keeps else None, "n": keeps},
        "arms": {arm: _arm(fork_data.forks.filter(arm=arm)) for arm in (KEEP, *fork_data.arms) if fork_data.statements},
        "effects": _effects(fork_data, results) if fork_data.statements else {},
        "contrasts": {
            arm: {name: results.row(f"fork_contrast_{name}", arm=arm).estimate() for name in OUTCOMES}
            for arm in fork_data.arms
            if arm != HONEST
        },
        **{
            f"by_{axis}": {
                value: {name: results.row(f"lie_effect_{name}", **{axis: value}).estimate() for name in OUTCOMES}
                for value in fork_data.values(axis)
            }
            for axis in AXES
        },
    }


def _arm(forks: pl.DataFrame) -> Result:
    return {"forks": len(forks), "tries": forks["tries"].mean(), "labelled": forks["labelled"].mean()}


def _effects(fork_data: ForkSet, results: Results) -> Result:
    flips = Rearrangements(fork_data.units)
    effects: dict[str, Result] = {}
    tested: dict[str, Array] = {}
    telling: dict[str, int] = {}
    for outcome in OUTCOMES:
        values, _ = fork_data.by_unit(HONEST, outcome)
        telling[outcome], parts = int((~np.isnan(values)).sum()), np.nan_to_num(values)
        if (parts != 0).any():
            tested[outcome] = of_flips(flips, parts)
        effects[outcome] = {
            KEEP: _level(fork_data, outcome, _LIE),
            HONEST: _level(fork_data, outcome, _OTHER),
            "difference": results.row(f"lie_effect_{outcome}").estimate(),
        }
    add_verdicts(effects, flips, tested, telling)
    return effects


def _level(fork_data: ForkSet, outcome: str, of: pl.Expr) -> float | None:
    values, _ = fork_data.by_unit(HONEST, outcome, of)
    return defined(np.nanmean(values)) if not np.isnan(values).all() else None
