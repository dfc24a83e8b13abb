"""The paper's tables and figures by name, from sums (paper, sections 4.5 and 5.2-5.9; metrics: tables
and figures of the paper).

Every one is a function that returns plain values that JSON takes as they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from analytics import Result
from analytics.measures.estimates import Estimates
from analytics.measures.events import events, votes
from analytics.measures.outcomes import claims, outcomes, production
from analytics.measures.reception import headline, labels, table1, table2, table3, table5
from analytics.measures.rounds import figure1, trends

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


def tables(held: Estimates) -> Result:
    """Return all tables of the games by name."""
    return {name: table(held) for name, table in TABLES.items()}
