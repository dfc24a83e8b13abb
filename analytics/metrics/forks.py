"""What a lie did: differences between forks of one statement, which differ in what stands in its place.

The estimand is the effect on those who lied, E[Y(lie) − Y(honest) | a lie was told]. Of one statement it is the mean,
over k, of the difference between the fork of arm ``keep`` and that of arm ``honest`` with the same k, which share their
draws; means are taken within games, then within blocks, and the estimate is the mean over blocks, which are resampled.
A statement without an honest fork is in none of this: the share of those is told beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Final

import numpy as np

from analytics import Result
from analytics.metrics.bootstrap import draws_of
from analytics.metrics.formulas import Array
from analytics.metrics.primary import Rearrangements, add_verdicts, of_flips
from analytics.metrics.study import Study
from analytics.results import NOBODY, Group, ResultRow, Results, defined, group_text
from analytics.rows.fork import OUTCOMES

KEEP: Final = "keep"
HONEST: Final = "honest"
AXES: Final = ("kind", "role", "agent")
"""By what effects are told apart; all of it exploratory."""

_NO_PAIR: Final = "no statement has both arms"


@dataclass(slots=True)
class _Forked:
    """The forks of one statement: by arm and k the columns of the table ``forks``; several where a statement was forked
    more than once.
    """

    parent: str
    unit: int
    row: Mapping[str, Any]
    arms: dict[str, dict[int, list[Mapping[str, Any]]]] = field(default_factory=dict)

    def mean(self, arm: str, outcome: str, of: Callable[[float, float], float]) -> float | None:
        """Return the mean over k of what `of` makes of the outcome in ``keep`` and in an arm, of several forks with one
        k that of all pairs; None without a pair.
        """
        keep, other = self.arms.get(KEEP, {}), self.arms.get(arm, {})
        means: list[float] = []
        for k in sorted(keep.keys() & other.keys()):
            pairs = [(lie[outcome], swap[outcome]) for lie in keep[k] for swap in other[k]]
            values = [of(float(lie), float(swap)) for lie, swap in pairs if lie is not None and swap is not None]
            means += [fmean(values)] if values else []
        return fmean(means) if means else None


class ForkSet:
    """All forks of some games, by statement.

    Args:
        study: the games.

    Attributes:
        statements: in the order of their parents.
        units: blocks that they are in.
    """

    def __init__(self, study: Study) -> None:
        statements: dict[tuple[str, int], _Forked] = {}
        units: dict[str, int] = {}
        for row in study.tables.forks.sort("parent", "number").iter_rows(named=True):
            unit = units.setdefault(study.design[row["game"]], len(units))
            key = (row["parent"], row["number"])
            statement = statements.setdefault(key, _Forked(row["parent"], unit, row))
            statement.arms.setdefault(row["arm"], {}).setdefault(row["k"], []).append(row)
        self.statements = list(statements.values())
        self.units = len(units)

    @property
    def arms(self) -> list[str]:
        """The arms that are held against ``keep``, the honest one first."""
        arms = {arm for statement in self.statements for arm in statement.arms} - {KEEP}
        return sorted(arms, key=lambda arm: (arm != HONEST, arm))

    def by_unit(
        self,
        arm: str,
        outcome: str,
        of: Callable[[float, float], float] = lambda lie, other: lie - other,
        group: Group | None = None,
    ) -> tuple[Array, int]:
        """Return the mean of every unit, NaN where it has none, and over how many statements.

        Args:
            arm: what ``keep`` is held against.
            outcome: a column.
            of: what is taken of the outcome in both.
            group: whose statements count, by `AXES`; all unless given.
        """
        games: dict[int, dict[str, list[float]]] = {}
        count = 0
        for statement in self.statements:
            is_chosen = all(statement.row[axis] == value for axis, value in (group or {}).items())
            value = statement.mean(arm, outcome, of) if is_chosen else None
            if value is not None:
                games.setdefault(statement.unit, {}).setdefault(statement.parent, []).append(value)
                count += 1
        values = np.full(self.units, np.nan)
        for unit, by_game in games.items():
            values[unit] = fmean(map(fmean, by_game.values()))
        return values, count


def effect_row(metric: str, group: Mapping[str, Any], values: Array, n: int, *, intervals: bool = True) -> ResultRow:
    """Return the mean over units as a row of the table, with the interval of resampled units.

    Args:
        metric: its name.
        group: whose it is.
        values: by unit, NaN where it has none.
        n: over how many statements.
        intervals: whether it gets an interval.
    """
    has = ~np.isnan(values)
    if not has.any():
        return ResultRow(metric, group_text(group), NOBODY, None, n=0, reason=_NO_PAIR)
    value = float(values[has].mean())
    if not intervals:
        return ResultRow(metric, group_text(group), NOBODY, value, n=n)
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
        yield effect_row(metric, {}, *forks.by_unit(HONEST, outcome), intervals=study.with_intervals)
        for axis in AXES:
            for name in _values(forks, axis):
                means = forks.by_unit(HONEST, outcome, group={axis: name})
                yield effect_row(metric, {axis: name}, *means, intervals=study.with_intervals)
        for arm in forks.arms:
            if arm != HONEST:
                means = forks.by_unit(arm, outcome)
                yield effect_row(f"fork_contrast_{outcome}", {"arm": arm}, *means, intervals=study.with_intervals)


def fork_set(study: Study) -> ForkSet:
    """Return the forks of some games, made when they are first asked for."""
    return study.cached("forks", lambda: ForkSet(study))


def _values(forks: ForkSet, axis: str) -> list[str]:
    return sorted({str(statement.row[axis]) for statement in forks.statements if statement.row[axis] is not None})


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
    statements = fork_data.statements
    rows = [row for one in statements for arm in one.arms.values() for several in arm.values() for row in several]
    keeps = sum(len(one.arms.get(KEEP, {})) for one in statements)
    pairs = sum(len(one.arms.get(KEEP, {}).keys() & one.arms.get(HONEST, {}).keys()) for one in statements)
    return {
        "statements": len(statements),
        "forks": len(study.tables.forks),
        "parents": len({one.parent for one in statements}),
        "blocks": fork_data.units,
        "refused": {"value": 1 - pairs / keeps if keeps else None, "n": keeps},
        "arms": {arm: _arm(rows, arm) for arm in (KEEP, *fork_data.arms) if rows},
        "effects": _effects(fork_data, results) if statements else {},
        "contrasts": {
            arm: {name: results.row(f"fork_contrast_{name}", arm=arm).estimate() for name in OUTCOMES}
            for arm in fork_data.arms
            if arm != HONEST
        },
        **{
            f"by_{axis}": {
                value: {name: results.row(f"lie_effect_{name}", **{axis: value}).estimate() for name in OUTCOMES}
                for value in _values(fork_data, axis)
            }
            for axis in AXES
        },
    }


def _arm(rows: Sequence[Mapping[str, Any]], arm: str) -> Result:
    of_arm = [row for row in rows if row["arm"] == arm]
    labels = [row["labelled"] for row in of_arm if row["labelled"] is not None]
    return {
        "forks": len(of_arm),
        "tries": fmean(row["tries"] for row in of_arm) if of_arm else None,
        "labelled": fmean(labels) if labels else None,
    }


def _effects(fork_data: ForkSet, results: Results) -> Result:
    flips = Rearrangements(fork_data.units)
    effects: dict[str, Result] = {}
    tested: dict[str, Array] = {}
    for outcome in OUTCOMES:
        values, _ = fork_data.by_unit(HONEST, outcome)
        parts = np.nan_to_num(values)
        if (parts != 0).any():
            tested[outcome] = of_flips(flips, parts)
        effects[outcome] = {
            KEEP: _level(fork_data, outcome, lambda lie, _other: lie),
            HONEST: _level(fork_data, outcome, lambda _lie, other: other),
            "difference": results.row(f"lie_effect_{outcome}").estimate(),
        }
    add_verdicts(effects, flips, tested)
    return effects


def _level(fork_data: ForkSet, outcome: str, of: Callable[[float, float], float]) -> float | None:
    values, _ = fork_data.by_unit(HONEST, outcome, of)
    return defined(np.nanmean(values)) if not np.isnan(values).all() else None
