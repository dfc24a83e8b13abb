"""Over many simulated studies: the order of agents is found, and 95 % intervals hold the true values."""

from __future__ import annotations

import numpy as np
import pytest

from analytics.measures.abilities import figures_of, ground_of, scale_of, weights_of
from analytics.measures.study import Study
from tests.simulator import Agents, Setting, draw_agents, simulate
from tests.simulator.coverage import many, table
from wolfbus.vocabulary import ROLES

FLAT = {"role_spread": 0.0}
"""Agents whose roles have no effects: then an agent's sensitivity is that of its parameters alone."""


def fitted(columns):
    """The joint model on the labels of some games."""
    return ground_of(Study(columns), "label")[0]


def truths(agents: Agents, setting: Setting) -> dict[str, np.ndarray]:
    """Return what the model calls sensitivity and concealment, in logits."""
    conceals = agents.conceals + agents.suspected
    return {
        "sensitivity": setting.hit - setting.alarm + agents.detects - agents.false_alarm,
        "concealment": conceals - conceals.mean(),
    }


class Tally:
    """How often intervals hold the truth, and how well the order is found."""

    def __init__(self) -> None:
        self.inside: dict[str, list[float]] = {}
        self.alike: dict[str, list[float]] = {}
        self.slope: list[float] = []

    def add(self, columns, true) -> None:
        found = fitted(columns)
        scale = scale_of(found)
        for name, values in true.items():
            figures = figures_of(found, weights_of(found, name))
            own = values * scale
            if name == "concealment":
                # 0 is the average by what is known of each
                weight = found.layout.heard.prod(axis=1) / found.layout.heard.sum(axis=1)
                own = own - own @ weight / weight.sum()
            self.inside.setdefault(name, []).append(np.mean((figures.low <= own) & (own <= figures.high)))
            self.alike.setdefault(name, []).append(np.corrcoef(figures.values, own)[0, 1])
            centred = own - own.mean()
            self.slope.append(figures.values @ centred / (centred @ centred))

    def coverage(self) -> dict[str, float]:
        return {name: float(np.mean(held)) for name, held in self.inside.items()}

    def likeness(self) -> dict[str, float]:
        return {name: float(np.median(held)) for name, held in self.alike.items()}


def recovered(count: int, games: int, studies: int, **setting) -> Tally:
    tally = Tally()
    for seed in range(studies):
        agents = draw_agents(count, seed, **FLAT)
        tally.add(simulate(agents, games, seed, **setting), truths(agents, Setting(**setting)))
    return tally


@pytest.mark.parametrize(
    ("count", "games", "studies", "order", "stretched"),
    [
        (4, 30, 20, 0.9, 0.1),
        *(many(count, games, 200, 0.0, 1.0) for count, games in ((3, 8), (4, 12))),
        *(many(count, games, 200, 0.95, 0.05) for count, games in ((4, 30), (6, 100))),
    ],
)
def test_agents_are_found_in_order_and_covered(count, games, studies, order, stretched):
    tally = recovered(count, games, studies, **({"statements": 12} if studies < 200 else {}))
    rows = {"coverage": tally.coverage(), "order": tally.likeness()}
    print(table(f"coverage and order, {count} agents, {games} games", rows))
    assert min(tally.coverage().values()) >= 0.9
    assert min(tally.likeness().values()) > order
    # no stretching, which a parameter for every statement would bring
    assert np.mean(tally.slope) == pytest.approx(1.0, abs=stretched)


@pytest.mark.parametrize(("studies", "games", "least", "apart"), [(40, 30, 0.88, 0.02), many(200, 80, 0.9, 0.0)])
def test_games_whose_judgements_hang_together_are_resampled_whole(studies, games, least, apart):
    covered, naive = under_correlation(studies, games)
    print(f"coverage {covered:.3f}, taking judgements of one game for independent {naive:.3f}")
    # what a game has in common goes into both classes, and so leaves sensitivity mostly alone
    assert covered >= least
    assert naive <= covered - apart


def under_correlation(studies: int, games: int) -> tuple[float, float]:
    """Return coverage of the intervals, and of those that take judgements of one game for independent."""
    changes = {"statements": 8, "game_sd": 0.7, "pair_sd": 2.0}
    agents = draw_agents(4, 77, **FLAT)
    # what endless games would give: with effects of game and pair, the model's scale is that of their mean
    endless = fitted(simulate(agents, games=1_000, seed=99_999, **changes))
    true = endless.at[endless.layout.place("sensitivity") :][:4] * scale_of(endless)
    inside, naive = [], []
    for seed in range(studies):
        found = fitted(simulate(agents, games, seed, **changes))
        weights = weights_of(found, "sensitivity")
        figures = figures_of(found, weights)
        inside.append(np.mean((figures.low <= true) & (true <= figures.high)))
        half = 1.96 * np.sqrt(np.diag(weights @ found.covariance @ weights.T)) * scale_of(found)
        naive.append(np.mean(np.abs(figures.values - true) <= half))
    return float(np.mean(inside)), float(np.mean(naive))


def test_roles_are_not_agents():
    # whoever is the Doctor flags what is deceptive; agents are alike
    agents = draw_agents(4, 3, spread=0.0, role_spread=0.0)
    roles = np.zeros(len(ROLES))
    roles[ROLES.index("Doctor")] = 1.5
    keen = Agents(agents.detects, agents.conceals, agents.false_alarm, agents.suspected, observer_roles=roles)
    found = fitted(simulate(keen, 60, 3))
    own = found.at[found.layout.place("sensitivity") :][:4]
    assert np.ptp(own) < 0.5
