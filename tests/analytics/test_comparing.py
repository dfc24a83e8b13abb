"""Two studies or two agents side by side: pairing, differences with intervals, permutation tests; `wolfbus compare`."""

import csv
import io
import json
import re
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

from analytics.compare import across, as_csv, compare, compare_agents, compared_page, render
from analytics.metrics.headlines import HEADLINES
from analytics.metrics.primary import PRIMARY
from tests.analytics.arrays import tables_from
from tests.analytics.script import at_one_level, headlines, measured, random_game, tables_of
from tests.llm.tables import tables
from tests.simulator import alike, draw_agents, simulate
from tests.simulator.coverage import many
from wolfbus.cli import run

TESTED = [name for name in PRIMARY if name in HEADLINES]
"""The primary metrics of which two sides are compared: not who is best of one."""


def game(seed, name=None, told=None, missing=0.15):
    rows = random_game(seed, missing=missing).rows()
    return replace(rows, game=name or rows.game, seed=f"seed {seed}" if told is None else told)


def kinder(rows, flags=3):
    """The same game with some flags turned over."""
    every = enumerate(rows.judgements)
    turned = (replace(j, d=not j.d) if j.d is not None and at % flags == 0 else j for at, j in every)
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
    columns = tables_of(game(seed, told=told) for seed in range(12))
    result = compare(columns, columns, permutations=500)
    assert result["pairing"]["by"] == ("seed" if told is None else None)
    for name, row in result["metrics"].items():
        if row["a"] is not None:
            difference = row["difference"]
            assert (difference["value"], row["p"]) == (0.0, 1.0), name
            assert row["p_adjusted"] == (None if row["exploratory"] else 1.0), name
            if told is None:
                assert (difference["low"], difference["high"]) == (None, None), name
                assert difference["interval_reason"].startswith(("fewer", "undefined", "every draw gives the same"))


@pytest.mark.parametrize(("games", "paired", "lowest"), [(4, True, 2 / 2**4), (7, True, 2 / 2**7), (3, False, 2 / 20)])
def test_what_so_few_games_cannot_tell_whatever_they_show_is_said(games, paired, lowest):
    ours, others = (simulate(draw_agents(2, 1), games, seed) for seed in (1, 2))
    seeds = ours.seeds if paired else tuple(f"other-{seed}" for seed in ours.seeds)
    result = compare(tables_from(ours), tables_from(replace(others, seeds=seeds)), metrics=["accuracy"])
    assert result["lowest_p"] == pytest.approx(lowest)
    assert result["metrics"]["accuracy"]["p"] >= lowest
    said = " ".join(render(result).split())
    assert "cannot tell which side is better, whatever they show" in said
    assert f"the smallest p that they can give is {lowest:.4f}" in said
    assert "below 8 pairs" in said if paired else "below 8 games or blocks on each side" in said
    enough = [tables_from(simulate(draw_agents(2, 1), 8, seed)) for seed in (1, 2)]
    assert "cannot tell" not in render(compare(*enough, metrics=["accuracy"]))


def test_what_pairing_gained_is_all_that_games_of_a_seed_have_in_common():
    games = [game(seed, missing=0.0) for seed in range(40)]
    others = [replace(game(100 + seed, missing=0.0), seed=f"seed {seed}") for seed in range(40)]
    left = {}
    for name, side in (("nearly the same", [kinder(rows, flags=20) for rows in games]), ("unlike", others)):
        result = compare(tables_of(games), tables_of(side), metrics=["accuracy"], primary=["accuracy"])
        left[name] = result["metrics"]["accuracy"]["variance_left"]
        assert f"Pairing leaves {100 * left[name]:.1f} % of the variance" in " ".join(render(result).split())
    # two sides that have nothing in common vary by the sum of both
    assert left["nearly the same"] < 0.2
    assert 0.6 < left["unlike"] < 1.4
    alone = compare(tables_of(replace(rows, seed="") for rows in games), tables_of(others), metrics=["accuracy"])
    assert alone["metrics"]["accuracy"]["variance_left"] is None
    assert "Pairing leaves" not in render(alone)


def test_sides_that_suspect_everybody_alike_differ_by_nothing_when_all_are_adjusted_too():
    sides = [
        at_one_level(tables_of(replace(random_game(n + seed).rows(), game=f"g{n}-{seed}") for seed in range(12)), 0.7)
        for n in (0, 100)
    ]
    names = ["raw_suspicion_gap", "vote_hit_lift"]
    row = compare(*sides, metrics=names, primary=names, permutations=500)["metrics"]["raw_suspicion_gap"]
    assert row["difference"]["value"] == pytest.approx(0, abs=1e-12)
    assert (row["p"], row["p_adjusted"]) == (1.0, 1.0)


def test_values_are_those_of_each_side_alone():
    a, b = tables_of(game(seed) for seed in range(8)), tables_of(game(seed) for seed in range(5, 15))
    result = compare(a, b, permutations=200)
    for side, columns in (("a", a), ("b", b)):
        alone = headlines(columns)
        for name, row in result["metrics"].items():
            value = alone[name]["value"]
            assert row[side] == (None if value is None else pytest.approx(value, abs=1e-12)), name
            assert row[f"n_{side}"] == alone[name]["n"]


def test_games_are_paired_by_seed_blocks_stay_whole_and_the_others_stay_alone():
    names = ("by", "pairs", "unpaired_a", "unpaired_b", "paired_games_a", "paired_games_b")

    def paired(a, b):
        return [compare(a, b, metrics=["accuracy"])["pairing"][name] for name in names]

    a = tables_of([game(1, "x"), game(2, "y"), game(3, "z", told="")])
    b = tables_of([game(2, "u"), game(2, "v"), game(4, "w")])
    assert paired(a, b) == ["seed", 1, 2, 1, 1, 2]
    games = tables_of(game(seed, f"g{seed}") for seed in range(4))
    blocks = replace(games, games=games.games.with_columns(block=pl.Series(["p", "p", "q", "q"])))
    assert paired(blocks, games) == ["seed", 2, 0, 0, 4, 4]
    assert "within 2 blocks of games; 4" in render(compare_agents(blocks, "one", "two", metrics=["auc"]))
    unlike = tables_of([game(9), game(8)])
    assert "is paired: 4 games of A in 2 blocks against 2 games of B; 6" in render(
        compare(blocks, unlike, metrics=["auc"])
    )
    alone = tables_of([game(1)])
    assert "1 pair by seed (1 game of A, 1 of B); 2 rearrangements" in render(compare(alone, alone, metrics=["auc"]))


def differences(a, b, rearranged):
    """Accuracy of B minus that of A as it is, and then as units change sides."""
    found = []
    for swapped in rearranged:
        left, right = (np.where(swapped[:, None], *sides).sum(axis=0) for sides in ((b, a), (a, b)))
        found.append(right[0] / right[1] - left[0] / left[1])
    return found


def test_a_small_test_equals_every_swap_tried_by_hand():
    one = [game(seed, missing=0.0) for seed in range(6)]
    of_studies = compare(tables_of(one), tables_of(map(kinder, one)), metrics=["accuracy"])
    of_agents = compare_agents(tables_of(one), "one", "two", metrics=["accuracy"])
    own = {
        brain: flags(
            replace(g, judgements=tuple(j for j in g.judgements if g.seats[j.observer].agent == brain)) for g in one
        )
        for brain in ("one", "two")
    }
    swaps = [np.array(swap) for swap in product((False, True), repeat=6)]
    for result, a, b in ((of_studies, flags(one), flags(map(kinder, one))), (of_agents, own["one"], own["two"])):
        given, *_ = every = differences(a, b, swaps)
        row = result["metrics"]["accuracy"]
        assert (result["exact"], result["permutations"]) == (True, 64)
        assert row["difference"]["value"] == pytest.approx(given)
        assert row["p"] == np.mean(np.abs(every) >= abs(given) - 1e-9)


def test_a_small_unpaired_test_equals_every_dealing_tried_by_hand():
    one = [game(seed, told="", missing=0.0) for seed in range(4)]
    other = [kinder(game(seed, told="", missing=0.0)) for seed in range(20, 25)]
    result = compare(tables_of(one), tables_of(other), metrics=["accuracy"])
    rows, every = flags([*one, *other]), []
    for chosen in combinations(range(9), 4):
        mask = np.isin(np.arange(9), chosen)
        left, right = rows[mask].sum(axis=0), rows[~mask].sum(axis=0)
        every.append(right[0] / right[1] - left[0] / left[1])
    row = result["metrics"]["accuracy"]
    assert (result["exact"], result["permutations"]) == (True, 126)
    assert row["p"] == np.mean(np.abs(every) >= abs(every[0]) - 1e-9)
    # four games on one side are too few to resample
    assert row["difference"]["low"] is None
    assert row["difference"]["interval_reason"].startswith("fewer than 5")


def test_a_planted_difference_is_found_and_nothing_else():
    base = draw_agents(3, 4, spread=0.0, role_spread=0.0)
    keener = replace(base, detects=base.detects + 0.6)
    a, b = simulate(base, 60, 1), replace(simulate(keener, 60, 2), seeds=("",) * 60)
    names = ["recall", "vote_hit", "deception_rate", "coverage"]
    result = compare(tables_from(a), tables_from(b), metrics=names, permutations=1000, primary=names)
    recall = result["metrics"]["recall"]
    assert recall["difference"]["low"] > 0.05
    assert recall["p"] <= recall["p_adjusted"] < 0.05
    assert min(result["metrics"][name]["p"] for name in names[1:]) > 0.01


@pytest.mark.parametrize("studies", [10, many(300)])
@pytest.mark.parametrize("paired", [True, False])
def test_p_values_are_uniform_where_there_is_no_difference(paired, studies):
    base, found = draw_agents(2, 9), []
    for seed in range(studies):
        one, other = (simulate(base, 16, at, game_sd=1.0, statements=4, rounds=1) for at in (seed, seed + 1000))
        one = replace(one, seeds=one.seeds if paired else ("",) * 16)
        one, other = tables_from(one), tables_from(other)
        found.append(compare(one, other, metrics=["recall"], permutations=199)["metrics"]["recall"]["p"])
    # three standard errors of so many uniform numbers
    for share in (0.05, 0.5):
        assert np.mean(np.array(found) <= share) <= share + 3 * np.sqrt(share * (1 - share) / studies)
    assert np.mean(found) == pytest.approx(0.5, abs=3 * np.sqrt(1 / 12 / studies))


@pytest.mark.parametrize("agents", [False, True])
@pytest.mark.parametrize(
    # 5 % of 20 studies are one; more than 5 come of one in three thousand such runs
    ("games", "studies", "most"),
    [(8, 20, 5), many(8, 2_000, 100), many(12, 2_000, 100), many(40, 2_000, 100)],
)
def test_a_comparison_hardly_ever_states_a_difference_that_is_not_there(games, studies, most, agents):
    stated = {}
    for seed in range(studies):
        # every second pair of studies has no seed in common, every second pair of each flags by lot
        one = alike(games, 2 * seed, by_lot=seed % 4 < 2)
        other = alike(games, 2 * seed + 1, by_lot=seed % 4 < 2)
        other = replace(other, ids=one.ids, seeds=one.seeds if seed % 2 else ("",) * games)
        if agents:
            result = compare_agents(tables_from(one), "agent-00", "agent-01", metrics=TESTED)
        else:
            result = compare(tables_from(one), tables_from(other), metrics=TESTED)
        page = compared_page(result, "1")
        assert ("clearly higher in" in page) != ("No primary metric clearly tells" in page)
        if "clearly higher in" in page:
            kind = "two agents" if agents else result["pairing"]["by"] or "not paired"
            stated[kind] = stated.get(kind, 0) + 1
    print(f"{games} games: {sum(stated.values())} of {studies} comparisons state a difference: {stated}")
    assert sum(stated.values()) <= most


def test_agents_of_one_study_are_compared_by_what_they_did():
    columns = tables_of(game(seed) for seed in range(12))
    result, back = (compare_agents(columns, *order, permutations=200) for order in (("one", "two"), ("two", "one")))
    own = measured("agents", columns)
    for side, brain in (("a", "one"), ("b", "two")):
        assert result[side]["roles"] == own[brain]["roles"]
        for name in ("deception_rate", "accuracy", "balanced_accuracy", "auc", "vote_hit"):
            assert result["metrics"][name][side] == pytest.approx(own[brain][name]["value"])
        assert result["metrics"]["villager_wins"][side] == own[brain]["wins"]["villagers"]["value"]
    for name, row in result["metrics"].items():
        if row["a"] is not None and row["b"] is not None:
            assert back["metrics"][name]["difference"]["value"] == pytest.approx(-row["difference"]["value"])


def test_only_primary_metrics_are_adjusted_and_all_else_is_called_exploratory():
    a, b = tables_of(game(seed) for seed in range(6)), tables_of(game(seed) for seed in range(4, 12))
    result = compare(a, b, ("first\x1b[31m", "second"), permutations=200, primary=["accuracy", "auc", "best_detector"])
    told = {name: row["p_adjusted"] for name, row in result["metrics"].items() if not row["exploratory"]}
    assert set(told) == {"accuracy", "auc"}
    assert all(result["metrics"][name]["p"] <= p for name, p in told.items())
    assert result["adjusted"] == 2
    text = render(result)
    assert "Exploratory" in text
    assert "2 pairs by seed (2 games of A, 2 of B), 4 of A and 6 of B without a partner" in " ".join(text.split())
    result["a"]["games"] = 14  # several games a block
    assert "12 of A and 6 of B without a partner" in " ".join(render(result).split())
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "\x1b" not in text
    assert {line.split(",")[-2] for line in as_csv(result).splitlines()[1:] if line.startswith("auc,")} == {"False"}


def test_units_count_that_have_anything_of_a_metric_on_either_side():
    a = tables_of(game(seed) for seed in range(8))
    b = tables_of(game(seed) for seed in range(8, 16))
    b = replace(b, votes=b.votes.filter(pl.col("game") > 0))
    metrics = compare(a, b, metrics=["vote_hit", "deception_rate"])["metrics"]
    assert {name: row["units"] for name, row in metrics.items()} == {"vote_hit": 7, "deception_rate": 8}


@pytest.mark.parametrize(("blocks", "p", "interval", "said"), tables(__file__)["clear"])
def test_a_page_calls_clear_what_a_report_would(blocks, p, interval, said):
    result = compare(*[tables_of(game(seed) for seed in range(2))] * 2, metrics=["accuracy"], primary=["accuracy"])
    result["pairing"] |= {"pairs": 2, "unpaired_a": blocks - 2, "unpaired_b": 20}
    row = result["metrics"]["accuracy"]
    row |= {"p_adjusted": p, "units": blocks}
    row["difference"] |= {"value": sum(interval) / 2, "low": interval[0], "high": interval[1]}
    assert said in compared_page(result, "1")


def test_figures_of_a_comparison_hold_one_unit_each_and_say_signs_and_names_as_its_table_does():
    a = tables_of(game(seed) for seed in range(8))
    b = tables_of(game(seed) for seed in range(8, 16))
    result = compare(a, b, ("First", "Second"), metrics=["auc", "statement_words"], permutations=100)
    for name, value in (("auc", 0.25), ("statement_words", 1.5)):
        result["metrics"][name]["difference"] |= {"value": value, "low": -0.5, "high": 2.0}
    page = compared_page(result, "1")
    described = re.findall("<desc[^>]*>(.*?)</desc>", page)
    assert described == [
        f"{name}: in {unit}, Second minus First {value} (−0.500 to +2.000)."
        for name, unit, value in (("auc", "scores", "+0.250"), ("statement_words", "words", "+1.500"))
    ]
    assert result["metrics"]["statement_words"]["unit"] == "words"


def test_of_each_margin_it_is_said_whether_the_difference_is_below_it_or_not_shown_to_be_or_unknown():
    first = [game(seed) for seed in range(6)]
    sides = {"kinder": [kinder(rows) for rows in first], "first": first, "few": first[:3]}
    sides = {name: tables_of(games) for name, games in sides.items()}

    def said(a, b, margin):
        result = compare(sides[a], sides[b], metrics=["accuracy"], permutations=9, margins={"accuracy": margin})
        row = result["metrics"]["accuracy"]
        assert next(csv.DictReader(io.StringIO(as_csv(result))))["margin"] == str(margin)
        text = " ".join(render(result).split())
        return row["difference"], row["equivalent"], text.partition(f" {row['label']}: ")[2]

    # either end of the interval may be the one that is farther from 0
    for a, b in (("kinder", "first"), ("first", "kinder")):
        difference, *_ = said(a, b, 0.5)
        reach = max(abs(difference["low"]), abs(difference["high"]))
        _, equivalent, text = said(a, b, reach * 1.01)
        assert equivalent is True
        assert text.startswith(f"B differs from A by less than {101 * reach:.1f} points (two one-sided tests at .025")
        _, equivalent, text = said(a, b, reach * 0.99)
        assert equivalent is False
        assert text.startswith(f"not shown that B differs from A by less than {99 * reach:.1f} points (two")
    _, equivalent, text = said("few", "few", 0.1)
    assert equivalent is None
    assert text.startswith("whether the difference is below 10.0 points is unknown: it has no interval (")


def test_over_levels_the_mean_has_students_interval_and_none_where_they_are_alike_or_one_is_undefined():
    differences = {"unlike": (0.1, 0.2, 0.6), "alike": (0.3, 0.3, 0.3), "undefined": (0.1, None, 0.3)}
    by_level = {
        level: {"metrics": {name: {"difference": {"value": values[at]}} for name, values in differences.items()}}
        for at, level in enumerate("xyz")
    }
    rows = across(by_level)
    # t of two degrees of freedom, over the root of three, times the standard deviation
    half = 4.302653 / 3**0.5 * (0.14 / 2) ** 0.5
    row = rows["unlike"]
    assert row["levels"] == {"x": 0.1, "y": 0.2, "z": 0.6}
    assert [row[end] for end in ("low", "value", "high")] == pytest.approx([0.3 - half, 0.3, 0.3 + half])
    assert [rows["alike"][end] for end in ("value", "low", "high")] == [pytest.approx(0.3), None, None]
    assert [rows["undefined"][end] for end in ("value", "low", "high")] == [None, None, None]
    of_two = across({level: by_level[level] for level in "xy"})["unlike"]
    assert (of_two["value"], of_two["high"]) == (pytest.approx(0.15), pytest.approx(0.15 + 12.7062 * 0.05, abs=1e-6))


@pytest.mark.parametrize(("wolves", "warned"), [(20, False), (24, False), (26, True)])
def test_agents_of_whom_one_was_dealt_a_role_more_often_are_warned_of(wolves, warned):
    result = compare_agents(tables_of(game(seed) for seed in range(3)), "one", "two", metrics=["accuracy"])
    result["a"] |= {"seats": 100, "roles": {"Werewolf": 20, "Seer": 10, "Villager": 70}}
    result["b"] |= {"seats": 100, "roles": {"Werewolf": wolves, "Seer": 10, "Villager": 90 - wolves}}
    assert ("the two were dealt roles in different shares" in " ".join(render(result).split())) is warned


@pytest.mark.parametrize("sizes", [(0, 0), (0, 2), (1, 1), (1, 0)])
def test_few_or_no_games_give_reasons(sizes):
    a, b = (tables_of(game(seed, told="") for seed in range(n)) for n in sizes)
    result = compare(a, b)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    for row in result["metrics"].values():
        assert (row["p"] is None) == (row["p_reason"] is not None)
        assert (row["difference"]["value"] is None) == (row["difference"]["reason"] is not None)
    assert "undefined: see --json" in render(result)
    assert as_csv(result).count("\n") == len(result["metrics"]) + 1


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """Two folders of three games each: of the same seeds, two of them with another brain."""
    folder = tmp_path_factory.mktemp("compare")
    for seed in ("1", "2", "3"):
        for name, players in (("a", "scripted"), ("b", "random*4,scripted*4")):
            given = ["--seed", seed, "--players", players, "--out", str(folder / name), "--game", f"{name}{seed}"]
            assert run(["play", "-q", *given]) == 0
    return folder


def told(capsys, studies, *given):
    capsys.readouterr()
    code = run(["compare", *(part.format(a=studies / "a", b=studies / "b") for part in given)])
    out, err = capsys.readouterr()
    return code, out, err


def test_two_folders_are_compared_in_every_metric_with_a_page(studies, capsys, tmp_path):
    page = tmp_path / "compare.html"
    code, out, err = told(capsys, studies, "{a}", "{b}", "--json", "-o", str(page))
    result = json.loads(out)
    assert (code, result["kind"], list(result["metrics"])) == (0, "studies", list(HEADLINES))
    assert (result["pairing"]["by"], result["pairing"]["pairs"], result["exact"]) == ("seed", 3, True)
    rows = list(csv.DictReader(io.StringIO(told(capsys, studies, "{a}", "{b}", "--csv")[1])))
    assert [row["metric"] for row in rows] == list(HEADLINES)
    assert float(rows[3]["difference"]) == result["metrics"]["deception_rate"]["difference"]["value"]
    assert "3 pairs by seed" in told(capsys, studies, "{a}", "{b}", "--metric", "accuracy")[1]
    assert f"Page: {page}" in err
    made = page.read_text("utf-8")
    assert "Content-Security-Policy" in made
    assert "No primary metric clearly tells" in made
    assert made.count('<svg xmlns="http://www.w3.org/2000/svg" class="wb-figure"') == 4
    assert "<table" in made


@pytest.mark.parametrize("option", [("--margin", "accuracy=0.1"), ("--different-times",)])
def test_what_compares_studies_alone_is_refused_of_two_agents(studies, capsys, option):
    code, out, err = told(capsys, studies, "{b}", "--agents", "rand", "scripted", *option)
    assert (code, out) == (2, "")
    assert "--margin and --different-times compare studies: not with --agents" in err


def test_two_agents_of_one_folder_are_compared(studies, capsys):
    given = ["--metric", "accuracy", "--metric", "accuracy_lift"]
    text = told(capsys, studies, "{b}", "--agents", "rand", "scripted", *given)[1]
    assert "A: random (3 games, 12 seats" in text
    share, lift = (next(line for line in text.splitlines() if f"  {name} " in line) for name in given[1::2])
    assert [line.count("%") for line in (share, lift)] == [2, 0]
    assert "Numbers of one decimal without % are percentage points." in text
    assert "swapped within 3 games;" in text
