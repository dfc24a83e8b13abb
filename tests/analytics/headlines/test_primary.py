"""Primary metrics: few, declared, adjusted together; in a study of noise no sentence is bold."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from analytics.columns import columns_of
from analytics.measures.headlines import MEASURES
from analytics.measures.primary import LEADS, PRIMARY, check_primary, primary, primary_of
from analytics.measures.study import Study, variability
from tests.analytics.script import random_game
from tests.simulator import draw_agents, simulate
from wolfbus.errors import ConfigError
from wolfbus.vocabulary import ROLES

BOLD = {"above", "below"}


def noise(games: int, seed: int, agents: int = 4):
    """Agents that flag by lot, whatever is said, and label by lot what they say."""
    base = draw_agents(agents, seed, spread=0.0, role_spread=0.0)
    setting = {"hit": -0.3, "alarm": -0.3, "deceptive": (0.4,) * 4, "game_sd": 0.7, "pair_sd": 0.7}
    return simulate(base, games, seed, statements=12, rounds=2, confesses=0.8, **setting)


def bold(columns) -> set[str]:
    return {name for name, row in primary(Study(columns))["metrics"].items() if row["verdict"] in BOLD}


def test_what_is_there_is_found_and_what_is_not_is_not():
    agents = draw_agents(4, 3, spread=0.0, role_spread=0.0)
    agents.detects[0] += 2.0
    found = primary(Study(simulate(agents, 80, 3)))
    rows = found["metrics"]
    assert list(rows) == list(PRIMARY)
    assert {name: rows[name]["verdict"] for name in ("balanced_accuracy", "truth_balanced_accuracy")} == {
        "balanced_accuracy": "above",
        "truth_balanced_accuracy": "above",
    }
    assert (rows["best_detector"]["verdict"], rows["best_detector"]["agent"]) == ("above", "agent-00")
    assert rows["vote_hit_lift"]["verdict"] == "unclear"
    assert all(row["p"] <= row["p_adjusted"] for row in rows.values())
    assert (found["declared"], found["blocks"], found["exact"]) == (False, 80, False)


def test_a_difference_is_the_value_minus_its_baseline_with_the_bootstraps_interval():
    columns = columns_of(random_game(seed).rows() for seed in range(12))
    found = primary(Study(columns), ["accuracy", "accuracy_lift", "auprc", "auprc_lift", "werewolf_wins"])["metrics"]
    told = variability(Study(columns))["metrics"]
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
    found = primary(Study(columns), ["vote_hit_lift"])
    assert (found["flips"], found["exact"]) == (256, True)
    assert found["metrics"]["vote_hit_lift"]["p"] == np.mean(sums >= sums[0] - 1e-9)


@pytest.mark.parametrize("games", [0, 1, 7])
def test_too_few_games_say_nothing(games):
    found = primary(Study(columns_of(random_game(seed).rows() for seed in range(games))))
    assert {row["verdict"] for row in found["metrics"].values()} <= {"few", "undefined"}


def test_studies_declare_their_metrics_and_must_agree():
    mine = {"primary": ["auc", "best_deceiver"]}
    assert primary_of([mine, mine]) == (("auc", "best_deceiver"), True)
    assert primary_of([mine, {"primary": ["auc"]}]) == (PRIMARY, False)
    assert primary_of([mine, {}]) == (PRIMARY, False)
    assert primary_of([{"primary": ["of a later version"]}]) == (PRIMARY, False)
    assert primary_of([]) == (PRIMARY, False)
    assert all(name in MEASURES or name in LEADS for name in PRIMARY)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["acuracy"], ["no metric 'acuracy'", "accuracy", "best_detector"]),
        (["auc", "auc"], ["'auc' is there twice"]),
        ([], ["declare 1 to 6"]),
        (["auc", "brier", "recall", "f1", "mcc", "ece", "precision"], ["7 metrics; declare 1 to 6"]),
    ],
)
def test_a_wrong_declaration_is_one_line(names, words):
    with pytest.raises(ConfigError) as caught:
        check_primary(names, "study.toml")
    line = str(caught.value)
    assert line.startswith("study.toml: [report] primary: ")
    assert "\n" not in line
    assert all(word in line for word in words)


def test_noise_is_hardly_ever_bold():
    found = [bold(noise(10, seed)) for seed in range(40)]
    # 5 % of 40 studies are 2; more than 5 come of one in seventy such runs
    assert sum(map(bool, found)) <= 5, found


@pytest.mark.soak
@pytest.mark.timeout(3_000)
@pytest.mark.parametrize("games", [8, 12, 40])
def test_of_four_hundred_studies_of_noise_at_most_one_in_twenty_has_a_bold_sentence(games):
    found = [bold(noise(games, seed)) for seed in range(400)]
    names = {name: sum(name in each for each in found) for name in PRIMARY}
    print(f"{games} games: {sum(map(bool, found))} of 400 studies of noise have a bold sentence: {names}")
    assert sum(map(bool, found)) <= 20
