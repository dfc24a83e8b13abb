"""Intervals of the tables' figures: in every draw, a figure is what a plain loop over the drawn games makes of it."""

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GroupKFold

from analytics.findings import metrics
from analytics.tables import Tables, TablesBuilder
from tests.analytics.script import (
    drawn_blocks,
    held_by,
    in_blocks,
    leaves,
    measured,
    random_game,
    scored,
    tables_of,
    tails,
)
from tests.analytics.synthetic import confusion

FEW = 40
"""Draws that a loop can follow."""
BLOCKS = 20
GAMES = [random_game(seed).rows() for seed in range(24)]
BLOCK_OF = {game.game: f"b{at % BLOCKS:02}" for at, game in enumerate(GAMES)}


def with_truths(tables: Tables) -> Tables:
    """The games with truths drawn by lot."""
    lot = pl.Series(random.Random(5).choices((None, "true", "mistake", "lie"), k=len(tables.statements)))
    truth = lot.cast(tables.statements["truth"].dtype)
    return replace(tables, statements=tables.statements.with_columns(truth=truth))


WHOLE = tables_of(GAMES)
TABLES = with_truths(in_blocks(WHOLE, [BLOCK_OF[game] for game in WHOLE.ids]))
"""The games, four pairs of them in one block each."""
NAMES = sorted(set(BLOCK_OF.values()))


@pytest.fixture(scope="module")
def whole():
    return measured("intervals", TABLES)


@pytest.fixture(scope="module")
def few():
    """The intervals of few draws, and how often each block comes in them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analytics.metrics.bootstrap.DRAWS", FEW)
        return measured("intervals", TABLES), drawn_blocks(BLOCKS, FEW)


def rows_drawn(counts, blocks) -> Iterator[np.ndarray]:
    """Indices of the rows of every draw, each as often as its block is drawn."""
    return (np.repeat(np.arange(len(blocks)), row[blocks]) for row in counts)


def percentiles(values, blocks=BLOCKS, within=1e-9):
    """The interval of a figure by draw, None where it is undefined, that so many blocks tell of."""
    held = [value for value in values if value is not None]
    assert len(held) >= 0.95 * FEW
    return pytest.approx(np.quantile(held, tails(blocks)).tolist(), abs=within)


def of_statements(kept, heard=None):
    """A figure over the statements that are kept: of what each heard of its judges the mean, or of their labels."""

    def sums(game):
        values = []
        for said in filter(kept, game.statements):
            told = [heard(j) for j in game.judgements if heard and j.statement == said.number and j.d is not None]
            values += [np.mean(told)] if told else [] if heard or said.d is None else [said.d]
        return sum(values), len(values)

    return sums


def of_pairs(observer, target):
    """A figure over the games that have such pairs: the mean of the game's final D."""

    def sums(game):
        roles = {name: seat.role for name, seat in game.seats.items()}
        values = [d for (one, other), d in game.suspicion.items() if (roles[one], roles[other]) == (observer, target)]
        return (np.mean(values), 1) if values else (0, 0)

    return sums


FIGURES = {
    ("table1", "Villager", "suspicion"): of_statements(lambda said: said.role == "Villager", lambda j: j.s),
    ("table1", "overall", "flagged"): of_statements(lambda said: True, lambda j: j.d),
    ("table2", "Villager", "Villager"): of_pairs("Villager", "Villager"),
    ("table2", "Werewolf", "Doctor"): of_pairs("Werewolf", "Doctor"),
    ("table5", "omission", "suspicion"): of_statements(lambda said: said.d and said.kind == "omission", lambda j: j.s),
    ("table5", "overall", "flagged"): of_statements(lambda said: said.d is not None, lambda j: j.d),
    ("production", "by_role", "Seer"): of_statements(lambda said: said.role == "Seer"),
    ("production", "by_brain", "one"): of_statements(lambda said: said.agent == "one"),
    ("production", "by_round", "2"): of_statements(lambda said: said.round == 2),
    ("production", "by_phase", "vote"): of_statements(lambda said: said.phase == "vote"),
}
"""Figures of the tables, each as two sums of a game whose quotient it is."""


@pytest.mark.parametrize("path", FIGURES, ids=" ".join)
def test_a_figure_of_a_table_is_that_of_the_games_drawn(few, path):
    sums = np.zeros((BLOCKS, 2))
    for game in GAMES:
        sums[NAMES.index(BLOCK_OF[game.game])] += FIGURES[path](game)
    drawn = [above / below if below else None for above, below in few[1] @ sums]
    told = measured(path[0], TABLES)[path[1]][path[2]]
    value = next((told[name] for name in ("mean", "rate") if name in told), told) if isinstance(told, dict) else told
    assert value == pytest.approx(sums[:, 0].sum() / sums[:, 1].sum())
    assert few[0][path[0]][path[1]][path[2]] == percentiles(drawn, int((sums[:, 1] > 0).sum()))


def held_against(score="suspicion", **sides):
    """Labels, scores and blocks of the judgements that have a score, by such observers or of such speakers."""
    rows = scored(TABLES).drop_nulls(score).filter(**sides)
    blocks = np.array([NAMES.index(BLOCK_OF[WHOLE.ids[game]]) for game in rows["game"]])
    return rows["label"].to_numpy(), rows[score].to_numpy(), blocks


@pytest.mark.parametrize(
    ("part", "sides"),
    [
        (("overall",), {}),
        (("by_observer", "Werewolf"), {"observer_role": "Werewolf"}),
        (("by_speaker", "Villager"), {"target_role": "Villager"}),
    ],
)
def test_table_4_is_that_of_the_judgements_drawn(few, part, sides):
    found, counts = few
    d, s, blocks = held_against(**sides)
    rows = list(rows_drawn(counts, blocks))
    brier = {at: sk.brier_score_loss(d[own], s[own]) for at, own in enumerate(rows)}
    values = {
        "brier": list(brier.values()),
        "brier_skill": [1 - brier[at] / (d[own].mean() * (1 - d[own].mean())) for at, own in enumerate(rows)],
        "auc": [sk.roc_auc_score(d[own], s[own]) for own in rows],
        "auprc": [sk.average_precision_score(d[own], s[own]) for own in rows],
        "auprc_lift": [sk.average_precision_score(d[own], s[own]) - d[own].mean() for own in rows],
    }
    row, point = found["table4"]["suspicion"], measured("table4", TABLES)["suspicion"]
    for key in part:
        row, point = row[key], point[key]
    assert (point["n"], point["deceptive"]) == (len(d), d.sum())
    assert (point["brier"], point["auc"]) == pytest.approx((sk.brier_score_loss(d, s), sk.roc_auc_score(d, s)))
    for name, drawn in values.items():
        assert row[name] == percentiles(drawn, len(np.unique(blocks))), name


def test_thresholds_keep_their_held_out_flags_in_every_draw(few):
    found, counts = few
    d, before, blocks = held_against("before")
    own = measured("thresholds", TABLES)["before"]["youden"]
    flags = np.empty(len(d), bool)
    for (_, test), at in zip(GroupKFold(5).split(d, groups=blocks), own["fold_thresholds"], strict=True):
        flags[test] = before[test] >= at
    drawn = (np.bincount(2 * d[rows] + flags[rows], minlength=4).tolist() for rows in rows_drawn(counts, blocks))
    results = [confusion(tn=tn, fp=fp, fn=fn, tp=tp) for tn, fp, fn, tp in drawn]
    for name, interval in found["thresholds"]["before"]["youden"].items():
        assert interval == percentiles([result[name] for result in results]), name


def test_maps_keep_their_held_out_probabilities_in_every_draw(few):
    found, counts = few
    d, s, blocks = held_against()
    made, folds = np.empty(len(d)), np.empty(len(d), int)
    for fold, (train, test) in enumerate(GroupKFold(5).split(s, groups=blocks)):
        fitted = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(s[train], d[train])
        made[test], folds[test] = fitted.predict(s[test]), fold

    def within_folds(of):
        parts = [of[folds[of] == fold] for fold in range(5)]
        pairs = [(d[own].sum() * (~d[own]).sum(), own) for own in parts]
        areas = [sk.roc_auc_score(d[own], made[own]) if weight else 0.0 for weight, own in pairs]
        return np.average(areas, weights=[weight for weight, _ in pairs])

    rows = list(rows_drawn(counts, blocks))
    row = found["recalibration"]["isotonic"]
    for when, scores, area in (("before", s, lambda of: sk.roc_auc_score(d[of], s[of])), ("after", made, within_folds)):
        assert row[when]["brier"] == percentiles([sk.brier_score_loss(d[of], scores[of]) for of in rows])
        assert row[when]["auc"] == percentiles([area(of) for of in rows], within=2e-3)


def test_the_intervals_hold_the_values_that_they_are_of(whole):
    told = metrics(GAMES)
    values = {
        **{name: told[name] for name in ("table1", "table5")},
        **{name: measured(name, TABLES) for name in ("table4", "thresholds", "recalibration")},
        "table2": {o: {t: cell["mean"] for t, cell in row.items()} for o, row in told["table2"].items()},
        "production": {
            part: {key: cell["rate"] for key, cell in told["production"][part].items()} for part in whole["production"]
        },
        "truth_detection": measured("truth", TABLES)["detection"],
    }
    assert set(values) == set(whole)
    for path, end in leaves(whole):
        if end is None or {"deceptive_share", "ece"} & set(path):
            continue
        value = values
        for at, key in enumerate(path[:-1]):
            value = value[key]["held_out"] if path[0] == "thresholds" and at == 2 else value[key]
        assert (end - value if path[-1] == 0 else value - end) <= 1e-9, path


def test_what_only_a_few_of_many_games_hold_has_no_interval_and_an_agent_may_be_called_overall():
    builder = TablesBuilder()
    for at, game in enumerate(GAMES):
        # the names of agents in three games are their own
        named = {name: "overall" for name, seat in game.seats.items() if seat.agent == "one"}
        builder.add(held_by(game, dict.fromkeys(game.seats, "rare") if at < 3 else named))
    found = measured("intervals", builder.tables())["production"]["by_brain"]
    assert found["rare"] is None
    assert found["overall"] is not None
