"""Scores held against labels: Brier, areas, bins, Table 4 and curves, against scikit-learn and by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from analytics.columns import columns_of
from analytics.measures.formulas import BINS, bins_of
from analytics.measures.scores import (
    Tied,
    auc,
    auprc,
    base_rate,
    brier,
    brier_skill,
    expected_calibration_error,
    reliability,
    tied,
)
from analytics.measures.study import Study
from analytics.measures.table4 import POINTS, TOLERANCE, curve, curves, table4, thinned
from tests.analytics.scores.synthetic import synthetic
from tests.analytics.script import random_game
from wolfbus.vocabulary import ROLES

ROWS = st.lists(st.tuples(st.integers(0, 20).map(lambda score: score / 20), st.booleans()), min_size=1, max_size=60)


def split(rows):
    return np.array([score for score, _ in rows], "f8"), np.array([label for _, label in rows], bool)


@pytest.mark.parametrize("decimals", [1, 2, 9])
def test_measures_are_scikit_learns_of_the_judgements_one_by_one(decimals):
    rng = np.random.default_rng(decimals)
    scores = np.round(rng.random(5_000), decimals)
    labels = rng.random(5_000) < 0.2 + 0.5 * scores
    held = tied(scores, labels)
    assert held.n == 5_000
    assert len(held.values) == len(np.unique(scores))
    assert brier(held) == pytest.approx(sk.brier_score_loss(labels, scores), rel=1e-12)
    assert auc(held) == pytest.approx(sk.roc_auc_score(labels, scores), rel=1e-12)
    assert auprc(held) == pytest.approx(sk.average_precision_score(labels, scores), rel=1e-12)
    assert base_rate(held) == labels.mean()


@given(ROWS, st.randoms())
def test_the_order_of_judgements_does_not_change_a_bit(rows, rng):
    shuffled = list(rows)
    rng.shuffle(shuffled)
    one, other = tied(*split(rows)), tied(*split(shuffled))
    for measure in (brier, brier_skill, auc, auprc):
        assert measure(one) == measure(other)


@pytest.mark.parametrize("label", [True, False])
def test_with_one_label_only_the_brier_score_is_defined(label):
    held = tied(np.array([0.25, 0.75]), np.array([label, label]))
    assert brier(held) == (0.25**2 + 0.75**2) / 2
    assert (auc(held), auprc(held), brier_skill(held)) == (None, None, None)
    assert ("deceptive" if label else "truthful") in held.one_sided()


def test_of_nothing_nothing_is_defined():
    held = tied(np.zeros(0), np.zeros(0, bool))
    assert [measure(held) for measure in (base_rate, brier, brier_skill, auc, auprc)] == [None] * 5
    assert held.one_sided().startswith("no judgement")


def test_counts_of_a_billion_do_not_overflow():
    many = 500_000_000
    held = Tied(np.array([0.2, 0.8]), np.array([[2 * many, many], [many, 2 * many]]))
    # of nine pairs of thirds four are in order, one is not, four are ties
    assert auc(held) == pytest.approx((4 + 2) / 9)


SCORES = st.lists(st.integers(0, 100).map(lambda score: score / 100), min_size=1, max_size=200)


def labelled(scores, seed=0):
    held = np.array(scores, "f8")
    return held, np.random.default_rng(seed).random(len(held)) < held


def test_bins_and_error_by_hand():
    # six judgements at 0.2 have mean rank 3 of 10, three at 0.5 have 7.5, one at 0.9 has 9.5
    scores = np.array([0.2] * 6 + [0.5] * 3 + [0.9])
    labels = np.array([True] * 3 + [False] * 3 + [True] * 2 + [False] + [True])
    held = tied(scores, labels)
    assert bins_of(held.each).tolist() == [3, 7, 9]
    assert [(row["low"], row["high"], row["n"], row["share"]) for row in reliability(held)] == [
        (0.2, 0.2, 6, 0.5),
        (0.5, 0.5, 3, 2 / 3),
        (0.9, 0.9, 1, 1.0),
    ]
    assert expected_calibration_error(held) == pytest.approx((6 * 0.3 + 3 * (2 / 3 - 0.5) + 0.1) / 10)


@given(SCORES)
def test_no_tie_is_torn_and_nothing_is_lost(scores):
    held = tied(*labelled(scores))
    rows = reliability(held)
    assert len(rows) <= BINS
    assert sum(row["n"] for row in rows) == len(scores)
    for row in rows:
        assert row["n"] == sum(row["low"] <= score <= row["high"] for score in scores)
        assert row["low"] <= row["mean_score"] <= row["high"]
    assert all(here["high"] < after["low"] for here, after in itertools.pairwise(rows))


@given(SCORES)
def test_the_error_is_that_of_a_loop_over_the_bins_ranks_define(scores):
    held, labels = labelled(scores)
    bins: dict[int, list[int]] = {}
    for at, score in enumerate(held):
        rank = sum(held < score) + sum(held == score) / 2
        bins.setdefault(int(BINS * rank / len(held) + 1e-9), []).append(at)
    off = sum(abs(sum(held[own]) - sum(labels[own])) for own in bins.values())
    assert expected_calibration_error(tied(held, labels)) == pytest.approx(off / len(held), abs=1e-12)


def test_calibrated_suspicion_has_a_small_error_and_overconfident_suspicion_a_large_one():
    rng = np.random.default_rng(1)
    chance = rng.random(20_000)
    labels = rng.random(20_000) < chance
    assert expected_calibration_error(tied(chance, labels)) < 0.015
    assert expected_calibration_error(tied(np.clip(2 * chance - 0.5, 0, 1), labels)) > 0.1


def test_against_a_loop_over_the_rows_of_the_games():
    games = [random_game(seed).rows() for seed in range(12)]
    found = table4(Study(columns_of(games)))
    for split, role_of in (("by_observer", "observer_role"), ("by_speaker", "target_role")):
        for quantity, value_of in (("suspicion", "s"), ("before", "before")):
            for role in ROLES:
                scores, labels = [], []
                for game in games:
                    own = {statement.number: statement.d for statement in game.statements}
                    for judgement in game.judgements:
                        label = own[judgement.statement]
                        if judgement.d is not None and label is not None and getattr(judgement, role_of) == role:
                            scores.append(round(getattr(judgement, value_of), 12))
                            labels.append(label)
                row = found[quantity][split][role]
                assert (row["n"], row["deceptive"]) == (len(labels), sum(labels))
                assert row["brier"] == pytest.approx(sk.brier_score_loss(labels, scores), rel=1e-12)
                assert row["auc"] == pytest.approx(sk.roc_auc_score(labels, scores), rel=1e-12)
                assert row["auprc"] == pytest.approx(sk.average_precision_score(labels, scores), rel=1e-12)


def test_judgements_without_suspicion_are_left_out_of_it_and_kept_for_what_was_foretold():
    columns = synthetic([np.nan, 0.4, 0.8], [1, 0, 1], [0, 0, 0], before=[0.5, 0.5, 0.9], flags=[1, 0, 1])
    found = table4(Study(columns))
    assert found["suspicion"]["overall"]["n"] == 2
    assert found["before"]["overall"]["n"] == 3


def test_what_does_not_count_is_left_out():
    columns = synthetic([0.1, 0.2, 0.3, 0.4], [1, -1, 0, 1], [0, 0, 0, 0], flags=[0, 0, -1, 1])
    found = table4(Study(columns))
    assert found["suspicion"]["overall"]["n"] == found["before"]["overall"]["n"] == 2


def test_curves_by_hand():
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


@pytest.mark.parametrize(("scores", "labels"), [([], []), ([0.3, 0.6], [1, 1]), ([0.3, 0.6], [0, 0])])
def test_without_both_labels_there_is_no_curve_but_a_reason(scores, labels):
    found = curves(Study(synthetic(scores, labels, [0] * len(scores))))["suspicion"]["overall"]
    assert (found["roc"], found["pr"], found["auc"], found["auprc"], found["moved"]) == ([], [], None, None, None)
    assert found["n"] == len(scores)
    assert isinstance(found["reason"], str)
