"""Intervals of pooled ratios: whole blocks are resampled, and every draw is what a plain loop makes of it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from sklearn import metrics as sk

from analytics.metrics.study import joined_by_seed
from tests.analytics.script import drawn_blocks, headlines, in_blocks, measured, random_game, scored, tables_of, tails
from tests.analytics.synthetic import decided
from tests.simulator import finely_scored

FLAGS = {
    "accuracy": lambda d, f, s: sk.accuracy_score(d, f),
    "balanced_accuracy": lambda d, f, s: sk.balanced_accuracy_score(d, f),
    "precision": lambda d, f, s: sk.precision_score(d, f),
    "recall": lambda d, f, s: sk.recall_score(d, f),
    "f1": lambda d, f, s: sk.f1_score(d, f),
    "mcc": lambda d, f, s: sk.matthews_corrcoef(d, f),
    "auc": lambda d, f, s: sk.roc_auc_score(d, s),
    "auprc": lambda d, f, s: sk.average_precision_score(d, s),
    "brier": lambda d, f, s: np.mean((s - d) ** 2),
}


@pytest.mark.parametrize(
    ("games", "names", "within"),
    [
        (tables_of(random_game(seed).rows() for seed in range(7)), list(FLAGS), 1e-9),
        (finely_scored(), ["auc", "auprc"], 2e-3),
    ],
    ids=["every metric", "areas where distinct scores share cells"],
)
def test_an_interval_is_of_what_a_loop_over_the_games_of_each_draw_makes(monkeypatch, games, names, within):
    monkeypatch.setattr("analytics.metrics.bootstrap.DRAWS", 40)
    found, blocks = headlines(games, *names), len(games.ids)
    judged = scored(games).select("label", "flagged", "suspicion", "game")
    *columns, game = judged.to_numpy().astype(float).T
    times = (counts[game.astype(int)] for counts in drawn_blocks(blocks, 40))
    drawn = [[np.repeat(column, often) for column in columns] for often in times]
    for name in names:
        low, high = np.quantile([FLAGS[name](*each) for each in drawn], tails(blocks))
        row = found[name]["all_observers"]
        assert (row["low"], row["high"]) == (pytest.approx(low, abs=within), pytest.approx(high, abs=within)), name


def test_blocks_are_resampled_whole():
    doubled = tables_of(
        replace(random_game(seed).rows(), game=f"{copy}{seed:02d}", seed="") for seed in range(12) for copy in "ab"
    )
    # a game and its copy in one block: no more is known than from the games alone
    paired = in_blocks(doubled, [name[1:] for name in doubled.ids])
    loose, tight = (measured("variability", each) for each in (paired, doubled))
    assert (loose["blocks"], loose["block_kind"], loose["games"]) == (12, "block", 24)
    assert (tight["blocks"], tight["block_kind"]) == (24, "game")
    widths = [found["metrics"]["accuracy"]["high"] - found["metrics"]["accuracy"]["low"] for found in (loose, tight)]
    assert widths[1] < 0.85 * widths[0]


def test_games_of_one_seed_in_several_studies_are_no_more_than_one_study_tells():
    once = [random_game(seed).rows() for seed in range(12)]
    again = [replace(rows, game=f"again {rows.game}") for rows in once]
    alone = measured("variability", tables_of(once))
    both = measured("variability", tables_of([*once, *again]))
    assert (alone["blocks"], both["blocks"], both["games"]) == (12, 12, 24)
    for name in ("accuracy", "suspicion_gap", "deception_rate"):
        one, other = alone["metrics"][name], both["metrics"][name]
        assert (other["low"], other["high"]) == (pytest.approx(one["low"]), pytest.approx(one["high"]))


def test_single_games_of_a_mirrored_design_of_few_blocks_stay_apart_though_they_share_a_seed():
    games = tables_of(
        replace(random_game(seed).rows(), game=f"{side}{seed}", seed=str(seed)) for seed in range(6) for side in "ab"
    )
    found = measured("variability", in_blocks(games, [name[1:] for name in games.ids]))
    assert (found["blocks"], found["design_blocks"], found["block_kind"]) == (12, 6, "game")


def test_where_blocks_are_few_deals_that_several_cells_have_played_are_drawn_with_all_their_games():
    games = tables_of(
        replace(random_game(seed).rows(), game=f"{cell}{seed:02d}", seed=str(seed))
        for seed in range(12)
        for cell in "ab"
    )
    found = measured("variability", in_blocks(games, [f"{name[0]}{int(name[1:]) // 2}" for name in games.ids]))
    assert (found["blocks"], found["design_blocks"], found["games"], found["block_kind"]) == (12, 6, 24, "deal")


def test_blocks_of_two_studies_are_joined_where_any_seed_is_of_both():
    joined = joined_by_seed(["a1", "a1", "a2", "b1", "b1", "b2"], ["1", "2", "3", "2", "4", ""])
    assert joined == ["a1", "a1", "a2", "a1", "a1", "b2"]
    assert joined_by_seed(["a", "b", "c"], ["", "", ""]) == ["a", "b", "c"]
    assert joined_by_seed([], []) == []


def test_undefined_draws_are_counted_and_too_many_leave_no_interval():
    games = [random_game(seed, missing=0.0).rows() for seed in range(6)]
    # a self-label in one game only: draws without that game have nothing to score
    silent = [replace(g, statements=tuple(replace(s, d=None) for s in g.statements)) for g in games[1:]]
    found = headlines(tables_of([games[0], *silent]), "accuracy")["accuracy"]
    assert found["value"] is not None
    assert found["undefined_draws"] == pytest.approx(2000 * (5 / 6) ** 6, abs=120)
    assert (found["low"], found["high"]) == (None, None)
    assert found["interval_reason"] == f"undefined in {found['undefined_draws']} of 2000 draws"


def test_a_rate_of_games_has_one_interval_and_it_is_wilsons_where_games_are_blocks():
    won = [replace(random_game(seed).rows(), finished=True, winner="villagers") for seed in range(16)]
    single = tables_of(won)
    found = headlines(single, "villager_wins")["villager_wins"]
    assert (found["value"], found["low"], found["high"]) == (1.0, pytest.approx(16 / (16 + 1.959964**2)), 1.0)
    row = measured("outcomes", single)["winners"]["villagers"]
    assert (row["low"], row["high"]) == (found["low"], found["high"])
    # eight blocks of two: less is known of what blocks have in common
    paired = in_blocks(single, "aabbccddeeffgghh")
    wider = headlines(paired, "villager_wins")["villager_wins"]
    assert wider["low"] < found["low"]
    row = measured("outcomes", paired)["winners"]["villagers"]
    assert (row["low"], row["high"]) == (wider["low"], wider["high"])


def test_of_fewer_than_eight_blocks_the_games_are_the_units_where_there_are_enough_of_them():
    single = tables_of(random_game(seed).rows() for seed in range(14))
    by_games = measured("variability", single)
    by_few = measured("variability", in_blocks(single, "aabbccddeeffgg"))
    assert by_few["metrics"] == by_games["metrics"]
    assert (by_few["blocks"], by_few["design_blocks"], by_few["block_kind"]) == (14, 7, "game")
    assert measured("variability", in_blocks(single, "abcdefghhhhhhh"))["blocks"] == 8


def wilson(share, n):
    """Ends of Wilson's interval of a share of so many, which need not be whole."""
    z = 1.959964
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return [(share + z * z / (2 * n) + side * half) / (1 + z * z / n) for side in (-1, 1)]


def test_games_that_go_together_count_for_fewer_in_a_rate():
    together, apart = (
        measured("outcomes", decided(won, 4))["winners"]["villagers"]
        for won in ([4, 0, 4, 0, 4, 4, 0, 4], [2, 3, 2, 3, 2, 3, 2, 3])
    )
    low, high = wilson(0.625, 32)
    assert (together["low"] < low - 0.05, together["high"] > high + 0.05) == (True, True)
    # what differs between games only is no more than chance, known from eight blocks
    assert [apart["low"], apart["high"]] == pytest.approx(wilson(0.625, 32 * (1.959964 / 2.364624) ** 2), abs=1e-6)


def test_a_rate_of_deals_that_were_played_several_times_over_holds_the_truth():
    deals, held = 12, dict.fromkeys((0.75, 0.85, 0.9), 0.0)
    for won in range(deals + 1):
        # all four games of a deal come out alike
        row = measured("outcomes", decided([4] * won + [0] * (deals - won), 4))["winners"]["villagers"]
        for truth in held:
            held[truth] += (row["low"] <= truth <= row["high"]) * binom.pmf(won, deals, truth)
    assert min(held.values()) > 0.94, held


def test_a_lift_draws_its_baseline_anew_with_every_draw():
    games = tables_of(random_game(seed).rows() for seed in range(9))
    game, label, flag = scored(games).select("game", "label", "flagged").to_numpy().T
    by = [np.bincount(game.astype(int), part, 9) for part in (flag == label, label, label >= 0)]
    right, deceptive, n = (drawn_blocks(9) @ part for part in by)
    low, high = np.quantile(right / n - np.maximum(deceptive / n, 1 - deceptive / n), tails(9))
    found = headlines(games, "accuracy", "accuracy_lift")
    lift = found["accuracy_lift"]
    assert (lift["low"], lift["high"]) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))
    assert lift["value"] == pytest.approx(found["accuracy"]["value"] - found["accuracy"]["baseline"])
    # held against a fixed guess, as if that were known, the interval would be another one
    assert abs((found["accuracy"]["high"] - found["accuracy"]["baseline"]) - high) > 1e-3
