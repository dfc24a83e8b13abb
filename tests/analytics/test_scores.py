"""Scores held against labels: Brier, areas, bins, Table 4 and curves, against scikit-learn and by hand."""

import itertools
import math

import numpy as np
import pytest
from sklearn import metrics as sk

from tests.analytics.script import measured
from tests.analytics.synthetic import synthetic

DEFINED_OF_BOTH = ("auc", "auprc", "auprc_lift", "brier_skill")


def row_of(scores, labels):
    """The row of Table 4 over judgements of one game."""
    return measured("table4", synthetic(scores, labels, [0] * len(labels)))["suspicion"]["overall"]


def drawn(n: int, decimals: int, seed: int):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random(n), decimals)
    return scores, rng.random(n) < 0.2 + 0.5 * scores


@pytest.mark.parametrize("decimals", [1, 2, 9])
def test_measures_are_scikit_learns_of_the_judgements_one_by_one_in_any_order(decimals):
    scores, labels = drawn(5_000, decimals, decimals)
    row = row_of(scores, labels)
    assert (row["n"], row["base_rate"]) == (5_000, labels.mean())
    assert row["brier"] == pytest.approx(sk.brier_score_loss(labels, scores), rel=1e-12)
    assert row["auc"] == pytest.approx(sk.roc_auc_score(labels, scores), rel=1e-12)
    assert row["auprc"] == pytest.approx(sk.average_precision_score(labels, scores), rel=1e-12)
    shuffled = np.random.default_rng(0).permutation(5_000)
    assert row_of(scores[shuffled], labels[shuffled]) == row


@pytest.mark.parametrize("label", [True, False])
def test_with_one_label_only_the_brier_score_is_defined(label):
    row = row_of([0.25, 0.75], [label, label])
    assert row["brier"] == (0.25**2 + 0.75**2) / 2
    assert [row[name] for name in DEFINED_OF_BOTH] == [None] * 4
    assert ("deceptive" if label else "truthful") in row["undefined"]["auc"]


def test_of_nothing_nothing_is_defined():
    row = row_of([], [])
    assert [row[name] for name in ("base_rate", "brier", "ece", *DEFINED_OF_BOTH)] == [None] * 7
    assert row["undefined"]["brier"].startswith("no judgement")


@pytest.mark.parametrize(("n", "decimals"), [(1, 2), (9, 1), (30, 1), (200, 2), (200, 6)])
def test_no_tie_is_torn_and_the_error_is_that_of_a_loop_over_the_bins_that_ranks_define(n, decimals):
    scores, labels = drawn(n, decimals, n)
    row = row_of(scores, labels)
    rows = row["reliability"]
    assert len(rows) <= 10
    assert sum(each["n"] for each in rows) == n
    for each in rows:
        inside = (each["low"] <= scores) & (scores <= each["high"])
        assert (each["n"], each["share"]) == (inside.sum(), pytest.approx(labels[inside].mean()))
        assert each["low"] <= each["mean_score"] <= each["high"]
    assert all(here["high"] < after["low"] for here, after in itertools.pairwise(rows))
    bins: dict[int, list[int]] = {}
    for at, score in enumerate(scores):
        rank = sum(scores < score) + sum(scores == score) / 2
        bins.setdefault(int(10 * rank / n + 1e-9), []).append(at)
    off = sum(abs(sum(scores[own]) - sum(labels[own])) for own in bins.values())
    assert row["ece"] == pytest.approx(off / n, abs=1e-12)


def test_what_does_not_count_is_left_out_and_what_has_no_suspicion_is_kept_for_what_was_foretold():
    columns = synthetic(
        [np.nan, 0.4, 0.8, 0.5, 0.1], [1, 0, 1, -1, 0], [0] * 5, before=[0.5] * 5, flags=[1, 0, 1, 1, -1]
    )
    found = measured("table4", columns)
    assert (found["suspicion"]["overall"]["n"], found["before"]["overall"]["n"]) == (2, 3)


def curve_of(scores, labels):
    return measured("curves", synthetic(scores, labels, [0] * len(labels)))["suspicion"]["overall"]


def test_curves_by_hand():
    found = curve_of([0.9, 0.6, 0.6, 0.1], [1, 1, 0, 0])
    assert found["roc"] == [[0.0, 0.0, None], [0.0, 0.5, 0.9], [0.5, 1.0, 0.6], [1.0, 1.0, 0.1]]
    assert found["pr"] == [[0.0, 1.0, None], [0.5, 1.0, 0.9], [1.0, 2 / 3, 0.6], [1.0, 0.5, 0.1]]
    assert (found["n"], found["base_rate"], found["auc"], found["moved"], found["reason"]) == (4, 0.5, 0.875, 0.0, None)
    assert found["auprc"] == pytest.approx(0.5 + 0.5 * 2 / 3)


def off(point, line):
    """Distance of a point from a line, by a loop over its pieces."""
    least = math.inf
    for (ax, ay), (bx, by) in itertools.pairwise(line):
        length = (bx - ax) ** 2 + (by - ay) ** 2
        part = 0.0 if not length else ((point[0] - ax) * (bx - ax) + (point[1] - ay) * (by - ay)) / length
        part = min(1.0, max(0.0, part))
        least = min(least, math.hypot(point[0] - ax - part * (bx - ax), point[1] - ay - part * (by - ay)))
    return least


@pytest.mark.parametrize(("n", "within"), [(250, 0.02), (20_000, 0.002)])
def test_a_point_is_what_its_threshold_flags_and_none_is_farther_from_the_thinned_line_than_it_says(n, within):
    scores, labels = drawn(n, 4, n)
    found = curve_of(scores, labels)
    for kind in ("roc", "pr"):
        assert len(found[kind]) <= 200
        for across, up, threshold in found[kind][1:]:
            flagged = scores >= threshold
            expected = (flagged[labels].mean(), labels[flagged].mean()) if kind == "pr" else (
                flagged[~labels].mean(), flagged[labels].mean())  # fmt: skip
            assert (across, up) == (pytest.approx(expected[0]), pytest.approx(expected[1]))
    every = np.stack(sk.roc_curve(labels, scores, drop_intermediate=False)[:2], axis=1)
    assert max(off(point, [each[:2] for each in found["roc"]]) for point in every[::37]) <= found["moved"] + 1e-12
    # a few hundred steps of a size that shows cannot be drawn with fewer points
    assert found["moved"] <= within


@pytest.mark.parametrize(("scores", "labels"), [([], []), ([0.3, 0.6], [1, 1]), ([0.3, 0.6], [0, 0])])
def test_without_both_labels_there_is_no_curve_but_a_reason(scores, labels):
    found = curve_of(scores, labels)
    assert (found["roc"], found["pr"], found["auc"], found["auprc"], found["moved"]) == ([], [], None, None, None)
    assert found["n"] == len(scores)
    assert isinstance(found["reason"], str)
