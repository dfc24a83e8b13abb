"""The joint model of who flags whom: over many simulated studies the order of agents is found, and 95 % intervals hold
the true values; and its estimates are those of another formulation of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.optimize import minimize

from tests.analytics.script import measured
from tests.simulator import Agents, Setting, draw_agents, simulate
from tests.simulator.coverage import many, table
from wolfbus.vocabulary import ROLES

FLAT = {"role_spread": 0.0}
"""Agents whose roles have no effects: then an agent's sensitivity is that of its parameters alone."""
ABILITIES = ("sensitivity", "concealment")


def on_labels(columns) -> dict:
    """What is found on the labels of some games."""
    return measured("abilities", columns)["label"]


def figures(section, name: str, part: str = "value") -> np.ndarray:
    return np.array([row[name][part] for row in section["agents"].values()])


def judged(columns) -> dict[str, np.ndarray]:
    """Of every judgement that counts: label, flag, statement, and agent and role of both sides."""
    table, label = columns.judgements, columns.label()
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
        # 0 is the average by what is known of each
        weight, conceals = heard.prod(axis=1) / heard.sum(axis=1), agents.conceals + agents.suspected
        found = on_labels(columns)
        yield (
            found,
            {
                "sensitivity": (told.hit - told.alarm + agents.detects - agents.false_alarm) * found["scale"],
                "concealment": (conceals - conceals @ weight / weight.sum()) * found["scale"],
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
    assert min(covered.values()) >= 0.9
    assert min(likeness.values()) > order
    # no stretching, which a parameter for every statement would bring
    assert np.mean(slope) == pytest.approx(1.0, abs=stretched)


@pytest.mark.parametrize(("studies", "games", "least"), [(20, 30, 0.88), many(200, 80, 0.9)])
def test_games_whose_judgements_hang_together_are_resampled_whole(studies, games, least):
    changes = {"statements": 8, "game_sd": 0.7, "pair_sd": 2.0}
    agents = draw_agents(4, 77, **FLAT)
    # what endless games would give: with effects of game and pair, the model's scale is that of their mean
    true = figures(on_labels(simulate(agents, games=1_000, seed=99_999, **changes)), "sensitivity")
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
    roles[ROLES.index("Doctor")] = 1.5
    keen = Agents(agents.detects, agents.conceals, agents.false_alarm, agents.suspected, observer_roles=roles)
    found = on_labels(simulate(keen, 60, 3))
    assert np.ptp(figures(found, "sensitivity")) < 0.5 * found["scale"]


def most_probable(rows, agents: int) -> dict[str, np.ndarray]:
    """The agents' figures in d′ by a general optimiser, each statement's effect integrated out by quadrature."""
    x, parameters = rows["x"], 1 + 4 * agents + 16 + 1
    readiness, sensitivity, suspected, concealment = (1 + at * agents + np.arange(agents) for at in range(4))
    share, weights, design = {}, [], np.zeros((len(x), parameters))
    every = np.arange(len(x))
    design[:, 0] = 1
    for side, level, apart, sign in (
        ("observer", readiness, sensitivity, 1), ("target", suspected, concealment, -1),
    ):  # fmt: skip
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
    z = np.linspace(-6, 6, 121)
    normal = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    signs = np.where(rows["flag"] == 1, 1.0, -1.0)[:, None]

    def loss(at: np.ndarray) -> float:
        given = free @ at
        each = -np.logaddexp(0, -signs * ((design[:, :-1] @ given[:-1])[:, None] + given[-1] * z))
        of_statement = np.zeros((rows["statement"].max() + 1, len(z)))
        np.add.at(of_statement, rows["statement"], each)
        return float(-np.log(np.exp(of_statement) @ normal).sum() + given @ given / (2 * 1.5**2))

    start = free.T @ np.append(np.zeros(parameters - 1), 0.5)
    found = free @ minimize(loss, start, method="BFGS", options={"gtol": 1e-4}).x
    scale = 1 / np.sqrt(1.7**2 + found[-1] ** 2)
    middle = {side: 0.5 - own for side, own in share.items()}
    told = {
        "sensitivity": found[sensitivity],
        "criterion": -(found[0] + found[readiness] + middle["observer"] * found[sensitivity]),
        "concealment": found[concealment],
        "suspected": found[suspected] - middle["target"] * found[concealment],
    }
    return {name: values * scale for name, values in told.items()}


def test_estimates_are_where_a_general_optimiser_finds_the_top_of_the_integrated_likelihood():
    columns = simulate(draw_agents(2, 1), 8, 1, statements=8, seating=(1, 0.5))
    found = on_labels(columns)
    for name, values in most_probable(judged(columns), 2).items():
        assert figures(found, name) == pytest.approx(values, abs=2e-3), name


def test_a_large_fit_begins_on_a_part_and_ends_at_the_same_top(monkeypatch):
    columns = simulate(draw_agents(3, 1), 60, 1, statements=12)
    whole = on_labels(columns)
    monkeypatch.setattr("analytics.measures.joint_model._WARM_UP", 100)
    started = on_labels(columns)
    for part in ("low", "value", "high"):
        assert figures(started, "sensitivity", part) == pytest.approx(figures(whole, "sensitivity", part), abs=1e-5)
