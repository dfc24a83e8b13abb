"""The figures in the terminal."""

from __future__ import annotations

import json
import re

import pytest

from analytics.metrics import metrics
from analytics.text import render
from tests.analytics.script import Script, random_game

MANY = metrics(random_game(seed).rows() for seed in range(12))


def section(text, start):
    """The paragraph whose first line begins with `start`."""
    (found,) = [part for part in text.split("\n\n") if part.startswith(start)]
    return found


@pytest.mark.parametrize("result", [metrics([]), metrics([random_game(2).rows()]), MANY], ids=["none", "one", "many"])
def test_text_is_ascii_narrow_and_explains_every_dash(result):
    text = render(result)
    assert text.isascii()
    assert text.endswith("\n")
    assert max(map(len, text.splitlines())) <= 100
    assert all(line == line.rstrip() for line in text.splitlines())
    for part in text.split("\n\n"):
        body = "\n".join(line for line in part.splitlines() if not line.startswith("  -"))
        if re.search(r"(^|\s)-(\s|$)", body.split("alpha")[0]):
            assert "- undefined:" in part, part


def test_text_of_a_result_that_went_through_json_is_the_same():
    assert render(json.loads(json.dumps(MANY))) == render(MANY)


def test_detection_stands_beside_base_rate_and_constant_guess():
    script = Script().dawn()
    script.said("Wim", True, {"Vic": (True, 0.9), "Val": (False, 0.1)})
    script.said("Sia", True, {"Vic": (True, 0.9), "Val": (False, 0.1)})
    script.said("Doc", False, {"Vic": (False, 0.2), "Val": (False, 0.1)})
    table = section(render(metrics([script.rows()])), "Table 3. ")
    (villager,) = [line.split() for line in table.splitlines() if line.startswith("  Villager")]
    assert villager == ["Villager", "6", "2", "2", "0", "2", "66.7", "100.0", "50.0", "66.7", "66.7", "66.7"]


def test_huge_counts_still_fit():
    result = json.loads(json.dumps(MANY))
    for row in result["table3"].values():
        row.update(n=9_999_999, tp=9_999_999, tn=9_999_999, fp=9_999_999, fn=9_999_999, accuracy=1.0, precision=1.0)
    for line in result["figure1"]["suspicion"].values():
        for point in line:
            point.update(mean=0.999, sem=0.011, n=10_000)
    for point in result["figure1"]["flagged"]:
        point.update(n=2_000_000)
    assert max(map(len, render(result).splitlines())) <= 100


def test_strange_brain_names_are_shown_in_ascii_and_cut():
    script = Script(brains={"Wim": "модель" * 40}).dawn()
    script.said("Wim", True, {})
    text = render(metrics([script.rows()]))
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 100
    assert re.search(r"by brain: .*\.\.\.\S+ 100\.0 \(1\)", text)


def test_fillers_are_announced():
    script = Script().dawn()
    script.said("Wim", "timed_out", {"Vic": (True, 0.9)})
    assert "left out" in render(metrics([script.rows()]))
    assert "as in the paper's code" in render(metrics([script.rows(include_defaulted=True)]))
    both = render(metrics([script.rows(), script.rows(include_defaulted=True)]))
    assert "in some of these games" in both


def test_the_first_separable_round_or_its_reason_is_told():
    assert "stand out: none (" in render(MANY)
    script = Script(alpha=1.0).dawn()
    script.said("Wim", True, {"Sia": (True, 0.9)})
    script.said("Vic", True, {"Sia": (True, 0.1)})
    assert "stand out: round 1" in render(metrics([script.rows()] * 10))
