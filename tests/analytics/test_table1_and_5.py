"""Tables 1 and 5: statements by speaker role and by admitted kind, and how they are received."""

from __future__ import annotations

import pytest

from tests.analytics.script import Script, random_game, section
from wolfbus.vocabulary import DECEPTIONS, ROLES


def test_table1_averages_over_observers_first_and_then_over_statements():
    script = Script().dawn()
    script.said("Wim", True, {"Vic": (True, 0.9), "Val": (True, 0.7), "Sia": (False, 0.2)})
    script.said("Wim", False, {"Vic": (False, 0.1)})
    script.said("Wim", "declined", {"Vic": "timed_out"})
    row = section("table1")([script.rows()])["Werewolf"]
    assert (row["statements"], row["labelled"], row["deceptive"]) == (3, 2, 1)
    assert row["suspicion"] == pytest.approx((0.6 + 0.1) / 2)
    assert row["flagged"] == pytest.approx((2 / 3 + 0) / 2)
    assert (row["suspicion_n"], row["flagged_n"]) == (2, 2)


def test_an_unlabelled_statement_is_still_received():
    script = Script().dawn()
    script.said("Vic", "timed_out", {"Wim": (True, 0.8)})
    result = section("table1")([script.rows()])
    assert result["Villager"] == {
        "statements": 1,
        "labelled": 0,
        "deceptive": 0,
        "suspicion": 0.8,
        "suspicion_n": 1,
        "flagged": 1.0,
        "flagged_n": 1,
    }
    assert section("table5")([script.rows()])["overall"]["count"] == 0


def test_table5_groups_by_the_kind_the_speaker_admits():
    script = Script().dawn()
    script.said("Wim", True, {"Vic": (True, 0.9), "Val": (False, 0.3)}, kind="omission")
    script.said("Vic", True, {"Wim": (False, 0.2)}, kind="omission")
    script.said("Vic", True, {"Wim": (False, 0.4)}, kind="unspecified")
    script.said("Vic", False, {"Wim": "timed_out"})
    result = section("table5")([script.rows()])
    assert result["omission"]["count"] == 2
    assert result["omission"]["suspicion"] == pytest.approx((0.6 + 0.2) / 2)
    assert result["omission"]["flagged"] == pytest.approx(0.25)
    assert result["unspecified"] == {
        "count": 1,
        "suspicion": 0.4,
        "suspicion_n": 1,
        "flagged": 0.0,
        "flagged_n": 1,
    }
    assert result["none"] == {"count": 1, "suspicion": None, "suspicion_n": 0, "flagged": None, "flagged_n": 0}
    assert result["fabrication"]["count"] == 0
    assert result["overall"]["count"] == 4


@pytest.mark.parametrize("include_defaulted", [False, True])
def test_both_tables_agree_with_plain_loops(include_defaulted):
    games = [random_game(seed).rows(include_defaulted=include_defaulted) for seed in range(15)]
    one, five = section("table1")(games), section("table5")(games)
    for table, keys, attribute in ((one, ROLES, "role"), (five, DECEPTIONS, "kind")):
        for key in keys:
            suspicion, flagged, count, deceptive = [], [], 0, 0
            for game in games:
                for statement in game.statements:
                    if getattr(statement, attribute) != key:
                        continue
                    count += 1
                    deceptive += bool(statement.d)
                    heard = [j for j in game.judgements if j.statement == statement.number and j.usable]
                    if heard:
                        suspicion.append(sum(j.s for j in heard) / len(heard))
                        flagged.append(sum(j.d for j in heard) / len(heard))
            row = table[key]
            assert row.get("statements", row.get("count")) == count
            assert row.get("deceptive", deceptive) == deceptive
            assert row["suspicion_n"] == row["flagged_n"] == len(suspicion)
            assert row["suspicion"] == pytest.approx(sum(suspicion) / len(suspicion), rel=1e-12)
            assert row["flagged"] == pytest.approx(sum(flagged) / len(flagged), rel=1e-12)


def test_the_counts_of_table5_add_up_to_the_labelled_statements():
    games = [random_game(seed).rows() for seed in range(10)]
    five = section("table5")(games)
    assert sum(five[kind]["count"] for kind in DECEPTIONS) == five["overall"]["count"]
    assert five["overall"]["count"] == section("table1")(games)["overall"]["labelled"]


def test_fillers_pull_the_averages_towards_a_half():
    script = Script().dawn()
    script.said("Wim", "defaulted", {"Vic": (True, 0.9), "Val": "defaulted"})
    left_out, filled = (
        section("table1")([script.rows()])["Werewolf"],
        section("table1")([script.rows(include_defaulted=True)])["Werewolf"],
    )
    assert (left_out["suspicion"], left_out["flagged"], left_out["labelled"]) == (0.9, 1.0, 0)
    assert (filled["suspicion"], filled["flagged"], filled["labelled"]) == (pytest.approx(0.7), 0.5, 1)
    assert section("table5")([script.rows(include_defaulted=True)])["none"]["count"] == 1
