"""The paper's tables and figures, each a pure function over games and an accumulator that merges.

A function takes any iterable of `GameRows` and returns plain values that JSON takes as they stand.
Undefined is None, never 0 and never NaN; every mean has its own denominator beside it. The classes behind
the functions stream any number of games.
"""

from __future__ import annotations

from collections.abc import Iterable

from analytics.accumulator import Result, over
from analytics.rows import GameRows
from analytics.tables.claims import Claims
from analytics.tables.cost import Cost
from analytics.tables.cross_perception import Table2
from analytics.tables.detection import Confusion, Table3
from analytics.tables.events import Events
from analytics.tables.headline import Headline
from analytics.tables.labels import Labels
from analytics.tables.outcomes import Outcomes
from analytics.tables.production import Production
from analytics.tables.repair import Repair
from analytics.tables.statements import Table1, Table5
from analytics.tables.trajectories import Trajectories
from analytics.tables.votes import Votes

__all__ = [
    "Claims",
    "Confusion",
    "Cost",
    "Events",
    "Headline",
    "Labels",
    "Outcomes",
    "Production",
    "Repair",
    "Table1",
    "Table2",
    "Table3",
    "Table5",
    "Trajectories",
    "Votes",
    "claims",
    "cost",
    "events",
    "figure1",
    "headline",
    "labels",
    "outcomes",
    "production",
    "repair",
    "table1",
    "table2",
    "table3",
    "table5",
    "trends",
    "votes",
]


def outcomes(games: Iterable[GameRows]) -> Result:
    """Return who won, and how long games were (paper 5.2; metrics: outcomes); see `Outcomes`."""
    return over(Outcomes(), games).result()


def production(games: Iterable[GameRows]) -> Result:
    """Return how often speakers call their own statements deceptive (paper 5.2, 5.3; metrics: production);
    see `Production`.
    """
    return over(Production(), games).result()


def table1(games: Iterable[GameRows]) -> Result:
    """Return deception and its reception by speaker role (paper, Table 1; metrics: Table 1); see `Table1`."""
    return over(Table1(), games).result()


def table2(games: Iterable[GameRows]) -> Result:
    """Return final suspicion by observer and target role (paper, Table 2; metrics: Table 2); see `Table2`."""
    return over(Table2(), games).result()


def table3(games: Iterable[GameRows]) -> Result:
    """Return how well observers find self-labelled deception (paper, Table 3; metrics: Table 3); see `Table3`."""
    return over(Table3(), games).result()


def table5(games: Iterable[GameRows]) -> Result:
    """Return how each kind of deception is received (paper, Table 5; metrics: Table 5); see `Table5`."""
    return over(Table5(), games).result()


def figure1(games: Iterable[GameRows]) -> Result:
    """Return suspicion by round and target role (paper, Figure 1; metrics: Figure 1); see `Trajectories.figure1`."""
    return over(Trajectories(), games).figure1()


def trends(games: Iterable[GameRows]) -> Result:
    """Return slopes of suspicion and the first separable round (paper 5.6; metrics: trend); see
    `Trajectories.trends`.
    """
    return over(Trajectories(), games).trends()


def claims(games: Iterable[GameRows]) -> Result:
    """Return the claims that were given and found, by kind and verdict (metrics: objective truth); see `Claims`."""
    return over(Claims(), games).result()


def events(games: Iterable[GameRows]) -> Result:
    """Return suspicion around the Seer's claim and the Doctor's nights (paper 5.3; metrics: events); see `Events`."""
    return over(Events(), games).result()


def votes(games: Iterable[GameRows]) -> Result:
    """Return whether suspicion drives votes, and the counterfactual one (metrics: does suspicion drive votes,
    thresholds); see `Votes`.
    """
    return over(Votes(), games).result()


def labels(games: Iterable[GameRows]) -> Result:
    """Return how self-labels and judgements were come by; see `Labels`."""
    return over(Labels(), games).result()


def headline(games: Iterable[GameRows]) -> Result:
    """Return detection accuracy and suspicion's AUC with and without what was not clean; see `Headline`."""
    return over(Headline(), games).result()


def repair(games: Iterable[GameRows]) -> Result:
    """Return how replies were read and what became of them (metrics: repair report); see `Repair`."""
    return over(Repair(), games).result()


def cost(games: Iterable[GameRows]) -> Result:
    """Return what model calls took (metrics: cost); see `Cost`."""
    return over(Cost(), games).result()
