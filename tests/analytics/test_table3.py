"""Table 3: flags against self-labels."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from analytics.measures.formulas import Confusion
from tests.analytics.script import Script, random_game, section

PAPER = {
    "Villager": Confusion(tp=231, tn=90, fp=52, fn=148),
    "Werewolf": Confusion(tp=157, tn=77, fp=79, fn=113),
    "Seer": Confusion(tp=144, tn=58, fp=36, fn=139),
    "Doctor": Confusion(tp=170, tn=45, fp=46, fn=126),
}
"""The counts that the paper prints."""

ONE_CLASS = ("balanced_accuracy", "mcc", "dprime", "criterion")


def test_by_hand():
    script = Script().dawn()
    script.said("Wim", True, {"Vic": (True, 0.9), "Val": (False, 0.2), "Sia": (True, 0.8)})
    script.said("Doc", False, {"Vic": (True, 0.6), "Val": (False, 0.1), "Sia": (False, 0.3)})
    script.said("Doc", False, {"Vic": "timed_out", "Val": (False, 0.1)})
    script.said("Doc", "declined", {"Vic": (True, 0.9)})
    result = section("table3")([script.rows()])
    villager = result["Villager"]
    assert [villager[name] for name in ("n", "tp", "tn", "fp", "fn")] == [5, 1, 2, 1, 1]
    assert villager["accuracy"] == 3 / 5
    assert villager["precision"] == villager["recall"] == villager["f1"] == 0.5
    assert villager["balanced_accuracy"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert villager["mcc"] == pytest.approx((1 * 2 - 1 * 1) / math.sqrt(2 * 3 * 2 * 3))
    assert (villager["base_rate"], villager["constant_accuracy"]) == (2 / 5, 3 / 5)
    seer = result["Seer"]
    assert [seer[name] for name in ("tp", "tn", "fp", "fn", "accuracy", "mcc")] == [1, 1, 0, 0, 1.0, 1.0]
    assert [result["overall"][name] for name in ("n", "tp", "tn", "fp", "fn")] == [7, 2, 3, 1, 1]


def test_signal_detection_uses_the_log_linear_correction():
    # hits 9 of 10, false alarms 1 of 10: rates 9.5/11 and 1.5/11, z = +-1.096804
    measures = Confusion(tp=9, fn=1, fp=1, tn=9).measures()
    assert measures["dprime"] == pytest.approx(2.193607, abs=1e-6)
    assert measures["criterion"] == pytest.approx(0.0, abs=1e-12)
    eager = Confusion(tp=10, fn=0, fp=10, tn=0).measures()
    assert eager["dprime"] == pytest.approx(0.0, abs=1e-12)
    assert eager["criterion"] == pytest.approx(-1.690622, abs=1e-6)


@pytest.mark.parametrize(
    ("observer", "accuracy", "precision", "recall", "f1"),
    [
        ("Villager", 0.616, 0.82, 0.61, 0.70),
        ("Werewolf", 0.549, 0.67, 0.58, 0.62),
        ("Seer", 0.536, 0.80, 0.51, 0.62),
        ("Doctor", 0.556, 0.79, 0.57, 0.66),
    ],
)
def test_the_papers_counts_give_our_arithmetic_and_not_its_accuracy_column(observer, accuracy, precision, recall, f1):
    measures = PAPER[observer].measures()
    assert measures["accuracy"] == pytest.approx(accuracy, abs=0.0005)
    # precision, recall and F1 are the paper's printed values, to half a unit of their last digit
    assert measures["precision"] == pytest.approx(precision, abs=0.005)
    assert measures["recall"] == pytest.approx(recall, abs=0.005)
    assert measures["f1"] == pytest.approx(f1, abs=0.005)


def test_the_papers_overall_row_does_not_follow_from_its_counts_and_a_constant_guess_beats_every_observer():
    overall = Confusion(
        **{name: sum(getattr(each, name) for each in PAPER.values()) for name in ("tp", "tn", "fp", "fn")}
    )
    assert (overall.tp, overall.tn, overall.fp, overall.fn) == (702, 270, 213, 526)
    measures = overall.measures()
    for name, expected in {"accuracy": 0.568, "precision": 0.767, "recall": 0.572, "f1": 0.655}.items():
        assert measures[name] == pytest.approx(expected, abs=0.0005)
    assert measures["base_rate"] == measures["constant_accuracy"] == pytest.approx(0.718, abs=0.0005)
    assert all(measures["constant_accuracy"] > row.measures()["accuracy"] for row in PAPER.values())


def test_everything_agrees_with_scikit_learn():
    games = [random_game(seed).rows() for seed in range(20)]
    result = section("table3")(games)
    for observer, row in result.items():
        flags, truth = [], []
        for game in games:
            labels = {statement.number: statement.d for statement in game.statements}
            for judgement in game.judgements:
                known = labels[judgement.statement] is not None and judgement.usable
                if known and observer in {"overall", judgement.observer_role}:
                    flags.append(judgement.d)
                    truth.append(labels[judgement.statement])
        tn, fp, fn, tp = (int(count) for count in sk.confusion_matrix(truth, flags).ravel())
        assert [row[name] for name in ("n", "tp", "tn", "fp", "fn")] == [len(flags), tp, tn, fp, fn]
        assert row["accuracy"] == pytest.approx(sk.accuracy_score(truth, flags))
        assert row["precision"] == pytest.approx(sk.precision_score(truth, flags))
        assert row["recall"] == pytest.approx(sk.recall_score(truth, flags))
        assert row["f1"] == pytest.approx(sk.f1_score(truth, flags))
        assert row["balanced_accuracy"] == pytest.approx(sk.balanced_accuracy_score(truth, flags))
        assert row["mcc"] == pytest.approx(sk.matthews_corrcoef(truth, flags))
        guesses = (sk.accuracy_score(truth, [guess] * len(truth)) for guess in (True, False))
        assert row["constant_accuracy"] == pytest.approx(max(guesses))


def test_what_one_class_leaves_undefined_is_null():
    truthful = Confusion(tn=3, fp=2).measures()
    assert (truthful["accuracy"], truthful["precision"], truthful["base_rate"]) == (0.6, 0.0, 0.0)
    assert truthful["constant_accuracy"] == 1.0
    assert all(truthful[name] is None for name in ("recall", "f1", *ONE_CLASS))
    deceptive = Confusion(tp=1, fn=3).measures()
    assert (deceptive["precision"], deceptive["recall"], deceptive["base_rate"]) == (1.0, 0.25, 1.0)
    assert all(deceptive[name] is None for name in ONE_CLASS)


def test_an_observer_that_never_flags_has_no_precision_and_no_f1_but_a_recall_of_zero():
    silent = Confusion(tn=3, fn=2).measures()
    assert (silent["precision"], silent["f1"], silent["mcc"], silent["recall"]) == (None, None, None, 0.0)
    assert silent["balanced_accuracy"] == 0.5
    always_wrong = Confusion(fp=3, fn=2).measures()
    assert (always_wrong["precision"], always_wrong["recall"], always_wrong["f1"]) == (0.0, 0.0, 0.0)


def test_nothing_judged_is_null_and_not_zero():
    nothing = section("table3")([])["overall"]
    counts = {"n", "tp", "tn", "fp", "fn"}
    assert all(nothing[name] == 0 for name in counts)
    assert all(value is None for name, value in nothing.items() if name not in counts)


@given(st.tuples(*[st.integers(0, 10**7)] * 4))
def test_measures_are_within_their_ranges_or_null(counts):
    measures = Confusion(*counts).measures()
    for name in ("accuracy", "precision", "recall", "f1", "balanced_accuracy", "base_rate", "constant_accuracy"):
        assert measures[name] is None or 0 <= measures[name] <= 1
    assert measures["mcc"] is None or -1 - 1e-12 <= measures["mcc"] <= 1 + 1e-12
    assert measures["constant_accuracy"] is None or measures["constant_accuracy"] >= 0.5
    assert all(value is None or math.isfinite(value) for value in measures.values())


def test_fillers_are_truthful_labels_and_missed_flags():
    script = Script().dawn()
    script.said("Wim", True, {"Vic": "timed_out", "Val": (True, 0.9)})
    script.said("Wim", "declined", {"Vic": "timed_out", "Val": (True, 0.9)})
    left_out, filled = (
        section("table3")([script.rows()])["overall"],
        section("table3")([script.rows(include_defaulted=True)])["overall"],
    )
    assert [left_out[name] for name in ("tp", "tn", "fp", "fn")] == [1, 0, 0, 0]
    assert [filled[name] for name in ("tp", "tn", "fp", "fn")] == [1, 1, 1, 1]
