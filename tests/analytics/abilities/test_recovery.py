"""Over many simulated studies: the order of agents is found, and 95 % intervals hold the true values."""

from __future__ import annotations

import numpy as np
import pytest

from analytics.measures.abilities import intervals
from analytics.measures.likelihood import cells_of
from analytics.measures.rasch import Fit, fit
from tests.simulator import draw_agents, simulate


class Tally:
    """How often intervals hold the truth, and how well the order is found."""

    def __init__(self) -> None:
        self.inside: dict[str, list[float]] = {}
        self.alike: list[float] = []
        self.slope: list[float] = []

    def add(self, columns, true, *, deceptive: bool) -> Fit:
        found = fit(cells_of(columns, columns.statements["d"] == int(deceptive)))
        (ends,) = intervals([found])
        watching, _, talking, _ = found.layout.places
        for name, place, sign in zip(true, (watching, talking), (1, -1 if deceptive else 1), strict=True):
            at, low, high = (sign * values[place] for values in (found.at, *ends))
            low, high = np.minimum(low, high), np.maximum(low, high)
            self.inside.setdefault(name, []).append(np.mean((low <= true[name]) & (true[name] <= high)))
            self.alike.append(np.corrcoef(at, true[name])[0, 1])
            self.slope.append(at @ true[name] / (true[name] @ true[name]))
        return found

    def coverage(self) -> dict[str, float]:
        return {name: float(np.mean(held)) for name, held in self.inside.items()}


def deceiving(agents):
    return {"detects": agents.detects, "conceals": agents.conceals}


def alarming(agents):
    return {"false_alarm": agents.false_alarm, "suspected": agents.suspected}


def test_two_hundred_small_studies():
    tally = Tally()
    for seed in range(200):
        agents = draw_agents(4, seed)
        columns = simulate(agents, games=30, seed=seed, statements=8, deceptive=(0.99,) * 4)
        tally.add(columns, deceiving(agents), deceptive=True)
    assert min(tally.coverage().values()) >= 0.9
    assert max(tally.coverage().values()) <= 0.99
    assert np.median(tally.alike) > 0.95
    # no stretching, which a parameter for every statement would bring
    assert np.mean(tally.slope) == pytest.approx(1.0, abs=0.06)


def test_an_agent_that_is_seldom_seated_is_covered_too():
    held = []
    for seed in range(50):
        agents = draw_agents(4, seed)
        columns = simulate(agents, 30, seed, statements=8, deceptive=(0.99,) * 4, seating=(1, 1, 1, 0.08))
        found = fit(cells_of(columns, columns.statements["d"] == 1))
        if found.layout.as_speaker[3] < 0:
            continue
        ((low, high),) = intervals([found])
        place = found.layout.places[2].start + 3
        held.append(low[place] <= -agents.conceals[3] <= high[place])
    assert len(held) > 35
    assert np.mean(held) >= 0.88


def limits(agents, games: int, **changes) -> dict[str, np.ndarray]:
    """Return what endless games would give: with effects of game and pair, the model's scale is that of their mean."""
    columns = simulate(agents, games=games, seed=99_999, **changes)
    found = fit(cells_of(columns, columns.statements["d"] == 1))
    watching, _, talking, _ = found.layout.places
    return {"detects": found.at[watching], "conceals": -found.at[talking]}


def under_correlation(studies: int, games: int) -> tuple[float, float]:
    """Return coverage of the intervals, and of those that take judgements of one game for independent."""
    changes = {"statements": 8, "deceptive": (0.99,) * 4, "game_sd": 0.7, "pair_sd": 2.0}
    agents = draw_agents(4, 77)
    true = limits(agents, 1_000, **changes)
    tally, naive = Tally(), []
    for seed in range(studies):
        columns = simulate(agents, games, seed, **changes)
        found = tally.add(columns, true, deceptive=True)
        half = 1.96 * np.sqrt(np.diag(found.covariance))[found.layout.places[0]]
        naive.append(np.mean(np.abs(found.at[found.layout.places[0]] - true["detects"]) <= half))
    return tally.coverage()["detects"], float(np.mean(naive))


def test_games_whose_judgements_hang_together_are_resampled_whole():
    covered, naive = under_correlation(studies=80, games=30)
    assert covered >= 0.88
    assert naive < covered - 0.02


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("count", "games"), [(4, 60), (6, 100), (8, 80)])
def test_two_hundred_whole_studies(count, games):
    tally = Tally()
    for seed in range(200):
        agents = draw_agents(count, seed)
        columns = simulate(agents, games, seed)
        tally.add(columns, deceiving(agents), deceptive=True)
        tally.add(columns, alarming(agents), deceptive=False)
    assert min(tally.coverage().values()) >= 0.9
    assert np.median(tally.alike) > 0.97
    assert np.mean(tally.slope) == pytest.approx(1.0, abs=0.03)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_two_hundred_studies_whose_judgements_hang_together():
    covered, naive = under_correlation(studies=200, games=80)
    assert covered >= 0.9
    assert naive < 0.9
