"""Flags of one class of statements, laid out for the model: a row a statement, an observer a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analytics.columns import UNKNOWN, Columns
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Who flagged what. A *cell* is an agent in a role, agent * number of roles + role.

    Attributes:
        agents: number of agents.
        blocks: number of blocks of games that are resampled together.
        block: block of each statement.
        speaker: speaker's cell, by statement.
        observer: observers' cells, by statement and place; -1 behind the last observer.
        flag: whether each of them flagged it.
    """

    agents: int
    blocks: int
    block: Array
    speaker: Array
    observer: Array
    flag: Array

    def __len__(self) -> int:
        return len(self.speaker)

    def some(self, chosen: Array) -> Cells:
        """Return the chosen statements only."""
        return self._at(chosen)

    def stretch(self, start: int, stop: int) -> Cells:
        """Return the statements from `start` to before `stop`, without a copy."""
        return self._at(slice(start, stop))

    def _at(self, which: Array | slice) -> Cells:
        held = (self.block, self.speaker, self.observer, self.flag)
        return Cells(self.agents, self.blocks, *(column[which] for column in held))


def cells_of(columns: Columns, wanted: Array) -> Cells:
    """Return the judgements that count of the statements that are `wanted` (true or false by statement).

    Observers of one statement stand in the order of their cells: seating order leaves no trace.
    """
    import numpy as np

    judgements, statements = columns.judgements, columns.statements
    rows = np.flatnonzero((judgements["d"] != UNKNOWN) & wanted[judgements["statement"]])
    of = judgements["statement"][rows]
    cell = judgements["observer_agent"][rows] * len(ROLES) + judgements["observer_role"][rows]
    flag = judgements["d"][rows] == 1
    width = 2 * len(ROLES) * max(len(columns.agents), 1)
    order = np.argsort(of.astype("i8") * width + 2 * cell + flag, kind="stable")
    of, cell, flag = of[order], cell[order], flag[order]
    which, first, held = np.unique(of, return_index=True, return_counts=True)
    place = np.arange(len(of)) - np.repeat(first, held)
    row = np.repeat(np.arange(len(which)), held)
    shape = (len(which), int(held.max(initial=1)))
    observer, flags = np.full(shape, UNKNOWN, "i4"), np.zeros(shape, bool)
    observer[row, place] = cell
    flags[row, place] = flag
    return Cells(
        agents=len(columns.agents),
        blocks=len(columns.block_names),
        block=columns.blocks[statements["game"][which]],
        speaker=(statements["agent"][which] * len(ROLES) + statements["role"][which]).astype("i4"),
        observer=observer,
        flag=flags,
    )
