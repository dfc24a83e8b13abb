"""Platt and isotonic maps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from analytics.measures.maps import CLIP, KINDS, IsotonicMap, PlattMap, fit, fit_isotonic, fit_platt
from analytics.measures.scores import tied
from tests.analytics.scores.synthetic import linked

ROWS = st.lists(
    st.tuples(st.integers(0, 100).map(lambda score: score / 100), st.booleans()), min_size=2, max_size=80
).filter(lambda rows: len({label for _, label in rows}) == 2)


def split(rows):
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


@pytest.mark.parametrize(("slope", "intercept"), [(0.4, 0.8), (1.0, 0.0), (2.0, -1.0), (-0.7, 0.2)])
def test_platt_recovers_the_link_that_judgements_were_drawn_from(slope, intercept):
    s, d, _ = linked(200, 200, slope=slope, intercept=intercept, seed=5)
    fitted = fit_platt(tied(s, d == 1))
    assert fitted.slope == pytest.approx(slope, abs=0.05)
    assert fitted.intercept == pytest.approx(intercept, abs=0.05)


def test_platt_leaves_calibrated_suspicion_alone_and_isotonic_nearly():
    s, d, _ = linked(500, 200, slope=1, intercept=0, seed=6)
    grid = np.linspace(0.05, 0.95, 19)
    assert PlattMap(slope=1.0, intercept=0.0).apply(grid) == pytest.approx(grid)
    for kind, most in (("platt", 0.01), ("isotonic", 0.05)):
        assert np.abs(fit(tied(s, d == 1), kind).apply(grid) - grid).max() < most


def test_platt_is_the_minimum_of_the_likelihood_of_platts_labels():
    s, d, _ = linked(20, 30, slope=0.6, intercept=0.4, seed=7)
    yes, no = int(d.sum()), int((1 - d).sum())
    aim = np.where(d == 1, (yes + 1) / (yes + 2), 1 / (no + 2))
    at = logit(np.clip(s, CLIP, 1 - CLIP))

    def loss(ab):
        return np.mean(np.logaddexp(0, ab[0] * at + ab[1]) - aim * (ab[0] * at + ab[1]))

    least = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 2_000})
    fitted = fit_platt(tied(s, d == 1))
    assert [fitted.slope, fitted.intercept] == pytest.approx(least.x, abs=1e-5)
    assert loss([fitted.slope, fitted.intercept]) <= least.fun + 1e-12


def test_isotonic_is_scikit_learns_of_the_judgements_one_by_one():
    s, d, _ = linked(20, 60, slope=0.6, intercept=0.4, seed=8)
    plain = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(s, d)
    grid = np.linspace(0, 1, 501)
    assert fit_isotonic(tied(s, d == 1)).apply(grid) == pytest.approx(plain.predict(grid), abs=1e-12)


def test_isotonic_by_hand():
    # 0.6 is less often deceptive than 0.4: both get what they have together
    scores = np.array([0.2, 0.2, 0.4, 0.4, 0.6, 0.6, 0.6, 0.8])
    labels = np.array([False, False, True, False, True, False, False, True])
    fitted = fit_isotonic(tied(scores, labels))
    assert fitted.points == ((0.2, 0.0), (0.4, pytest.approx(0.4)), (0.6, pytest.approx(0.4)), (0.8, 1.0))
    assert fitted.apply(np.array([0.0, 0.3, 0.5, 0.7, 1.0])) == pytest.approx([0.0, 0.2, 0.4, 0.7, 1.0])


@given(ROWS)
def test_maps_are_finite_probabilities_that_preserve_the_base_rate_where_they_were_fitted(rows):
    scores, labels = split(rows)
    grid = np.linspace(0, 1, 101)
    for kind in KINDS:
        fitted = fit(tied(scores, labels), kind)
        found = fitted.apply(grid)
        assert np.isfinite(found).all()
        assert ((found >= 0) & (found <= 1)).all()
    yes, no = labels.sum(), (~labels).sum()
    aim = (yes * (yes + 1) / (yes + 2) + no / (no + 2)) / len(labels)
    assert fit_platt(tied(scores, labels)).apply(scores).mean() == pytest.approx(aim, abs=1e-6)
    isotonic = fit_isotonic(tied(scores, labels))
    assert isotonic.apply(scores).mean() == pytest.approx(labels.mean(), abs=1e-9)
    assert (np.diff(isotonic.apply(grid)) >= 0).all()


@given(ROWS, st.randoms())
def test_the_order_of_judgements_does_not_change_a_bit_of_a_map(rows, rng):
    shuffled = list(rows)
    rng.shuffle(shuffled)
    for kind in KINDS:
        assert fit(tied(*split(rows)), kind) == fit(tied(*split(shuffled)), kind)


def test_suspicion_that_separates_gives_a_finite_map():
    scores = np.array([0.499, 0.499, 0.5, 0.5])
    labels = np.array([False, False, True, True])
    fitted = fit_platt(tied(scores, labels))
    assert np.isfinite([fitted.slope, fitted.intercept]).all()
    # Platt's labels of two each: 3/4 and 1/4
    assert fitted.apply(scores) == pytest.approx([0.25, 0.25, 0.75, 0.75], abs=1e-6)


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_suspicion_that_is_always_the_same_becomes_the_base_rate(score):
    scores, labels = np.full(200, score), np.arange(200) < 60
    for kind in KINDS:
        assert fit(tied(scores, labels), kind).apply(np.array([0.0, score, 1.0])) == pytest.approx(0.3, abs=0.01)


def test_suspicions_that_clipping_makes_equal_are_one():
    fitted = fit_platt(tied(np.array([0.0, 0.001, 0.002]), np.array([True, False, False])))
    assert fitted.slope == 0.0


def test_extreme_coefficients_stay_probabilities():
    found = PlattMap(slope=1e308, intercept=1e308).apply(np.array([0.0, 0.5, 1.0]))
    assert found.tolist() == [0.0, 1.0, 1.0]
    assert IsotonicMap(points=((0.5, 0.3),)).apply(np.array([0.0, 1.0])).tolist() == [0.3, 0.3]
    assert expit(PlattMap(slope=0.0, intercept=-2.0).intercept) == PlattMap(slope=0.0, intercept=-2.0).apply(0.7)
