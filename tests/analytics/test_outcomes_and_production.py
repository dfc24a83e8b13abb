"""Who wins, how long games are, and how often speakers admit to deceive."""

from __future__ import annotations

import statistics
from dataclasses import replace

import pytest
from scipy.stats import binomtest

from analytics.measures.bootstrap import wilson
from tests.analytics.script import Script, random_game, section


def game(winner, nights, finished=True):
    script = Script()
    for _ in range(nights):
        script.dawn()
        script.said("Vic", False, {"Wim": (False, 0.1), "Wes": "timed_out"})
        script.silence("Val").vote({"Vic": None}).exile()
    if finished:
        script.end(winner)
    return script.rows()


def test_win_shares_are_over_finished_games_and_carry_wilson_intervals():
    games = (
        [game("werewolves", 3)] * 7 + [game("villagers", 2)] + [game(None, 10)] * 2 + [game(None, 1, finished=False)]
    )
    result = section("outcomes")(replace(rows, game=f"g{at}") for at, rows in enumerate(games))
    assert (result["games"], result["finished"], result["unfinished"]) == (11, 10, 1)
    assert {winner: row["k"] for winner, row in result["winners"].items()} == {
        "villagers": 1,
        "werewolves": 7,
        "nobody": 2,
    }
    wolves = result["winners"]["werewolves"]
    assert wolves["share"] == 0.7
    # Wilson's interval of 7 in 10, from the closed formula by hand: (0.397, 0.892)
    assert (wolves["low"], wolves["high"]) == (pytest.approx(0.39677, abs=1e-5), pytest.approx(0.89221, abs=1e-5))
    assert result["endings"] == {"max_rounds": 10}


def test_lengths_have_mean_and_spread_over_finished_games_and_a_total_over_all():
    result = section("outcomes")([game("werewolves", 1), game("villagers", 3), game(None, 5, finished=False)])[
        "per_game"
    ]
    assert result["nights"] == {"mean": 2.0, "sd": pytest.approx(2**0.5), "n": 2, "total": 9}
    assert result["debate_turns"]["mean"] == 4.0
    assert result["statements"]["mean"] == 2.0
    assert result["voting_rounds"]["mean"] == 2.0
    assert result["judgements"] == {"mean": 2.0, "sd": pytest.approx(2**0.5), "n": 2, "total": 9}


def test_lengths_agree_with_the_statistics_module():
    games = [random_game(seed).rows() for seed in range(25)]
    found = section("outcomes")(games)["per_game"]["judgements"]
    counts = [sum(row.usable for row in game.judgements) for game in games if game.finished]
    assert found["mean"] == statistics.fmean(counts)
    assert found["sd"] == pytest.approx(statistics.stdev(counts), rel=1e-12)


def test_one_game_has_no_spread_and_no_game_has_no_outcome():
    assert section("outcomes")([game("villagers", 2)])["per_game"]["nights"]["sd"] is None
    nothing = section("outcomes")([])
    assert nothing["winners"]["nobody"] == {"k": 0, "n": 0, "share": None, "low": None, "high": None}
    assert nothing["per_game"]["nights"] == {"mean": None, "sd": None, "n": 0, "total": 0}


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 40), (40, 40), (70, 100), (10, 100), (3, 7)])
def test_wilson_agrees_with_scipy(k, n):
    expected = binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert wilson(k, n) == (pytest.approx(expected.low, abs=1e-12), pytest.approx(expected.high, abs=1e-12))


def test_production_is_the_share_of_labelled_statements_called_deceptive():
    script = Script(brains={"Wim": "gpt", "Vic": "claude", "Sia": "claude"}).dawn()
    script.said("Wim", True, {})
    script.said("Wim", False, {})
    script.said("Vic", False, {})
    script.said("Sia", "timed_out", {})
    script.exile().dawn()
    script.said("Wim", True, {}, phase="vote")
    result = section("production")([script.rows()])
    assert result["overall"] == {"rate": 0.5, "deceptive": 2, "n": 4}
    assert result["by_role"]["Werewolf"] == {"rate": 2 / 3, "deceptive": 2, "n": 3}
    assert result["by_role"]["Villager"] == {"rate": 0.0, "deceptive": 0, "n": 1}
    assert result["by_role"]["Seer"] == {"rate": None, "deceptive": 0, "n": 0}
    assert result["by_brain"] == {
        "claude": {"rate": 0.0, "deceptive": 0, "n": 1},
        "gpt": {"rate": 2 / 3, "deceptive": 2, "n": 3},
    }
    assert result["by_agent"] == {"house": {"rate": 0.5, "deceptive": 2, "n": 4}}
    assert result["by_round"] == {
        "1": {"rate": 1 / 3, "deceptive": 1, "n": 3},
        "2": {"rate": 1.0, "deceptive": 1, "n": 1},
    }
    assert result["by_phase"]["vote"] == {"rate": 1.0, "deceptive": 1, "n": 1}


def test_fillers_count_as_truthful_statements_on_request_only():
    script = Script().dawn()
    script.said("Wim", True, {})
    script.said("Wim", "defaulted", {})
    assert section("production")([script.rows()])["overall"] == {"rate": 1.0, "deceptive": 1, "n": 1}
    assert section("production")([script.rows(include_defaulted=True)])["overall"] == {
        "rate": 0.5,
        "deceptive": 1,
        "n": 2,
    }
