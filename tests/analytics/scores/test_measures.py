"""Brier, AUC and AUPRC of tied scores, against scikit-learn on the judgements themselves and against loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from analytics.measures.scores import Tied, auc, auprc, base_rate, brier, brier_skill, tied

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


@given(ROWS)
def test_auc_is_the_share_of_pairs_in_order_with_ties_counting_half(rows):
    scores, labels = split(rows)
    pairs = [1.0 if high > low else 0.5 if high == low else 0.0 for high in scores[labels] for low in scores[~labels]]
    found = auc(tied(scores, labels))
    assert found == (pytest.approx(sum(pairs) / len(pairs), abs=1e-12) if pairs else None)


@given(ROWS)
def test_auprc_is_the_mean_precision_at_the_scores_of_deceptive_statements(rows):
    scores, labels = split(rows)
    found = auprc(tied(scores, labels))
    if labels.all() or not labels.any():
        assert found is None
    else:
        at_each = [labels[scores >= score].mean() for score in scores[labels]]
        assert found == pytest.approx(np.mean(at_each), abs=1e-12)


@given(ROWS, st.randoms())
def test_the_order_of_judgements_does_not_change_a_bit(rows, rng):
    shuffled = list(rows)
    rng.shuffle(shuffled)
    one, other = tied(*split(rows)), tied(*split(shuffled))
    for measure in (brier, brier_skill, auc, auprc):
        assert measure(one) == measure(other)


@given(ROWS)
def test_only_ranks_count_for_auc_and_auprc(rows):
    scores, labels = split(rows)
    one, other = tied(scores, labels), tied(scores**3 / 2, labels)
    assert (auc(one), auprc(one)) == (auc(other), auprc(other))


@given(ROWS)
def test_distrust_turned_into_trust_mirrors_auc(rows):
    scores, labels = split(rows)
    found, mirrored = auc(tied(scores, labels)), auc(tied(1 - scores, labels))
    assert (found is None) == (mirrored is None)
    assert found is None or found + mirrored == pytest.approx(1.0)


def test_saying_the_base_rate_has_no_skill_and_knowing_has_all():
    labels = np.array([True, False, False, False])
    assert brier_skill(tied(np.full(4, 0.25), labels)) == pytest.approx(0.0)
    assert brier_skill(tied(labels.astype("f8"), labels)) == 1.0
    assert brier_skill(tied(np.ones(4), labels)) < 0


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
