"""`Estimates`: figures of all games with their intervals, both from the same sums."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, TypeAlias

from analytics import Result
from analytics.measures.bootstrap import FEWEST_BLOCKS, Interval, draws_of, told
from analytics.measures.formulas import ratio
from analytics.measures.frames import Frame, Group
from analytics.measures.sums import Sums

if TYPE_CHECKING:
    from analytics.columns import Array

    Figure: TypeAlias = Callable[[Frame], Array]
    Quotient: TypeAlias = Callable[[Frame], tuple[Array, Array]]

Leaf: TypeAlias = "list[float] | None"
"""A 95 % interval, [low, high], or None where there is none."""


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

    def interval(self, figure: Figure, n: Figure) -> Interval | None:
        """Return the interval of a figure, or why there is none; None below five blocks.

        Args:
            figure: of any sums.
            n: of the sums, what it is over: blocks without any of it do not count.
        """
        if self.blocks < FEWEST_BLOCKS:
            return None
        return draws_of(self.blocks).interval(figure(self.drawn), int((n(self.by_block) > 0).sum()))

    def figure(self, figure: Figure, n: Figure, reason: str) -> Result:
        """Return a figure as an estimate; `reason` says why it is undefined if it is."""
        value = float(figure(self.total))
        count = round(float(n(self.total)))
        if isnan(value):
            return told(None, count, None, reason)
        return told(value, count, self.interval(figure, n), reason)

    def rate(self, quotient: Quotient, reason: str) -> Result:
        """Return a quotient of sums as an estimate."""
        return self.figure(lambda frame: ratio(*quotient(frame)), lambda frame: quotient(frame)[1], reason)

    def difference(self, one: Quotient, other: Quotient, reason: str) -> Result:
        """Return one quotient minus another as an estimate; it rests on the blocks of the side with
        fewer.
        """
        import numpy as np

        def figure(frame: Frame) -> Array:
            return ratio(*one(frame)) - ratio(*other(frame))

        def both(frame: Frame) -> Array:
            return np.stack([one(frame)[1], other(frame)[1]], axis=-1)

        value, n = float(figure(self.total)), round(float(both(self.total).sum()))
        if isnan(value) or self.blocks < FEWEST_BLOCKS:
            return told(value, n, None, reason)
        held = int((both(self.by_block) != 0).sum(axis=0).min())
        return told(value, n, draws_of(self.blocks).interval(figure(self.drawn), held), reason)

    def leaf(self, figure: Figure, n: Figure) -> Leaf:
        """Return the interval of a figure as plain values."""
        found = self.interval(figure, n)
        return None if found is None or found.low is None or found.high is None else [found.low, found.high]

    def leaf_of(self, quotient: Quotient) -> Leaf:
        """Return the interval of a quotient of sums as plain values."""
        return self.leaf(lambda frame: ratio(*quotient(frame)), lambda frame: quotient(frame)[1])
