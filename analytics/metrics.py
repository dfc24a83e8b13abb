"""`Metrics`: the paper's tables and figures over a stream of games, as one accumulator and one JSON-able result
(paper, sections 4.5 and 5.2-5.9; metrics: tables and figures of the paper).

Every table is a function of sums that returns plain values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from analytics import Result
from analytics.columns import ColumnsBuilder
from analytics.definitions import DEFINITIONS
from analytics.measures.frames import FAMILIES
from analytics.measures.ledger import Ledger
from analytics.measures.rounds import events, figure1, trends, votes
from analytics.measures.summing import sums_of
from analytics.measures.sums import Estimates, Sums
from analytics.measures.tables import claims, headline, labels, outcomes, production, table1, table2, table3, table5
from analytics.rows import GameRows

AT_ONCE: Final = 64
"""Games whose rows are held until they are summed up."""

TABLES: Final[Mapping[str, Callable[[Estimates], Result]]] = {
    table.__name__: table
    for table in (
        *(outcomes, production, table1, table2, table3, table5, figure1, trends, events, votes),
        *(claims, labels, headline),
    )
}
"""The sections of the findings that are formulas of sums alone, in their order."""
SINGLE: Final[Mapping[str, str]] = {
    "game": "state",
    "line": "pairs target_role round",
    "raw_line": "pairs target_role round",
    "moved": "pairs target_role round what",
    "slope": "pairs target_role",
    "difference": "pairs round",
    "event": "condition part",
    "change": "part",
    "hits": "pairs round part",
    "follows": "pairs part",
    "exile": "pairs part",
}
"""Families of which these sections need more than totals, and on which axes: spreads and intervals
are over games.
"""


class Metrics:
    """Takes in games one by one, in any order and any partition. What it keeps does not grow with
    statements, judgements or agents: totals, and by game the few numbers that intervals and spreads
    are over.

    Args:
        pooled: keep nothing of single games; then only `sections` without intervals are to be had.
    """

    def __init__(self, *, pooled: bool = False) -> None:
        self._single = {} if pooled else SINGLE
        self._ledger = Ledger()
        self._waiting = ColumnsBuilder()
        self._sums = Sums(FAMILIES, self._single)

    def add(self, game: GameRows, block: str | None = None) -> None:
        """Take in one game.

        Args: game: its rows. block: name of the block of the design that it is resampled with; its
            own id unless given.
        """
        self._ledger.add(game)
        self._waiting.add(game, block)
        if len(self._waiting) >= AT_ONCE:
            self._sum_up()

    def merge(self, other: Metrics) -> None:
        """Add all that `other` holds; the result is that of adding its games here."""
        other._sum_up()
        self._sum_up()
        self._ledger.merge(other._ledger)
        self._sums.merge(other._sums)

    def result(self) -> Result:
        """Return everything as plain values: JSON takes it as it stands, undefined is None."""
        self._sum_up()
        return paper_tables(Estimates(self._sums), self._ledger)

    def sections(self, *names: str) -> Result:
        """Return some of the tables only."""
        self._sum_up()
        held = Estimates(self._sums)
        return {name: TABLES[name](held) for name in names}

    def _sum_up(self) -> None:
        if len(self._waiting):
            self._sums.merge(sums_of(self._waiting.columns(), self._single))
            self._waiting = ColumnsBuilder()


def tables(held: Estimates) -> Result:
    """Return all tables of the games by name."""
    return {name: table(held) for name, table in TABLES.items()}


def paper_tables(held: Estimates, ledger: Ledger) -> Result:
    """Return the sections that live and finished games have alike: ``definitions``, the version of
    what the numbers mean, ``settings``, `tables`, ``repair`` and ``cost``.
    """
    return {
        "definitions": DEFINITIONS,
        "settings": ledger.settings(),
        **tables(held),
        "repair": ledger.repair(),
        "cost": ledger.cost(),
    }


def metrics(games: Iterable[GameRows]) -> Result:
    """Return all figures of `games`; see `Metrics.result`."""
    found = Metrics()
    for game in games:
        found.add(game)
    return found.result()
