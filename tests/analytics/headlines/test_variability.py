"""Every headline metric: value, baseline, the paper's own interval, and what holds whatever the games are."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from analytics.columns import ColumnsBuilder, columns_of
from analytics.findings import Metrics, metrics
from analytics.measures.study import Study, variability
from analytics.measures.table4 import table4
from analytics.measures.truth import truth as truth_section
from tests.analytics.script import Script, random_game
from tests.game.driver import play
from tests.simulator.judgements import draw_agents, simulate
from wolfbus.vocabulary import ROLES

GAMES = [random_game(seed).rows() for seed in range(14)]


COLUMNS = columns_of(GAMES)


FOUND = variability(Study(COLUMNS))["metrics"]


def test_pooled_values_are_those_of_the_papers_tables():
    tables = metrics(GAMES)
    for role, suffix in (("overall", ""), *((role, f"/{role}") for role in ROLES)):
        for name in ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "mcc"):
            assert FOUND[name + suffix]["value"] == pytest.approx(tables["table3"][role][name], abs=1e-12)
            assert FOUND[name + suffix]["n"] == tables["table3"][role]["n"]
        assert FOUND["accuracy" + suffix]["baseline"] == pytest.approx(tables["table3"][role]["constant_accuracy"])
        rates = tables["production"]["overall"] if role == "overall" else tables["production"]["by_role"][role]
        assert FOUND["deception_rate" + suffix]["value"] == pytest.approx(rates["rate"])
        assert FOUND["deception_rate" + suffix]["n"] == rates["n"]
    wins = tables["outcomes"]["winners"]
    for name, winner in (("villager_wins", "villagers"), ("werewolf_wins", "werewolves"), ("no_winner", "nobody")):
        assert (FOUND[name]["value"], FOUND[name]["n"]) == (pytest.approx(wins[winner]["share"]), wins[winner]["n"])


def test_scores_are_those_of_table_4():
    table = table4(Study(COLUMNS))
    for section, suffix in (("suspicion", ""), ("before", "_before")):
        row = table[section]["overall"]
        for name in ("auc", "auprc", "brier", "brier_skill", "ece"):
            assert FOUND[name + suffix]["value"] == pytest.approx(row[name], abs=1e-9), name
            assert FOUND[name + suffix]["n"] == row["n"]
        assert FOUND["auprc" + suffix]["baseline"] == pytest.approx(row["base_rate"])
        assert FOUND["brier" + suffix]["baseline"] == pytest.approx(row["base_rate"] * (1 - row["base_rate"]))
        for role in ROLES:
            own = table[section]["by_observer"][role]
            assert FOUND[f"auc{suffix}/{role}"]["value"] == pytest.approx(own["auc"], abs=1e-9)
            assert FOUND[f"auc{suffix}/{role}"]["n"] == own["n"]


def test_an_area_by_role_counts_what_has_the_score_and_not_what_has_a_flag_alone():
    judgements = {**COLUMNS.judgements, "s": COLUMNS.judgements["s"].copy()}
    judgements["s"][::3] = math.nan
    columns = replace(COLUMNS, judgements=judgements)
    found, table = variability(Study(columns))["metrics"], table4(Study(columns))["suspicion"]
    for role in ROLES:
        assert found[f"auc/{role}"]["n"] == table["by_observer"][role]["n"] < found[f"accuracy/{role}"]["n"]
    assert found["auc"]["n"] == table["overall"]["n"] == sum(found[f"auc/{role}"]["n"] for role in ROLES)


def test_areas_of_single_games_are_exact_however_many_scores_there_are():
    columns = simulate(draw_agents(3, 1), 40, 2)
    columns.judgements["s"] += np.random.default_rng(0).normal(0, 1e-6, len(columns.judgements["s"]))
    assert len(np.unique(columns.judgements["s"])) > 5000
    names = ["auc", "auc/Seer", "auprc", "auprc_lift"]
    found = variability(Study(columns), names)["metrics"]
    for name in names:
        chosen = columns.scored()
        if name == "auc/Seer":
            chosen = chosen & (columns.judgements["observer_role"] == ROLES.index("Seer"))
        values = []
        for game in range(40):
            rows = chosen & (columns.judgements["game"] == game)
            d, s = columns.label()[rows], columns.judgements["s"][rows]
            if 0 < d.sum() < len(d):
                area = (
                    roc_auc_score(d, s) if name.startswith("auc/") or name == "auc" else average_precision_score(d, s)
                )
                values.append(area - (d.mean() if name == "auprc_lift" else 0))
        assert found[name]["paper_games"] == len(values)
        assert found[name]["paper_mean"] == pytest.approx(statistics.mean(values), abs=1e-12)
        assert found[name]["paper_half"] == pytest.approx(1.96 * statistics.stdev(values) / math.sqrt(len(values)))


def test_votes_have_the_same_interval_everywhere_whatever_the_blocks_and_whoever_has_no_votes():
    played = [_played(seed) for seed in range(12)]
    played[3] = replace(played[3], votes=())
    blocks = {game.game: f"block {at // 2}" for at, game in enumerate(played)}
    builder, table = ColumnsBuilder(), Metrics()
    for game in played:
        builder.add(game, blocks[game.game])
        table.add(game, blocks[game.game])
    found, votes = variability(Study(builder.columns()))["metrics"], table.result()["votes"]
    for name, section in (("vote_hit", "hits"), ("vote_follows_suspicion", "own_argmax")):
        for end in ("value", "low", "high"):
            assert found[name][end] == pytest.approx(votes[section][end], abs=1e-12)
    single = metrics(played)["votes"]["hits"]
    assert (single["low"], single["high"]) != (votes["hits"]["low"], votes["hits"]["high"])


def _played(seed):
    from analytics.fold import fold

    return replace(fold(play(seed=f"v{seed}").events), game=f"v{seed}")


def test_the_suspicion_gap_by_hand():
    script = Script(alpha=1.0).dawn()
    script.said("Wim", True, {"Sia": (True, 0.9), "Vic": (True, 0.7)})
    script.said("Vic", False, {"Sia": (False, 0.2), "Wim": (False, 0.4), "Wes": (False, 0.3)})
    row = variability(Study(columns_of([script.rows()])), ["suspicion_gap"])["metrics"]["suspicion_gap"]
    assert (row["value"], row["n"], row["baseline"]) == (pytest.approx(0.8 - 0.3), 5, 0.0)


def test_truth_by_hand():
    columns = simulate(draw_agents(3, 1), 30, 2, confesses=0.5)
    found = variability(Study(columns))["metrics"]
    truth, label = columns.statements["truth"], columns.statements["d"]
    assert found["coverage"]["value"] == pytest.approx((truth >= 0).mean())
    assert found["lie_rate"]["value"] == pytest.approx((truth[truth >= 0] == 2).mean())
    assert found["confession_rate"]["value"] == pytest.approx(label[truth == 2].mean())
    told = truth[columns.judgements["statement"]]
    scored = (told == 0) | (told == 2)
    false, flag = told[scored] == 2, columns.judgements["d"][scored] == 1
    other = truth_section(Study(columns).estimates)["detection"]["against_truth_all"]
    assert found["truth_accuracy"]["value"] == pytest.approx(other["accuracy"])
    assert found["truth_balanced_accuracy"]["value"] == pytest.approx(other["balanced_accuracy"])
    assert found["truth_accuracy"]["value"] == pytest.approx((false == flag).mean())
    assert found["truth_accuracy"]["baseline"] == pytest.approx(max(false.mean(), 1 - false.mean()))
    recalls = [(flag[false == kind] == kind).mean() for kind in (True, False)]
    assert found["truth_balanced_accuracy"]["value"] == pytest.approx(sum(recalls) / 2)
