"""ROC and precision-recall curves, whole and thinned."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.columns import columns_of
from analytics.measures.scores import tied
from analytics.measures.study import Study
from analytics.measures.table4 import POINTS, TOLERANCE, curve, curves, thinned
from tests.analytics.scores.synthetic import synthetic
from tests.analytics.script import random_game


def test_by_hand():
    found = curve(tied(np.array([0.9, 0.6, 0.6, 0.1]), np.array([True, True, False, False])))
    assert found["roc"] == [[0.0, 0.0, None], [0.0, 0.5, 0.9], [0.5, 1.0, 0.6], [1.0, 1.0, 0.1]]
    assert found["pr"] == [[0.0, 1.0, None], [0.5, 1.0, 0.9], [1.0, 2 / 3, 0.6], [1.0, 0.5, 0.1]]
    assert (found["n"], found["base_rate"], found["auc"], found["moved"], found["reason"]) == (4, 0.5, 0.875, 0.0, None)
    assert found["auprc"] == pytest.approx(0.5 + 0.5 * 2 / 3)


def test_every_point_is_what_its_threshold_flags():
    rng = np.random.default_rng(0)
    scores = np.round(rng.random(20_000), 4)
    labels = rng.random(20_000) < scores
    found = curve(tied(scores, labels))
    for alarms, hits, threshold in found["roc"][1:]:
        flagged = scores >= threshold
        assert (hits, alarms) == (pytest.approx(flagged[labels].mean()), pytest.approx(flagged[~labels].mean()))
    for recall, precision, threshold in found["pr"][1:]:
        flagged = scores >= threshold
        assert (recall, precision) == (pytest.approx(flagged[labels].mean()), pytest.approx(labels[flagged].mean()))


@pytest.mark.parametrize("n", [2_000, 100_000])
def test_large_curves_are_thinned_and_hardly_moved(n):
    rng = np.random.default_rng(n)
    scores = rng.random(n)
    labels = rng.random(n) < scores**2
    found = curve(tied(scores, labels))
    for name in ("roc", "pr"):
        assert len(found[name]) <= POINTS
    assert 0 < found["moved"] <= TOLERANCE
    x, y = np.array([point[:2] for point in found["roc"]]).T
    area = float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))
    assert area == pytest.approx(found["auc"], abs=TOLERANCE)


def off(point, line):
    """Distance of a point from a line, by a loop over its pieces."""
    least = math.inf
    for (ax, ay), (bx, by) in itertools.pairwise(line):
        length = (bx - ax) ** 2 + (by - ay) ** 2
        part = 0.0 if not length else ((point[0] - ax) * (bx - ax) + (point[1] - ay) * (by - ay)) / length
        part = min(1.0, max(0.0, part))
        least = min(least, math.hypot(point[0] - ax - part * (bx - ax), point[1] - ay - part * (by - ay)))
    return least


@given(st.integers(0, 2**32 - 1), st.integers(POINTS + 1, 1_500))
def test_no_point_is_farther_from_the_thinned_line_than_it_says(seed, n):
    rng = np.random.default_rng(seed)
    up = rng.random(n) < 0.5
    x, y = np.cumsum(~up) / n, np.cumsum(up) / n
    kept, moved = thinned(x, y)
    assert len(kept) <= POINTS
    assert (kept[0], kept[-1]) == (0, n - 1)
    line = list(zip(x[kept].tolist(), y[kept].tolist(), strict=True))
    for at in range(0, n, 37):
        assert off((x[at], y[at]), line) <= moved + 1e-12
    # a few hundred steps of a size that shows cannot be drawn with fewer points
    assert moved <= (TOLERANCE if n > 1_000 else 0.02)


def test_small_curves_keep_every_point():
    kept, moved = thinned(np.arange(POINTS) / POINTS, np.zeros(POINTS))
    assert (len(kept), moved) == (POINTS, 0.0)


def test_sections_and_roles():
    columns = columns_of([random_game(seed).rows() for seed in range(6)])
    found = curves(Study(columns))
    assert set(found) == {"suspicion", "before"}
    for section in found.values():
        assert list(section["by_observer"]) == ["Villager", "Werewolf", "Seer", "Doctor"]
        assert section["overall"]["n"] == sum(own["n"] for own in section["by_observer"].values())
        for own in (section["overall"], *section["by_observer"].values()):
            assert (own["roc"][0], own["roc"][-1][:2]) == ([0.0, 0.0, None], [1.0, 1.0])
            assert own["pr"][-1][:2] == [1.0, pytest.approx(own["base_rate"])]
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(("scores", "labels"), [([], []), ([0.3, 0.6], [1, 1]), ([0.3, 0.6], [0, 0])])
def test_without_both_labels_there_is_no_curve_but_a_reason(scores, labels):
    found = curves(Study(synthetic(scores, labels, [0] * len(scores))))["suspicion"]["overall"]
    assert (found["roc"], found["pr"], found["auc"], found["auprc"], found["moved"]) == ([], [], None, None, None)
    assert found["n"] == len(scores)
    assert isinstance(found["reason"], str)
