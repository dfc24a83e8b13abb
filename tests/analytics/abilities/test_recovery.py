"""Over many simulated studies: the order of agents is found, and 95 % intervals hold the true values."""

from __future__ import annotations

import numpy as np
import pytest

from analytics.measures.abilities import figures_of, scale_of, weights_of
from analytics.measures.joint_model import Fit, fit
from analytics.measures.likelihood import cells_of
from tests.simulator import Agents, Setting, draw_agents, simulate
from tests.simulator.coverage import table
from wolfbus.vocabulary import ROLES

FLAT = {"role_spread": 0.0}
"""Agents whose roles have no effects: then an agent's sensitivity is that of its parameters alone."""


def classes_of(columns):
    label = columns.statements["d"]
    return cells_of(columns, label == 0), cells_of(columns, label == 1)


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

    def add(self, columns, true) -> Fit:
        found = fit(classes_of(columns))
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
        return found

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


def test_forty_small_studies():
    tally = recovered(4, 30, 40, statements=12)
    print(table("coverage, 30 games", {name: {"": share} for name, share in tally.coverage().items()}))
    assert min(tally.coverage().values()) >= 0.9
    assert min(tally.likeness().values()) > 0.9
    # no stretching, which a parameter for every statement would bring
    assert np.mean(tally.slope) == pytest.approx(1.0, abs=0.1)


def test_games_whose_judgements_hang_together_are_resampled_whole():
    covered, naive = under_correlation(studies=40, games=30)
    assert covered >= 0.88
    assert naive < covered - 0.02


def under_correlation(studies: int, games: int) -> tuple[float, float]:
    """Return coverage of the intervals, and of those that take judgements of one game for independent."""
    changes = {"statements": 8, "game_sd": 0.7, "pair_sd": 2.0}
    agents = draw_agents(4, 77, **FLAT)
    # what endless games would give: with effects of game and pair, the model's scale is that of their mean
    endless = fit(classes_of(simulate(agents, games=1_000, seed=99_999, **changes)))
    true = endless.at[endless.layout.place("sensitivity") :][:4] * scale_of(endless)
    inside, naive = [], []
    for seed in range(studies):
        found = fit(classes_of(simulate(agents, games, seed, **changes)))
        weights = weights_of(found, "sensitivity")
        figures = figures_of(found, weights)
        inside.append(np.mean((figures.low <= true) & (true <= figures.high)))
        half = 1.96 * np.sqrt(np.diag(weights @ found.covariance @ weights.T)) * scale_of(found)
        naive.append(np.mean(np.abs(figures.values - true) <= half))
    return float(np.mean(inside)), float(np.mean(naive))


@pytest.mark.soak
@pytest.mark.timeout(1_800)
def test_two_hundred_whole_studies():
    rows = {}
    for count, games in ((3, 8), (4, 12), (4, 30), (6, 100)):
        tally = recovered(count, games, 200)
        rows[f"{count} agents, {games} games"] = tally.coverage() | {"order": min(tally.likeness().values())}
        assert min(tally.coverage().values()) >= 0.9, (count, games)
        if games >= 30:
            assert min(tally.likeness().values()) > 0.95
            assert np.mean(tally.slope) == pytest.approx(1.0, abs=0.05)
    print(table("coverage of d′", rows))


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_two_hundred_studies_whose_judgements_hang_together():
    covered, naive = under_correlation(studies=200, games=80)
    print(f"coverage {covered:.3f}, taking judgements of one game for independent {naive:.3f}")
    # what a game has in common goes into both classes, and so leaves sensitivity mostly alone
    assert covered >= 0.9
    assert naive <= covered


def test_roles_are_not_agents():
    # whoever is the Doctor flags what is deceptive; agents are alike
    agents = draw_agents(4, 3, spread=0.0, role_spread=0.0)
    roles = np.zeros(len(ROLES))
    roles[ROLES.index("Doctor")] = 1.5
    keen = Agents(agents.detects, agents.conceals, agents.false_alarm, agents.suspected, observer_roles=roles)
    found = fit(classes_of(simulate(keen, 60, 3)))
    own = found.at[found.layout.place("sensitivity") :][:4]
    assert np.ptp(own) < 0.5
