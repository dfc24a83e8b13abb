"""The model's parts against other formulations of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import norm

from analytics.measures.abilities import intervals
from analytics.measures.likelihood import Cells, cells_of, slopes, value_of
from analytics.measures.rasch import PRIOR_SD, components, fit, layout_of
from tests.simulator import draw_agents, simulate


def some_cells(games: int = 4, agents: int = 3, seed: int = 1, **changes) -> Cells:
    columns = simulate(draw_agents(agents, seed), games, seed, **{"statements": 8, **changes})
    return cells_of(columns, columns.statements["d"] == 1)


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
    cells = some_cells(games=15, statements=12)
    found = fit(cells)
    layout = found.layout

    def loss(at):
        effects = layout.design @ at
        return -value_of(cells, effects[:12], effects[12:24], effects[24]) + at @ layout.precision @ at / 2

    start = np.zeros(len(found.at))
    start[-1] = 0.5
    other = minimize(loss, start, method="BFGS", options={"gtol": 1e-4, "maxiter": 500})
    assert loss(found.at) <= other.fun + 1e-6
    # the constraint is so steep that numerical gradients are rough
    assert np.allclose(found.at[:-1], other.x[:-1], atol=2e-2)


def test_effects_add_up_to_zero():
    found = fit(some_cells(games=15))
    for place in found.layout.places:
        assert found.at[place].sum() == pytest.approx(0, abs=1e-4)


def test_a_large_fit_begins_on_a_part_and_ends_at_the_same_top(monkeypatch):
    cells = some_cells(games=60, statements=12)
    whole = fit(cells)
    monkeypatch.setattr("analytics.measures.rasch._WARM_UP", len(cells) // 5)
    started = fit(cells)
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
    as_observer, as_speaker = components(cells)
    assert as_observer.tolist() == [0, 1, 2, -1, 3, -1]
    assert as_speaker.tolist() == [1, 0, 2, 3, -1, -1]
    linked = replace(cells, observer=np.array([[0, 4], [4, -1], [8, -1], [16, -1]]))
    assert components(linked)[0].tolist() == [0, 0, 1, -1, 2, -1]
    assert components(linked)[1].tolist() == [0, 0, 1, 2, -1, -1]
    assert layout_of(linked).groups == 3


def test_without_data_an_interval_is_the_priors():
    # nobody hears agent 2: its place as a speaker is known from the prior alone
    cells = some_cells(games=20, agents=3)
    cells = cells.some(cells.speaker // 4 != 2)
    found = fit(cells)
    ((low, high),) = intervals([found])
    place = found.layout.places[2].start + 2
    assert found.at[place] == pytest.approx(0, abs=1e-9)
    assert (high - low)[place] == pytest.approx(2 * 1.96 * PRIOR_SD, rel=0.1)


def test_draws_are_the_same_every_time_and_need_two_blocks():
    found = fit(some_cells(games=12))
    ((low, high),), ((again, _),) = intervals([found]), intervals([found])
    assert np.array_equal(low, again)
    assert np.all(low[:-1] < high[:-1])
    assert intervals([fit(some_cells(games=1))]) == [None]
    assert intervals([]) == []


def test_observers_are_laid_out_in_any_order_of_rows():
    columns = simulate(draw_agents(4, 3), 5, 3)
    order = np.random.default_rng(4).permutation(len(columns.judgements["d"]))
    shuffled = replace(columns, judgements={name: column[order] for name, column in columns.judgements.items()})
    wanted = columns.statements["d"] == 0
    one, other = cells_of(columns, wanted), cells_of(shuffled, wanted)
    assert all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("speaker", "observer", "flag", "block")
    )
    assert len(one) == wanted.sum()
