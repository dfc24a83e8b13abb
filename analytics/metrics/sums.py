"""`Sums`: what is added up of every game, by group; `Figure`: a formula of them.

Whatever is computed is a formula of sums by game. Games add up to a total, to blocks of the design, to draws of blocks
and to rearrangements of them; so one formula gives a value, its interval and its p-value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl

from analytics.metrics.formulas import Array, Formula, Parts, quotient
from analytics.results import Group
from analytics.tables import words_of
from wolfbus.game.roles import TABLE_ROLES, roles_among

Axes = Mapping[str, str]
"""What groups are told apart by: the column behind each axis."""


class Sums:
    """Named sums of every game, by group.

    Args:
        groups: the groups.
        names: names of the sums.
        values: games by groups by names.
        beside: figures that are told of them beside the headline metrics.
    """

    areas: bool = False
    """Whether what units come to is coarser than the games' own figures; see `analytics.metrics.scores`."""

    def __init__(
        self,
        groups: Sequence[Group],
        names: Sequence[str],
        values: Array,
        beside: Mapping[str, Figure] | None = None,
    ) -> None:
        self.groups = groups
        self.beside = beside or {}
        self.names = names
        self.values = values

    def within(self, groups: Sequence[Group]) -> Sums:
        """Return the sums of some groups only."""
        chosen = [place for place, group in enumerate(self.groups) if group in groups]
        return Sums([self.groups[place] for place in chosen], self.names, self.values[:, chosen], self.beside)

    def parts(self, matrix: Array) -> Parts:
        """Return the named sums of a matrix with this one's columns, by whatever stands before them, and group."""
        values = matrix.reshape(*matrix.shape[:-1], len(self.groups), len(self.names))
        return SimpleNamespace(**{name: values[..., place] for place, name in enumerate(self.names)})

    @property
    def total(self) -> Parts:
        """The sums over all games, by group."""
        return self.parts(self.values.sum(axis=0).reshape(-1))

    @property
    def by_game(self) -> Parts:
        """The sums of every game, games by groups."""
        return self.parts(self.values.reshape(len(self.values), len(self.groups) * len(self.names)))

    def by_unit(self, unit: Array, count: int) -> Array:
        """Return the sums of units, by unit and column.

        Args:
            unit: unit of each game; -1 for one that is left out.
            count: number of units.
        """
        sums = np.zeros((count, len(self.groups) * len(self.names)))
        inside = unit >= 0
        np.add.at(sums, unit[inside], self.values.reshape(len(unit), sums.shape[1])[inside])
        return sums


def sums_of(
    frame: pl.DataFrame,
    games: int,
    axes: Axes | None = None,
    /,
    *,
    total: bool = False,
    beside: Mapping[str, Figure] | None = None,
    **parts: pl.Expr | str | float,
) -> Sums:
    """Return sums of rows by game and group.

    Args:
        frame: the rows; ``game`` is the place of a row's game.
        games: how many games there are.
        axes: what groups are told apart by; one group unless given. A row without one of them is in no group.
        total: whether there is a group of all rows, before the others.
        beside: see `Sums`.
        parts: by name, what is summed of a row: an expression of its columns, the name of one, or a number.
    """
    axes = axes or {}
    values: list[Sequence[Any]] = []
    group = np.zeros(len(frame), np.int64)
    for column in axes.values():
        words, codes = _coded(frame[column])
        group = np.where((group < 0) | (codes < 0), -1, group * len(words) + codes)
        values.append(words)
    groups: list[Group] = [dict(zip(axes, named, strict=True)) for named in product(*values)]
    game = frame["game"].to_numpy()
    table = frame.select(**{name: _number(part) for name, part in parts.items()})
    sums = np.zeros((games, len(groups) + total, len(parts)))
    inside = group >= 0
    cell = game[inside].astype(np.int64) * len(groups) + group[inside]
    for place, name in enumerate(parts):
        weights = np.broadcast_to(table[name].to_numpy(), len(frame))
        sums[:, total:, place] = np.bincount(cell, weights[inside], games * len(groups)).reshape(games, len(groups))
        if total:
            sums[:, 0, place] = np.bincount(game, weights, games)
    return Sums([{}, *groups] if total else groups, tuple(parts), sums, beside)


def _number(part: pl.Expr | str | float) -> pl.Expr:
    if not isinstance(part, pl.Expr):
        part = pl.col(part) if isinstance(part, str) else pl.lit(part)
    return part.cast(pl.Float64).fill_null(0.0)


def in_order(values: pl.Expr) -> pl.Expr:
    """Return the values of a group in ascending order, for a mean or sum of groups that is the same in every run.

    Of values as they stand polars adds up parts, in whichever order its threads come to them.
    """
    return values.sort()


def _coded(column: pl.Series) -> tuple[Sequence[Any], Array]:
    """Return all that may stand in a column, or of names and numbers all that does, and the place among these of what
    each row has; -1 for nothing.
    """
    words: Sequence[Any] = (False, True)
    if column.dtype == pl.Boolean:
        codes = column.cast(pl.Int64)
    elif isinstance(column.dtype, pl.Enum):
        words = column.dtype.categories.to_list()
        if tuple(words) == TABLE_ROLES:
            words = list(roles_among(column.cast(pl.String).unique().to_list()))
        codes = column.cast(pl.Enum(words)).to_physical().cast(pl.Int64)
    elif column.dtype == pl.Categorical:
        words = words_of(column)
        codes = column.cast(pl.Enum(words)).to_physical().cast(pl.Int64)
    else:
        words = sorted(column.unique().drop_nulls())
        codes = pl.Series(np.searchsorted(words, column.fill_null(-1).to_numpy())).set(column.is_null(), -1)
    return words, codes.fill_null(-1).to_numpy()


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of sums.

    Attributes:
        value: of sums, NaN where it is undefined.
        n: of sums, what it is over; None of a count.
        reason: why it is undefined where it is.
        baseline: of sums, what needs no skill; None where there is no such thing.
        tells: of the sums of a block of games, above 0 where it tells anything of the figure; `n` unless given.
        sides: of the sums of a block of games, each above 0 where it has one of the things that the figure is undefined
            without; fewer than five blocks with one of them give no interval.
        is_rate_of_games: whether it is a share of games, each won or not: then its interval is Wilson's.
        lowest: the least that it may be.
        has_interval: whether it has an interval; a count never does.
    """

    value: Formula
    n: Formula | None = None
    reason: str = ""
    baseline: Formula | None = None
    tells: Formula | None = None
    sides: tuple[Formula, ...] = ()
    is_rate_of_games: bool = False
    lowest: float = 0.0
    has_interval: bool = True


def count(name: str) -> Figure:
    """Return a sum as it stands."""
    return Figure(lambda s: getattr(s, name))


def share(above: str, below: str, reason: str, **options: Any) -> Figure:
    """Return one sum over another."""
    return Figure(quotient(above, below), lambda s: getattr(s, below), reason, **options)
