"""Table 2: the cross-perception matrix, final suspicion by observer and target role (paper, sections 4.5 and 5.4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TypeAlias

from analytics.accumulator import Result
from analytics.rows import GameRows
from analytics.sums import Sample, mean_of
from wolfbus.vocabulary import ROLES, Role

Cell: TypeAlias = tuple[Role, Role]
"""Observer role and target role."""


class Table2:
    """Mean final D over the pairs of a cell within a game, then over the games that have the cell.

    D is final because it froze: when one of the pair left, or when the game ended. A game that still runs
    counts with D as it stands.
    """

    def __init__(self) -> None:
        self._cells: defaultdict[Cell, Sample] = defaultdict(Sample)
        self._pairs: Counter[Cell] = Counter()

    def add(self, game: GameRows) -> None:
        """Take in one game."""
        found: defaultdict[Cell, list[float]] = defaultdict(list)
        for (observer, target), value in game.suspicion.items():
            found[game.seats[observer].role, game.seats[target].role].append(value)
        for cell, values in found.items():
            mean = mean_of(values)
            if mean is not None:
                self._cells[cell].add(mean)
                self._pairs[cell] += len(values)

    def merge(self, other: Table2) -> None:
        """Add all that `other` holds."""
        self._pairs.update(other._pairs)
        for cell, sample in other._cells.items():
            self._cells[cell].merge(sample)

    def result(self) -> Result:
        """Return ``[observer role][target role]`` cells of mean, n games and number of pairs (paper 5.4;
        metrics: Table 2).

        Villager-Villager and Werewolf-Werewolf are filled; a cell without pairs has a null mean.
        """
        return {observer: {target: self._cell((observer, target)) for target in ROLES} for observer in ROLES}

    def _cell(self, cell: Cell) -> Result:
        sample = self._cells.get(cell, Sample())
        return {"mean": sample.mean(), "n": len(sample), "pairs": self._pairs[cell]}
