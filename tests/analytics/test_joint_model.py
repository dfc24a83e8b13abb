"""The joint model of who flags whom against other formulations of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import norm

from analytics.measures.abilities import classes_of, figures_of, scale_of, weights_of
from analytics.measures.joint_model import PRIOR_SD, fit, objective
from tests.simulator import draw_agents, simulate


def some_classes(games: int = 15, agents: int = 3, seed: int = 1, **changes):
    return classes_of(simulate(draw_agents(agents, seed), games, seed, **{"statements": 8, **changes}), "label")


def integral(cells, design, at) -> float:
    """The log-likelihood of one class, each statement's effect integrated out by quadrature."""
    effects, width = design @ at, cells.agents * 4
    total = 0.0
    for speaker, observers, flags in zip(cells.speaker, cells.observer, cells.flag, strict=True):
        there = observers >= 0
        logits = effects[observers[there]] + effects[width + speaker]
        signs = np.where(flags[there], 1, -1)

        def density(z, logits=logits, signs=signs):
            return np.exp(-np.logaddexp(0, -signs * (logits + effects[-1] * z)).sum()) * norm.pdf(z)

        total += np.log(quad(density, -9, 9, epsabs=0, epsrel=1e-10)[0])
    return total


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0, 1.7])
def test_what_is_made_greatest_is_the_likelihood_with_the_statements_effects_integrated_out(spread):
    classes = some_classes(games=2)
    layout = fit(classes).layout
    at = np.append(np.random.default_rng(1).normal(size=len(layout.precision) - 1), spread)
    total = sum(integral(cells, design, at) for cells, design in zip(classes, layout.designs, strict=True))
    assert objective(classes, layout, at) == pytest.approx(total - at @ layout.precision @ at / 2, rel=1e-5)


def test_the_fit_is_where_a_general_optimiser_finds_the_top():
    classes = some_classes(games=8, agents=2)
    found = fit(classes)
    start = np.zeros(len(found.at))
    start[-1] = 0.5
    options = {"gtol": 1e-4, "maxiter": 500}
    other = minimize(lambda at: -objective(classes, found.layout, at), start, method="BFGS", options=options)
    assert -objective(classes, found.layout, found.at) <= other.fun + 1e-6
    # the constraint is so steep that numerical gradients are rough
    assert np.allclose(found.at[:-1], other.x[:-1], atol=2e-2)


def test_covariance_and_gradients_of_blocks_are_the_derivatives_at_the_top():
    classes = some_classes(games=8)
    found, steps = fit(classes), np.eye(len(fit(classes).at)) * 1e-3

    def of(at, some=classes):
        return objective(some, found.layout, at)

    bent = [[of(found.at + a + b) - of(found.at + a - b) - of(found.at - a + b) + of(found.at - a - b) for a in steps]
            for b in steps]  # fmt: skip
    assert np.allclose(found.covariance, np.linalg.inv(-np.array(bent) / 4e-6), atol=1e-3)
    of_prior = found.layout.precision @ found.at
    assert found.by_block.sum(axis=0) == pytest.approx(of_prior, abs=1e-3)
    alone = tuple(cells.some(cells.block == 5) for cells in classes)
    slope = [(of(found.at + step, alone) - of(found.at - step, alone)) / 2e-3 for step in steps]
    assert found.by_block[5] == pytest.approx(slope + of_prior, abs=1e-3)


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


def test_without_data_an_interval_is_the_priors():
    # nobody hears agent 2: its place as a speaker is known from the prior alone
    honest, deceptive = (cells.some(cells.speaker // 4 != 2) for cells in some_classes(games=20))
    found = fit((honest, deceptive))
    figures = figures_of(found, weights_of(found, "concealment"))
    assert figures.values[2] == pytest.approx(0, abs=1e-9)
    # no block tells of it, so its quantiles are those of the fewest
    assert (figures.high - figures.low)[2] >= 2 * 1.96 * PRIOR_SD * scale_of(found)
