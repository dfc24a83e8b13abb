"""Thresholds and maps fitted on some games, scored on others."""

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.model_selection import GroupKFold

from tests.analytics.script import measured
from tests.analytics.synthetic import linked, synthetic

SCORES = ("balanced_accuracy", "f1", "precision", "recall", "accuracy")


def test_held_out_flags_are_those_of_a_loop_over_scikit_learns_folds():
    s, d, game = linked(23, 40, slope=1.5, intercept=-0.5, seed=4)
    found = measured("thresholds", (synthetic(s, d, game, before=np.clip(s * 0.6 + 0.1, 0, 1))))
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
        **{name: pytest.approx(getattr(sk, f"{name}_score")(d, flagged)) for name in SCORES},
        "n": len(d),
        "base_rate": pytest.approx(d.mean()),
        "constant_accuracy": pytest.approx(max(d.mean(), 1 - d.mean())),
    }
    assert (own["folds"], own["reason"]) == (5, None)


def test_at_half_and_the_observers_own_flags_stand_beside():
    scores, labels, flags = [0.5, 0.4, 0.6, 0.2], [1, 1, 0, 0], [1, 1, 0, 1]
    own = measured("thresholds", (synthetic(scores, labels, [0, 0, 1, 1], flags=flags)))["suspicion"]["best_f1"]
    assert [own["at_half"][name] for name in ("accuracy", "precision", "recall", "n")] == [0.5, 0.5, 0.5, 4]
    assert [own["flags"][name] for name in ("accuracy", "precision", "recall", "n")] == [0.75, 2 / 3, 1.0, 4]
    # two games are too few to hold one out, not to fit on all
    assert own["all_games"] == 0.4
    assert (own["threshold"], own["held_out"], own["fold_thresholds"], own["folds"]) == (None, None, None, 0)
    assert "5 blocks" in own["reason"]
    assert "there are 2" in own["reason"]


@pytest.mark.parametrize("labels", [[1] * 12, [0] * 12, [1, 1] + [0] * 10])
def test_one_label_or_one_outside_some_fold_is_null_with_its_reason(labels):
    columns = synthetic(np.arange(12) / 12, labels, np.arange(12) // 2)
    for rules in measured("thresholds", (columns)).values():
        for own in rules.values():
            assert (own["threshold"], own["held_out"], own["folds"]) == (None, None, 0)
            assert own["reason"]
            assert (own["all_games"] is None) == (len(set(labels)) == 1)


@pytest.mark.parametrize(("slope", "intercept"), [(0.3, 0.9), (0.5, -0.8), (2.5, 0.0)])
def test_recalibration_lowers_the_error_of_miscalibrated_suspicion_on_held_out_games(slope, intercept):
    lowered = 0
    for seed in range(2):
        found = measured("recalibration", (synthetic(*linked(60, 60, slope=slope, intercept=intercept, seed=seed))))
        for kind in ("platt", "isotonic"):
            before, after = found[kind]["before"], found[kind]["after"]
            assert after["brier"] < before["brier"]
            assert after["auc"] == pytest.approx(before["auc"], abs=0.02)
            lowered += after["ece"] < 0.5 * before["ece"]
    assert lowered >= 3


def test_blocks_of_games_count_not_games():
    s, d, game = linked(7, 80, slope=0.5, intercept=0.5, seed=2)
    found = measured("recalibration", (synthetic(s, d, game, blocks=np.arange(7) // 2)))
    names = ("platt", "isotonic", "folds", "blocks", "games")
    assert [found[name] for name in names] == [None, None, 0, 4, 7]
    assert "5 blocks" in found["reason"]
    assert measured("recalibration", (synthetic(s, d, game, blocks=np.arange(7))))["folds"] == 5
