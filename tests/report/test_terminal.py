"""The figures in the terminal: the report's tables by the terminal's writer."""

import json
import re

import pytest

from analytics.findings import metrics
from analytics.report.report import terminal_text
from tests.analytics.script import Script, random_game

MANY = metrics(random_game(seed).rows() for seed in range(12))


@pytest.mark.parametrize("result", [metrics([]), metrics([random_game(2).rows()]), MANY], ids=["none", "one", "many"])
def test_text_is_narrow_and_explains_every_dash(result):
    text = terminal_text(result)
    assert text.endswith("\n")
    assert max(map(len, text.splitlines())) <= 100
    assert all(line == line.rstrip() for line in text.splitlines())
    for part in text.split("\n\n"):
        body = [line for line in part.splitlines() if not line.startswith("  –")]
        if any(re.search(r"\s–(\s|$)", line) for line in body):
            assert "– undefined:" in part, part


def test_text_of_a_result_that_went_through_json_is_the_same():
    assert terminal_text(json.loads(json.dumps(MANY))) == terminal_text(MANY)


def test_huge_counts_still_fit():
    result = json.loads(json.dumps(MANY))
    for row in result["table3"].values():
        row.update(n=9_999_999, tp=9_999_999, tn=9_999_999, fp=9_999_999, fn=9_999_999, accuracy=1.0, precision=1.0)
    for line in result["figure1"]["suspicion"].values():
        for point in line:
            point.update(mean=0.999, sem=0.011, n=10_000)
    for point in result["figure1"]["flagged"]:
        point.update(n=2_000_000)
    assert max(map(len, terminal_text(result).splitlines())) <= 100


def test_strange_brain_names_are_visible_and_cut():
    script = Script(brains={"Wim": "мод\u202eль" * 40}).dawn()
    script.said("Wim", True, {})
    text = terminal_text(metrics([script.rows()]))
    assert "[U+202E]" in text
    assert all(line.isprintable() and len(line) <= 100 for line in text.splitlines())


def test_fillers_are_announced():
    script = Script().dawn()
    script.said("Wim", "timed_out", {"Vic": (True, 0.9)})
    left_out, filled = script.rows(), script.rows(include_defaulted=True)
    for games, sentence in (
        ([left_out], "every figure leaves them out"),
        ([filled], "as in the paper's code; that moves every figure that rests on them, but never smoothed suspicion"),
        ([left_out, filled], "In some of these games"),
    ):
        assert " ".join(terminal_text(metrics(games)).split()).count(sentence) == 1
