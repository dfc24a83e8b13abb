"""Two studies or two agents side by side: pairing, differences with intervals, permutation tests; `wolfbus compare`."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from analytics.columns import columns_of
from analytics.compare import as_csv, by_seed, compare, compare_agents, render
from analytics.measures.agents import agents
from analytics.measures.headlines import MEASURES
from analytics.measures.primary import max_t
from analytics.measures.study import Study, variability
from tests.analytics.script import random_game
from tests.simulator.judgements import draw_agents, simulate
from wolfbus.cli import run


def game(seed, name=None, told=None, missing=0.15):
    rows = random_game(seed, missing=missing).rows()
    return replace(rows, game=name or rows.game, seed=f"seed {seed}" if told is None else told)


def kinder(rows, flags=2):
    """The same game with some flags turned over."""
    turned = [
        replace(j, d=not j.d) if j.d is not None and at % flags == 0 else j for at, j in enumerate(rows.judgements)
    ]
    return replace(rows, judgements=tuple(turned))


def flags(games):
    """Right flags and all flags of each game, plainly counted."""
    found = []
    for rows in games:
        truth = {s.number: s.d for s in rows.statements}
        counted = [j.d == truth[j.statement] for j in rows.judgements if None not in (j.d, truth[j.statement])]
        found.append((sum(counted), len(counted)))
    return np.array(found, float)


@pytest.mark.parametrize("told", [None, ""])
def test_identical_inputs_differ_by_nothing_with_p_1(told):
    columns = columns_of(game(seed, told=told) for seed in range(15))
    result = compare(columns, columns)
    assert result["pairing"]["by"] == ("seed" if told is None else None)
    for name, row in result["metrics"].items():
        if row["a"] is not None:
            assert (row["difference"]["value"], row["p"]) == (0.0, 1.0), name
            assert row["p_adjusted"] == (None if row["exploratory"] else 1.0), name
            if told is None:
                assert (row["difference"]["low"], row["difference"]["high"]) == (None, None), name
            if told is None and not row["difference"]["interval_reason"].startswith(("fewer", "undefined")):
                assert row["difference"]["interval_reason"] == "every draw gives the same", name


def test_values_are_those_of_each_side_alone():
    a, b = columns_of(game(seed) for seed in range(8)), columns_of(game(seed) for seed in range(5, 15))
    result = compare(a, b, permutations=200)
    for side, columns in (("a", a), ("b", b)):
        alone = variability(Study(columns))["metrics"]
        for name, row in result["metrics"].items():
            assert row[side] == (None if row[side] is None else pytest.approx(alone[name]["value"], abs=1e-12)), name
            assert (row[side] is None) == (alone[name]["value"] is None)
            assert row[f"n_{side}"] == alone[name]["n"]


def test_games_are_paired_by_seed_and_the_others_stay_alone():
    a = columns_of([game(1, "x"), game(2, "y"), game(3, "z", told="")])
    b = columns_of([game(2, "u"), game(2, "v"), game(4, "w")])
    units = by_seed(a, b)
    assert (units.pairs, units.only_a, units.only_b, units.paired_a, units.paired_b) == (1, 2, 1, 1, 2)
    assert units.a[1] == units.b[0] == units.b[1] == 0
    assert units.fewest == 1
    assert sorted([*units.a, units.b[2]]) == [0, 1, 2, 3]


def test_blocks_stay_whole_when_games_are_paired():
    games = [game(seed, f"g{seed}") for seed in range(4)]
    a, b = columns_of(games), columns_of(games)
    a = replace(a, blocks=np.array([0, 0, 1, 1], "i4"), block_names=("p", "q"))
    units = by_seed(a, b)
    assert (units.pairs, units.only_a, units.only_b, units.paired_a, units.paired_b) == (2, 0, 0, 4, 4)
    assert units.b[0] == units.b[1] != units.b[2] == units.b[3]


def test_a_small_paired_test_equals_every_swap_tried_by_hand():
    one = [game(seed, missing=0.0) for seed in range(6)]
    other = [kinder(rows, 3) for rows in one]
    result = compare(columns_of(one), columns_of(other), metrics=["accuracy"])
    a, b = flags(one), flags(other)
    differences = []
    for swap in product((False, True), repeat=6):
        left, right = (np.where(np.array(swap)[:, None], *sides).sum(axis=0) for sides in ((b, a), (a, b)))
        differences.append(right[0] / right[1] - left[0] / left[1])
    row = result["metrics"]["accuracy"]
    given = b[:, 0].sum() / b[:, 1].sum() - a[:, 0].sum() / a[:, 1].sum()
    assert row["difference"]["value"] == pytest.approx(given)
    assert (result["exact"], result["permutations"]) == (True, 64)
    assert row["p"] == np.mean(np.abs(differences) >= abs(given) - 1e-9)


def test_a_small_unpaired_test_equals_every_dealing_tried_by_hand():
    one = [game(seed, told="", missing=0.0) for seed in range(4)]
    other = [kinder(game(seed, told="", missing=0.0), 3) for seed in range(20, 25)]
    result = compare(columns_of(one), columns_of(other), metrics=["accuracy"])
    rows = flags([*one, *other])
    differences = []
    for chosen in combinations(range(9), 4):
        mask = np.isin(np.arange(9), chosen)
        left, right = rows[mask].sum(axis=0), rows[~mask].sum(axis=0)
        differences.append(right[0] / right[1] - left[0] / left[1])
    assert (result["exact"], result["permutations"]) == (True, 126)
    assert result["metrics"]["accuracy"]["p"] == np.mean(np.abs(differences) >= abs(differences[0]) - 1e-9)
    # four games on one side are too few to resample
    assert result["metrics"]["accuracy"]["difference"]["low"] is None
    assert result["metrics"]["accuracy"]["difference"]["interval_reason"].startswith("fewer than 5")


def test_a_planted_difference_is_found_and_nothing_else():
    base = draw_agents(3, 4, spread=0.0, role_spread=0.0)
    keener = replace(base, detects=base.detects + 0.6)
    a, b = simulate(base, 60, 1), replace(simulate(keener, 60, 2), seeds=("",) * 60)
    names = ["recall", "vote_hit", "deception_rate", "coverage"]
    result = compare(a, b, metrics=names, permutations=1000, primary=names)
    assert result["pairing"]["by"] is None
    recall = result["metrics"]["recall"]
    assert recall["difference"]["low"] > 0.05
    assert recall["p"] <= recall["p_adjusted"] < 0.05
    for name in ("vote_hit", "deception_rate", "coverage"):
        assert result["metrics"][name]["p"] > 0.01


@pytest.mark.parametrize("studies", [20, pytest.param(300, marks=[pytest.mark.soak, pytest.mark.timeout(600)])])
@pytest.mark.parametrize("paired", [True, False])
def test_p_values_are_uniform_where_there_is_no_difference(paired, studies):
    base, found = draw_agents(2, 9), []
    for seed in range(studies):
        both = simulate(base, 16, seed, game_sd=1.0, statements=4, rounds=1)
        seeds = both.seeds if paired else ("",) * 16
        other = simulate(base, 16, seed + 1000, game_sd=1.0, statements=4, rounds=1)
        result = compare(replace(both, seeds=seeds), other, metrics=["recall"], permutations=199)
        found.append(result["metrics"]["recall"]["p"])
    found = np.array(found)
    # three standard errors of so many uniform numbers
    for share in (0.05, 0.5):
        assert np.mean(found <= share) <= share + 3 * np.sqrt(share * (1 - share) / studies)
    assert np.mean(found) == pytest.approx(0.5, abs=3 * np.sqrt(1 / 12 / studies))


def test_agents_of_one_study_are_compared_by_what_they_did():
    columns = columns_of(game(seed) for seed in range(12))
    result = compare_agents(columns, "one", "two", permutations=500)
    own = agents(Study(columns))
    for side, brain in (("a", "one"), ("b", "two")):
        assert result[side]["roles"] == own[brain]["roles"]
        for name in ("deception_rate", "accuracy", "balanced_accuracy", "auc", "vote_hit"):
            assert result["metrics"][name][side] == pytest.approx(own[brain][name]["value"])
        assert result["metrics"]["villager_wins"][side] == own[brain]["wins"]["villagers"]["value"]
    back = compare_agents(columns, "two", "one", permutations=500)
    for name, row in result["metrics"].items():
        if row["a"] is not None and row["b"] is not None:
            assert back["metrics"][name]["difference"]["value"] == pytest.approx(-row["difference"]["value"])


def test_a_small_test_of_agents_equals_every_swap_tried_by_hand():
    games = [game(seed, missing=0.0) for seed in range(5)]
    parts = {
        brain: flags(
            replace(g, judgements=tuple(j for j in g.judgements if g.seats[j.observer].agent == brain)) for g in games
        )
        for brain in ("one", "two")
    }
    a, b = parts["one"], parts["two"]
    differences = []
    for swap in product((False, True), repeat=5):
        left, right = (np.where(np.array(swap)[:, None], *sides).sum(axis=0) for sides in ((b, a), (a, b)))
        differences.append(right[0] / right[1] - left[0] / left[1])
    result = compare_agents(columns_of(games), "one", "two", metrics=["accuracy"])
    assert result["metrics"]["accuracy"]["p"] == np.mean(np.abs(differences) >= abs(differences[0]) - 1e-9)


def test_p_values_are_adjusted_by_the_greatest_statistic_of_each_rearrangement():
    rearranged = {"a": np.array([3.0, 1, 1, 0]), "b": np.array([2.0, 4, 0, 0]), "c": np.array([0.5, 0, 0, 1])}
    observed = {"a": 3.0, "b": 2.0, "c": 0.5}
    # of a, the greatest of all three reach 3 twice; of b, the greater of b and c reaches 2 twice; c reaches .5 twice
    assert max_t(observed, rearranged) == {"a": 0.5, "b": 0.5, "c": 0.5}
    assert max_t({"a": 3.0}, rearranged) == {"a": 0.25}
    # what says the same twice costs nothing
    assert max_t({"a": 3.0, "b": 3.0}, {"a": rearranged["a"], "b": rearranged["a"]}) == {"a": 0.25, "b": 0.25}
    assert max_t({}, {}) == {}


def test_only_primary_metrics_are_adjusted_and_all_else_is_called_exploratory():
    a, b = columns_of(game(seed) for seed in range(8)), columns_of(game(seed) for seed in range(5, 15))
    result = compare(a, b, permutations=200, primary=["accuracy", "auc", "best_detector"])
    told = {name: row["p_adjusted"] for name, row in result["metrics"].items() if not row["exploratory"]}
    assert set(told) == {"accuracy", "auc"}
    assert all(result["metrics"][name]["p"] <= p for name, p in told.items())
    assert result["adjusted"] == 2
    assert "Exploratory" in render(result)
    assert {line.split(",")[-2] for line in as_csv(result).splitlines()[1:] if line.startswith("auc,")} == {"False"}


@pytest.mark.parametrize("sizes", [(0, 0), (0, 2), (1, 1), (1, 0)])
def test_few_or_no_games_give_reasons(sizes):
    a, b = (columns_of(game(seed, told="") for seed in range(n)) for n in sizes)
    result = compare(a, b)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    for row in result["metrics"].values():
        assert (row["p"] is None) == (row["p_reason"] is not None)
        assert (row["difference"]["value"] is None) == (row["difference"]["reason"] is not None)
    assert "undefined: see --json" in render(result)
    assert as_csv(result).count("\n") == len(result["metrics"]) + 1


def test_the_text_says_what_was_paired_and_stays_within_the_width():
    a, b = (columns_of(game(seed) for seed in seeds) for seeds in (range(6), range(4, 12)))
    text = render(compare(a, b, ("first\x1b[31m", "second"), permutations=200))
    assert "2 pairs by seed (2 games of A, 2 of B), 4 of A and 6 of B without a partner" in " ".join(text.split())
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "\x1b" not in text


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
