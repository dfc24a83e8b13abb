"""Comprehension: how much of what players say and think of their own game is so (beyond the paper).

Facts are what a player has before its eyes: who has left and who lives, which day it is and whose turn, and in its
private thoughts who is what as far as its own view entails that or the contrary (`wolfbus.claims.facts`). A model that
does not follow the game is no witness for deception.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analytics import Result
from analytics.metrics.study import Scope, Study, rows_of
from analytics.metrics.sums import Axes, Figure, Sums, share, sums_of
from analytics.results import NOBODY, ResultRow, Results
from wolfbus.claims.facts import FACT_KINDS

FACTS_RIGHT: Final[Figure] = share("right", "facts", "no fact of the game was told that can be checked")
_BY: Final[tuple[Axes, ...]] = ({"fact": "fact"}, {"agent": "agent"}, {"agent": "agent", "fact": "fact"})


def facts_told(scope: Scope) -> Iterator[Sums]:
    """Yield how many facts of the game are told, and how many of them are right."""
    yield sums_of(scope.of(scope.study.tables.facts, "agent"), scope.study.games, right="right", facts=1.0)


def comprehension_rows(study: Study) -> Iterator[ResultRow]:
    """Yield the share of facts that are right by what they are of, by agent, and by both."""
    for axes in _BY:
        sums = sums_of(study.tables.facts, study.games, axes, right="right", facts=1.0)
        yield from rows_of(study, NOBODY, sums, {"facts_right": FACTS_RIGHT})


def comprehension(_study: Study, results: Results) -> Result:
    """Return the share of checkable facts in thoughts and statements that are right: ``overall`` and ``by_agent``, of
    each ``all`` facts and those of each kind.
    """

    def kinds(**group: str) -> Result:
        return {kind: results.row("facts_right", fact=kind, **group).estimate() for kind in FACT_KINDS}

    agents = results.groups("agent", "facts_right")
    return {
        "overall": {"all": results.row("comprehension").estimate(), **kinds()},
        "by_agent": {
            agent: {"all": results.row("facts_right", agent=agent).estimate(), **kinds(agent=agent)} for agent in agents
        },
    }
