"""`Sums`: tidy sums, one entry a game and group; `Frame`: what is added up of them.

A key says what is summed and of which group: ``("flags", "gpt", "Seer", 1, 0)`` counts deceptive
statements that an agent passed as a Seer. Whatever a figure needs is a *cube*: the sums of a family
by some of its axes, over all or one value of the others. Blocks, draws and rearrangements of games
are frames like the total, so one formula gives a value and its interval. What a game leaves is some
hundred numbers, however much was said in it; games may be added in any order and any partition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from analytics.columns import HOW
from wolfbus.vocabulary import DECEPTIONS, ROLES

if TYPE_CHECKING:
    from analytics.columns import Array

    Groups: TypeAlias = Sequence[tuple[Array, Sequence["str | int | None"]]]
    """For each axis, the code of each row and what the codes from 0 stand for."""

Group: TypeAlias = str | int | None
Key: TypeAlias = tuple[Group, ...]
"""Name of a family, and the group's place on each of its axes."""

VALUES: Final[Mapping[str, tuple[Group, ...]]] = {
    "role": ROLES,
    "target_role": ROLES,
    "kind": DECEPTIONS,
    "label": (0, 1),
    "flag": (0, 1),
    "false": (0, 1),
    "wolf": (0, 1),
    "how": HOW,
}
"""All values of an axis, where every family has the same few."""


class Family:
    """What is summed under one name.

    Args: name: the first part of its keys. axes: what the other parts are. pooled: keep no entries
        of single games, only their sum; for what has many groups and no interval.
    """

    def __init__(self, name: str, axes: str, *, pooled: bool = False) -> None:
        self.name = name
        self.axes = tuple(axes.split())
        self.pooled = pooled


class Sums:
    """Entries of any number of games.

    Args:
        families: what is summed.
        pooled: keep no entries of single games of any family; there are no intervals then.
    """

    def __init__(self, families: Mapping[str, Family], *, pooled: bool = False) -> None:
        self.families = families
        self._pooled = pooled
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
        if self._pooled or self.families[name].pooled:
            game = np.full(len(game), -1)
        entry, row = np.unique((game + 1) * width + code, return_inverse=True)
        value = np.bincount(row) if weights is None else exact_sums(row, weights)
        code = entry % width
        there, place = np.unique(code, return_inverse=True)
        keys = np.array([self._key((name, *_groups(at, groups))) for at in there.tolist()], np.int32)
        self._parts.append(((entry // width - 1).astype(np.int32), keys[place], value.astype(np.float64)))

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
            keys, row = np.unique(key[pooled], return_inverse=True)
            held = [np.full(len(keys), -1, np.int32), keys, np.bincount(row, value[pooled])]
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

    def values(self, *key: Group) -> list[float]:
        """Return the values of a key, one a game that has it, in ascending order."""
        for own, number in self.index[str(key[0])]:
            if own == key:
                return sorted(self.of(number)[1].tolist())
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
                game, value = self.of(number)
                units = unit[game]
                kept = units >= 0
                found[:, at] = np.bincount(units[kept], value[kept], count)
            return found

        return Frame(self.sums.families, self.index, of)


class Frame:
    """Sums in any number of variants: a total, units, draws, rearrangements.

    Args:
        families: what is summed.
        index: the keys of each family.
        values: gives the sums of a family, its keys on the last axis.
        where: what every cube keeps to, on axes that its family has.
    """

    def __init__(
        self,
        families: Mapping[str, Family],
        index: Mapping[str, Sequence[tuple[Key, int]]],
        values: Callable[[str], Array],
        where: Mapping[str, Group] | None = None,
    ) -> None:
        self.families = families
        self.index = index
        self.where = dict(where or {})
        self._values = values
        self._held: dict[str, Array] = {}
        self._cubes: dict[Any, Array] = {}

    def values(self, name: str) -> Array:
        """Return the sums of a family, its keys on the last axis."""
        if name not in self._held:
            self._held[name] = self._values(name)
        return self._held[name]

    def of(self, **where: Group) -> Frame:
        """Return the same sums, of one group only; families without the axis are not touched."""
        found = Frame(self.families, self.index, self._values, {**self.where, **where})
        found._held, found._cubes = self._held, self._cubes
        return found

    def map(self, change: Callable[[Array], Array]) -> Frame:
        """Return what becomes of the sums of every family, their keys on the last axis."""
        return Frame(self.families, self.index, lambda name: change(self.values(name)), self.where)

    def stacked(self, names: Sequence[str]) -> tuple[Array, Callable[[Array], Frame]]:
        """Return the sums of some families side by side, and what makes a frame of such a matrix
        again.
        """
        import numpy as np

        parts = [self.values(name) for name in names]
        ends = np.cumsum([part.shape[-1] for part in parts])
        places = {name: slice(end - part.shape[-1], end) for name, part, end in zip(names, parts, ends, strict=True)}

        def frame(matrix: Array) -> Frame:
            return Frame(self.families, self.index, lambda name: matrix[..., places[name]], self.where)

        return np.concatenate(parts, axis=-1), frame

    def cube(self, name: str, *by: str | tuple[str, Sequence[Group]], **where: Group) -> Array:
        """Return sums of a family by some of its axes, which come last.

        Args:
            name: of the family.
            by: axes, with the values to tell apart where the family's are not `VALUES`.
            where: axes and the value to keep to; all values of those that are not named add up.
        """
        axes = self.families[name].axes
        wanted = {each: value for each, value in self.where.items() if each in axes} | where
        fixed = tuple((1 + axes.index(axis), value) for axis, value in wanted.items() if value is not None)
        sides = tuple(
            (1 + axes.index(axis), tuple(values))
            for axis, values in ((each, VALUES[each]) if isinstance(each, str) else each for each in by)
        )
        if (name, fixed, sides) not in self._cubes:
            self._cubes[name, fixed, sides] = self._cube(name, fixed, sides)
        return self._cubes[name, fixed, sides]

    def _cube(
        self,
        name: str,
        fixed: tuple[tuple[int, Group], ...],
        sides: tuple[tuple[int, tuple[Group, ...]], ...],
    ) -> Array:
        import numpy as np

        shape = tuple(len(values) for _, values in sides)
        places = [{value: at for at, value in enumerate(values)} for _, values in sides]
        rows, cells = [], []
        for row, (key, _) in enumerate(self.index[name]):
            if any(key[axis] != value for axis, value in fixed):
                continue
            cell: int | None = 0
            for (axis, _), place in zip(sides, places, strict=True):
                at = place.get(key[axis])
                cell = None if cell is None or at is None else cell * len(place) + at
            if cell is not None:
                rows.append(row)
                cells.append(cell)
        chosen = np.zeros((len(rows), math.prod(shape)))
        chosen[np.arange(len(rows)), cells] = 1
        found: Array = self.values(name)[..., rows] @ chosen
        return found.reshape((*found.shape[:-1], *shape))


def aligned(frames: Sequence[Frame], names: Sequence[str], axis: str) -> list[Frame]:
    """Return frames of some families without one of their axes, all with the same keys, so that
    they can be subtracted.

    Args:
        frames: each kept to one value on the axis, or to none.
        names: of the families.
        axis: it goes.
    """
    families = {
        name: Family(name, " ".join(each for each in frames[0].families[name].axes if each != axis)) for name in names
    }

    def cut(frame: Frame, name: str) -> list[Key | None]:
        axes = frame.families[name].axes
        at, kept = (1 + axes.index(axis) if axis in axes else len(axes) + 1), frame.where.get(axis)
        return [
            key[:at] + key[at + 1 :] if at > len(axes) or kept is None or key[at] == kept else None
            for key, _ in frame.index[name]
        ]

    keys = {name: {key for frame in frames for key in cut(frame, name) if key is not None} for name in names}
    index = {
        name: [(key, -1) for key in sorted(own, key=lambda key: tuple(map(str, key)))] for name, own in keys.items()
    }

    def align(frame: Frame) -> Frame:
        def of(name: str) -> Array:
            import numpy as np

            place = {key: at for at, (key, _) in enumerate(index[name])}
            chosen = np.zeros((len(frame.index[name]), len(place)))
            for row, key in enumerate(cut(frame, name)):
                if key is not None:
                    chosen[row, place[key]] = 1
            found: Array = frame.values(name) @ chosen
            return found

        return Frame(families, index, of, frame.where)

    return [align(frame) for frame in frames]


def exact_sums(row: Array, weights: Array, count: int = 0) -> Array:
    """Return the sums of weights by row, as good as correctly rounded.

    The weights are split into a part with 26 bits behind the point, whose sums are exact, and a
    small rest.
    """
    import numpy as np

    coarse = np.round(np.asarray(weights, np.float64) * 2.0**26) / 2.0**26
    return np.bincount(row, coarse, count) + np.bincount(row, weights - coarse, count)


def _groups(code: int, groups: Groups) -> Iterator[Group]:
    found: list[Group] = []
    for _, values in reversed(groups):
        size = max(1, len(values))
        found.append(values[code % size] if len(values) else None)
        code //= size
    return reversed(found)
