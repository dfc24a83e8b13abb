"""Primary metrics: few, declared, adjusted together; in a study of noise no sentence is bold."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from analytics.findings import findings
from analytics.gather import StudySource
from analytics.report.report import Report
from tests.analytics.script import at_one_level, gathered, headlines, measured, random_game, tables_of
from tests.llm.tables import tables as cases
from tests.simulator import alike, draw_agents, simulate
from tests.simulator.coverage import many
from wolfbus.game.vocabulary import ROLES

USUAL = (
    "suspicion_gap",
    "balanced_accuracy",
    "truth_balanced_accuracy",
    "vote_hit_lift",
    "best_detector",
    "best_deceiver",
)
"""Primary metrics of a study that declares none."""


def test_what_is_there_is_found_and_what_is_not_is_not():
    agents = draw_agents(4, 3, spread=0.0, role_spread=0.0)
    agents.detects[0] += 2.0
    honest = tuple(0.95 if role == "Werewolf" else 0.1 for role in ROLES)
    found = measured("primary", simulate(agents, 80, 3, deceptive=honest))
    rows = found["metrics"]
    assert list(rows) == list(USUAL)
    assert {name: rows[name]["verdict"] for name in ("balanced_accuracy", "truth_balanced_accuracy")} == {
        "balanced_accuracy": "above",
        "truth_balanced_accuracy": "above",
    }
    assert (rows["best_detector"]["verdict"], rows["best_detector"]["agent"]) == ("above", "agent-00")
    assert rows["vote_hit_lift"]["verdict"] == "unclear"
    assert all(row["p"] <= row["p_adjusted"] for row in rows.values())
    assert (found["declared"], found["blocks"], found["exact"]) == (False, 80, False)


def test_a_difference_is_the_value_minus_its_baseline_with_the_bootstraps_interval():
    columns = tables_of(random_game(seed).rows() for seed in range(12))
    found = measured("primary", columns, ["accuracy", "accuracy_lift", "auprc", "auprc_lift", "werewolf_wins"])[
        "metrics"
    ]
    told = headlines(columns)
    for name in ("accuracy", "auprc"):
        lift = told[f"{name}_lift"]
        assert found[name]["difference"]["value"] == pytest.approx(lift["value"])
        for end in ("low", "high"):
            assert found[name]["difference"][end] == pytest.approx(lift[end], abs=1e-9)
            assert found[f"{name}_lift"]["difference"][end] == pytest.approx(lift[end], abs=1e-9)
        assert found[name]["p"] == pytest.approx(found[f"{name}_lift"]["p"])
    assert (found["werewolf_wins"]["verdict"], found["werewolf_wins"]["p_adjusted"]) == ("undefined", None)


def test_the_signs_of_few_blocks_are_flipped_every_way():
    columns = simulate(draw_agents(3, 1), 8, 1)
    votes = columns.votes
    others = votes["voter_role"] != ROLES.index("Werewolf")
    hits = (votes["target_role"] == ROLES.index("Werewolf")) - 2 / 7
    parts = np.bincount(votes["game"][others], hits[others], 8)
    sums = np.abs(np.array(list(product((1, -1), repeat=8))) @ parts)
    found = measured("primary", columns, ["vote_hit_lift"])
    assert (found["flips"], found["exact"]) == (256, True)
    assert found["metrics"]["vote_hit_lift"]["p"] == np.mean(sums >= sums[0] - 1e-9)


@pytest.mark.parametrize("games", [0, 1, 7])
def test_too_few_games_say_nothing(games):
    found = measured("primary", tables_of(random_game(seed).rows() for seed in range(games)))
    assert {row["verdict"] for row in found["metrics"].values()} <= {"few", "undefined"}


def test_games_that_have_nothing_of_a_metric_do_not_make_up_for_those_that_are_too_few():
    columns = simulate(draw_agents(3, 1), 8, 1)
    wolves = np.full_like(columns.votes["target_role"], ROLES.index("Werewolf"))
    # nearly all votes hit, in some games more than in others
    wolves[np.arange(len(wolves)) % 11 == 0] = ROLES.index("Villager")
    votes = {**columns.votes, "target_role": wolves}

    def verdict(games: int) -> tuple[str, float]:
        kept = {name: column[votes["game"] < games] for name, column in votes.items()}
        row = measured("primary", replace(columns, votes=kept), ["vote_hit_lift"])["metrics"]["vote_hit_lift"]
        return row["verdict"], row["p_adjusted"]

    assert verdict(8) == ("above", 2 / 2**8)
    assert verdict(7) == ("few", 2 / 2**7)


def test_agents_that_suspect_everybody_alike_are_not_tested_on_the_last_bits_of_their_means():
    games = tables_of(replace(random_game(seed).rows(), game=f"g{seed}") for seed in range(12))
    found = measured("primary", at_one_level(games, 0.7), ["raw_suspicion_gap", "suspicion_gap"])["metrics"]
    row = found["raw_suspicion_gap"]
    assert row["difference"]["value"] == pytest.approx(0, abs=1e-12)
    assert (row["p"], row["p_adjusted"], row["verdict"]) == (None, None, "undefined")
    assert found["suspicion_gap"]["p_adjusted"] == found["suspicion_gap"]["p"]


def test_games_that_have_nothing_of_a_metric_do_not_make_it_less_sure_either():
    columns = simulate(draw_agents(3, 1), 12, 1)
    role = np.where(np.random.default_rng(1).random(len(columns.votes["game"])) < 0.45, "Werewolf", "Villager")
    votes = {**columns.votes, "target_role": np.array([ROLES.index(name) for name in role])}

    def p_value(games: int, blank: int) -> float:
        kept = {name: column[votes["game"] < games] for name, column in votes.items()}
        some = replace(simulate(draw_agents(3, 1), games + blank, 1), votes=kept)
        return measured("primary", some, ["vote_hit_lift"])["metrics"]["vote_hit_lift"]["p"]

    alone = p_value(8, 0)
    assert 0.02 < alone < 0.3
    assert p_value(8, 4) == pytest.approx(alone)


@pytest.mark.parametrize(
    ("declared", "judged_by"),
    [
        ([["auc", "best_deceiver"]] * 2, ["auc", "best_deceiver"]),
        ([["auc", "best_deceiver"], ["auc"]], USUAL),
        ([["auc"], None], USUAL),
        ([["of a later version"]], USUAL),
        ([], USUAL),
    ],
)
def test_studies_declare_their_metrics_and_must_agree(declared, judged_by):
    studies = tuple(StudySource(Path(str(at)), {"primary": names}) for at, names in enumerate(declared))
    found = findings(gathered([random_game(1).rows()], studies=studies))["primary"]
    assert (list(found["metrics"]), found["declared"]) == (list(judged_by), judged_by != USUAL)


STATED = cases(__file__)["stated"]
"""What a report says of a primary metric that its test calls above or below, and of who is before whom."""


@pytest.mark.parametrize("by_lot", [True, False])
@pytest.mark.parametrize(
    # 5 % of 10 studies are one half; more than 3 come of one in four hundred such runs
    ("games", "studies", "most"),
    [(8, 10, 3), many(8, 1_000, 50), many(12, 1_000, 50), many(40, 1_000, 50)],
)
def test_a_report_hardly_ever_states_what_is_not_there(games, studies, most, by_lot):
    found = []
    for seed in range(studies):
        columns = alike(games, seed, by_lot=by_lot)
        told = {
            "primary": measured("primary", columns),
            "outcomes": {"games": games, "winners": {"werewolves": {"n": 0}}},
        }
        text = Report(told, gathered([])).markdown()
        assert "clearly" in text
        # agents that detect alike do detect: then only who is best is not there
        found.append({words for words in STATED["all" if by_lot else "leads"] if words in text})
    names = {words: sum(words in each for each in found) for words in sorted(set().union(*found))}
    kind = "flag by lot" if by_lot else "detect alike"
    print(f"{games} games, agents {kind}: {sum(map(bool, found))} of {studies} reports state something: {names}")
    assert sum(map(bool, found)) <= most
