"""`Sums`: tidy sums by game and group, as they are added up; `Entries`: the same for reading.

What a game leaves does not grow with what was said in it, and is nothing where only totals are
wanted; games may be added in any order and any partition.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from analytics.measures.frames import Family, Frame, Group, Key

if TYPE_CHECKING:
    from analytics.columns import Array

    Groups: TypeAlias = Sequence[tuple[Array, Sequence["str | int | None"]]]
    """For each axis, the code of each row and what the codes from 0 stand for."""

_COARSE: Final = -1
_REST: Final = -2
"""What stands for the game in the two parts of a total; see `_split`."""


class Sums:
    """Entries of any number of games.

    Args:
        families: what is summed.
        single: families of which entries of single games are kept, each with the axes that these
            tell apart, None on the others. Of all other families there are totals only, on all
            axes. Everything is kept unless given.
    """

    def __init__(self, families: Mapping[str, Family], single: Mapping[str, str] | None = None) -> None:
        self.families = families
        self._single = {
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
        axes, single = self.families[name].axes, self._single.get(name)
        keys = [(name, *_groups(at, groups)) for at in codes.tolist()]
        if single is not None and single != axes:
            blank = [axis not in single for axis in axes]
            keys = [(name, *(None if out else of for out, of in zip(blank, key[1:], strict=True))) for key in keys]
        key = np.array([self._key(each) for each in keys], np.int32)[place]
        if single == axes:
            self._parts.append((game, key, value))
            return
        # added up in two parts: the total is to the last bit that of all entries
        for kept, part in zip((_COARSE, _REST), _split(value), strict=True):
            if part.any():
                of = game if single is not None else np.full(len(game), kept, np.int32)
                self._parts.append(_added(of, key, part))

    def _key(self, key: Key) -> int:
        return self._keys.setdefault(key, len(self._keys))

    def merge(self, other: Sums) -> None:
        """Add all that `other` holds."""
        import numpy as np

        first = self.begin(list(other.ids), list(other.blocks))
        code = np.array([self._key(key) for key in list(other._keys)], np.int32)
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
        """Return the games that have an entry of a key, and their values."""
        own = slice(self._ends[number], self._ends[number + 1])
        return self._game[own], self._value[own]

    def single(self, number: int) -> tuple[Array, Array]:
        """Return the same.

        Raises:
            ValueError: only the total was kept.
        """
        game, value = self.of(number)
        if (game < 0).any():
            raise ValueError("only totals over all games were kept of this")
        return game, value

    def values(self, *key: Group) -> list[float]:
        """Return the values of a key, one a game that has it, in ascending order."""
        import numpy as np

        for own, number in self.index[str(key[0])]:
            if own == key:
                game, value = self.single(number)
                return sorted(np.bincount(np.unique(game, return_inverse=True)[1], value).tolist())
        return []

    def groups(self, name: str, axis: str) -> list[Any]:
        """Return what there is of a family on one of its axes, in ascending order."""
        at = 1 + self.sums.families[name].axes.index(axis)
        return sorted({key[at] for key, _ in self.index[name]}, key=lambda group: (str(type(group)), group))

    @cached_property
    def total(self) -> Frame:
        """The sums over all games, correctly rounded."""
        import numpy as np

        def of(name: str) -> Array:
            return np.array([math.fsum(self.of(number)[1].tolist()) for _, number in self.index[name]])

        return Frame(self.sums.families, self.index, of)

    def by(self, unit: Array, count: int) -> Frame:
        """Return the sums by unit.

        Args:
            unit: unit of each game, in the order of `Sums.ids`; -1 for a game left out.
            count: number of units.
        """
        import numpy as np

        def of(name: str) -> Array:
            found = np.zeros((count, len(self.index[name])))
            for at, (_, number) in enumerate(self.index[name]):
                game, value = self.single(number)
                units = unit[game]
                kept = units >= 0
                found[:, at] = np.bincount(units[kept], value[kept], count)
            return found

        return Frame(self.sums.families, self.index, of)


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
