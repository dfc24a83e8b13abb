"""`Frame`: sums by group in any number of variants: totals, blocks, draws, rearrangements of games.

A key says what is summed and of which group: ``("flags", "gpt", "Seer", 1, 0)`` counts deceptive
statements that an agent passed as a Seer. Whatever a figure needs is a *cube*: the sums of a family
by some of its axes, over all or one value of the others. All variants are frames, so one formula of cubes, a
`Formula`, gives a value and its interval.

`FAMILIES` are what is summed of every game. A new figure that needs other sums adds a family there, and its entries in
`analytics.measures.summing`; see `analytics.measures.headlines` for the figure.

Sums are over pairs of observer and target that have to find out, or over all (`OVER`). A pair is informed if what the
observer knows entails whether the target is a Werewolf: Werewolves know everybody, a Seer whom it inspected, everybody
whose role was revealed (`wolfbus.truth.entailed`). Whoever knows detects nothing, so headlines are over uninformed
pairs. The paper's own tables are over all pairs, as the paper's are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from analytics.measures.formulas import ratio
from analytics.rows import HOW
from wolfbus.vocabulary import DECEPTIONS, ROLES

if TYPE_CHECKING:
    from analytics.measures.columns import Array

Pairs: TypeAlias = Literal["uninformed", "all"]

UNINFORMED: Final[Pairs] = "uninformed"
ALL: Final[Pairs] = "all"

OVER: Final[Mapping[Pairs, Mapping[str, str | int]]] = {
    UNINFORMED: {"pairs": UNINFORMED, "informed": 0},
    ALL: {"pairs": ALL},
}
"""What sums are kept to, by axis. Sums that can be added have an axis ``informed``; those of which every game has one
for the uninformed pairs and one for all have an axis ``pairs``."""


Group: TypeAlias = str | int | None
Key: TypeAlias = tuple[Group, ...]
"""Name of a family, and the group's place on each of its axes."""
Axes: TypeAlias = tuple[str, ...]

VALUES: Final[Mapping[str, tuple[Group, ...]]] = {
    "role": ROLES,
    "target_role": ROLES,
    "kind": DECEPTIONS,
    "label": (0, 1),
    "flag": (0, 1),
    "wolf": (0, 1),
    "how": HOW,
    "informed": (0, 1),
    "pairs": tuple(OVER),
}
"""All values of an axis, where every family has the same few."""


class Frame:
    """Sums in any number of variants: a total, units, draws, rearrangements.

    Args:
        axes: of each family.
        index: the keys of each family.
        values: gives the sums of a family, its keys on the last axis.
        where: what every cube keeps to, on axes that its family has.
    """

    def __init__(
        self,
        axes: Mapping[str, Axes],
        index: Mapping[str, Sequence[tuple[Key, int]]],
        values: Callable[[str], Array],
        where: Mapping[str, Group] | None = None,
    ) -> None:
        self.axes = axes
        self.index = index
        self.where = dict(where or {})
        self._values = values
        self._matrices: dict[str, Array] = {}
        self._cubes: dict[Any, Array] = {}

    def values(self, name: str) -> Array:
        """Return the sums of a family, its keys on the last axis."""
        if name not in self._matrices:
            self._matrices[name] = self._values(name)
        return self._matrices[name]

    def select(self, **where: Group) -> Frame:
        """Return the same sums, of one group only; families without the axis are not touched."""
        frame = Frame(self.axes, self.index, self._values, {**self.where, **where})
        frame._matrices, frame._cubes = self._matrices, self._cubes
        return frame

    def map(self, change: Callable[[Array], Array]) -> Frame:
        """Return what becomes of the sums of every family, their keys on the last axis."""
        return Frame(self.axes, self.index, lambda name: change(self.values(name)), self.where)

    def stacked(self, names: Sequence[str]) -> tuple[Array, Callable[[Array], Frame]]:
        """Return the sums of some families side by side, and what makes a frame of such a matrix
        again.
        """
        import numpy as np

        parts = [self.values(name) for name in names]
        ends = np.cumsum([part.shape[-1] for part in parts])
        places = {name: slice(end - part.shape[-1], end) for name, part, end in zip(names, parts, ends, strict=True)}

        def frame(matrix: Array) -> Frame:
            return Frame(self.axes, self.index, lambda name: matrix[..., places[name]], self.where)

        return np.concatenate(parts, axis=-1), frame

    def cube(self, name: str, *by: str | tuple[str, Sequence[Group]], **where: Group) -> Array:
        """Return sums of a family by some of its axes, which come last.

        Args:
            name: of the family.
            by: axes, with the values to tell apart where the family's are not `VALUES`.
            where: axes and the value to keep to; all values of those that are not named add up.
        """
        axes = self.axes[name]
        constraints = {axis: value for axis, value in self.where.items() if axis in axes} | where
        fixed = tuple((1 + axes.index(axis), value) for axis, value in constraints.items() if value is not None)
        sides = tuple(
            (1 + axes.index(axis), tuple(values))
            for axis, values in ((side, VALUES[side]) if isinstance(side, str) else side for side in by)
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
        places = [{value: index for index, value in enumerate(values)} for _, values in sides]
        rows, cells = [], []
        for row, (key, _) in enumerate(self.index[name]):
            if any(key[axis] != value for axis, value in fixed):
                continue
            cell: int | None = 0
            for (axis, _), place in zip(sides, places, strict=True):
                position = place.get(key[axis])
                cell = None if cell is None or position is None else cell * len(place) + position
            if cell is not None:
                rows.append(row)
                cells.append(cell)
        chosen = np.zeros((len(rows), math.prod(shape)))
        chosen[np.arange(len(rows)), cells] = 1
        sums: Array = self.values(name)[..., rows] @ chosen
        return sums.reshape((*sums.shape[:-1], *shape))


class Formula:
    """What is computed of the sums of a frame, written as a formula of cubes; total, games or draws are put in later.

    Args:
        formula: of the cubes of a frame.
        over: what the figure is over.
    """

    def __init__(self, formula: Callable[[Frame], Array], over: Formula | None = None) -> None:
        self._formula = formula
        self._below = over

    def __call__(self, frame: Frame) -> Array:
        """Return it for every variant of some sums, NaN where it is undefined."""
        return self._formula(frame)

    @property
    def n(self) -> Formula:
        """What it is over: of a quotient, what stands below the line."""
        if self._below is None:
            raise TypeError("a figure that is no quotient does not say what it is over")
        return self._below

    def then(self, formula: Callable[[Array], Array]) -> Formula:
        """Return what a formula makes of it, over the same."""
        return Formula(lambda frame: formula(self(frame)), self._below)

    def sum(self, axis: int | tuple[int, ...] = -1) -> Formula:
        """Return the sum over axes of its cube."""
        return self.then(lambda counts: counts.sum(axis=axis))

    def __getitem__(self, place: Any) -> Formula:
        return self.then(lambda counts: counts[place])

    def __sub__(self, other: Formula) -> Formula:
        return Formula(lambda frame: self(frame) - other(frame), self._below)

    def __truediv__(self, below: Formula) -> Formula:
        return Formula(lambda frame: ratio(self(frame), below(frame)), below)


def cube(name: str, *by: str | tuple[str, Sequence[Group]], **where: Group) -> Formula:
    """Return sums of a family by some of its axes; see `Frame.cube`."""
    return Formula(lambda frame: frame.cube(name, *by, **where))


def quotient(name: str, above: str = "sum", below: str = "n", **where: Group) -> Formula:
    """Return a quotient of two parts of a family."""
    return cube(name, part=above, **where) / cube(name, part=below, **where)


def aligned(frames: Sequence[Frame], names: Sequence[str], axis: str) -> list[Frame]:
    """Return frames of some families without one of their axes, all with the same keys, so that
    they can be subtracted.

    Args:
        frames: each kept to one value on the axis, or to none.
        names: of the families.
        axis: it goes.
    """
    import numpy as np

    axes = {name: tuple(other for other in frames[0].axes[name] if other != axis) for name in names}
    rows_of = [{name: _without(frame, name, axis) for name in names} for frame in frames]
    index = {}
    for name in names:
        keys = {key for rows in rows_of for key in rows[name]}
        index[name] = [(key, -1) for key in sorted(keys, key=lambda key: tuple(map(str, key)))]

    def align(frame: Frame, rows: Mapping[str, Mapping[Key, list[int]]]) -> Frame:
        def values_of(name: str) -> Array:
            chosen = np.zeros((len(frame.index[name]), len(index[name])))
            for column, (key, _) in enumerate(index[name]):
                chosen[rows[name].get(key, []), column] = 1
            sums: Array = frame.values(name) @ chosen
            return sums

        return Frame(axes, index, values_of, frame.where)

    return [align(frame, rows) for frame, rows in zip(frames, rows_of, strict=True)]


def _without(frame: Frame, name: str, axis: str) -> dict[Key, list[int]]:
    """Return the places of a family's keys that a frame keeps to, by what is left of them without an axis."""
    axes, places = ("", *frame.axes[name]), defaultdict[Key, list[int]](list)
    for row, (key, _) in enumerate(frame.index[name]):
        if axis not in axes or frame.where.get(axis) in {None, key[axes.index(axis)]}:
            places[tuple(part for other, part in zip(axes, key, strict=True) if other != axis)].append(row)
    return places


FAMILIES: Final[Mapping[str, Axes]] = {
    name: tuple(axes.split())
    for name, axes in {
        "game": "protocol state",
        "ending": "reason",
        "length": "what finished",
        "square": "what",
        "plays": "agent",
        "seat": "agent role result",
        "said": "agent role label truth",
        "spoken": "round phase process label",
        "received": "role kind part",
        "claims": "claim verdict source",
        "labels": "how",
        "judged": "agent",
        "flags": "informed agent role label flag",
        "heard": "informed target label flag",
        "truths": "informed agent role wolf label truth flag",
        "sides": "informed agent role wolf flag",
        "round_flags": "informed round flag",
        "clean_flags": "informed label flag",
        "scores": "informed clean label score",
        "towards": "informed agent wolf part",
        "raw_towards": "informed agent wolf part",
        "suspected": "informed target wolf part",
        "cell": "role target_role part",
        "line": "pairs target_role round",
        "raw_line": "pairs target_role round",
        "moved": "pairs target_role round what",
        "slope": "pairs target_role",
        "difference": "pairs round",
        "night": "night",
        "seers": "claimed",
        "event": "condition part",
        "change": "part",
        "hits": "agent round pairs part",
        "follows": "agent pairs part",
        "exile": "pairs part",
        "error": "informed agent role score part",
        "bins": "agent bin pairs score part",
    }.items()
}
"""What is summed: by the name that its keys begin with, the axes that their other parts are on. ``part`` tells the sums
of one quotient apart: ``sum`` and ``n``, and what stands beside them.

``game``: its protocol, and who won (or ``unfinished``). ``length``: numbers of nights, statements
…, of finished games and of others; ``square``: their squares, of finished ones. ``seat``: how it
ended for an agent in a role. ``said``: statements by self-label (-1: none counts) and truth.
``received``: per statement the mean over observers of suspicion and of flags. ``flags``: an agent's
flags against self-labels, ``heard``: those on its own statements, ``truths``: against claims,
``sides``: against who speaks, a Werewolf or not.
``scores``: suspicion in ten-thousandths. ``towards``: final D by observer, ``suspected`` by target.
``cell``: of Table 2, a game's mean. ``line``: D by the end of a round, a game's mean; ``slope`` of
these; ``difference`` between Werewolves and Villagers; ``raw_line``: suspicion as it was given,
``moved``: how D changed from the round before, ``within`` pairs that were there then and by who
the pairs are (``makeup``). ``raw_towards``: suspicion as it was given, by observer.
``informed`` and ``pairs``: see `analytics.measures.frames`. ``event``: suspicion of a Seer before and
after its claim, of a Doctor after nights. ``error``: squared errors of a score, ``bins``: sums by
calibration bin; both only where there are `Study`s.
"""

POOLED: Final = frozenset({"scores"})
"""Families of which no entries of single games are kept, only their sum: many groups and no interval."""
LENGTHS: Final = ("nights", "debate_turns", "voting_rounds", "statements", "judgements")
"""What is counted in every game."""
SOURCES: Final = ("given", "unheard", "extracted")
"""Where claims come from: attached and heard in the words, attached only, found in the words only."""
MOVED: Final = ("within", "makeup")
"""What a change of mean suspicion from a round to the next is made of."""
DECIMALS: Final = 4
"""Suspicion is pooled to so many decimals, which bounds what is kept; models give two."""
HEADLINES: Final = (
    "game",
    "seat",
    "said",
    "flags",
    "error",
    "bins",
    "towards",
    "raw_towards",
    "hits",
    "follows",
    "truths",
)
"""What the headline metrics are sums of."""
