"""The joint model of who flags whom: over many simulated studies the order of agents is found, and 95 % intervals hold
the true values; and its estimates are those of another formulation of it.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.optimize import minimize
from scipy.stats import norm

from tests.analytics.script import measured
from tests.simulator import Agents, Setting, draw_agents, simulate
from tests.simulator.coverage import many, table
from wolfbus.game.vocabulary import ROLES

FLAT = {"role_spread": 0.0}
"""Agents whose roles have no effects: then an agent's sensitivity is that of its parameters alone."""
ABILITIES = ("sensitivity", "concealment")


def on_labels(columns) -> dict:
    """What is found on the labels of some games."""
    return measured("abilities", columns, ground="label")


def figures(section, name: str, part: str = "value") -> np.ndarray:
    return np.array([row[name][part] for row in section["agents"].values()])


def judged(columns) -> dict[str, np.ndarray]:
    """Of every judgement that counts: label, flag, statement, and agent and role of both sides."""
    table = columns.judgements
    label = columns.statements["d"][table["statement"]]
    kept = (label >= 0) & (table["d"] >= 0)
    sides = {f"{side}_{what}": table[f"{side}_{what}"] for side in ("observer", "target") for what in ("agent", "role")}
    found = {"x": label, "flag": table["d"], "statement": table["statement"], **sides}
    return {name: values[kept].astype(int) for name, values in found.items()}


def counted(rows, side: str, what: str) -> np.ndarray:
    """Judgements by agent or role of a side, and class."""
    return np.stack([np.bincount(rows[f"{side}_{what}"][rows["x"] == x], minlength=4) for x in (0, 1)], axis=1)


def studies_of(count: int, games: int, studies: int, **setting) -> Iterator[tuple[dict, dict[str, np.ndarray]]]:
    """Yield what is found in each study, and the true values of its agents in the same units."""
    for seed in range(studies):
        agents, told = draw_agents(count, seed, **FLAT), Setting(**setting)
        columns = simulate(agents, games, seed, told)
        heard = counted(judged(columns), "target", "agent")[:count]
        # 0 is the average by what is known of each: sensitivity is told of whom these games let hear
        weight, conceals = heard.prod(axis=1) / heard.sum(axis=1), agents.conceals + agents.suspected
        average = conceals @ weight / weight.sum()
        found = on_labels(columns)
        yield (
            found,
            {
                "sensitivity": (told.hit - told.alarm + agents.detects - agents.false_alarm - average) * told.scale,
                "concealment": (conceals - average) * told.scale,
            },
        )


@pytest.mark.parametrize(
    ("count", "games", "studies", "order", "stretched"),
    [
        (4, 30, 12, 0.9, 0.1),
        *(many(count, games, 200, 0.0, 1.0) for count, games in ((3, 8), (4, 12))),
        *(many(count, games, 200, 0.95, 0.05) for count, games in ((4, 30), (6, 100))),
    ],
)
def test_agents_are_found_in_order_and_covered(count, games, studies, order, stretched):
    inside, alike, slope = {name: [] for name in ABILITIES}, {name: [] for name in ABILITIES}, []
    for found, true in studies_of(count, games, studies, **({"statements": 12} if studies < 200 else {})):
        for name, own in true.items():
            low, value, high = (figures(found, name, part) for part in ("low", "value", "high"))
            inside[name].append(np.mean((low <= own) & (own <= high)))
            alike[name].append(np.corrcoef(value, own)[0, 1])
            centred = own - own.mean()
            slope.append(value @ centred / (centred @ centred))
    covered = {name: float(np.mean(held)) for name, held in inside.items()}
    likeness = {name: float(np.median(held)) for name, held in alike.items()}
    print(table(f"coverage and order, {count} agents, {games} games", {"coverage": covered, "order": likeness}))
    # few studies show only that intervals are about as long as they should be; the soak counts
    assert min(covered.values()) >= (0.85 if studies < 200 else 0.9)
    assert min(likeness.values()) > order
    # no stretching, which a parameter for every statement would bring
    assert np.mean(slope) == pytest.approx(1.0, abs=stretched)


@pytest.mark.parametrize(("studies", "games", "least"), [(10, 30, 0.88), many(200, 80, 0.9)])
def test_games_whose_judgements_hang_together_are_resampled_whole(studies, games, least):
    changes = {"statements": 8, "game_sd": 0.7, "pair_sd": 1.2}
    agents = draw_agents(4, 77, **FLAT)
    told = Setting(**changes)
    true = (told.hit - told.alarm + agents.detects - agents.false_alarm) * told.scale
    inside = []
    for seed in range(studies):
        found = on_labels(simulate(agents, games, seed, **changes))
        low, high = figures(found, "sensitivity", "low"), figures(found, "sensitivity", "high")
        inside.append(np.mean((low <= true) & (true <= high)))
    print(f"coverage {np.mean(inside):.3f}")
    assert np.mean(inside) >= least


def test_roles_are_not_agents():
    # whoever is the Doctor flags what is deceptive; agents are alike
    agents = draw_agents(4, 3, spread=0.0, role_spread=0.0)
    roles = np.zeros(len(ROLES))
    roles[ROLES.index("Doctor")] = 0.9
    keen = Agents(agents.detects, agents.conceals, agents.false_alarm, agents.suspected, observer_roles=roles)
    found = on_labels(simulate(keen, 60, 3))
    assert np.ptp(figures(found, "sensitivity")) < 0.3


def most_probable(rows, agents: int) -> dict[str, np.ndarray]:
    """The agents' figures in d′ by a general optimiser, judgement by judgement."""
    x, parameters = rows["x"], 1 + 4 * agents + 16
    readiness, sensitivity, suspected, concealment = (1 + at * agents + np.arange(agents) for at in range(4))
    share, weights, design = {}, [], np.zeros((len(x), parameters))
    every = np.arange(len(x))
    design[:, 0] = 1
    for side, level, apart, sign in (("observer", readiness, sensitivity, 1), ("target", suspected, concealment, -1)):
        own, counts = rows[f"{side}_agent"], counted(rows, side, "agent")[:agents]
        share[side] = counts[:, 1] / counts.sum(axis=1)
        design[every, level[own]] = 1
        design[every, apart[own]] = sign * (x - share[side][own])
        roles = 1 + 4 * agents + 8 * (side == "target")
        design[every, roles + 4 * x + rows[f"{side}_role"]] = 1
        tells = [(level, counts.sum(axis=1))]
        tells += [(roles + 4 * each + np.arange(4), counted(rows, side, "role")[:, each]) for each in (0, 1)]
        if side == "target":
            tells.append((apart, counts.prod(axis=1) / counts.sum(axis=1)))
        # weighted effects add up to 0
        for places, weight in tells:
            weights.append(np.bincount(places, weight, parameters))
    free = null_space(np.array(weights))
    signs = np.where(rows["flag"] == 1, 1.0, -1.0)

    def loss(at: np.ndarray) -> float:
        given = free @ at
        return float(-norm.logcdf(signs * (design @ given)).sum() + given @ given / (2 * 1.5**2))

    found = free @ minimize(loss, np.zeros(free.shape[1]), method="BFGS", options={"gtol": 1e-4}).x
    middle = {side: 0.5 - own for side, own in share.items()}
    return {
        "sensitivity": found[sensitivity],
        "criterion": -(found[0] + found[readiness] + middle["observer"] * found[sensitivity]),
        "concealment": found[concealment],
        "suspected": found[suspected] - middle["target"] * found[concealment],
    }


def test_estimates_are_where_a_general_optimiser_finds_the_top_of_the_likelihood():
    columns = simulate(draw_agents(2, 1), 8, 1, statements=8, seating=(1, 0.5))
    found = on_labels(columns)
    for name, values in most_probable(judged(columns), 2).items():
        assert figures(found, name) == pytest.approx(values, abs=2e-3), name
