"""`Metrics`: all figures of a set of games, as one accumulator and one JSON-able result."""

from __future__ import annotations

from collections.abc import Iterable

from analytics.accumulator import Result, over
from analytics.rows import GameRows
from analytics.tables import (
    Claims,
    Cost,
    Events,
    Headline,
    Labels,
    Outcomes,
    Production,
    Repair,
    Table1,
    Table2,
    Table3,
    Table5,
    Trajectories,
    Votes,
)


class Metrics:
    """Takes in games one by one; what it keeps does not grow with statements or judgements, and by a few
    numbers a game.
    """

    def __init__(self) -> None:
        self._outcomes = Outcomes()
        self._production = Production()
        self._table1 = Table1()
        self._table2 = Table2()
        self._table3 = Table3()
        self._table5 = Table5()
        self._trajectories = Trajectories()
        self._events = Events()
        self._votes = Votes()
        self._claims = Claims()
        self._labels = Labels()
        self._headline = Headline()
        self._repair = Repair()
        self._cost = Cost()
        self._settings: dict[str, set[float]] = {"alpha": set(), "prior": set(), "include_defaulted": set()}

    def add(self, game: GameRows, block: str | None = None) -> None:
        """Take in one game.

        Args:
            game: its rows.
            block: name of the block of the design that it is resampled with; its own id unless given.
        """
        self._outcomes.add(game)
        self._production.add(game)
        self._table1.add(game)
        self._table2.add(game)
        self._table3.add(game)
        self._table5.add(game)
        self._trajectories.add(game)
        self._events.add(game, block)
        self._votes.add(game, block)
        self._claims.add(game)
        self._labels.add(game)
        self._headline.add(game)
        self._repair.add(game)
        self._cost.add(game)
        self._settings["alpha"].add(game.alpha)
        self._settings["prior"].add(game.prior)
        self._settings["include_defaulted"].add(game.include_defaulted)

    def merge(self, other: Metrics) -> None:
        """Add all that `other` holds; the result is that of adding its games here."""
        self._outcomes.merge(other._outcomes)
        self._production.merge(other._production)
        self._table1.merge(other._table1)
        self._table2.merge(other._table2)
        self._table3.merge(other._table3)
        self._table5.merge(other._table5)
        self._trajectories.merge(other._trajectories)
        self._events.merge(other._events)
        self._votes.merge(other._votes)
        self._claims.merge(other._claims)
        self._labels.merge(other._labels)
        self._headline.merge(other._headline)
        self._repair.merge(other._repair)
        self._cost.merge(other._cost)
        for name, values in other._settings.items():
            self._settings[name] |= values

    def result(self) -> Result:
        """Return everything as plain values: JSON takes it as it stands, undefined is None.

        ``settings`` lists the values of alpha, prior and include_defaulted that the games were folded with:
        one each, unless games were mixed. The other keys are the sections of `analytics.tables`.
        """
        return {
            "settings": {name: sorted(values) for name, values in self._settings.items()},
            "outcomes": self._outcomes.result(),
            "production": self._production.result(),
            "table1": self._table1.result(),
            "table2": self._table2.result(),
            "table3": self._table3.result(),
            "table5": self._table5.result(),
            "figure1": self._trajectories.figure1(),
            "trends": self._trajectories.trends(),
            "events": self._events.result(),
            "votes": self._votes.result(),
            "claims": self._claims.result(),
            "labels": self._labels.result(),
            "headline": self._headline.result(),
            "repair": self._repair.result(),
            "cost": self._cost.result(),
        }


def metrics(games: Iterable[GameRows]) -> Result:
    """Return all figures of `games`; see `Metrics.result`."""
    return over(Metrics(), games).result()
