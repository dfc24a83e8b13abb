"""`Study`: any number of games as frames, joined as figures need them; `Scope`: whose rows count; and how figures of
sums become rows of the table, by_unit with its interval (paper, section 5.9; metrics: variability).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from analytics.metrics.bootstrap import (
    DRAWS,
    FEW_BLOCKS,
    FEWEST_BLOCKS,
    NONE,
    TELLING,
    Interval,
    draws_of,
    rate_of_games,
)
from analytics.metrics.formulas import Array, Formula, Parts
from analytics.metrics.sums import Figure, Sums
from analytics.results import UNINFORMED, Observers, ResultRow, defined, group_text
from analytics.rows.fields import HOW
from analytics.tables import Tables
from wolfbus.game.roles import roles_among
from wolfbus.game.vocabulary import Role

Made = TypeVar("Made")

CLEAN, REPAIRED, DEFAULTED = HOW


class Study:
    """Games, and what several figures of them share, each made when it is first asked for.

    Args:
        tables: the games.
        with_intervals: whether figures of sums get bootstrap intervals.

    Attributes:
        tables: as given.
        with_intervals: as given.
        games: number of games.
        blocks: number of blocks of games that are resampled together.
        block: block of each game; blocks are in the order of their names.
        design_blocks: number of blocks of the design; a fork of no study is in that of its parent, and blocks of
            several studies that have a seed in common are one. Where they are fewer than tests and intervals need, but
            games are not, single games are the blocks in their place; forks of one game are one, and so are games of
            one seed in several blocks.
        agents: names of the agents, in ascending order.
    """

    def __init__(self, tables: Tables, *, with_intervals: bool = True) -> None:
        self.tables = tables
        self.with_intervals = with_intervals
        self.games = len(tables)
        self.agents = tables.agents
        ids, blocks = tables.games["game_id"].to_list(), tables.games["block"].to_list()
        # forks of one game share what was said before: they are no more than the game is
        parents = dict(tables.forks.select("game", "parent").iter_rows())
        origins = [parents.get(game, name) for game, name in enumerate(ids)]
        design = [origin if block == name else block for name, block, origin in zip(ids, blocks, origins, strict=True)]
        # so do games of one seed in several blocks: the same deal, played under other rules or by others
        seeds = tables.games["seed"].to_list()
        blocks_of = Counter(seed for seed, _ in set(zip(seeds, design, strict=True)))
        shared = [seed if blocks_of[seed] > 1 else "" for seed in seeds]
        names, block = np.unique(joined_by_seed(design, shared), return_inverse=True)
        self.design_blocks = len(names)
        if len(names) < TELLING <= len(set(origins)):
            names, block = np.unique(joined_by_seed(origins, shared), return_inverse=True)
        self.blocks, self.block = len(names), block.astype(np.int64)
        self._cache: dict[Hashable, Any] = {}

    def cached(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what several figures of these games share, made when it is first asked for."""
        if key not in self._cache:
            self._cache[key] = make()
        value: Made = self._cache[key]
        return value

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """The roles that tables tell apart: all of ours, and those of other tables that somebody here has."""
        return roles_among(self.tables.seats["role"].cast(pl.String).unique().to_list())

    @cached_property
    def statements(self) -> pl.DataFrame:
        """Statements; ``said`` is the row of each, ``how`` its label was come by, ``wolf`` a Werewolf's."""
        return self.tables.statements.with_row_index("said").with_columns(
            how=_how(), said=pl.col("said").cast(pl.Int64), wolf=pl.col("role") == "Werewolf"
        )

    @cached_property
    def judgements(self) -> pl.DataFrame:
        """Judgements with what is known of their statements: ``said``, its row; ``label``, what its speaker calls it;
        ``truth``; ``copied``; ``said_how``, how the label was come by. ``wolf`` tells whether a Werewolf spoke.
        """
        spoken = self.statements.select(
            "game", "said", "truth", "copied", statement="number", label="self_deceptive", said_how="how"
        )
        joined = self.tables.judgements.join(spoken, on=["game", "statement"], how="left", validate="m:1")
        # in an order that leaves no trace of the order in which answers came, not in the last bit of a sum
        ordered = joined.sort("game", "statement", "suspicion", "before")
        return ordered.with_columns(how=_how(), wolf=pl.col("target_role") == "Werewolf")

    @cached_property
    def judged(self) -> pl.DataFrame:
        """Judgements that count: those that came, of statements in their speakers' own words."""
        return self.judgements.filter(pl.col("flagged").is_not_null() & pl.col("copied").ne_missing(other=True))

    @cached_property
    def rounds(self) -> pl.DataFrame:
        """D of pairs alive when the round's last judgement was joined, with a judgement so far."""
        return self.tables.suspicion.filter(pl.col("round").is_not_null()).sort("game", "round", "suspicion")

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """Final D of every ordered pair with a judgement."""
        frame = self.tables.suspicion.filter(pl.col("round").is_null()).sort("game", "suspicion")
        return frame.with_columns(wolf=pl.col("target_role") == "Werewolf")


def joined_by_seed(blocks: Sequence[str], seeds: Sequence[str | None]) -> list[str]:
    """Return the block of each game, where blocks that have a seed in common are one, by the first of their names.

    Args:
        blocks: name of the block of each game.
        seeds: seed of each game; "" or None where none is known, which joins nothing.
    """
    names, block = np.unique(blocks, return_inverse=True)
    all_seeds, seed = np.unique([seed or "" for seed in seeds], return_inverse=True)
    has_seed = all_seeds[seed] != ""
    ends = block[has_seed], len(names) + seed[has_seed]
    graph = coo_array((np.ones(len(ends[0])), ends), shape=(len(names) + len(blocks),) * 2)
    group = connected_components(graph, directed=False)[1]
    first: dict[int, str] = {}
    for name, of_name in zip(names.tolist(), group.tolist(), strict=False):
        first.setdefault(of_name, name)
    return [first[of_game] for of_game in group[block].tolist()]


def _how() -> pl.Expr:
    """Return how a label or judgement was come by; the true outcome decides, whether or not what is missing was filled
    in. Null for what is not joined.
    """
    accepted = pl.when(pl.col("reading") == "clean").then(pl.lit(CLEAN)).otherwise(pl.lit(REPAIRED))
    how = pl.when(pl.col("outcome") == "accepted").then(accepted).otherwise(pl.lit(DEFAULTED))
    return pl.when(pl.col("outcome").is_not_null()).then(how).cast(pl.Enum(HOW))


@dataclass(frozen=True)
class Scope:
    """Whose rows count.

    Attributes:
        study: the games.
        observers: over which pairs of observer and target.
        agent: only what this agent does counts; all unless given.
        beside: another study that these games are held against, so that both are cut into the same cells.
        own_bins: whether calibration bins are this study's own all the same.
    """

    study: Study
    observers: Observers = UNINFORMED
    agent: str | None = None
    beside: Study | None = None
    own_bins: bool = True

    def of(self, frame: pl.DataFrame, by: str) -> pl.DataFrame:
        """Return the rows that count.

        Args:
            frame: rows; those with a column ``informed`` are of pairs.
            by: the column of the agent that does it.
        """
        if self.observers == UNINFORMED and "informed" in frame.columns:
            frame = frame.filter(~pl.col("informed"))
        return frame if self.agent is None else frame.filter(pl.col(by).cast(pl.String) == self.agent)

    @property
    def judged(self) -> pl.DataFrame:
        """Judgements that count."""
        key = ("judged", self.observers, self.agent)
        return self.study.cached(key, lambda: self.of(self.study.judged, "observer_agent"))


Family: TypeAlias = Callable[[Scope], Iterable[Sums]]
"""Gives sums that several figures are formulas of."""


@dataclass(frozen=True, eq=False)
class Units:
    """Sums of some units, of which figures are computed in total, in each, and in variants.

    Attributes:
        sums: of the games.
        unit: unit of each game; -1 for one that is left out.
        count: number of units.
    """

    sums: Sums
    unit: Array
    count: int

    @cached_property
    def matrix(self) -> Array:
        """The sums of the units, by unit and column."""
        return self.sums.by_unit(self.unit, self.count)

    @cached_property
    def by_unit(self) -> Parts:
        """The sums of every unit, by group."""
        return self.sums.parts(self.matrix)

    @cached_property
    def by_game(self) -> Parts:
        """The sums of every game, by group."""
        return self.sums.by_game

    @cached_property
    def exact(self) -> Parts:
        """The sums over all games, by group."""
        return self.sums.total

    @cached_property
    def _coarse(self) -> Parts:
        return self.sums.parts(self.matrix.sum(axis=0, dtype=np.float64))

    def values(self, figure: Figure, variants: Parts) -> Array:
        """Return a figure of variants of the units' sums, by variant and group.

        Where what units come to is coarser than the games' own figures, variants are moved by what that makes of the
        value of all.
        """
        values = figure.value(variants)
        if not self.sums.areas:
            return values
        exact = figure.value(self.exact)
        moved: Array = np.clip(values + (exact - figure.value(self._coarse)), figure.lowest, 1)
        return np.where(np.isnan(exact), values, moved)

    def telling(self, figure: Figure) -> Array:
        """Return whether each unit tells anything of a figure, then whether it has each side of what the figure is
        undefined without; by that, unit and group.
        """
        return np.array([part(self.by_unit) > 0 for part in (tells(figure), *figure.sides)])

    def nonempty(self, figure: Figure) -> Array:
        """Return by group the number of units that tell anything of a figure; see `counted_units`."""
        return counted_units(self.telling(figure).sum(axis=1))


def counted_units(telling: Array) -> Array:
    """Return the number of units that tell of a figure: of what it is undefined without, where that is too rare for an
    interval.

    Args:
        telling: how many tell anything of it, then how many have each side of it.
    """
    rarest: Array = telling.min(axis=0)
    return np.where(rarest < FEWEST_BLOCKS, rarest, telling[0])


def tells(figure: Figure) -> Formula:
    """Return what is above 0 where a block of games tells anything of a figure."""
    formula = figure.tells or figure.n
    if formula is None:
        raise TypeError("a count has no interval")
    return formula


def rows_of(
    study: Study, observers: Observers, sums: Sums, figures: Mapping[str, Figure], /, **within: Any
) -> Iterator[ResultRow]:
    """Yield figures of sums with their 95 % intervals, block bootstrap or Wilson's.

    Args:
        study: the games.
        observers: what the sums are over.
        sums: by game and group.
        figures: by metric.
        within: what else the groups say.
    """
    units = Units(sums, study.block, study.blocks)
    total, groups = units.exact, [group_text({**group, **within}) for group in sums.groups]
    variants: Parts | None = None
    several = study.blocks > 1 and study.with_intervals
    for metric, figure in figures.items():
        value = np.broadcast_to(figure.value(total), len(groups))
        if figure.n is None:
            yield from (
                ResultRow(metric, group, observers, defined(number))
                for group, number in zip(groups, value, strict=True)
            )
            continue
        n, baseline = figure.n(total), None if figure.baseline is None else figure.baseline(total)
        intervals, undefined = [Interval(None, None, FEW_BLOCKS)] * len(groups), DRAWS * np.isnan(value)
        if not figure.has_interval:
            intervals = [NONE] * len(groups)
        elif several or figure.is_rate_of_games:
            if figure.is_rate_of_games:
                intervals = [_wilson(figure, units, place) for place in range(len(groups))]
            if several and not np.isnan(value).all():
                draws = draws_of(study.blocks)
                variants = sums.parts(draws.sums(units.matrix)) if variants is None else variants
                drawn = units.values(figure, variants)
                undefined = np.isnan(drawn).sum(axis=0)
                if not figure.is_rate_of_games:
                    intervals = draws.intervals(drawn, units.nonempty(figure))
        for place, group in enumerate(groups):
            what = defined(value[place])
            low, high, why = intervals[place] if what is not None else Interval(None, None, figure.reason)
            yield ResultRow(
                metric=metric,
                group=group,
                observers=observers,
                value=what,
                low=low,
                high=high,
                n=round(float(n[place])),
                baseline=None if baseline is None else defined(baseline[place]),
                reason=why,
                undefined_draws=int(undefined[place]),
            )


def _wilson(figure: Figure, units: Units, place: int) -> Interval:
    n, value = tells(figure)(units.by_unit)[:, place], figure.value(units.by_unit)[:, place]
    # an agent's seats on one side of a game win or lose together
    by_game = tells(figure)(units.by_game)[:, place]
    square = float((by_game**2).sum())
    wins = np.where(n > 0, np.nan_to_num(value) * n, 0.0)
    return rate_of_games(wins, n, float(by_game.sum()) ** 2 / square if square else 0.0)


def figure_row(metric: str, observers: Observers, value: Any, interval: Interval | None, n: int | None, reason: str, /,
               **group: Any) -> ResultRow:  # fmt: skip
    """Return a row of a figure that is no formula of sums by game.

    Args:
        metric: its name.
        observers: whose.
        value: None or NaN where it is undefined.
        interval: None for want of blocks.
        n: what it is over.
        reason: why it is undefined if it is.
        group: whose.
    """
    what = defined(value)
    low, high, why = (
        (interval or Interval(None, None, FEW_BLOCKS)) if what is not None else Interval(None, None, reason)
    )
    return ResultRow(metric, group_text(group), observers, what, low, high, n, None, why)
