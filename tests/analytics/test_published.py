"""The paper's values beside ours, the paper against itself, and Table 3 of the authors' published log.

Every contradiction is worked out once more here, from numbers typed in from the paper. The log's tests are skipped
where it is absent.
"""

import json
import re

import pytest

from analytics.findings import metrics
from analytics.gather import Criteria, each_game
from analytics.report.report import Report
from tests.analytics.script import gathered
from tests.analytics.synthetic import confusion
from tests.published_log import PUBLISHED
from wolfbus.game.vocabulary import ROLES

REPORT = Report({}, gathered([]))
PAPER = REPORT.context.published
TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5 = (PAPER[f"table{number}"] for number in range(1, 6))
COUNTS = ("tp", "tn", "fp", "fn")
MEASURES = {role: confusion(**{name: row[name] for name in COUNTS}) for role, row in TABLE_3.items()}
CONTRADICTIONS = re.findall(
    r"^- \*\*(.+?)\*\*: (.+)$", REPORT.markdown().split("\n## Where the paper")[1].split("\n## ")[0], re.MULTILINE
)
"""What the paper says, and what speaks against it with what is done here."""


def test_its_sections_and_rows_have_the_keys_of_our_findings():
    ours = metrics([])
    assert json.loads(json.dumps(PAPER, allow_nan=False)) == PAPER
    assert set(PAPER) - set(ours) <= {"table4", "events", "variability"}
    for name in ("table1", "table3", "table5"):
        for row, theirs in PAPER[name].items():
            assert set(theirs) <= set(ours[name][row])
    told = PAPER["variability"]["metrics"]
    assert [told[name] for name in ("accuracy/Villager", "deception_rate", "auprc/Seer", "werewolf_wins")] == [
        *(0.58, 0.694, 0.77, 0.7)
    ]


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
def test_what_follows_from_table_3s_counts_and_what_is_printed(role, accuracy, precision, recall, f1, base_rate):
    measures, printed = MEASURES[role], TABLE_3[role]
    found = [measures[name] for name in ("accuracy", "precision", "recall", "f1", "base_rate")]
    assert found == pytest.approx([accuracy, precision, recall, f1, base_rate], abs=0.0006)
    names = ("accuracy", "precision", "recall", "f1")
    off = {name for name in names if abs(measures[name] - printed[name]) > 0.0051}
    # no printed accuracy follows, nothing of the overall row does, and of the others one F1 does not
    assert off == {"overall": set(names), "Seer": {"accuracy", "f1"}}.get(role, {"accuracy"})
    assert measures["accuracy"] < 0.718


def sums(rows, name):
    return sum(rows[role][name] for role in ROLES)


def test_the_papers_numbers_against_each_other():
    for name in ("tp", "tn", "fp", "fn"):
        assert TABLE_3["overall"][name] == sums(TABLE_3, name)
    assert TABLE_3["overall"]["recall"] < min(TABLE_3[role]["recall"] for role in ROLES)
    assert MEASURES["overall"]["constant_accuracy"] == pytest.approx(1228 / 1711)
    assert sum(row["statements"] for row in TABLE_1.values()) == 324
    assert sum(row["count"] for row in TABLE_5.values()) == 710
    assert pytest.approx(0.725, abs=5e-4) == (107 + 56 + 45 + 27) / 324
    assert pytest.approx(0.4) == (710 - 426) / 710
    lifts = {role: TABLE_4[role]["auprc"] - MEASURES[role]["base_rate"] for role in ROLES}
    expected = {"Villager": 0.023, "Werewolf": 0.116, "Seer": 0.019, "Doctor": -0.005}
    assert lifts == pytest.approx(expected, abs=6e-4)
    assert min(row["brier"] for row in TABLE_4.values()) > 0.25 > 0.718 * (1 - 0.718)
    seen = 4 * TABLE_2["Villager"]["Werewolf"] + TABLE_2["Seer"]["Werewolf"] + TABLE_2["Doctor"]["Werewolf"]
    assert (seen + 1) / 7 == pytest.approx(0.566, abs=5e-4)
    assert not any(role in row for role, row in TABLE_2.items())
    assert pytest.approx(0.535, abs=5e-4) == (702 + 213) / 1711
    assert min(row["flagged"] for row in TABLE_1.values()) > 0.47
    assert pytest.approx(47.7, abs=0.05) == (129 * 57.5 + 76 * 35.5 + 51 * 45.5 + 28 * 40.1) / 284


OF_ROLES = (150 * 47.9 + 74 * 53.3 + 61 * 55.1 + 39 * 60.8) / 324
OF_KINDS = (426 * 57.1 + 129 * 61.9 + 76 * 50.3 + 51 * 54.6 + 28 * 51.7) / 710


@pytest.mark.parametrize(
    ("words", "says", "but"),
    [
        (
            ["prints accuracies"],
            [f"{role} {TABLE_3[role]['accuracy']:.2f}" for role in ROLES],
            ["0.622, printed 0.63", *(f"{role} {MEASURES[role]['accuracy']:.3f}" for role in ROLES)],
        ),
        (["Overall row"], [], ["accuracy 0.568, precision 0.767, recall 0.572, F1 0.655"]),
        (["Always saying", "Table 3's judgements"], [], ["0.718"]),
        (["7,230"], [], ["324", "710", "3,240", "10 games of 32.4"]),
        (["69.4 % of statements labelled"], [], ["72.5 %", "40.0 %", "71.8 %"]),
        (["31 %"], [], ["56 deceptive statements of 74, which is 76 %"]),
        (
            ["AUPRC near 0.75"],
            [],
            [f"{role} {TABLE_4[role]['auprc']:.2f} against {MEASURES[role]['base_rate']:.3f}" for role in ROLES],
        ),
        (["Brier"], ["0.26 to 0.29"], ["0.203"]),
        (["gives precision"], ["71 to 73 %", "48 to 61 %"], ["from 0.67 to 0.82", "from 0.51 to 0.61"]),
        (["a slope"], ["1.6 points", "52 % to 62 %"], [f"{(62 - 52) / 1.6:.1f} rounds", "2.6 voting rounds"]),
        (["omissions slip by"], [], ["57.5 %, suspicion 61.9 %", "40.1 %, 51.7 %"]),
        (["keeps suspicion of the Doctor"], ["44 to 46 %"], ["60.8 %"]),
        (["seven observers"], [], ["56.6 %"]),
        (["observers flagging"], [], ["53.5 %"]),
        (["other way round"], ["47.7 %"], ["44.1 %", "57.2 %"]),
        (["average suspicion over all statements"], [f"{OF_ROLES:.1f} %"], [f"{OF_KINDS:.1f} %"]),
    ],
)
def test_a_contradiction_is_told_once_with_the_numbers_that_were_worked_out_here(words, says, but):
    (found,) = [each for each in CONTRADICTIONS if all(word in " ".join(each) for word in words)]
    assert all(number in found[0] for number in says)
    assert all(number in found[1] for number in but)


def table3(*, as_recorded):
    ((_, rows),) = each_game([PUBLISHED], Criteria(as_recorded=as_recorded))
    return metrics([rows])["table3"]["overall"]


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


@pytest.mark.published_log
def test_table_3_of_the_published_log_in_both_readings():
    recorded, again = table3(as_recorded=True), table3(as_recorded=False)
    # every flag and label is a filler that says truthful
    assert cells_of(recorded) == (79, 0, 79, 0, 0)
    assert (recorded["accuracy"], recorded["base_rate"]) == (1.0, 0.0)
    names = ("precision", "recall", "f1", "balanced_accuracy", "mcc", "dprime")
    assert [recorded[name] for name in names] == [None] * 6
    # read again, observers flag 36 of 79 statements that their speakers call truthful
    assert cells_of(again) == (79, 0, 43, 36, 0)
    assert again["accuracy"] == pytest.approx(43 / 79)
    assert (again["precision"], again["recall"], again["constant_accuracy"]) == (0.0, None, 1.0)
    assert by_hand() == {name: again[name] for name in ("tp", "tn", "fp", "fn")}
