"""Platt and isotonic maps: fitted."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from tests.analytics.script import measured
from tests.analytics.synthetic import linked, synthetic

KINDS = ("platt", "isotonic")


def maps_of(scores, labels, games=None):
    """Both maps, fitted on all games."""
    found = measured("recalibration", synthetic(scores, labels, np.arange(len(labels)) % 6 if games is None else games))
    return {kind: found[kind]["map"] for kind in KINDS}


def applied(found, scores):
    if found["kind"] == "isotonic":
        return np.interp(scores, *np.transpose(found["points"]))
    return expit(found["slope"] * logit(np.clip(scores, found["clip"], 1 - found["clip"])) + found["intercept"])


def test_platt_is_the_minimum_of_the_likelihood_of_platts_labels_and_isotonic_is_scikit_learns():
    s, d, game = linked(20, 30, slope=0.6, intercept=0.4, seed=7)
    yes, no = int(d.sum()), int((1 - d).sum())
    aim = np.where(d == 1, (yes + 1) / (yes + 2), 1 / (no + 2))
    at = logit(np.clip(s, 0.005, 0.995))

    def loss(ab):
        return np.mean(np.logaddexp(0, ab[0] * at + ab[1]) - aim * (ab[0] * at + ab[1]))

    least = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 2_000})
    found = maps_of(s, d, game)
    own = [found["platt"]["slope"], found["platt"]["intercept"]]
    assert own == pytest.approx(least.x, abs=1e-5)
    assert loss(own) <= least.fun + 1e-12
    plain = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(s, d)
    grid = np.linspace(0, 1, 501)
    assert applied(found["isotonic"], grid) == pytest.approx(plain.predict(grid), abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ([0.499, 0.499, 0.5, 0.5] * 6, [0, 0, 1, 1] * 6),
        *(([score] * 200, [1] * 60 + [0] * 140) for score in (0.0, 0.5, 1.0)),
        ([0.0, 1.0] * 12, [1, 0] * 12),
        (np.linspace(0, 1, 60), [1, 0, 0] * 20),
    ],
)
def test_maps_are_finite_probabilities_that_preserve_the_base_rate_where_they_were_fitted(scores, labels):
    found = maps_of(scores, labels, np.random.default_rng(1).permutation(len(labels)) % 6)
    grid, yes, no = np.linspace(0, 1, 101), sum(labels), len(labels) - sum(labels)
    for each in found.values():
        made = applied(each, grid)
        assert np.isfinite(made).all()
        assert ((made >= 0) & (made <= 1)).all()
    # Platt's labels are drawn in by one judgement of each
    aim = (yes * (yes + 1) / (yes + 2) + no / (no + 2)) / len(labels)
    assert applied(found["platt"], scores).mean() == pytest.approx(aim, abs=1e-6)
    assert applied(found["isotonic"], scores).mean() == pytest.approx(yes / len(labels), abs=1e-9)
    assert (np.diff(applied(found["isotonic"], grid)) >= 0).all()
