"""The paper's values beside ours, the paper against itself, and Table 3 of the authors' published log.

Every contradiction is worked out once more here, from numbers typed in from the paper. The log's tests are skipped
where it is absent.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analytics.findings import metrics
from analytics.paper import rows_of_paper_log
from analytics.published import contradictions, counts, published, values
from wolfbus.record.published_log import read_paper_log
from wolfbus.vocabulary import ROLES


def test_everything_is_plain_json():
    assert json.loads(json.dumps(published(), allow_nan=False)) == published()


def test_its_sections_are_those_of_the_findings_with_a_place_in_the_paper():
    found = published()
    sections = set(found) - {"places"}
    assert sections - set(metrics([])) <= {"table4", "events", "variability"}
    assert sections - set(values().places) == {"variability"}


@pytest.mark.parametrize("name", ["table1", "table3", "table5"])
def test_tables_have_the_keys_of_our_tables(name):
    ours = metrics([])[name]
    for row, theirs in published()[name].items():
        assert set(theirs) <= set(ours[row])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("outcomes", "winners", "werewolves", "k"), 70),
        (("outcomes", "per_game", "debate_turns", "mean"), 16.1),
        (("production", "base_rate"), 0.694),
        (("table1", "Doctor", "flagged"), 0.605),
        (("table2", "Doctor", "Werewolf"), 0.587),
        (("table3", "overall", "fn"), 526),
        (("table4", "Seer", "auprc"), 0.77),
        (("table5", "omission", "suspicion"), 0.619),
        (("events", "doctor", "killed"), 0.621),
        (("trends", "Werewolf", "slope"), 0.016),
        (("figure1", "final_round", "Villager", "sem"), 0.009),
        (("variability", "metrics", "accuracy/Villager"), 0.58),
        (("variability", "metrics", "deception_rate"), 0.694),
    ],
)
def test_some_values_by_hand(path, value):
    found = published()
    for key in path:
        found = found[key]
    assert found == value


def test_a_caller_cannot_change_the_papers_values():
    published()["table1"]["Doctor"]["flagged"] = 1
    assert published()["table1"]["Doctor"]["flagged"] == 0.605


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


PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "wolf-20250810-192402-events.ndjson"


LOGGED = pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published log is not here")


def table3(*, as_recorded):
    return metrics([rows_of_paper_log(read_paper_log(PUBLISHED), as_recorded)])["table3"]["overall"]


def cells_of(row):
    return tuple(row[name] for name in ("n", "tp", "tn", "fp", "fn"))


def by_hand():
    """The counts, straight from the file: replies parsed on their own, cut-off ones searched for their flag."""
    found = {"tp": 0, "tn": 0, "fp": 0, "fn": 0}

    def flag(analysis):
        raw = analysis["_raw_response"]
        return int(raw[raw.index('"is_deceptive":') + 15 :].lstrip()[0])

    with PUBLISHED.open() as lines:
        for event in map(json.loads, lines):
            if event["event"] != "deception_analysis":
                continue
            truth = flag(event["details"]["self_analysis"])
            for other in event["details"]["other_analyses"].values():
                found[("tn", "fp", "fn", "tp")[2 * truth + flag(other)]] += 1
    return found


@LOGGED
def test_as_recorded_every_flag_and_label_is_a_filler_that_says_truthful():
    row = table3(as_recorded=True)
    assert cells_of(row) == (79, 0, 79, 0, 0)
    assert row["accuracy"] == 1.0
    assert row["base_rate"] == 0.0
    assert [row[name] for name in ("precision", "recall", "f1", "balanced_accuracy", "mcc", "dprime")] == [None] * 6


@LOGGED
def test_read_again_observers_flag_36_of_79_statements_that_their_speakers_call_truthful():
    row = table3(as_recorded=False)
    assert cells_of(row) == (79, 0, 43, 36, 0)
    assert row["accuracy"] == pytest.approx(43 / 79)
    assert (row["precision"], row["recall"], row["constant_accuracy"]) == (0.0, None, 1.0)


@LOGGED
def test_the_counts_are_those_of_the_file():
    row = table3(as_recorded=False)
    assert by_hand() == {name: row[name] for name in ("tp", "tn", "fp", "fn")}
