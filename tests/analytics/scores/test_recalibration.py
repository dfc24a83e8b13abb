"""Recalibration, scored on games that the maps have not seen."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GroupKFold

from analytics.columns import columns_of
from analytics.measures.maps import KINDS
from analytics.measures.recalibration import recalibration
from analytics.measures.study import Study
from tests.analytics.scores.synthetic import linked, synthetic
from tests.analytics.script import Script, random_game


@pytest.mark.parametrize(("slope", "intercept"), [(0.3, 0.9), (0.5, -0.8), (2.5, 0.0)])
def test_recalibration_lowers_the_error_of_miscalibrated_suspicion_on_held_out_games(slope, intercept):
    lowered = 0
    for seed in range(5):
        found = recalibration(Study(synthetic(*linked(60, 60, slope=slope, intercept=intercept, seed=seed))))
        for kind in KINDS:
            before, after = found[kind]["before"], found[kind]["after"]
            assert after["brier"] < before["brier"]
            assert after["auc"] == pytest.approx(before["auc"], abs=0.02)
            lowered += after["ece"] < 0.5 * before["ece"]
    assert lowered >= 9


def test_recalibration_holds_where_games_differ_from_one_another():
    # each game has a base rate of its own, which no map can know
    rng = np.random.default_rng(11)
    parts = [linked(1, 80, slope=0.4, intercept=0.6 + rng.normal(0, 0.7), seed=100 + game) for game in range(80)]
    s, d = (np.concatenate([part[column] for part in parts]) for column in (0, 1))
    found = recalibration(Study(synthetic(s, d, np.repeat(np.arange(80), 80))))
    for kind in KINDS:
        assert found[kind]["after"]["ece"] < 0.5 * found[kind]["before"]["ece"]


def test_suspicion_that_is_calibrated_already_is_not_made_much_worse():
    found = recalibration(Study(synthetic(*linked(100, 100, slope=1, intercept=0, seed=3))))
    for kind in KINDS:
        assert found[kind]["after"]["brier"] < found[kind]["before"]["brier"] + 0.002
        assert found[kind]["after"]["ece"] < 0.03


def test_suspicion_that_tells_nothing_becomes_the_base_rate():
    rng = np.random.default_rng(12)
    n = 5_000
    found = recalibration(Study(synthetic(np.round(rng.random(n), 2), rng.random(n) < 0.7, np.arange(n) // 50)))
    for kind in KINDS:
        assert found[kind]["after"]["brier"] == pytest.approx(0.21, abs=0.01)
        assert abs(found[kind]["map"].get("slope", 0.0)) < 0.1


def test_isotonic_scores_are_those_of_a_loop_over_scikit_learns_folds():
    s, d, game = linked(17, 40, slope=0.5, intercept=0.5, seed=2)
    found = recalibration(Study(synthetic(s, d, game)))
    after = np.empty(len(s))
    for train, test in GroupKFold(5).split(s, groups=game):
        plain = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(s[train], d[train])
        after[test] = plain.predict(s[test])
    own = found["isotonic"]
    assert own["before"]["brier"] == pytest.approx(sk.brier_score_loss(d, s), rel=1e-12)
    assert own["after"]["brier"] == pytest.approx(sk.brier_score_loss(d, after), rel=1e-12)
    parts = [test for _, test in GroupKFold(5).split(s, groups=game)]
    pairs = [d[test].sum() * (len(test) - d[test].sum()) for test in parts]
    areas = [sk.roc_auc_score(d[test], after[test]) for test in parts]
    assert own["after"]["auc"] == pytest.approx(np.average(areas, weights=pairs), rel=1e-12)
    assert sum(row["n"] for row in own["reliability"]) == own["after"]["n"] == own["before"]["n"] == len(d)
    assert (found["folds"], found["blocks"], found["games"], found["reason"]) == (5, 17, 17, None)


def test_the_map_is_that_of_all_games():
    s, d, game = linked(17, 40, slope=0.5, intercept=0.5, seed=2)
    found = recalibration(Study(synthetic(s, d, game)))
    plain = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(s, d)
    points = np.array(found["isotonic"]["map"]["points"])
    assert points[:, 1] == pytest.approx(plain.predict(points[:, 0]), abs=1e-12)
    assert set(found["platt"]["map"]) == {"kind", "clip", "slope", "intercept"}


def test_blocks_of_games_count_not_games():
    s, d, game = linked(20, 30, slope=0.5, intercept=0.5, seed=2)
    found = recalibration(Study(synthetic(s, d, game, blocks=np.arange(20) // 5)))
    assert (found["platt"], found["isotonic"], found["folds"], found["blocks"], found["games"]) == (
        None,
        None,
        0,
        4,
        20,
    )
    assert "5 blocks" in found["reason"]
    assert recalibration(Study(synthetic(s, d, game, blocks=np.arange(20) // 4)))["folds"] == 5


def test_a_game_without_judgements_that_count_makes_no_block():
    labels = np.repeat([1, 0, 1, 0, -1], 4)
    labels[::4] = 1 - labels[::4]
    found = recalibration(
        Study(synthetic(np.linspace(0, 1, 20), np.where(np.arange(20) >= 16, -1, labels), np.arange(20) // 4))
    )
    assert (found["blocks"], found["folds"]) == (4, 0)


def test_a_single_game_or_none_is_null_with_its_reason():
    for games in ([], [random_game(1).rows()]):
        found = recalibration(Study(columns_of(games)))
        assert (found["platt"], found["isotonic"], found["folds"], found["blocks"]) == (None, None, 0, len(games))
        assert found["reason"]


@pytest.mark.parametrize("label", [0, 1])
def test_one_label_only_is_null_with_its_reason(label):
    found = recalibration(Study(synthetic(np.arange(20) / 20, [label] * 20, np.arange(20) // 2)))
    assert found["platt"] is None
    assert "every statement judged" in found["reason"]


def test_a_label_that_one_fold_has_alone_is_null_with_its_reason():
    found = recalibration(Study(synthetic(np.arange(20) / 20, [1, 1] + [0] * 18, np.arange(20) // 2)))
    assert (found["platt"], found["folds"]) == (None, 0)
    assert "outside one fold" in found["reason"]


def test_fillers_alone_become_the_base_rate():
    games = []
    for number in range(6):
        script = Script(f"g{number}").dawn()
        for speaker, label in (("Wim", True), ("Vic", False), ("Val", False)):
            script.said(speaker, label, dict.fromkeys([n for n in script.alive if n != speaker], "timed_out"))
        games.append(script.rows(include_defaulted=True))
    found = recalibration(Study(columns_of(games)))
    for kind in KINDS:
        assert found[kind]["before"] == {"brier": 0.25, "ece": pytest.approx(1 / 6), "auc": 0.5, "n": 126}
        assert found[kind]["after"]["brier"] == pytest.approx(2 / 9, abs=0.001)


def test_order_and_seating_of_games_leave_every_bit():
    games = [random_game(seed).rows() for seed in range(14)]
    found = recalibration(Study(columns_of(games)))
    assert found["folds"] == 5
    whole = json.dumps(found, allow_nan=False)
    turned = [replace(game, seats=dict(reversed(game.seats.items()))) for game in reversed(games)]
    assert json.dumps(recalibration(Study(columns_of(turned)))) == whole
