"""`Sums`: tidy sums by game and group, as they are added up. What a game leaves does not grow with what was said in it,
and is nothing where only totals are wanted; games may be added in any order and any partition.

`Estimates`: figures of all games with their intervals, both from the same sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import wraps
from math import isnan
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from analytics import Result
from analytics.measures.bootstrap import FEWEST_BLOCKS, Interval, Leaf, draws_of, estimate
from analytics.measures.frames import ALL, FAMILIES, OVER, POOLED, UNINFORMED, Formula, Frame, Group, Key

if TYPE_CHECKING:
    from analytics.measures.columns import Array

    Codes: TypeAlias = tuple[Array, Sequence[Group]]
    """The code of each row, and what the codes from 0 stand for."""
    Groups: TypeAlias = Sequence[Codes]
    """The codes of each axis."""

_COARSE: Final = -1
_REST: Final = -2
"""What stands for the game in the two parts of a total; see `_split`."""


class Sums:
    """Entries of any number of games.

    Args:
        single: families of which entries of single games are kept, each with the axes that these
            tell apart, None on the others. Of all families there are totals, on all axes. All
            entries, on all axes, are kept unless given.
    """

    def __init__(self, single: Mapping[str, str] | None = None) -> None:
        self.single = {
            name: axes if single is None else tuple(single[name].split())
            for name, axes in FAMILIES.items()
            if name not in POOLED and (single is None or name in single)
        }
        self.ids: list[str] = []
        self.blocks: list[str] = []
        self._first = 0
        self._keys: dict[Key, int] = {}
        self._parts: list[tuple[Array, Array, Array]] = []

    def begin(self, ids: Sequence[str], blocks: Sequence[str]) -> None:
        """Begin games with the names of their blocks; what is put from now on is of these."""
        self._pack()
        self._first = len(self.ids)
        self.ids += ids
        self.blocks += blocks

    def put(self, name: str, game: Array, groups: Groups, weights: Array | None = None) -> None:
        """Sum rows by game and group.

        Args:
            name: of the family.
            game: the game of each row, as a place among those begun last.
            groups: for each axis, the code of each row and what the codes from 0 stand for.
            weights: what is summed, in [0, 1] or a few times as much; rows are counted unless given. Sums are as good
                as correctly rounded, so that the order of the rows leaves no trace.
        """
        import numpy as np

        if not len(game):
            return
        width = math.prod(max(1, len(values)) for _, values in groups)
        code = np.zeros(len(game), np.int64)
        for part, values in groups:
            code = code * max(1, len(values)) + part
        entry, row = np.unique(game.astype(np.int64) * width + code, return_inverse=True)
        value = np.bincount(row).astype(np.float64) if weights is None else exact_sums(row, weights)
        game = (entry // width + self._first).astype(np.int32)
        codes, place = np.unique(entry % width, return_inverse=True)
        keys: list[Key] = [(name, *_groups(at, groups)) for at in codes.tolist()]
        key = self._numbers(keys)[place]
        axes, single = FAMILIES[name], self.single.get(name)
        if single == axes:
            self._parts.append((game, key, value))
            return
        for pool, part in zip((_COARSE, _REST), _split(value), strict=True):
            if pool == _COARSE or part.any():
                self._parts.append(_added(np.full(len(game), pool, np.int32), key, part))
        if single is not None:
            kept_axes = [name, *(axis if axis in single else None for axis in axes)]
            fewer: list[Key] = [
                tuple(group if axis else None for axis, group in zip(kept_axes, key, strict=True)) for key in keys
            ]
            self._parts.append(_added(game, self._numbers(fewer)[place], value))

    def _numbers(self, keys: Sequence[Key]) -> Array:
        import numpy as np

        return np.array([self._key(key) for key in keys], np.int32)

    def _key(self, key: Key) -> int:
        return self._keys.setdefault(key, len(self._keys))

    def _pack(self) -> None:
        """Join the parts, and add up what is pooled."""
        import numpy as np

        game, key, value = map(np.concatenate, zip(*(self._parts or [(np.zeros(0),) * 3]), strict=True))
        pooled = game < 0
        if pooled.any():
            pooled_sums = _added(game[pooled], key[pooled], value[pooled])
            game, key, value = (
                np.concatenate([all_[~pooled], sums])
                for all_, sums in zip((game, key, value), pooled_sums, strict=True)
            )
        self._parts = [(game.astype(np.int32), key.astype(np.int32), value)]

    def by_key(self) -> tuple[dict[str, list[tuple[Key, int]]], Array, Array, Array]:
        """Return the keys of each family with their numbers, in a fixed order; games and values of all entries in the
        order of these numbers; and where those of each number begin, and those of the last end.
        """
        import numpy as np

        self._pack()
        game, key, value = self._parts[0]
        order = np.argsort(key, kind="stable")
        ends = np.searchsorted(key[order], np.arange(len(self._keys) + 1))
        index: dict[str, list[tuple[Key, int]]] = {name: [] for name in FAMILIES}
        # in an order of the keys' own, whatever game came first
        for entry_key, number in sorted(self._keys.items(), key=lambda item: tuple(map(str, item[0]))):
            index[str(entry_key[0])].append((entry_key, number))
        return index, game[order], value[order], ends


def exact_sums(row: Array, weights: Array, count: int = 0) -> Array:
    """Return the sums of weights by row, as good as correctly rounded.

    Those of the two parts of the weights are added up apart.
    """
    import numpy as np

    coarse, remainder = _split(np.asarray(weights, np.float64))
    return np.bincount(row, coarse, count) + np.bincount(row, remainder, count)


def _added(game: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Return entries with those of one game and key added up."""
    import numpy as np

    combined = key.astype(np.int64) << 32 | (game - _REST)
    entry, row = np.unique(combined, return_inverse=True)
    return (entry & 0xFFFFFFFF) + _REST, entry >> 32, np.bincount(row, value)


def _split(values: Array) -> tuple[Array, Array]:
    """Return values as a part with 26 bits behind the point, whose sums are exact, and a small rest."""
    import numpy as np

    coarse = np.round(values * 2.0**26) / 2.0**26
    return coarse, values - coarse


def _groups(code: int, groups: Groups) -> Iterator[Group]:
    decoded: list[Group] = []
    for _, values in reversed(groups):
        size = max(1, len(values))
        decoded.append(values[code % size] if len(values) else None)
        code //= size
    return reversed(decoded)


class Estimates:
    """The games' sums, in total, by block and in every draw of the blocks, and figures of them with their intervals.

    Blocks are drawn in the order of their names, all families together: one figure has one
    interval, wherever it is printed. numpy multiplies only where there are blocks enough.

    Args:
        sums: of the games; nothing is added to them later.

    Attributes:
        blocks: number of blocks.
        where: what all figures keep to, by axis.
    """

    def __init__(self, sums: Sums) -> None:
        self.sums = sums
        self.where: dict[str, Group] = {}
        names = sorted(set(sums.blocks))
        self.blocks = len(names)
        self._place = {name: index for index, name in enumerate(names)}
        self._index, self._game, self._value, self._ends = sums.by_key()
        self._frames: dict[str, Frame] = {}

    def select(self, **where: Group) -> Estimates:
        """Return the same estimates of one group only; families without the axis are not touched."""
        subset = copy(self)
        subset.where = {**self.where, **where}
        return subset

    def groups(self, name: str, axis: str) -> list[Any]:
        """Return what there is of a family on one of its axes, in ascending order."""
        position = 1 + FAMILIES[name].index(axis)
        return sorted({key[position] for key, _ in self._index[name]}, key=lambda group: (str(type(group)), group))

    def by_game(self, name: str, *key: Group) -> list[float]:
        """Return the values of a key whose first part is the pairs that these estimates are over, one a game that has
        it, in ascending order.

        Raises:
            ValueError: only totals are kept of the family.
        """
        self._need(name)
        number = dict(self._index[name]).get((name, self.where["pairs"], *key))
        return [] if number is None else sorted(self._entries(number)[1].tolist())

    def _need(self, name: str) -> None:
        if name not in self.sums.single:
            raise ValueError(f"only totals are kept of {name}")

    def _entries(self, number: int) -> tuple[Array, Array]:
        """Return the games that have an entry of a key, and their values; games below 0 are parts of the total."""
        entries = slice(self._ends[number], self._ends[number + 1])
        return self._game[entries], self._value[entries]

    def _having(self, keys: Sequence[tuple[Key, int]], *, totals: bool) -> list[tuple[Key, int]]:
        """Return the keys of which there are totals, or entries of single games."""
        return [(key, number) for key, number in keys if ((self._entries(number)[0] < 0) == totals).any()]

    @property
    def total(self) -> Frame:
        """The sums over all games, correctly rounded."""
        return self._cached("total", self._add_up).select(**self.where)

    @property
    def by_block(self) -> Frame:
        """The sums of every block."""
        return self._cached("block", self._add_up_blocks).select(**self.where)

    @property
    def drawn(self) -> Frame:
        """The sums in every draw."""
        return self._cached("draw", self._draw).select(**self.where)

    def _cached(self, name: str, make: Callable[[], Frame]) -> Frame:
        """Return sums of all groups, made when they are first asked for."""
        if name not in self._frames:
            self._frames[name] = make()
        return self._frames[name]

    def _add_up(self) -> Frame:
        import numpy as np

        single = self.sums.single
        index = {
            name: keys if single.get(name) == FAMILIES[name] else self._having(keys, totals=True)
            for name, keys in self._index.items()
        }

        def values_of(name: str) -> Array:
            return np.array([math.fsum(self._entries(number)[1].tolist()) for _, number in index[name]])

        return Frame(FAMILIES, index, values_of)

    def by_unit(self, unit: Array, count: int) -> Frame:
        """Return the sums of all groups by unit.

        Args:
            unit: unit of each game, in the order of `Sums.ids`; -1 for a game left out.
            count: number of units.

        The frame raises ValueError for families of which only totals are kept.
        """
        import numpy as np

        index = {name: self._having(keys, totals=False) for name, keys in self._index.items()}

        def values_of(name: str) -> Array:
            self._need(name)
            totals = np.zeros((count, len(index[name])))
            for column, (_, number) in enumerate(index[name]):
                game, value = self._entries(number)
                units = unit[game]
                inside = units >= 0
                totals[:, column] = np.bincount(units[inside], value[inside], count)
            return totals

        return Frame(FAMILIES, index, values_of)

    def _add_up_blocks(self) -> Frame:
        import numpy as np

        unit = np.array([self._place[block] for block in self.sums.blocks], np.int64)
        return self.by_unit(unit, self.blocks)

    def _draw(self) -> Frame:
        return self._cached("block", self._add_up_blocks).map(draws_of(self.blocks).sums)

    def interval(self, figure: Formula) -> Interval | None:
        """Return the interval of a figure, or why there is none; None below five blocks. Blocks without any of what it
        is over do not count.
        """
        if self.blocks < FEWEST_BLOCKS:
            return None
        return draws_of(self.blocks).interval(figure(self.drawn), int((figure.n(self.by_block) > 0).sum()))

    def figure(self, figure: Formula, reason: str) -> Result:
        """Return a figure as an estimate; `reason` says why it is undefined if it is."""
        value = float(figure(self.total))
        count = round(float(figure.n(self.total)))
        return estimate(value, count, None if isnan(value) else self.interval(figure), reason)

    def difference(self, one: Formula, other: Formula, reason: str) -> Result:
        """Return one quotient minus another as an estimate; it rests on the blocks of the side with
        fewer.
        """
        figure, sides = one - other, (one.n, other.n)
        value, n = float(figure(self.total)), round(sum(float(side(self.total)) for side in sides))
        if isnan(value) or self.blocks < FEWEST_BLOCKS:
            return estimate(value, n, None, reason)
        nonempty = min(int((side(self.by_block) != 0).sum()) for side in sides)
        return estimate(value, n, draws_of(self.blocks).interval(figure(self.drawn), nonempty), reason)

    def leaf(self, figure: Formula) -> Leaf:
        """Return the interval of a figure as plain values."""
        interval = self.interval(figure)
        return None if interval is None else interval.leaf


def over_both(section: Callable[[Estimates], Result]) -> Callable[[Estimates], Result]:
    """Return a section over uninformed pairs, with the same over all under ``all_observers``."""

    @wraps(section)
    def both(estimates: Estimates) -> Result:
        uninformed, everybody = (section(estimates.select(**OVER[pairs])) for pairs in (UNINFORMED, ALL))
        return {**uninformed, "all_observers": everybody}

    return both
