"""The paper's values, as it prints them and as they stand beside ours."""

from __future__ import annotations

import json

import pytest

from analytics.findings import metrics
from analytics.published import published, values


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
