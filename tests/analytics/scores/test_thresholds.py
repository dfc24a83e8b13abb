"""Thresholds fitted on some games and scored on others."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk
from sklearn.model_selection import GroupKFold

from analytics.columns import columns_of
from analytics.measures.recalibration import best, folds_of, split, thresholds
from analytics.measures.scores import tied
from analytics.measures.study import Study
from tests.analytics.scores.synthetic import linked, synthetic
from tests.analytics.script import random_game

ROWS = st.lists(st.tuples(st.integers(0, 20).map(lambda score: score / 20), st.booleans()), min_size=2, max_size=60)


def test_best_by_hand():
    held = tied(np.array([0.9, 0.7, 0.6, 0.4, 0.2]), np.array([True, False, True, False, False]))
    # at 0.9 J is 1/2; at 0.6 it is 1 - 1/3
    assert best(held, "youden") == 0.6
    # F1 at 0.9 is 2/3, at 0.6 it is 4/5
    assert best(held, "best_f1") == 0.6


@given(ROWS)
def test_best_is_the_highest_threshold_of_the_greatest_gain_by_a_loop(rows):
    scores, labels = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    if labels.all() or not labels.any():
        return
    held = tied(scores, labels)
    gains = {}
    for threshold in sorted(set(scores.tolist()), reverse=True):
        flagged = scores >= threshold
        hits = int((flagged & labels).sum())
        j = hits * int((~labels).sum()) - int((flagged & ~labels).sum()) * int(labels.sum())
        gains[threshold] = (j, sk.f1_score(labels, flagged, zero_division=0.0))
    assert best(held, "youden") == max(gains, key=lambda threshold: gains[threshold][0])
    found = gains[best(held, "best_f1")][1]
    assert found == pytest.approx(max(f1 for _, f1 in gains.values()), abs=1e-12)


def test_held_out_flags_are_those_of_a_loop_over_scikit_learns_folds():
    s, d, game = linked(23, 40, slope=1.5, intercept=-0.5, seed=4)
    found = thresholds(Study(synthetic(s, d, game, before=np.clip(s * 0.6 + 0.1, 0, 1))))
    assert set(found) == {"suspicion", "before"}
    flagged, fitted = np.zeros(len(s), bool), []
    for train, test in GroupKFold(5).split(s, groups=game):
        alarms, hits, at = sk.roc_curve(d[train], s[train], drop_intermediate=False)
        fitted.append(at[1:][np.argmax((hits - alarms)[1:])])
        flagged[test] = s[test] >= fitted[-1]
    own = found["suspicion"]["youden"]
    assert own["fold_thresholds"] == fitted
    assert own["threshold"] == np.median(fitted)
    assert own["held_out"] == {
        "balanced_accuracy": pytest.approx(sk.balanced_accuracy_score(d, flagged)),
        "f1": pytest.approx(sk.f1_score(d, flagged)),
        "precision": pytest.approx(sk.precision_score(d, flagged)),
        "recall": pytest.approx(sk.recall_score(d, flagged)),
        "accuracy": pytest.approx(sk.accuracy_score(d, flagged)),
        "n": len(d),
        "base_rate": pytest.approx(d.mean()),
        "constant_accuracy": pytest.approx(max(d.mean(), 1 - d.mean())),
    }
    assert (own["folds"], own["reason"]) == (5, None)


def test_no_game_is_scored_with_a_threshold_that_it_helped_to_fit():
    study = Study(synthetic(*linked(37, 20, slope=1, intercept=0, seed=1)))
    held, (folds, reason) = study.scores("suspicion"), split(study, "suspicion")
    assert reason is None
    for block in np.unique(held.blocks):
        assert len(set(folds[held.blocks == block].tolist())) == 1
    assert sorted(set(folds.tolist())) == [0, 1, 2, 3, 4]


def test_games_of_one_block_stay_together():
    s, d, game = linked(30, 20, slope=1, intercept=0, seed=2)
    held = Study(synthetic(s, d, game, blocks=np.arange(30) // 5)).scores("suspicion")
    folds = folds_of(held.blocks)
    for block in range(6):
        assert len(set(folds[held.blocks == block].tolist())) == 1


def test_at_half_and_the_observers_own_flags_stand_beside():
    scores, labels, flags = [0.5, 0.4, 0.6, 0.2], [1, 1, 0, 0], [1, 1, 0, 1]
    own = thresholds(Study(synthetic(scores, labels, [0, 0, 1, 1], flags=flags)))["suspicion"]["best_f1"]
    assert [own["at_half"][name] for name in ("accuracy", "precision", "recall", "n")] == [0.5, 0.5, 0.5, 4]
    assert [own["flags"][name] for name in ("accuracy", "precision", "recall", "n")] == [0.75, 2 / 3, 1.0, 4]
    # two games are too few to hold one out, not to fit on all
    assert own["all_games"] == 0.4
    assert (own["threshold"], own["held_out"], own["fold_thresholds"], own["folds"]) == (None, None, None, 0)
    assert "5 blocks" in own["reason"]
    assert "there are 2" in own["reason"]


def test_scoring_where_it_was_fitted_would_flatter_suspicion_that_tells_nothing():
    rng = np.random.default_rng(8)
    n = 60
    found = []
    for _ in range(40):
        s, d = rng.random(n), (rng.random(n) < 0.5).astype("i1")
        own = thresholds(Study(synthetic(s, d, np.arange(n) // 6)))["suspicion"]["youden"]
        fitted = sk.balanced_accuracy_score(d, s >= own["all_games"])
        found.append((own["held_out"]["balanced_accuracy"], fitted))
    held_out, flattered = np.mean(found, axis=0)
    assert abs(held_out - 0.5) < 0.03
    assert flattered > 0.55


@pytest.mark.parametrize("labels", [[1] * 12, [0] * 12, [1, 1] + [0] * 10])
def test_one_label_or_one_outside_some_fold_is_null_with_its_reason(labels):
    columns = synthetic(np.arange(12) / 12, labels, np.arange(12) // 2)
    for rules in thresholds(Study(columns)).values():
        for own in rules.values():
            assert (own["threshold"], own["held_out"], own["folds"]) == (None, None, 0)
            assert own["reason"]
            assert (own["all_games"] is None) == (len(set(labels)) == 1)


def test_of_no_games_everything_is_null():
    own = thresholds(Study(columns_of([])))["before"]["youden"]
    assert (own["threshold"], own["all_games"], own["held_out"]) == (None, None, None)
    assert own["at_half"]["n"] == own["flags"]["n"] == 0
    assert own["flags"]["accuracy"] is None


def test_order_and_seating_of_games_leave_every_bit():
    games = [random_game(seed).rows() for seed in range(14)]
    whole = json.dumps(thresholds(Study(columns_of(games))), allow_nan=False)
    turned = [replace(game, seats=dict(reversed(game.seats.items()))) for game in reversed(games)]
    assert json.dumps(thresholds(Study(columns_of(turned)))) == whole
