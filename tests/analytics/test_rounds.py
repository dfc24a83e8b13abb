"""Suspicion round by round (Figure 1, trends), around claims and nights, and beside votes."""

from __future__ import annotations

import math
import random
import statistics
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import theilslopes

from analytics.columns import columns_of
from analytics.findings import Metrics
from analytics.measures.ballots import ballots_of
from analytics.measures.bootstrap import SEED, of_games
from analytics.measures.formulas import theil_sen
from analytics.rows import NightRow
from tests.analytics.script import Script, random_game, section, tails
from wolfbus.messages.content import AccusationClaim, InspectionClaim, RoleClaim, ScoredClaim


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


VOTED = [random_game(seed, missing=0.4).rows() for seed in range(25)]


def scripted():
    """Sia suspects Wim most, Vic suspects Wim and Val alike; a reason given at the vote comes too late."""
    script = Script(alpha=1.0).dawn(died="Von")
    script.said("Wim", True, {"Sia": (True, 0.9), "Vic": (True, 0.8), "Wes": (False, 0.1)})
    script.said("Val", False, {"Sia": (False, 0.2), "Vic": (True, 0.8), "Wim": (True, 0.7)})
    ballots = {"Sia": "Wim", "Vic": "Val", "Wim": "Val", "Wes": "Vic", "Doc": "Wes", "Val": None, "Vox": "Wim"}
    script.vote(ballots)
    script.said("Wes", True, {"Sia": (True, 1.0), "Vic": (True, 1.0)}, phase="vote")
    return script.exile("Val").end().rows()


def test_votes_by_hand():
    found = section("votes")([scripted()])
    # Sia follows; Vic splits between two; Wim judged Val and follows; Wes judged Wim only, below the prior of the
    # others; Doc and Vox judged nobody; Val abstains
    own = found["own_argmax"]
    assert (own["n"], own["abstentions"], own["unjudged"]) == (4, 1, 2)
    assert own["value"] == pytest.approx((1 + 1 / 2 + 1 + 1 / 5) / 4)
    assert own["chance"] == pytest.approx(1 / 6)
    hits = found["hits"]
    assert (hits["value"], hits["n"], hits["chance"]) == (3 / 4, 4, pytest.approx(2 / 6))
    assert list(found["hits_by_round"]) == ["1"]
    assert found["hits_by_round"]["1"] == hits
    # mean D of the living others than Werewolves (Sia, Vic, Doc, Val, Vox), 0.5 where nobody judged:
    # Wim (0.9 + 0.8 + 1.5) / 5 = 0.64; Val without herself (0.2 + 0.8 + 1.0) / 4 = 0.5
    counterfactual = found["counterfactual"]
    assert counterfactual["suspicion_exile"]["value"] == 1.0
    assert counterfactual["real_exile"]["value"] == counterfactual["real_exile_of_exiles"]["value"] == 0.0
    assert (counterfactual["chance"], counterfactual["votes"]) == (pytest.approx(2 / 7), 1)


def test_suspects_that_tie_split_the_counterfactual_exile():
    script = Script(alpha=1.0).dawn()
    script.said("Wim", True, {"Sia": (True, 0.8)})
    script.said("Val", False, {"Sia": (True, 0.8), "Vic": (True, 0.5)})
    script.vote({"Sia": "Wim"})
    rows = script.end().rows()
    # Sia suspects two most; towards Val there is one observer fewer, for she does not suspect herself
    assert ballots_of(columns_of([rows])).credit.tolist() == [0.5]
    assert section("votes")([rows])["counterfactual"]["suspicion_exile"]["value"] == 0.0


def plainly(rows):
    """Credits of the ballots, by a loop that folds D anew for every vote."""
    found = []
    for vote in rows.votes:
        gone = {d.seat for d in rows.deaths if d.round < vote.round or (d.round == vote.round and d.how == "night")}
        d = {}
        for j in rows.judgements:
            by_then = j.round < vote.round or (j.round == vote.round and j.phase == "debate")
            if by_then and j.usable and j.observer == vote.voter:
                d[j.target] = rows.alpha * j.s + (1 - rows.alpha) * d.get(j.target, rows.prior)
        others = [name for name in rows.seats if name not in gone and name != vote.voter]
        if vote.target is None or not any(name in d for name in others):
            found.append(np.nan)
            continue
        most = max(d.get(name, rows.prior) for name in others)
        first = [name for name in others if d.get(name, rows.prior) >= most - 1e-9]
        found.append(1 / len(first) if vote.target in first else 0.0)
    return found


def test_credits_agree_with_a_plain_loop_and_with_columns():
    credit = np.concatenate([plainly(rows) for rows in VOTED])
    found = section("votes")(VOTED)["own_argmax"]
    assert found["value"] == pytest.approx(np.nanmean(credit))
    assert found["n"] == (~np.isnan(credit)).sum()
    by_id = sorted(VOTED, key=lambda rows: rows.game)
    vector = ballots_of(columns_of(VOTED)).credit
    assert np.array_equal(vector, np.concatenate([plainly(rows) for rows in by_id]), equal_nan=True)


def claiming(rows, number, claim):
    statements = tuple(
        replace(s, claims=(ScoredClaim(claim=claim, verdict="true"),)) if s.number == number else s
        for s in rows.statements
    )
    return replace(rows, statements=statements)


CLAIM = RoleClaim(target="Sia", role="Seer")


def seer_game(before, after, name="g1", told=CLAIM):
    script = Script(name).dawn()
    for s in before:
        script.said("Sia", False, {"Vic": (True, s), "Wim": (True, s)})
    first = script.number + 1
    for s in after:
        script.said("Sia", False, {"Vic": (False, s)})
    return claiming(script.end().rows(), first, told)


def test_games_of_one_block_are_drawn_together():
    games = [seer_game([0.3 + 0.05 * at], [0.4 + 0.01 * at**2], f"g{at}") for at in range(6)]
    doubled = [*games, *(replace(rows, game=f"twin of {rows.game}") for rows in games)]
    one, other = Metrics(), Metrics()
    for at, rows in enumerate(doubled):
        one.add(rows, f"block {at % 6}")
        other.add(rows)
    tight, loose, plain = (
        found["seer"] for found in (other.result()["events"], one.result()["events"], section("events")(games))
    )
    for name in ("before", "after", "difference"):
        # a game and its twin in one block tell no more than the game alone
        for part in ("value", "low", "high"):
            assert loose[name][part] == pytest.approx(plain[name][part], abs=1e-12)
        assert tight[name]["high"] - tight[name]["low"] < 0.9 * (loose[name]["high"] - loose[name]["low"])


@pytest.mark.parametrize(
    "told",
    [
        RoleClaim(target="Vic", role="Seer"),
        RoleClaim(target="Sia", role="Villager"),
        InspectionClaim(target="Wim", role="Werewolf"),
        AccusationClaim(target="Sia"),
    ],
)
def test_only_a_role_claim_of_oneself_is_a_claim_to_be_the_seer(told):
    seer = section("events")([seer_game([0.6], [0.5], told=told)])["seer"]
    assert (seer["before"]["value"], seer["after"]["value"], seer["claimed"], seer["silent"]) == (None, None, 0, 1)
    assert "no Seer" in seer["before"]["reason"]


def test_who_only_pretends_to_be_the_seer_does_not_count():
    script = Script().dawn()
    number = script.said("Wim", True, {"Vic": (True, 0.9)})
    found = section("events")([claiming(script.rows(), number, RoleClaim(target="Wim", role="Seer"))])["seer"]
    assert (found["claimed"], found["after"]["n"]) == (0, 0)


def night(round_, target, protected, died):
    return NightRow(game="g", round=round_, target=target, protected=protected, died=died)


def lively(seed):
    """A random game with claims of the Seer and nights of all sorts."""
    rng = random.Random(seed)
    rows = random_game(seed).rows()
    own = [s.number for s in rows.statements if s.role == "Seer"]
    if own and rng.random() < 0.8:
        rows = claiming(rows, rng.choice(own), CLAIM)
    nights = [
        rng.choice([night(at, "Vic", (), "Vic"), night(at, "Vic", ("Vic",), None), night(at, None, (), None)])
        for at in range(1, rows.rounds + 1)
    ]
    return replace(rows, nights=tuple(nights))


LIVELY = [lively(seed) for seed in range(80)]


def test_events_agree_with_a_plain_loop():
    found = section("events")(LIVELY)
    cells = {"before": [], "after": [], "blocked": [], "killed": []}
    changes = []
    for rows in LIVELY:
        mean = {}
        for s in rows.statements:
            values = [j.s for j in rows.judgements if j.statement == s.number and j.usable]
            if values:
                mean[s.number] = np.mean(values)
        first = next((s.number for s in rows.statements if s.claims), None)
        own = {"before": [], "after": []}
        for s in rows.statements:
            if s.number not in mean:
                continue
            if s.role == "Seer" and first is not None:
                own["before" if s.number < first else "after"].append(mean[s.number])
            if s.role == "Doctor":
                night = rows.nights[s.round - 1]
                if night.target:
                    cells["killed" if night.died else "blocked"].append(mean[s.number])
        for name, values in own.items():
            cells[name] += values
        if own["before"] and own["after"]:
            changes.append(np.mean(own["after"]) - np.mean(own["before"]))
    for name, values in cells.items():
        cell = found["seer" if name in ("before", "after") else "doctor"][name]
        assert (cell["value"], cell["n"]) == (pytest.approx(np.mean(values)), len(values))
        assert cell["low"] < cell["value"] < cell["high"]
    assert found["seer"]["difference"]["value"] == pytest.approx(np.mean(changes))
    assert found["seer"]["games"] == len(changes) > 3
