"""`wolfbus compare` from the command line."""

from __future__ import annotations

import csv
import io
import json

import pytest

from analytics.measures.headlines import MEASURES
from wolfbus.cli import run


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """Two folders of three games each: of the same seeds, two of them with another brain."""
    folder = tmp_path_factory.mktemp("compare")
    for seed in ("1", "2", "3"):
        for name, players in (("a", "scripted"), ("b", "random*4,scripted*4")):
            given = ["--seed", seed, "--players", players, "--out", str(folder / name), "--game", f"{name}{seed}"]
            assert run(["play", "-q", *given]) == 0
    return folder


def test_two_folders_are_compared_in_every_metric(studies, capsys):
    capsys.readouterr()
    assert run(["compare", str(studies / "a"), str(studies / "b"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert list(result["metrics"]) == list(MEASURES)
    assert (result["pairing"]["by"], result["pairing"]["pairs"], result["exact"]) == ("seed", 3, True)
    assert run(["compare", str(studies / "a"), str(studies / "b"), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["metric"] for row in rows] == list(MEASURES)
    assert float(rows[3]["difference"]) == result["metrics"]["deception_rate"]["difference"]["value"]
    assert run(["compare", str(studies / "a"), str(studies / "b"), "--metric", "accuracy"]) == 0
    text = capsys.readouterr().out
    assert "3 pairs by seed" in text


def test_a_comparison_has_a_page_with_a_forest_plot(studies, capsys, tmp_path):
    page = tmp_path / "compare.html"
    given = ["compare", str(studies / "a"), str(studies / "b"), "--permutations", "100"]
    capsys.readouterr()
    assert run([*given, "-o", str(page), "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["kind"] == "studies"
    assert f"Page: {page}" in captured.err
    told = page.read_text("utf-8")
    assert "Content-Security-Policy" in told
    assert "No primary metric clearly tells" in told
    assert told.count('<svg xmlns="http://www.w3.org/2000/svg" class="wb-figure"') == 3
    assert "<table" in told
    assert run([*given, "-o", str(tmp_path / "no" / "x.html")]) == 2
    assert "no such folder" in capsys.readouterr().err


def test_two_agents_of_one_folder_are_compared(studies, capsys):
    capsys.readouterr()
    assert run(["compare", str(studies / "b"), "--agents", "rand", "scripted", "--metric", "accuracy"]) == 0
    text = capsys.readouterr().out
    assert "A: random (3 games, 12 seats" in text
    assert "swapped within 3 games" in text


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["{a}"], "give two studies"),
        (["{a}", "{a}", "{b}"], "give two studies"),
        (["{a}", "{a}/nowhere"], "no such file or folder"),
        (["{a}", "{b}", "--metric", "luck"], "--metric luck: there is no such metric; there are villager_wins"),
        (
            ["{b}", "--agents", "scripted", "nobody"],
            "--agents nobody: there is no such agent; there are random, scripted",
        ),
        (["{b}", "--agents", "scripted", "script"], "are the same agent"),
        (["{b}", "--agents", "r", "random"], "several agents have that in their names"),
        (["{a}", "{b}", "--json", "--csv"], "give one of them"),
    ],
)
def test_bad_input_is_told_in_one_line(studies, capsys, given, told):
    capsys.readouterr()
    assert run(["compare", *(part.format(a=studies / "a", b=studies / "b") for part in given)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("wolfbus: ")
    assert told in err
