"""Bins of whole ties, the reliability curve and the expected calibration error."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.measures.formulas import BINS, bins_of
from analytics.measures.scores import expected_calibration_error, reliability, tied

SCORES = st.lists(st.integers(0, 100).map(lambda score: score / 100), min_size=1, max_size=200)


def labelled(scores, seed=0):
    held = np.array(scores, "f8")
    return held, np.random.default_rng(seed).random(len(held)) < held


def test_by_hand():
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


def test_scores_that_share_a_bin_are_averaged():
    scores = np.arange(20) / 20
    rows = reliability(tied(scores, scores >= 0.5))
    assert [row["n"] for row in rows] == [2] * BINS
    assert rows[0] == {"low": 0.0, "high": 0.05, "mean_score": 0.025, "share": 0.0, "n": 2}


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


@given(st.integers(1, 300))
def test_without_ties_bins_differ_by_one_judgement_at_most(n):
    scores = np.arange(n) / n
    sizes = [row["n"] for row in reliability(tied(scores, scores > 0.3))]
    assert max(sizes) - min(sizes) <= 1
    assert len(sizes) == min(n, BINS)


@given(SCORES)
def test_the_error_is_that_of_a_loop_over_the_bins_ranks_define(scores):
    held, labels = labelled(scores)
    bins: dict[int, list[int]] = {}
    for at, score in enumerate(held):
        rank = sum(held < score) + sum(held == score) / 2
        bins.setdefault(int(BINS * rank / len(held) + 1e-9), []).append(at)
    off = sum(abs(sum(held[own]) - sum(labels[own])) for own in bins.values())
    assert expected_calibration_error(tied(held, labels)) == pytest.approx(off / len(held), abs=1e-12)


@given(SCORES)
def test_the_error_is_none_of_a_perfect_forecast_and_one_of_its_opposite(scores):
    labels = np.array(scores) >= 0.5
    assert expected_calibration_error(tied(labels.astype("f8"), labels)) == 0.0
    assert expected_calibration_error(tied(1.0 - labels, labels)) == 1.0


def test_calibrated_suspicion_has_a_small_error_and_overconfident_suspicion_a_large_one():
    rng = np.random.default_rng(1)
    chance = rng.random(20_000)
    labels = rng.random(20_000) < chance
    assert expected_calibration_error(tied(chance, labels)) < 0.015
    assert expected_calibration_error(tied(np.clip(2 * chance - 0.5, 0, 1), labels)) > 0.1


def test_of_nothing_there_is_no_error_and_no_curve():
    held = tied(np.zeros(0), np.zeros(0, bool))
    assert expected_calibration_error(held) is None
    assert reliability(held) == []
