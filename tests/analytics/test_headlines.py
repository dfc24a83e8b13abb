"""Every headline metric: value, baseline, the paper's own interval, and what holds whatever the games are."""

import math
import statistics
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from analytics.findings import metrics
from tests.analytics.script import headlines, measured, random_game, scored, tables_of
from tests.simulator import draw_agents, finely_scored, simulate
from wolfbus.game.vocabulary import ROLES

GAMES = [random_game(seed).rows() for seed in range(14)]
TABLES = tables_of(GAMES)


def test_baselines_are_those_of_the_guesses_that_the_papers_tables_tell():
    tables, scores, found = metrics(GAMES), measured("table4", TABLES), headlines(TABLES)
    for role, suffix in (("overall", ""), *((role, f"/{role}") for role in ROLES)):
        assert found["accuracy" + suffix]["baseline"] == pytest.approx(tables["table3"][role]["constant_accuracy"])
    for section, suffix in (("suspicion", ""), ("before", "_before")):
        share = scores[section]["overall"]["base_rate"]
        assert found["auprc" + suffix]["baseline"] == pytest.approx(share)
        assert found["brier" + suffix]["baseline"] == pytest.approx(share * (1 - share))


def test_an_area_by_role_counts_what_has_the_score_and_not_what_has_a_flag_alone():
    some = pl.when(pl.int_range(pl.len()) % 3 > 0).then("suspicion")
    fewer = replace(TABLES, judgements=TABLES.judgements.with_columns(suspicion=some))
    found, table = headlines(fewer), measured("table4", fewer)["suspicion"]
    for role in ROLES:
        assert found[f"auc/{role}"]["n"] == table["by_observer"][role]["n"] < found[f"accuracy/{role}"]["n"]
    assert found["auc"]["n"] == table["overall"]["n"] == sum(found[f"auc/{role}"]["n"] for role in ROLES)


def test_votes_concentrate_over_all_ballots_that_name_somebody_whatever_their_voters_knew():
    known = replace(TABLES, votes=TABLES.votes.with_columns(informed=pl.col("voter_role") == "Werewolf"))
    shares = []
    for _, vote in TABLES.votes.filter(pl.col("target").is_not_null()).group_by("game", "round"):
        named = vote["target"].cast(pl.String).to_list()
        shares.append(max(map(named.count, named)) / len(named))
    found = headlines(known, "vote_concentration")["vote_concentration"]
    assert (found["value"], found["n"]) == (pytest.approx(statistics.mean(shares)), len(shares))


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


@pytest.mark.parametrize(("games", "has_interval"), [(4, False), (5, True)])
def test_what_needs_deceptive_statements_has_an_interval_only_where_five_games_have_some(games, has_interval):
    columns = simulate(draw_agents(3, 1), 24, 1)
    deceptive = (columns.statements["game"] < games) & (columns.statements["role"] == ROLES.index("Werewolf"))
    columns = replace(columns, statements={**columns.statements, "d": deceptive.astype(np.int8)})
    told = headlines(columns, "recall", "balanced_accuracy", "f1", "mcc", "auc", "auprc_lift", "brier_skill")
    few = None if has_interval else "fewer than 5 games (blocks) in which it occurs"
    for row in told.values():
        assert (row["low"] is not None, row.get("interval_reason")) == (has_interval, few)
    assert headlines(columns, "accuracy")["accuracy"]["low"] is not None


@pytest.mark.parametrize(("games", "has_interval"), [(4, False), (5, True)])
def test_sensitivity_to_lies_has_an_interval_only_where_five_games_have_some(games, has_interval):
    columns = simulate(draw_agents(3, 1), 24, 1)
    is_lie = (columns.statements["game"] < games) & (columns.statements["role"] == ROLES.index("Werewolf"))
    columns = replace(columns, statements={**columns.statements, "truth": is_lie.astype(np.int8) * 2})
    found = measured("intervals", columns)["truth_detection"]["against_truth"]
    assert found["accuracy"] is not None
    for name in ("recall", "balanced_accuracy", "dprime", "criterion"):
        assert (found[name] is not None) is has_interval, name
