"""Figure 1 and what is read from it: suspicion by round, slopes, and when Werewolves stand out."""

from __future__ import annotations

import math
import statistics
import sys

import numpy as np
import pytest
from scipy.stats import theilslopes

from analytics.measures.bootstrap import SEED, of_games
from analytics.measures.formulas import theil_sen
from tests.analytics.script import Script, random_game, section, tails
from wolfbus.vocabulary import ROLES


def game(*rounds, flags=False):
    """A game in which the Seer judges a Werewolf and a Villager once a round as given; alpha is 1."""
    script = Script(alpha=1.0)
    for suspicions in rounds:
        script.dawn()
        for target, suspicion in zip(("Wim", "Vic"), suspicions, strict=False):
            script.said(target, False, {"Sia": (flags, suspicion)})
        script.exile()
    return script.end().rows()


def test_a_point_is_the_mean_within_a_game_and_then_over_games():
    script = Script(alpha=1.0).dawn()
    script.said("Wim", True, {"Sia": (True, 0.9), "Vic": (False, 0.3)})
    pairs = script.end().rows()
    result = section("figure1")([pairs, game([0.8, 0.1]), game([0.1, 0.3], [0.4, 0.5])])
    werewolf = result["suspicion"]["Werewolf"]
    assert [row["round"] for row in werewolf] == [1, 2]
    assert werewolf[0]["mean"] == pytest.approx((0.6 + 0.8 + 0.1) / 3)
    assert werewolf[0]["sem"] == pytest.approx(statistics.stdev([0.6, 0.8, 0.1]) / math.sqrt(3))
    assert werewolf[0]["n"] == 3
    assert werewolf[1] == {"round": 2, "mean": 0.4, "sem": None, "n": 1}
    assert result["suspicion"]["Villager"][0] == {"round": 1, "mean": 0.2, "sem": pytest.approx(0.1), "n": 2}
    assert result["suspicion"]["Doctor"] == []


def test_the_exiled_of_a_round_are_still_in_its_point_and_gone_from_the_next():
    script = Script(alpha=1.0).dawn(died="Doc")
    script.said("Wim", True, {"Sia": (True, 0.9), "Vic": (False, 0.1)})
    script.exile("Sia").dawn(died="Val")
    script.said("Wes", True, {"Vic": (False, 0.2)})
    line = section("figure1")([script.rows()])["suspicion"]["Werewolf"]
    assert [row["mean"] for row in line] == [pytest.approx(0.5), pytest.approx(0.15)]


def test_the_share_of_flags_is_over_the_judgements_of_a_round():
    script = Script().dawn()
    script.said("Wim", True, {"Sia": (True, 0.9), "Vic": (False, 0.1), "Val": "timed_out"})
    script.exile().dawn()
    script.said("Wim", True, {"Sia": (True, 0.9)})
    rows = [script.rows()]
    assert section("figure1")(rows)["flagged"] == [
        {"round": 1, "share": 0.5, "flagged": 1, "n": 2},
        {"round": 2, "share": 1.0, "flagged": 1, "n": 1},
    ]
    filled = section("figure1")([script.rows(include_defaulted=True)])
    assert filled["flagged"][0] == {"round": 1, "share": 1 / 3, "flagged": 1, "n": 3}
    assert filled["suspicion"] == section("figure1")(rows)["suspicion"]


def test_points_agree_with_a_plain_loop_over_judgements_and_deaths():
    games = [random_game(seed).rows() for seed in range(20)]
    result = section("figure1")(games)["suspicion"]
    for role in ROLES:
        for row in result[role]:
            means = []
            for rows in games:
                judged = [j for j in rows.judgements if j.usable and j.round <= row["round"]]
                if not any(j.round == row["round"] for j in judged):
                    continue
                gone = {d.seat for d in rows.deaths if d.round < row["round"]}
                gone |= {d.seat for d in rows.deaths if d.round == row["round"] and d.how == "night"}
                last = {(j.observer, j.target): j.after for j in judged}
                values = [
                    value
                    for (observer, target), value in last.items()
                    if rows.seats[target].role == role and not {observer, target} & gone
                ]
                if values:
                    means.append(sum(values) / len(values))
            assert row["n"] == len(means)
            assert row["mean"] == pytest.approx(sum(means) / len(means), rel=1e-12)
            expected = statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else None
            assert row["sem"] == (pytest.approx(expected, abs=1e-15) if expected is not None else None)


def test_equal_games_have_a_standard_error_of_exactly_zero():
    line = section("figure1")([game([0.1, 0.7])] * 7)["suspicion"]["Werewolf"]
    assert line == [{"round": 1, "mean": pytest.approx(0.1), "sem": 0.0, "n": 7}]


def test_theil_sen_is_the_median_of_all_pairwise_slopes():
    # by hand: slopes 1, 2, 3 between (1, 0), (2, 1), (4, 9)? (1->2): 1, (1->4): 3, (2->4): 4
    assert theil_sen([(1, 0.0), (2, 1.0), (4, 9.0)]) == 3.0
    assert theil_sen([(2, 0.5)]) is None
    assert theil_sen([]) is None


def test_theil_sen_agrees_with_scipy():
    rng = np.random.default_rng(3)
    for size in range(2, 12):
        rounds = sorted(rng.choice(30, size=size, replace=False).tolist())
        line = {round_: float(rng.random()) for round_ in rounds}
        assert theil_sen(list(line.items())) == pytest.approx(
            theilslopes(list(line.values()), list(line)).slope, rel=1e-12
        )


def test_a_trend_is_the_median_over_games_and_the_papers_reading_stands_apart():
    games = [game([0.5, 0.5], [0.6, 0.5], [0.7, 0.5]), game([0.2, 0.5], [0.5, 0.5]), game([0.9, 0.4])]
    result = section("trends")(games)["slopes"]
    werewolf = result["Werewolf"]
    assert werewolf["n"] == 2
    assert werewolf["median"] == pytest.approx((0.1 + 0.3) / 2)
    assert (werewolf["low"], werewolf["high"], werewolf["reason"]) == (None, None, None)
    assert werewolf["interval_reason"].startswith("fewer than 5 games (blocks)")
    means = {1: (0.5 + 0.2 + 0.9) / 3, 2: 0.55, 3: 0.7}
    assert werewolf["paper_reading"] == pytest.approx(theil_sen(list(means.items())))
    assert werewolf["paper_reading_rounds"] == 3
    assert result["Villager"]["median"] == 0.0
    assert result["Doctor"] == {
        "median": None,
        "low": None,
        "high": None,
        "n": 0,
        "reason": "there are no games of at least two rounds with such suspicion",
        "paper_reading": None,
        "paper_reading_rounds": 0,
    }


def test_a_single_game_has_a_slope_and_no_interval():
    slope = section("trends")([game([0.5, 0.5], [0.6, 0.5])])["slopes"]["Werewolf"]
    assert (slope["median"], slope["low"], slope["high"], slope["n"]) == (pytest.approx(0.1), None, None, 1)
    assert (slope["reason"], slope["interval_reason"]) == (None, "fewer than 5 games (blocks) to resample")


def test_equal_slopes_have_no_interval():
    slope = section("trends")([game([0.5, 0.5], [0.6, 0.5])] * 6)["slopes"]["Werewolf"]
    assert (slope["low"], slope["interval_reason"]) == (None, "every draw gives the same")
    varied = section("trends")([game([0.5, 0.5], [0.6 + 0.01 * k, 0.5]) for k in range(6)])["slopes"]["Werewolf"]
    assert varied["low"] < varied["median"] < varied["high"]
    assert "interval_reason" not in varied


def test_the_bootstrap_agrees_with_one_written_plainly():
    values = [0.1, -0.3, 0.2, 0.25, 0.6, -0.1, 0.0]
    for held in (values, values[:6]):
        picks = np.random.default_rng(SEED).integers(0, len(held), size=(2000, len(held)))
        for statistic, of in (("mean", np.mean), ("median", np.median)):
            low, high, _ = of_games(held, statistic)
            expected = np.quantile(of(np.sort(held)[picks], axis=1), tails(len(held)))
            assert (low, high) == (pytest.approx(expected[0]), pytest.approx(expected[1]))
    assert of_games(values, "mean") == of_games(values[::-1], "mean")
    assert of_games(values[:4], "mean").low is None
    assert of_games([0.5] * 9, "mean").low is None


def test_werewolves_stand_out_from_the_first_round_whose_interval_stays_above_zero():
    # round 1 clearly apart, round 2 not, rounds 3 and 4 apart again; round 5 has too few games to be judged
    games = [
        game(
            [0.8 + 0.001 * k, 0.2],
            [0.5, 0.4 + 0.02 * k],
            [0.6 + 0.001 * k, 0.4],
            [0.7 + 0.01 * k, 0.4],
            *([[0.1, 0.9]] if k < 9 else []),
        )
        for k in range(12)
    ]
    separable = section("trends")(games)["separable"]
    assert separable["round"] == 3
    assert separable["reason"] is None
    assert [row["n"] for row in separable["rounds"]] == [12, 12, 12, 12, 9]
    first = separable["rounds"][0]
    assert [first[name] for name in ("difference", "low", "high")] == pytest.approx([0.6055, 0.6035, 0.6075], abs=5e-4)
    assert separable["rounds"][1]["low"] <= 0
    assert separable["rounds"][4]["difference"] < 0


def test_a_difference_is_paired_within_the_game():
    separable = section("trends")([game([0.8, 0.2]), game([0.1]), game([0.3, 0.4])])["separable"]
    (row,) = separable["rounds"]
    assert (row["n"], row["difference"]) == (2, pytest.approx((0.6 - 0.1) / 2))
    assert row["interval_reason"].startswith("fewer than 5")


def test_why_werewolves_never_stand_out_is_told():
    few = section("trends")([game([0.8, 0.2])] * 9)["separable"]
    assert few["round"] is None
    assert "10 games" in few["reason"]
    even = section("trends")([game([0.8, 0.2], [0.5, 0.5])] * 10)["separable"]
    assert even["round"] is None
    assert "round 2" in even["reason"]
    alike = section("trends")([game([0.8, 0.2])] * 10)["separable"]
    assert (alike["round"], alike["rounds"][0]["low"]) == (1, None)
    assert alike["rounds"][0]["interval_reason"] == "every draw gives the same"
    assert section("trends")([])["separable"]["rounds"] == []


def test_play_need_not_load_what_only_reports_need():
    import subprocess

    code = (
        "import sys, analytics.fold, analytics.findings, analytics.report.terminal\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'matplotlib', 'markupsafe', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
