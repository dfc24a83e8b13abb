"""Intervals of the tables' figures: in every draw, a figure is what a plain loop over the drawn games makes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics as sk

from analytics.columns import LIE, MISTAKE, NO_CLAIM, TRUE, Columns, ColumnsBuilder, columns_of
from analytics.findings import Metrics, metrics, table_intervals
from analytics.measures import bootstrap
from analytics.measures.bootstrap import Draws
from analytics.measures.formulas import Confusion
from analytics.measures.recalibration import held_out_flags, held_out_probabilities, recalibration, split, thresholds
from analytics.measures.study import Study, variability
from analytics.measures.table4 import table4
from analytics.measures.truth import truth
from tests.analytics.script import held_by, leaves, random_game, tails
from wolfbus.vocabulary import ROLES

FEW = 60
"""Draws that a loop can follow."""


BLOCKS = 20


GAMES = [random_game(seed).rows() for seed in range(26)]


BLOCK_OF = {game.game: f"b{at % BLOCKS:02}" for at, game in enumerate(GAMES)}


def in_blocks(games) -> Columns:
    """The games as columns, six pairs of them in one block each, with truths drawn by lot."""
    builder = ColumnsBuilder()
    for game in games:
        builder.add(game, BLOCK_OF[game.game])
    columns = builder.columns()
    lot = np.random.default_rng(5).choice([NO_CLAIM, TRUE, MISTAKE, LIE], len(columns.statements["d"]))
    return replace(columns, statements={**columns.statements, "truth": lot.astype("i1")})


COLUMNS = in_blocks(GAMES)


WHOLE = table_intervals(Study(COLUMNS))


@pytest.fixture(scope="module")
def few():
    """The intervals of few draws, and how often each block comes in them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "DRAWS", FEW)
        bootstrap.draws_of.cache_clear()
        found = table_intervals(Study(COLUMNS))
    bootstrap.draws_of.cache_clear()
    return found, Draws([BLOCKS], draws=FEW).counts()


def drawn_games(counts):
    for row in counts:
        yield [game for game in GAMES for _ in range(row[COLUMNS.block_names.index(BLOCK_OF[game.game])])]


def drawn_rows(counts, blocks):
    """Indices of the rows of every draw, each as often as its block is drawn."""
    for row in counts:
        yield np.repeat(np.arange(len(blocks)), row[blocks])


def percentiles(values, blocks=BLOCKS):
    """The interval of a figure by draw, None where it is undefined; behind the draws may stand what it is of each block
    alone, which tells how many blocks it rests on."""
    drawn, alone = values[:FEW], values[FEW:]
    held = [value for value in drawn if value is not None]
    assert len(held) >= 0.95 * FEW
    blocks = sum(value is not None for value in alone) if alone else blocks
    return pytest.approx(np.quantile(held, tails(blocks)).tolist(), abs=1e-9)


def looped(name, counts):
    """What a table of the paper says in every draw, and then of every block alone."""
    single = {}
    for game in GAMES:
        single[game.game] = Metrics()
        single[game.game].add(game)
    for games in drawn_games([*counts, *np.eye(BLOCKS, dtype=int)]):
        whole = Metrics()
        for game in games:
            whole.merge(single[game.game])
        yield whole.sections(name)[name]


def quotient(row, above, below):
    return row[above] / row[below] if row[below] else None


FIGURES = {
    "table1": [
        *(
            (key, name, lambda row, name=name: row[name])
            for key in ("Villager", "overall")
            for name in ("suspicion", "flagged")
        ),
        ("Werewolf", "deceptive_share", lambda row: quotient(row, "deceptive", "labelled")),
    ],
    "table2": [(o, t, lambda row, t=t: row[t]["mean"]) for o, t in (("Villager", "Villager"), ("Werewolf", "Doctor"))],
    "table5": [
        (kind, name, lambda row, name=name: row[name])
        for kind in ("omission", "overall")
        for name in ("suspicion", "flagged")
    ],
    "production": [
        (part, key, lambda row, key=key: row.get(key, {"rate": None})["rate"])
        for part, key in (("by_role", "Seer"), ("by_brain", "one"), ("by_round", "2"), ("by_phase", "vote"))
    ],
}
"""Of each table some figures: their row, their name in it, and their value in the row of a draw."""


@pytest.mark.parametrize("table", FIGURES)
def test_a_table_is_that_of_the_games_drawn(few, table):
    found, counts = few
    results = list(looped(table, counts))
    for row, name, value in FIGURES[table]:
        assert found[table][row][name] == percentiles([value(result[row]) for result in results]), (row, name)


def test_table_4_is_that_of_the_judgements_drawn(few):
    found, counts = few
    held = Study(COLUMNS).scores("suspicion")
    for part, key, kept in (
        ("overall", None, np.ones(len(held.scores), bool)),
        ("by_observer", "Werewolf", held.observer == ROLES.index("Werewolf")),
        ("by_speaker", "Villager", held.speaker == ROLES.index("Villager")),
    ):
        d, s, blocks = held.deceptive[kept], held.scores[kept], held.blocks[kept]
        values = {name: [] for name in ("brier", "brier_skill", "auc", "auprc", "auprc_lift")}
        for rows in drawn_rows(counts, blocks):
            base, brier = d[rows].mean(), sk.brier_score_loss(d[rows], s[rows])
            average = sk.average_precision_score(d[rows], s[rows])
            values["brier"].append(brier)
            values["brier_skill"].append(1 - brier / (base * (1 - base)))
            values["auc"].append(sk.roc_auc_score(d[rows], s[rows]))
            values["auprc"].append(average)
            values["auprc_lift"].append(average - base)
        row = found["table4"]["suspicion"][part]
        for name, drawn in values.items():
            assert (row if key is None else row[key])[name] == percentiles(drawn, len(np.unique(blocks)))


def test_thresholds_keep_their_held_out_flags_in_every_draw(few):
    found, counts = few
    study = Study(COLUMNS)
    held, out = study.scores("before"), held_out_flags(study, "before", "youden")
    values = {name: [] for name in ("balanced_accuracy", "f1", "precision", "recall", "accuracy", "constant_accuracy")}
    for rows in drawn_rows(counts, held.blocks):
        d, flags = held.deceptive[rows], out.flags[rows]
        counted = Confusion(
            tp=int((d & flags).sum()),
            tn=int((~d & ~flags).sum()),
            fp=int((~d & flags).sum()),
            fn=int((d & ~flags).sum()),
        ).measures()
        for name, drawn in values.items():
            drawn.append(counted[name])
    for name, drawn in values.items():
        assert found["thresholds"]["before"]["youden"][name] == percentiles(drawn)


@pytest.mark.parametrize("kind", ["platt", "isotonic"])
def test_maps_keep_their_held_out_probabilities_in_every_draw(few, kind):
    found, counts = few
    study = Study(COLUMNS)
    held = study.scores("suspicion")
    folds = split(study, "suspicion")[0]
    made = held_out_probabilities(held, folds, kind)
    rows = list(drawn_rows(counts, held.blocks))
    d = held.deceptive

    def within_folds(of):
        pairs = []
        for fold in range(5):
            own = of[folds[of] == fold]
            weight = d[own].sum() * (~d[own]).sum()
            pairs.append((weight, sk.roc_auc_score(d[own], made[own]) if weight else 0.0))
        return np.average([area for _, area in pairs], weights=[weight for weight, _ in pairs])

    for when, scores, area in (
        ("before", held.scores, lambda of: sk.roc_auc_score(d[of], held.scores[of])),
        ("after", made, within_folds),
    ):
        row = found["recalibration"][kind][when]
        assert row["brier"] == percentiles([sk.brier_score_loss(d[of], scores[of]) for of in rows])
        assert row["auc"] == pytest.approx(np.quantile([area(of) for of in rows], tails(BLOCKS)).tolist(), abs=2e-3)


def test_detection_of_false_claims_is_that_of_the_judgements_drawn(few):
    found, counts = few
    judgements = COLUMNS.judgements
    claimed = COLUMNS.statements["truth"][judgements["statement"]]
    kept = COLUMNS.scored() & ((claimed == TRUE) | (claimed == LIE))
    false, flag = (claimed == LIE)[kept], (judgements["d"] == 1)[kept]
    results = []
    blocks = COLUMNS.blocks[judgements["game"][kept]]
    for rows in drawn_rows(counts, blocks):
        counts = np.bincount(2 * false[rows] + flag[rows], minlength=4).reshape(2, 2)
        results.append(Confusion.of(counts).measures())
    row = found["truth_detection"]["against_truth"]
    assert set(row) == set(results[0]) - {"n", "tp", "tn", "fp", "fn"}
    for name in row:
        assert row[name] == percentiles([result[name] for result in results], len(np.unique(blocks)))


def test_a_figure_that_is_also_a_headline_has_one_interval():
    headlines = variability(Study(COLUMNS))["metrics"]
    suspicion, before = WHOLE["table4"]["suspicion"], WHOLE["table4"]["before"]
    pairs = [
        *((suspicion["overall"][name], name) for name in ("brier", "brier_skill", "auc", "auprc", "ece")),
        *((before["overall"][name], f"{name}_before") for name in ("brier", "brier_skill", "auc", "auprc", "ece")),
        *((suspicion["by_observer"][role]["auc"], f"auc/{role}") for role in ROLES),
        *((before["by_observer"][role]["auc"], f"auc_before/{role}") for role in ROLES),
        *((WHOLE["production"]["by_role"][role], f"deception_rate/{role}") for role in ROLES),
        (WHOLE["table1"]["overall"]["deceptive_share"], "deception_rate"),
    ]
    for leaf, name in pairs:
        assert leaf == pytest.approx([headlines[name]["low"], headlines[name]["high"]], abs=1e-9), name


def test_the_intervals_hold_the_values_that_they_are_of():
    told, parts = metrics(GAMES), {"table4": table4(Study(COLUMNS)), "thresholds": thresholds(Study(COLUMNS))}
    values = {
        **{name: told[name] for name in ("table1", "table5")},
        "table2": {o: {t: cell["mean"] for t, cell in row.items()} for o, row in told["table2"].items()},
        "table4": parts["table4"],
        "production": {
            part: {key: cell["rate"] for key, cell in told["production"][part].items()} for part in WHOLE["production"]
        },
        "thresholds": {
            score: {rule: found["held_out"] for rule, found in rules.items()}
            for score, rules in parts["thresholds"].items()
        },
        "recalibration": recalibration(Study(COLUMNS)),
        "truth_detection": truth(Study(COLUMNS).estimates)["detection"],
    }
    assert set(values) == set(WHOLE)
    for path, end in leaves(WHOLE):
        if end is None or {"deceptive_share", "ece"} & set(path):
            continue
        value = values
        for key in path[:-1]:
            value = value[key]
        assert (end - value if path[-1] == 0 else value - end) <= 1e-9, path


def test_what_only_a_few_of_many_games_hold_has_no_interval():
    builder = ColumnsBuilder()
    for at, game in enumerate(GAMES):
        # the names of agents in three games are their own
        builder.add(held_by(game, dict.fromkeys(game.seats, "rare")) if at < 3 else game)
    found = table_intervals(Study(builder.columns()))["production"]["by_brain"]
    assert found["rare"] is None
    assert found["one"] is not None


def test_an_agent_may_be_called_overall():
    games = [random_game(seed).rows() for seed in range(6)]
    named = [
        held_by(game, {name: "overall" for name, seat in game.seats.items() if seat.agent == "one"}) for game in games
    ]
    found, plain = table_intervals(Study(columns_of(named))), table_intervals(Study(columns_of(games)))
    assert found["production"]["by_brain"]["overall"] == plain["production"]["by_brain"]["one"]
