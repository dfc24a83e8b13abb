"""The model's parts against other formulations of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import norm

from analytics.measures.abilities import figures_of, scale_of, weights_of
from analytics.measures.joint_model import PRIOR_SD, Classes, components, fit, layout_of, objective
from analytics.measures.likelihood import Cells, cells_of, slopes, value_of
from tests.simulator import draw_agents, simulate


def some_cells(games: int = 4, agents: int = 3, seed: int = 1, **changes) -> Cells:
    columns = simulate(draw_agents(agents, seed), games, seed, **{"statements": 8, **changes})
    return cells_of(columns, columns.statements["d"] == 1)


def some_classes(games: int = 15, agents: int = 3, seed: int = 1, **changes) -> Classes:
    columns = simulate(draw_agents(agents, seed), games, seed, **{"statements": 8, **changes})
    label = columns.statements["d"]
    return cells_of(columns, label == 0), cells_of(columns, label == 1)


def rows_of(cells: Cells):
    """Return (speaker, [(observer, flag), …]) by statement."""
    return [
        (int(speaker), [(int(o), bool(f)) for o, f in zip(observers, flags, strict=True) if o >= 0])
        for speaker, observers, flags in zip(cells.speaker, cells.observer, cells.flag, strict=True)
    ]


def test_the_likelihood_is_the_integral_over_the_statements_effect():
    cells = some_cells()
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=12), rng.normal(size=12)
    for spread in (0.0, 0.3, 1.0, 1.7):
        total = 0.0
        for speaker, heard in rows_of(cells):

            def density(z, speaker=speaker, heard=heard, spread=spread):
                logits = np.array([a[o] + b[speaker] + spread * z for o, _ in heard])
                signs = np.array([1 if flag else -1 for _, flag in heard])
                return np.exp(-np.logaddexp(0, -signs * logits).sum()) * norm.pdf(z)

            total += np.log(quad(density, -9, 9, epsabs=0, epsrel=1e-10)[0])
        assert value_of(cells, a, b, spread) == pytest.approx(total, rel=1e-5)


def test_gradient_and_information_are_the_likelihoods_derivatives():
    cells = some_cells(games=6)
    rng = np.random.default_rng(2)
    at = np.concatenate([rng.normal(size=24), [0.8]])
    found = slopes(cells, at[:12], at[12:24], at[24])
    steps = np.eye(25) * 1e-5
    gradient = [(value_of(cells, *parts(at + step)) - value_of(cells, *parts(at - step))) / 2e-5 for step in steps]
    information = [
        (slopes(cells, *parts(at - step)).gradient - slopes(cells, *parts(at + step)).gradient) / 2e-5 for step in steps
    ]
    assert found.value == pytest.approx(value_of(cells, *parts(at)))
    assert np.allclose(found.gradient, gradient, atol=1e-6)
    assert np.allclose(found.information, information, atol=1e-5)
    assert np.allclose(found.by_block.sum(0), found.gradient)
    for game in range(6):
        alone = slopes(cells.some(cells.block == game), *parts(at))
        assert np.allclose(alone.gradient, found.by_block[game])


def parts(at):
    return at[:12], at[12:24], float(at[24])


def test_the_fit_is_where_a_general_optimiser_finds_the_top():
    classes = some_classes(statements=12)
    found = fit(classes)
    start = np.zeros(len(found.at))
    start[-1] = 0.5
    options = {"gtol": 1e-4, "maxiter": 500}
    other = minimize(lambda at: -objective(classes, found.layout, at), start, method="BFGS", options=options)
    assert -objective(classes, found.layout, found.at) <= other.fun + 1e-6
    # the constraint is so steep that numerical gradients are rough
    assert np.allclose(found.at[:-1], other.x[:-1], atol=2e-2)


def test_effects_add_up_to_zero_weighted_by_what_tells_of_them():
    found = fit(some_classes(seating=(1, 1, 0.2)))
    layout = found.layout
    honest, deceptive = layout.heard.T
    for what, weight in (
        ("readiness", layout.judged.sum(axis=1)),
        ("suspected", layout.heard.sum(axis=1)),
        ("concealment", honest * deceptive / (honest + deceptive)),
    ):
        own = found.at[layout.place(what) :][:3]
        assert own @ weight / weight.sum() == pytest.approx(0, abs=1e-4), what
        assert abs(own).max() > 1e-3


def test_a_large_fit_begins_on_a_part_and_ends_at_the_same_top(monkeypatch):
    classes = some_classes(games=60, statements=12)
    whole = fit(classes)
    monkeypatch.setattr("analytics.measures.joint_model._WARM_UP", len(classes[0]) // 5)
    started = fit(classes)
    assert started.at == pytest.approx(whole.at, abs=1e-6)
    assert started.covariance == pytest.approx(whole.covariance, abs=1e-5)


def test_components_are_those_of_the_graph_of_observers_and_speakers():
    # agents 0 and 1 hear each other, 2 hears only itself, 3 is heard by 4 and hears nobody, 5 is not there
    heard = [(0, 1), (1, 0), (2, 2), (4, 3)]
    cells = Cells(
        agents=6,
        blocks=1,
        block=np.zeros(4, "i4"),
        speaker=np.array([speaker * 4 for _, speaker in heard]),
        observer=np.array([[observer * 4, -1] for observer, _ in heard]),
        flag=np.zeros((4, 2), bool),
    )
    none = cells.some(np.zeros(4, bool))
    as_observer, as_speaker = components((none, cells))
    assert as_observer.tolist() == [0, 1, 2, -1, 3, -1]
    assert as_speaker.tolist() == [1, 0, 2, 3, -1, -1]
    linked = replace(cells, observer=np.array([[0, 4], [4, -1], [8, -1], [16, -1]]))
    assert components((linked, none))[0].tolist() == [0, 0, 1, -1, 2, -1]
    assert components((linked, cells))[1].tolist() == [0, 0, 1, 2, -1, -1]
    assert layout_of((linked, none)).groups == 3


def test_without_data_an_interval_is_the_priors():
    # nobody hears agent 2: its place as a speaker is known from the prior alone
    classes = some_classes(games=20)
    unheard = tuple(cells.some(cells.speaker // 4 != 2) for cells in classes)
    found = fit((unheard[0], unheard[1]))
    figures = figures_of(found, weights_of(found, "concealment"))
    assert figures.values[2] == pytest.approx(0, abs=1e-9)
    # no block tells of it, so its quantiles are those of the fewest
    assert (figures.high - figures.low)[2] >= 2 * 1.96 * PRIOR_SD * scale_of(found)
