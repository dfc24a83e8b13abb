"""Table 4: whose judgements count, by whom, and beside which baselines."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics as sk

from analytics.columns import ColumnsBuilder, columns_of
from analytics.measures.study import Study
from analytics.measures.table4 import table4
from tests.analytics.scores.synthetic import linked, synthetic
from tests.analytics.script import Script, random_game
from wolfbus.vocabulary import ROLES

MEASURES = ("base_rate", "brier", "brier_skill", "auc", "auprc", "auprc_lift", "ece")


def by_hand() -> Script:
    script = Script().dawn()
    script.said("Wim", True, {"Vic": (True, 0.9), "Val": (False, 0.2), "Sia": (True, 0.8)})
    script.said("Doc", False, {"Vic": (True, 0.6), "Val": (False, 0.1), "Sia": (False, 0.3)})
    script.said("Doc", False, {"Vic": "timed_out", "Val": (False, 0.1)})
    script.said("Doc", "declined", {"Vic": (True, 0.9)})
    return script


def test_suspicion_by_hand():
    overall = table4(Study(columns_of([by_hand().rows()])))["suspicion"]["overall"]
    assert (overall["n"], overall["deceptive"], overall["base_rate"]) == (7, 3, 3 / 7)
    assert overall["brier"] == pytest.approx((0.01 + 0.64 + 0.04 + 0.36 + 0.01 + 0.09 + 0.01) / 7)
    assert overall["brier_skill"] == pytest.approx(1 - overall["brier"] / (3 / 7 * 4 / 7))
    # 0.9 and 0.8 lie above all four truthful ones, 0.2 above two
    assert overall["auc"] == 10 / 12
    assert overall["auprc"] == pytest.approx((1 + 1 + 3 / 5) / 3)
    assert overall["auprc_lift"] == pytest.approx((1 + 1 + 3 / 5) / 3 - 3 / 7)
    # six distinct scores, each a bin of its own
    assert overall["ece"] == pytest.approx((2 * 0.1 + 0.8 + 0.3 + 0.6 + 0.2 + 0.1) / 7)
    assert overall["undefined"] == {}


def test_smoothed_suspicion_before_the_statement_by_hand():
    before = table4(Study(columns_of([by_hand().rows()])))["before"]["overall"]
    # 0.5 for all but one: Val judged the Doctor once, and D became 0.7 * 0.1 + 0.3 * 0.5 = 0.22
    assert before["n"] == 7
    assert before["brier"] == pytest.approx((6 * 0.25 + 0.22**2) / 7)
    assert before["auc"] == (3 * 0.5 + 1) / 4
    assert [(row["low"], row["n"], row["share"]) for row in before["reliability"]] == [
        (pytest.approx(0.22), 1, 0.0),
        (0.5, 6, 0.5),
    ]


def test_rows_are_split_by_observer_and_by_speaker():
    suspicion = table4(Study(columns_of([by_hand().rows()])))["suspicion"]
    assert {role: row["n"] for role, row in suspicion["by_observer"].items()} == {
        "Villager": 5,
        "Werewolf": 0,
        "Seer": 2,
        "Doctor": 0,
    }
    assert {role: row["n"] for role, row in suspicion["by_speaker"].items()} == {
        "Villager": 0,
        "Werewolf": 3,
        "Seer": 0,
        "Doctor": 4,
    }
    doctor = suspicion["by_speaker"]["Doctor"]
    assert (doctor["brier"], doctor["base_rate"]) == (pytest.approx(0.47 / 4), 0.0)
    assert set(doctor["undefined"]) == {"brier_skill", "auc", "auprc", "auprc_lift"}
    assert all(
        reason.startswith("every statement judged is labelled truthful") for reason in doctor["undefined"].values()
    )


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


def test_suspicion_that_tells_nothing_has_an_auprc_of_the_base_rate():
    rng = np.random.default_rng(3)
    found = table4(Study(synthetic(rng.random(50_000), rng.random(50_000) < 0.718, np.arange(50_000) // 100)))
    overall = found["suspicion"]["overall"]
    assert overall["auprc"] == pytest.approx(0.718, abs=0.01)
    assert overall["auprc_lift"] == pytest.approx(0.0, abs=0.01)
    assert overall["auc"] == pytest.approx(0.5, abs=0.01)
    assert overall["brier_skill"] < 0


def test_judgements_without_suspicion_are_left_out_of_it_and_kept_for_what_was_foretold():
    columns = synthetic([np.nan, 0.4, 0.8], [1, 0, 1], [0, 0, 0], before=[0.5, 0.5, 0.9], flags=[1, 0, 1])
    found = table4(Study(columns))
    assert found["suspicion"]["overall"]["n"] == 2
    assert found["before"]["overall"]["n"] == 3


def test_what_does_not_count_is_left_out():
    columns = synthetic([0.1, 0.2, 0.3, 0.4], [1, -1, 0, 1], [0, 0, 0, 0], flags=[0, 0, -1, 1])
    found = table4(Study(columns))
    assert found["suspicion"]["overall"]["n"] == found["before"]["overall"]["n"] == 2


def test_fillers_say_even_odds_and_tell_nothing():
    script = Script().dawn()
    for speaker, label in (("Wim", True), ("Vic", False), ("Val", False), ("Wes", True)):
        script.said(speaker, label, dict.fromkeys([n for n in script.alive if n != speaker], "defaulted"))
    left_out = table4(Study(columns_of([script.rows()])))["suspicion"]["overall"]
    assert left_out["n"] == 0
    counted = table4(Study(columns_of([script.rows(include_defaulted=True)])))["suspicion"]["overall"]
    assert (counted["n"], counted["brier"], counted["auc"], counted["ece"]) == (28, 0.25, 0.5, 0.0)
    assert counted["auprc"] == counted["base_rate"] == 0.5


def test_of_no_games_everything_is_null_with_its_reason():
    for section in table4(Study(columns_of([]))).values():
        rows = [section["overall"], *section["by_observer"].values(), *section["by_speaker"].values()]
        assert len(rows) == 9
        for row in rows:
            assert (row["n"], row["deceptive"], row["reliability"]) == (0, 0, [])
            assert [row[name] for name in MEASURES] == [None] * 7
            assert set(row["undefined"]) == set(MEASURES)


@pytest.mark.parametrize("label", [0, 1])
def test_with_one_label_only_what_compares_is_null(label):
    overall = table4(Study(synthetic([0.2, 0.6], [label, label], [0, 1])))["suspicion"]["overall"]
    assert overall["base_rate"] == label
    assert overall["brier"] is not None
    assert overall["ece"] is not None
    assert {name for name in MEASURES if overall[name] is None} == set(overall["undefined"])
    assert set(overall["undefined"]) == {"brier_skill", "auc", "auprc", "auprc_lift"}


def test_order_merging_and_seating_of_games_leave_every_bit():
    games = [random_game(seed).rows() for seed in range(8)]
    whole = json.dumps(table4(Study(columns_of(games))), allow_nan=False)
    assert json.dumps(table4(Study(columns_of(reversed(games))))) == whole
    one, other = ColumnsBuilder(), ColumnsBuilder()
    for number, game in enumerate(games):
        (one if number % 3 else other).add(game)
    one.merge(other)
    assert json.dumps(table4(Study(one.columns()))) == whole
    turned = [replace(game, seats=dict(reversed(game.seats.items()))) for game in games]
    assert json.dumps(table4(Study(columns_of(turned)))) == whole


def test_a_single_game_and_a_hundred_of_it_have_the_same_figures():
    s, d, _ = linked(1, 150, slope=1, intercept=0, seed=9)
    one = table4(Study(synthetic(s, d, np.zeros(150, "i4"))))["suspicion"]["overall"]
    many = table4(Study(synthetic(np.tile(s, 100), np.tile(d, 100), np.repeat(np.arange(100), 150))))["suspicion"][
        "overall"
    ]
    assert many["n"] == 100 * one["n"]
    for name in MEASURES:
        assert many[name] == pytest.approx(one[name], abs=1e-12)
