"""`Sums`: tidy sums by game and group, as they are added up; `Entries`: the same for reading.

What a game leaves does not grow with what was said in it, and is nothing where only totals are
wanted; games may be added in any order and any partition.

`Estimates` are figures of all games with their intervals, both from the same sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, wraps
from math import isnan
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from analytics import Result
from analytics.measures.bootstrap import FEWEST_BLOCKS, Interval, Leaf, draws_of, told
from analytics.measures.frames import ALL, OVER, UNINFORMED, Family, Formula, Frame, Group, Key

if TYPE_CHECKING:
    from analytics.columns import Array

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
        families: what is summed.
        single: families of which entries of single games are kept, each with the axes that these
            tell apart, None on the others. Of all families there are totals, on all axes. All
            entries, on all axes, are kept unless given.
    """

    def __init__(self, families: Mapping[str, Family], single: Mapping[str, str] | None = None) -> None:
        self.families = families
        self.single = {
            name: family.axes if single is None else tuple(single[name].split())
            for name, family in families.items()
            if not family.pooled and (single is None or name in single)
        }
        self.ids: list[str] = []
        self.blocks: list[str] = []
        self._keys: dict[Key, int] = {}
        self._parts: list[tuple[Array, Array, Array]] = []

    def begin(self, ids: Sequence[str], blocks: Sequence[str]) -> int:
        """Take in games with the names of their blocks; return the place of the first."""
        first = len(self.ids)
        self.ids += ids
        self.blocks += blocks
        return first

    def put(
        self,
        name: str,
        game: Array,
        groups: Groups,
        weights: Array | None = None,
    ) -> None:
        """Sum rows by game and group.

        Args: name: of the family. game: the game of each row, as a place among all games. groups:
            for each axis, the code of each row and what the codes from 0 stand for. weights: what
            is summed, in [0, 1] or a few times as much; rows are counted unless given. Sums are
                as good as correctly rounded, so that the order of the rows leaves no trace.
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
        game = (entry // width).astype(np.int32)
        codes, place = np.unique(entry % width, return_inverse=True)
        keys: list[Key] = [(name, *_groups(at, groups)) for at in codes.tolist()]
        key = self._numbers(keys)[place]
        axes, single = self.families[name].axes, self.single.get(name)
        if single == axes:
            self._parts.append((game, key, value))
            return
        for kept, part in zip((_COARSE, _REST), _split(value), strict=True):
            if kept == _COARSE or part.any():
                self._parts.append(_added(np.full(len(game), kept, np.int32), key, part))
        if single is not None:
            told = [name, *(axis if axis in single else None for axis in axes)]
            fewer: list[Key] = [
                tuple(None if axis is None else at for axis, at in zip(told, key, strict=True)) for key in keys
            ]
            self._parts.append(_added(game, self._numbers(fewer)[place], value))

    def _numbers(self, keys: Sequence[Key]) -> Array:
        import numpy as np

        return np.array([self._key(key) for key in keys], np.int32)

    def _key(self, key: Key) -> int:
        return self._keys.setdefault(key, len(self._keys))

    def merge(self, other: Sums) -> None:
        """Add all that `other` holds."""
        import numpy as np

        first = self.begin(list(other.ids), list(other.blocks))
        code = self._numbers(list(other._keys))
        self._parts += [
            (np.where(game < 0, game, game + first), code[key], value) for game, key, value in list(other._parts)
        ]
        self._pack()

    def _pack(self) -> None:
        """Join the parts, and add up what is pooled."""
        import numpy as np

        game, key, value = (np.concatenate([part[at] for part in self._parts] or [np.zeros(0)]) for at in range(3))
        pooled = game < 0
        if pooled.any():
            held = _added(game[pooled], key[pooled], value[pooled])
            game, key, value = (
                np.concatenate([all_[~pooled], sums]) for all_, sums in zip((game, key, value), held, strict=True)
            )
        self._parts = [(game.astype(np.int32), key.astype(np.int32), value)]

    def freeze(self) -> Entries:
        """Return what is held, for reading."""
        import numpy as np

        self._pack()
        game, key, value = self._parts[0]
        order = np.argsort(key, kind="stable")
        ends = np.searchsorted(key[order], np.arange(len(self._keys) + 1))
        index: dict[str, list[tuple[Key, int]]] = {name: [] for name in self.families}
        # in an order of the keys' own, whatever game came first
        for own, at in sorted(self._keys.items(), key=lambda item: tuple(map(str, item[0]))):
            index[str(own[0])].append((own, at))
        return Entries(self, index, game[order], value[order], ends)


class Entries:
    """The entries of some games by key.

    Attributes:
        sums: where they are from.
        index: the keys of each family, in a fixed order, with their numbers.
    """

    def __init__(
        self,
        sums: Sums,
        index: Mapping[str, Sequence[tuple[Key, int]]],
        game: Array,
        value: Array,
        ends: Array,
    ) -> None:
        self.sums = sums
        self.index = index
        self._game = game
        self._value = value
        self._ends = ends

    def of(self, number: int) -> tuple[Array, Array]:
        """Return the games that have an entry of a key, and their values; games below 0 are parts of
        the total.
        """
        own = slice(self._ends[number], self._ends[number + 1])
        return self._game[own], self._value[own]

    def values(self, *key: Group) -> list[float]:
        """Return the values of a key, one a game that has it, in ascending order.

        Raises:
            ValueError: only totals are kept of the family.
        """
        self._need(str(key[0]))
        for own, number in self.index[str(key[0])]:
            if own == key:
                return sorted(self.of(number)[1].tolist())
        return []

    def _need(self, name: str) -> None:
        if name not in self.sums.single:
            raise ValueError(f"only totals are kept of {name}")

    def groups(self, name: str, axis: str) -> list[Any]:
        """Return what there is of a family on one of its axes, in ascending order."""
        at = 1 + self.sums.families[name].axes.index(axis)
        return sorted({key[at] for key, _ in self.index[name]}, key=lambda group: (str(type(group)), group))

    @cached_property
    def total(self) -> Frame:
        """The sums over all games, correctly rounded."""
        import numpy as np

        families, single = self.sums.families, self.sums.single
        index = {
            name: keys if single.get(name) == families[name].axes else self._having(keys, totals=True)
            for name, keys in self.index.items()
        }

        def of(name: str) -> Array:
            return np.array([math.fsum(self.of(number)[1].tolist()) for _, number in index[name]])

        return Frame(families, index, of)

    def _having(self, keys: Sequence[tuple[Key, int]], *, totals: bool) -> list[tuple[Key, int]]:
        """Return the keys of which there are totals, or entries of single games."""
        return [(key, number) for key, number in keys if ((self.of(number)[0] < 0) == totals).any()]

    def by(self, unit: Array, count: int) -> Frame:
        """Return the sums by unit.

        Args:
            unit: unit of each game, in the order of `Sums.ids`; -1 for a game left out.
            count: number of units.

        The frame raises ValueError for families of which only totals are kept.
        """
        import numpy as np

        index = {name: self._having(keys, totals=False) for name, keys in self.index.items()}

        def of(name: str) -> Array:
            self._need(name)
            found = np.zeros((count, len(index[name])))
            for at, (_, number) in enumerate(index[name]):
                game, value = self.of(number)
                units = unit[game]
                kept = units >= 0
                found[:, at] = np.bincount(units[kept], value[kept], count)
            return found

        return Frame(self.sums.families, index, of)


def exact_sums(row: Array, weights: Array, count: int = 0) -> Array:
    """Return the sums of weights by row, as good as correctly rounded.

    Those of the two parts of the weights are added up apart.
    """
    import numpy as np

    coarse, rest = _split(np.asarray(weights, np.float64))
    return np.bincount(row, coarse, count) + np.bincount(row, rest, count)


def _added(game: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Return entries with those of one game and key added up."""
    import numpy as np

    both = key.astype(np.int64) << 32 | (game - _REST)
    entry, row = np.unique(both, return_inverse=True)
    return (entry & 0xFFFFFFFF) + _REST, entry >> 32, np.bincount(row, value)


def _split(values: Array) -> tuple[Array, Array]:
    """Return values as a part with 26 bits behind the point, whose sums are exact, and a small rest."""
    import numpy as np

    coarse = np.round(values * 2.0**26) / 2.0**26
    return coarse, values - coarse


def _groups(code: int, groups: Groups) -> Iterator[Group]:
    found: list[Group] = []
    for _, values in reversed(groups):
        size = max(1, len(values))
        found.append(values[code % size] if len(values) else None)
        code //= size
    return reversed(found)


class Estimates:
    """The games' sums, in total, by block and in every draw of the blocks.

    Blocks are drawn in the order of their names, all families together: one figure has one
    interval, wherever it is printed. numpy multiplies only where there are blocks enough.

    Args:
        sums: of the games.

    Attributes:
        blocks: number of blocks.
        total: the sums over all games.
        where: what all figures keep to, by axis.
    """

    def __init__(self, sums: Sums) -> None:
        self.sums = sums
        names = sorted(set(sums.blocks))
        self.blocks = len(names)
        self._place = {name: at for at, name in enumerate(names)}
        self.entries = sums.freeze()
        self.total = self.entries.total
        self.where: dict[str, Group] = {}

    def of(self, **where: Group) -> Estimates:
        """Return the same estimates of one group only; families without the axis are not touched."""
        found = copy(self)
        found.where = {**self.where, **where}
        found.total = self.total.of(**where)
        if self.blocks >= FEWEST_BLOCKS:
            # the same sums: they are made once
            found.by_block, found.drawn = self.by_block.of(**where), self.drawn.of(**where)
        return found

    def values(self, name: str, *key: Group) -> list[float]:
        """Return the values of a key whose first part is the pairs that these estimates are over, one a game."""
        return self.entries.values(name, self.where["pairs"], *key)

    @cached_property
    def by_block(self) -> Frame:
        """The sums of every block."""
        import numpy as np

        unit = np.array([self._place[block] for block in self.sums.blocks], np.int64)
        return self.entries.by(unit, self.blocks).of(**self.where)

    @cached_property
    def drawn(self) -> Frame:
        """The sums in every draw."""
        return self.by_block.map(draws_of(self.blocks).sums)

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
        return told(value, count, None if isnan(value) else self.interval(figure), reason)

    def difference(self, one: Formula, other: Formula, reason: str) -> Result:
        """Return one quotient minus another as an estimate; it rests on the blocks of the side with
        fewer.
        """
        figure, sides = one - other, (one.n, other.n)
        value, n = float(figure(self.total)), round(sum(float(side(self.total)) for side in sides))
        if isnan(value) or self.blocks < FEWEST_BLOCKS:
            return told(value, n, None, reason)
        held = min(int((side(self.by_block) != 0).sum()) for side in sides)
        return told(value, n, draws_of(self.blocks).interval(figure(self.drawn), held), reason)

    def leaf(self, figure: Formula) -> Leaf:
        """Return the interval of a figure as plain values."""
        found = self.interval(figure)
        return None if found is None else found.leaf


def over_both(section: Callable[[Estimates], Result]) -> Callable[[Estimates], Result]:
    """Return a section over uninformed pairs, with the same over all under ``all_observers``."""

    @wraps(section)
    def both(held: Estimates) -> Result:
        return {**section(held.of(**OVER[UNINFORMED])), "all_observers": section(held.of(**OVER[ALL]))}

    return both
