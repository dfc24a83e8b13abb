"""Every headline metric: value, baseline, the paper's own interval, and what holds whatever the games are."""

import math
import statistics
from dataclasses import replace

import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from analytics.findings import Metrics, metrics
from analytics.gather import fold
from analytics.tables import TablesBuilder
from tests.analytics.script import headlines, measured, random_game, scored, tables_of
from tests.game.driver import play
from tests.simulator import finely_scored
from wolfbus.game.vocabulary import ROLES

GAMES = [random_game(seed).rows() for seed in range(14)]
TABLES = tables_of(GAMES)


def test_pooled_values_are_those_of_the_papers_tables():
    tables, scores, found = metrics(GAMES), measured("table4", TABLES), headlines(TABLES)
    expected = {}
    for role, suffix in (("overall", ""), *((role, f"/{role}") for role in ROLES)):
        row = tables["table3"][role]
        for name in ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "mcc"):
            expected[name + suffix] = (row[name], row["n"])
        assert found["accuracy" + suffix]["baseline"] == pytest.approx(row["constant_accuracy"])
        rates = tables["production"]["overall"] if role == "overall" else tables["production"]["by_role"][role]
        expected["deception_rate" + suffix] = (rates["rate"], rates["n"])
    wins = tables["outcomes"]["winners"]
    for name, winner in (("villager_wins", "villagers"), ("werewolf_wins", "werewolves"), ("no_winner", "nobody")):
        expected[name] = (wins[winner]["share"], wins[winner]["n"])
    for section, suffix in (("suspicion", ""), ("before", "_before")):
        row = scores[section]["overall"]
        for name in ("auc", "auprc", "brier", "brier_skill", "ece"):
            expected[name + suffix] = (row[name], row["n"])
        assert found["auprc" + suffix]["baseline"] == pytest.approx(row["base_rate"])
        assert found["brier" + suffix]["baseline"] == pytest.approx(row["base_rate"] * (1 - row["base_rate"]))
        for role, own in scores[section]["by_observer"].items():
            expected[f"auc{suffix}/{role}"] = (own["auc"], own["n"])
    for name, (value, n) in expected.items():
        assert (found[name]["value"], found[name]["n"]) == (pytest.approx(value, abs=1e-9), n), name


def test_an_area_by_role_counts_what_has_the_score_and_not_what_has_a_flag_alone():
    some = pl.when(pl.int_range(pl.len()) % 3 > 0).then("suspicion")
    fewer = replace(TABLES, judgements=TABLES.judgements.with_columns(suspicion=some))
    found, table = headlines(fewer), measured("table4", fewer)["suspicion"]
    for role in ROLES:
        assert found[f"auc/{role}"]["n"] == table["by_observer"][role]["n"] < found[f"accuracy/{role}"]["n"]
    assert found["auc"]["n"] == table["overall"]["n"] == sum(found[f"auc/{role}"]["n"] for role in ROLES)


def test_areas_of_single_games_are_exact_however_many_scores_there_are():
    columns = finely_scored()
    judged = scored(columns)
    areas = {
        "auc": roc_auc_score,
        "auc/Seer": roc_auc_score,
        "auprc": average_precision_score,
        "auprc_lift": lambda d, s: average_precision_score(d, s) - d.mean(),
    }
    found = headlines(columns, *areas)
    for name, area in areas.items():
        values = []
        for game in range(40):
            rows = judged.filter(game=game) if "Seer" not in name else judged.filter(game=game, observer_role="Seer")
            d, s = rows["label"].to_numpy(), rows["suspicion"].to_numpy()
            if 0 < d.sum() < len(d):
                values.append(area(d, s))
        assert found[name]["paper_games"] == len(values)
        assert found[name]["paper_mean"] == pytest.approx(statistics.mean(values), abs=1e-12)
        assert found[name]["paper_half"] == pytest.approx(1.96 * statistics.stdev(values) / math.sqrt(len(values)))


def test_votes_have_the_same_interval_everywhere_whatever_the_blocks_and_whoever_has_no_votes():
    played = [replace(fold(play(seed=f"v{seed}").events), game=f"v{seed}") for seed in range(10)]
    played[3] = replace(played[3], votes=())
    builder, table = TablesBuilder(), Metrics()
    for at, game in enumerate(played):
        builder.add(game, f"block {min(at, 7)}")
        table.add(game, f"block {min(at, 7)}")
    found, votes = headlines(builder.tables()), table.result()["votes"]
    for name, section in (("vote_hit", "hits"), ("vote_follows_suspicion", "own_argmax")):
        for end in ("value", "low", "high"):
            assert found[name][end] == pytest.approx(votes[section][end], abs=1e-12)
    single = metrics(played)["votes"]["hits"]
    assert (single["low"], single["high"]) != (votes["hits"]["low"], votes["hits"]["high"])
