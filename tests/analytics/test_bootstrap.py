"""Intervals of pooled ratios: whole blocks are resampled, and every draw is what a plain loop makes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics as sk

from analytics.columns import columns_of
from analytics.findings import TABLES
from analytics.measures.bootstrap import SEED, Draws, rate_of_games, wilson
from analytics.measures.headlines import MEASURES
from analytics.measures.study import Sheet, Study, variability
from tests.analytics.script import random_game, tails
from tests.simulator import draw_agents, simulate

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


def judged(columns, rows=slice(None)):
    """Labels, flags and suspicions of the judgements that count."""
    kept = np.flatnonzero(columns.scored())[rows]
    return columns.label()[kept], columns.judgements["d"][kept], columns.judgements["s"][kept]


def test_every_draw_equals_a_loop_over_its_games():
    columns = columns_of(random_game(seed).rows() for seed in range(7))
    sheet = Sheet(Study(columns), columns.blocks, 7)
    draws = Draws([7], draws=60)
    measures = [MEASURES[name] for name in FLAGS]
    drawn = sheet.drawn(measures, draws)
    kept = np.flatnonzero(columns.scored())
    game = columns.judgements["game"][kept]
    for at, counts in enumerate(draws.counts()):
        rows = np.concatenate([np.tile(np.flatnonzero(game == g), n) for g, n in enumerate(counts)]).astype(int)
        d, f, s = judged(columns, rows)
        for name, of in FLAGS.items():
            assert drawn[name][at] == pytest.approx(of(d, f, s), abs=1e-9), name


def test_draws_of_areas_stay_right_where_distinct_scores_share_cells():
    columns = simulate(draw_agents(3, 1), 40, 2)
    columns.judgements["s"] += np.random.default_rng(0).normal(0, 1e-6, len(columns.judgements["s"]))
    assert len(np.unique(columns.judgements["s"])) > 5000
    draws = Draws([40], draws=40)
    measures = [MEASURES[name] for name in ("auc", "auprc")]
    drawn = Sheet(Study(columns), columns.blocks, 40).drawn(measures, draws)
    game = columns.judgements["game"]
    for at, counts in enumerate(draws.counts()):
        d, f, s = judged(columns, np.repeat(np.arange(len(game)), counts[game]))
        for name in drawn:
            assert drawn[name][at] == pytest.approx(FLAGS[name](d, f, s), abs=2e-3), name


def test_blocks_are_resampled_whole():
    doubled = columns_of(
        replace(random_game(seed).rows(), game=f"{copy}{seed:02d}") for seed in range(12) for copy in "ab"
    )
    # a game and its copy in one block: no more is known than from the games alone
    names = tuple(sorted({name[1:] for name in doubled.ids}))
    blocks = np.array([names.index(name[1:]) for name in doubled.ids], "i4")
    paired = replace(doubled, blocks=blocks, block_names=names)
    loose, tight = (variability(Study(each), ["accuracy"]) for each in (paired, doubled))
    assert (loose["blocks"], loose["block_kind"], loose["games"]) == (12, "block", 24)
    assert (tight["blocks"], tight["block_kind"]) == (24, "game")
    widths = [found["metrics"]["accuracy"]["high"] - found["metrics"]["accuracy"]["low"] for found in (loose, tight)]
    assert widths[1] < 0.85 * widths[0]


def test_undefined_draws_are_counted_and_too_many_leave_no_interval():
    games = [random_game(seed, missing=0.0).rows() for seed in range(6)]
    # a self-label in one game only: draws without that game have nothing to score
    silent = [replace(g, statements=tuple(replace(s, d=None) for s in g.statements)) for g in games[1:]]
    found = variability(Study(columns_of([games[0], *silent])), ["accuracy"])["metrics"]["accuracy"]
    assert found["value"] is not None
    assert found["undefined_draws"] == pytest.approx(2000 * (5 / 6) ** 6, abs=120)
    assert (found["low"], found["high"]) == (None, None)
    assert found["interval_reason"] == f"undefined in {found['undefined_draws']} of 2000 draws"


def test_an_interval_all_of_whose_draws_are_equal_is_none():
    columns = columns_of(random_game(seed).rows() for seed in range(8))
    same = replace(columns, judgements={**columns.judgements, "d": np.maximum(columns.label(), 0)})
    found = variability(Study(same))["metrics"]["accuracy"]
    assert (found["value"], found["low"], found["high"]) == (1.0, None, None)
    assert found["interval_reason"] == "every draw gives the same"


def test_a_rate_of_games_has_one_interval_and_it_is_wilsons_where_games_are_blocks():
    won = [replace(random_game(seed).rows(), finished=True, winner="villagers") for seed in range(8)]
    columns = columns_of(won)
    found = variability(Study(columns))["metrics"]["villager_wins"]
    assert (found["value"], found["low"], found["high"]) == (1.0, pytest.approx(8 / (8 + 1.959964**2)), 1.0)
    row = TABLES["outcomes"](Study(columns).estimates)["winners"]["villagers"]
    assert (row["low"], row["high"]) == (found["low"], found["high"])
    # four blocks of two: less is known of what blocks have in common
    paired = replace(columns, blocks=np.arange(8, dtype="i4") // 2, block_names=tuple("abcd"))
    wider = variability(Study(paired))["metrics"]["villager_wins"]
    assert wider["low"] < found["low"]
    row = TABLES["outcomes"](Study(paired).estimates)["winners"]["villagers"]
    assert (row["low"], row["high"]) == (wider["low"], wider["high"])


def test_games_that_go_together_count_for_fewer_in_a_rate():
    k, n = np.array([4, 0, 4, 0, 4, 4, 0, 4.0]), np.full(8, 4.0)
    low, high, _ = rate_of_games(k, n, 32)
    alone = wilson(20, 32)
    assert low < alone[0] - 0.05
    assert high > alone[1] + 0.05
    # what differs between games only is no more than chance
    even = rate_of_games(np.array([2, 3, 2, 3, 2, 3, 2, 3.0]), n, 32)
    z, t = 1.959964, 2.364624
    assert even[:2] == pytest.approx(wilson(0.625 * 32 * (z / t) ** 2, 32 * (z / t) ** 2), abs=1e-6)


def test_draws_whose_sums_differ_in_the_last_bit_are_equal():
    draws = Draws([7])
    thirds = draws.sums(np.full((7, 1), 1 / 3))[:, 0] / draws.sums(np.ones((7, 1)))[:, 0]
    assert draws.interval(thirds) == (None, None, "every draw gives the same")


def test_a_lift_draws_its_baseline_anew_with_every_draw():
    columns = columns_of(random_game(seed).rows() for seed in range(9))
    picks = np.random.default_rng(SEED).integers(0, 9, size=(2000, 9), dtype=np.int32)
    rows = np.flatnonzero(columns.scored())
    label, flag = columns.label()[rows], columns.judgements["d"][rows]
    by = [np.bincount(columns.judgements["game"][rows], part, 9) for part in (flag == label, label, label >= 0)]
    drawn = []
    for pick in picks:
        right, deceptive, n = (part[pick].sum() for part in by)
        drawn.append(right / n - max(deceptive / n, 1 - deceptive / n))
    low, high = np.quantile(drawn, tails(9))
    found = variability(Study(columns), ["accuracy", "accuracy_lift"])["metrics"]
    lift = found["accuracy_lift"]
    assert (lift["low"], lift["high"]) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))
    assert lift["value"] == pytest.approx(found["accuracy"]["value"] - found["accuracy"]["baseline"])
    # held against a fixed guess, as if that were known, the interval would be another one
    assert abs((found["accuracy"]["high"] - found["accuracy"]["baseline"]) - high) > 1e-3
