"""The paper against itself: every claim is worked out once more here, from numbers typed in from the paper."""

from __future__ import annotations

import pytest

from analytics.findings import metrics
from analytics.published import contradictions, counts, values
from wolfbus.vocabulary import ROLES

PAPER = values()
TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5 = PAPER.table1, PAPER.table2, PAPER.table3, PAPER.table4, PAPER.table5


def sentences(*words):
    """The one contradiction in which all these words are."""
    (found,) = [each for each in contradictions() if all(word in each.says + each.but for word in words)]
    return found


def test_each_names_sections_of_the_findings_and_says_four_things():
    known = {*metrics([]), "table4", "curves", "variability", "events"}
    for each in contradictions():
        assert each.where
        assert set(each.where) <= known
        for sentence in (each.says, each.but, each.ours):
            assert sentence.endswith(".")
            assert "nan" not in sentence.lower().split()


@pytest.mark.parametrize(
    ("role", "accuracy", "precision", "recall", "f1", "base_rate"),
    [
        ("Villager", 0.616, 0.816, 0.609, 0.698, 0.727),
        ("Werewolf", 0.549, 0.665, 0.581, 0.621, 0.634),
        ("Seer", 0.536, 0.800, 0.509, 0.622, 0.751),
        ("Doctor", 0.556, 0.787, 0.574, 0.664, 0.765),
        ("overall", 0.568, 0.767, 0.572, 0.655, 0.718),
    ],
)
def test_what_follows_from_table_3s_counts(role, accuracy, precision, recall, f1, base_rate):
    measures = counts(role).measures()
    found = [measures[name] for name in ("accuracy", "precision", "recall", "f1", "base_rate")]
    assert found == pytest.approx([accuracy, precision, recall, f1, base_rate], abs=0.0006)


def test_the_overall_counts_are_the_sums_of_the_roles():
    for name in ("tp", "tn", "fp", "fn"):
        assert TABLE_3["overall"][name] == sum(TABLE_3[role][name] for role in ROLES)


def test_precision_recall_and_f1_are_printed_as_they_follow_but_for_one():
    off = {
        (role, name)
        for role in ROLES
        for name in ("precision", "recall", "f1")
        if abs(counts(role).measures()[name] - TABLE_3[role][name]) > 0.0051
    }
    assert off == {("Seer", "f1")}
    assert "0.622, printed 0.63" in sentences("prints accuracies").but


def test_no_printed_accuracy_and_nothing_of_the_overall_row_follows():
    for role in ROLES:
        assert abs(counts(role).measures()["accuracy"] - TABLE_3[role]["accuracy"]) > 0.0051
    for name in ("accuracy", "precision", "recall", "f1"):
        assert abs(counts("overall").measures()[name] - TABLE_3["overall"][name]) > 0.04
    but = sentences("Overall row").but
    assert "accuracy 0.568, precision 0.767, recall 0.572, F1 0.655" in but
    assert TABLE_3["overall"]["recall"] < min(TABLE_3[role]["recall"] for role in ROLES)


def test_a_constant_guess_beats_every_observer():
    assert counts("overall").measures()["constant_accuracy"] == pytest.approx(1228 / 1711)
    assert all(counts(role).measures()["accuracy"] < 0.718 for role in TABLE_3)
    assert "0.718" in sentences("Always saying", "Table 3's judgements").but


def test_the_numbers_of_statements_are_three():
    assert sum(row["statements"] for row in TABLE_1.values()) == 324
    assert sum(row["count"] for row in TABLE_5.values()) == 710
    found = sentences("7,230")
    assert "324" in found.but
    assert "710" in found.but
    assert "3,240" in found.but
    assert "10 games of 32.4" in found.but


def test_the_deceptive_shares_are_three_and_the_werewolves_two():
    assert pytest.approx(0.725, abs=5e-4) == (107 + 56 + 45 + 27) / 324
    assert pytest.approx(0.4) == (710 - 426) / 710
    found = sentences("69.4 % of statements labelled")
    assert "72.5 %" in found.but
    assert "40.0 %" in found.but
    assert "71.8 %" in found.but
    assert "56 deceptive statements of 74, which is 76 %" in sentences("31 %").but


def test_auprc_is_near_the_base_rate_and_once_below_it():
    lifts = {role: TABLE_4[role]["auprc"] - counts(role).measures()["base_rate"] for role in ROLES}
    expected = {"Villager": 0.023, "Werewolf": 0.116, "Seer": 0.019, "Doctor": -0.005}
    assert lifts == pytest.approx(expected, abs=6e-4)
    assert "Doctor 0.76 against 0.765" in sentences("AUPRC near 0.75").but


def test_every_brier_score_is_worse_than_two_constants():
    assert min(row["brier"] for row in TABLE_4.values()) > 0.25 > 0.718 * (1 - 0.718)
    assert "0.203" in sentences("Brier").but


def test_table_2_cannot_reach_the_final_suspicion_of_werewolves():
    seen = 4 * TABLE_2["Villager"]["Werewolf"] + TABLE_2["Seer"]["Werewolf"] + TABLE_2["Doctor"]["Werewolf"]
    assert (seen + 1) / 7 == pytest.approx(0.566, abs=5e-4)
    assert "56.6 %" in sentences("seven observers").but
    assert not any(role in row for role, row in TABLE_2.items())


def test_flags_of_table_3_lie_outside_the_range_of_figure_1():
    assert pytest.approx(0.535, abs=5e-4) == (702 + 213) / 1711
    assert min(row["flagged"] for row in TABLE_1.values()) > 0.47
    assert "53.5 %" in sentences("observers flagging").but


def test_table_5_and_table_3_disagree_on_which_statements_are_flagged():
    lied = (129 * 57.5 + 76 * 35.5 + 51 * 45.5 + 28 * 40.1) / 284
    assert lied == pytest.approx(47.7, abs=0.05)
    found = sentences("other way round")
    assert "47.7 %" in found.says
    assert "44.1 %" in found.but
    assert "57.2 %" in found.but


def test_average_suspicion_differs_between_tables_1_and_5():
    found = sentences("average suspicion over all statements")
    roles = (150 * 47.9 + 74 * 53.3 + 61 * 55.1 + 39 * 60.8) / 324
    kinds = (426 * 57.1 + 129 * 61.9 + 76 * 50.3 + 51 * 54.6 + 28 * 51.7) / 710
    assert f"{roles:.1f} %" in found.says
    assert f"{kinds:.1f} %" in found.but
