"""Suspicion round by round (Figure 1, trends), around claims and nights, and beside votes."""

import math
import random
import statistics
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t, theilslopes

from analytics.findings import results_of
from analytics.metrics.study import Study
from analytics.results import UNINFORMED
from tests.analytics.script import Script, drawn_blocks, family, measured, random_game, section, tables_of, tails
from tests.analytics.synthetic import rising
from wolfbus.messages.content import AccusationClaim, InspectionClaim, RoleClaim, ScoredClaim
from wolfbus.messages.events import NightOutcome


def game(*rounds):
    """A game in which the Seer judges a Werewolf and a Villager once a round as given; alpha is 1."""
    script = Script(alpha=1.0)
    for suspicions in rounds:
        script.dawn()
        for target, suspicion in zip(("Wim", "Vic"), suspicions, strict=False):
            script.said(target, False, {"Sia": (False, suspicion)})
        script.exile()
    return script.end().rows()


def test_a_point_is_the_mean_within_a_game_and_then_over_games():
    script = Script(alpha=1.0).dawn()
    script.said("Wim", True, {"Sia": (True, 0.9), "Vic": (False, 0.3)})
    pairs = script.end().rows()
    result = section("figure1")([pairs, game([0.8, 0.1]), game([0.1, 0.3], [0.4, 0.5])])
    first, second = result["suspicion"]["Werewolf"]
    assert (first["round"], first["mean"], first["n"]) == (1, pytest.approx((0.6 + 0.8 + 0.1) / 3), 3)
    assert first["sem"] == pytest.approx(statistics.stdev([0.6, 0.8, 0.1]) / math.sqrt(3))
    assert second == {"round": 2, "mean": 0.4, "sem": None, "n": 1}
    assert result["suspicion"]["Villager"][0] == {"round": 1, "mean": 0.2, "sem": pytest.approx(0.1), "n": 2}
    assert result["suspicion"]["Doctor"] == []


def test_games_that_are_all_alike_have_no_interval_around_their_mean():
    results = results_of(Study(tables_of(replace(game([0.5, 0.5]), game=f"game-{number}") for number in range(6))))
    row = results.row("suspicion", UNINFORMED, target="Werewolf", round=1)
    assert (row.value, row.low, row.n, row.reason) == (0.5, None, 6, "every draw gives the same")


def test_the_interval_of_a_mean_stands_beside_the_mean_and_not_beside_its_standard_error():
    games = (
        replace(game([value, 0.5]), game=f"game-{number}") for number, value in enumerate((0.1, 0.4, 0.5, 0.6, 0.9))
    )
    results = results_of(Study(tables_of(games)), [family("course_rows")])
    mean = results.row("suspicion", UNINFORMED, target="Werewolf", round=1)
    error = results.row("suspicion_sem", UNINFORMED, target="Werewolf", round=1)
    assert mean.low < mean.value < mean.high
    assert (error.low, error.high, error.reason) == (None, None, None)
    assert error.value == pytest.approx((mean.high - mean.low) / 2 / t.ppf(0.975, 4))


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
    told, filled = (section("figure1")([script.rows(include_defaulted=given)]) for given in (False, True))
    assert told["flagged"] == [
        {"round": 1, "share": 0.5, "flagged": 1, "n": 2},
        {"round": 2, "share": 1.0, "flagged": 1, "n": 1},
    ]
    assert filled["flagged"][0] == {"round": 1, "share": 1 / 3, "flagged": 1, "n": 3}
    assert filled["suspicion"] == told["suspicion"]


@pytest.mark.parametrize("size", range(2, 12))
def test_a_slope_within_a_game_is_that_of_scipy_where_rounds_are_missing_too(size):
    rng = np.random.default_rng(size)
    rounds, values = np.sort(rng.choice(20, size=size, replace=False)), rng.random(size)
    given = dict(zip(rounds.tolist(), values.tolist(), strict=True))
    rows = game(*([given[at]] if at in given else [] for at in range(20)))
    found = section("trends")([rows])["slopes"]["Werewolf"]["median"]
    assert found == pytest.approx(theilslopes(values, rounds).slope, rel=1e-9)


def test_a_trend_is_the_median_over_games_and_the_papers_reading_stands_apart():
    games = [game([0.5, 0.5], [0.6, 0.5], [0.7, 0.5]), game([0.2, 0.5], [0.5, 0.5]), game([0.9, 0.4])]
    result = section("trends")(games)["slopes"]
    werewolf = result["Werewolf"]
    assert (werewolf["median"], werewolf["n"]) == (pytest.approx((0.1 + 0.3) / 2), 2)
    assert (werewolf["low"], werewolf["high"], werewolf["reason"]) == (None, None, None)
    assert werewolf["interval_reason"].startswith("fewer than 5 games (blocks)")
    assert werewolf["paper_reading"] == pytest.approx(theilslopes([(0.5 + 0.2 + 0.9) / 3, 0.55, 0.7], [1, 2, 3]).slope)
    assert werewolf["paper_reading_rounds"] == 3
    assert result["Doctor"]["reason"] == "there are no games of at least two rounds with such suspicion"
    assert (result["Doctor"]["median"], result["Doctor"]["n"], result["Doctor"]["paper_reading"]) == (None, 0, None)
    slope = section("trends")([game([0.5, 0.5], [0.6, 0.5])] * 6)["slopes"]["Werewolf"]
    assert (slope["low"], slope["interval_reason"]) == (None, "every draw gives the same")
    varied = section("trends")([game([0.5, 0.5], [0.6 + 0.01 * k, 0.5]) for k in range(6)])["slopes"]["Werewolf"]
    assert varied["low"] < varied["median"] < varied["high"]


@pytest.mark.parametrize("games", [6, 7])
def test_intervals_over_games_are_those_of_a_bootstrap_written_plainly(games):
    values = np.sort([0.1, -0.3, 0.2, 0.25, 0.6, -0.1, 0.0][:games])
    found = measured("trends", rising(values))
    drawn = np.repeat(np.tile(values, (2_000, 1)).ravel(), drawn_blocks(games).ravel()).reshape(2_000, games)
    difference = found["separable"]["rounds"][-1]
    for row, of in ((found["slopes"]["Werewolf"], np.median), (difference, np.mean)):
        assert [row["low"], row["high"]] == pytest.approx(np.quantile(of(drawn, axis=1), tails(games)).tolist())


def test_werewolves_stand_out_from_the_first_round_whose_interval_stays_above_zero():
    # round 1 clearly apart, round 2 not, rounds 3 and 4 apart again; round 5 has too few games to be judged
    games = [
        game(
            *([0.8 + 0.001 * k, 0.2], [0.5, 0.4 + 0.02 * k], [0.6 + 0.001 * k, 0.4], [0.7 + 0.01 * k, 0.4]),
            *([[0.1, 0.9]] if k < 9 else []),
        )
        for k in range(12)
    ]
    separable = section("trends")(games)["separable"]
    assert (separable["round"], separable["reason"]) == (3, None)
    assert [row["n"] for row in separable["rounds"]] == [12, 12, 12, 12, 9]
    first, second, *_, last = separable["rounds"]
    assert [first[name] for name in ("difference", "low", "high")] == pytest.approx([0.6055, 0.6035, 0.6075], abs=5e-4)
    assert second["low"] <= 0
    assert last["difference"] < 0


def test_a_difference_is_paired_within_the_game_and_why_werewolves_never_stand_out_is_told():
    (row,) = section("trends")([game([0.8, 0.2]), game([0.1]), game([0.3, 0.4])])["separable"]["rounds"]
    assert (row["n"], row["difference"]) == (2, pytest.approx((0.6 - 0.1) / 2))
    assert row["interval_reason"].startswith("fewer than 5")
    few, even, alike, none = (
        section("trends")(games)["separable"]
        for games in ([game([0.8, 0.2])] * 9, [game([0.8, 0.2], [0.5, 0.5])] * 10, [game([0.8, 0.2])] * 10, [])
    )
    assert (few["round"], even["round"], alike["round"], none["rounds"]) == (None, None, 1, [])
    assert "10 games" in few["reason"]
    assert "round 2" in even["reason"]
    assert (alike["rounds"][0]["low"], alike["rounds"][0]["interval_reason"]) == (None, "every draw gives the same")


def test_votes_by_hand():
    # Sia suspects Wim most, Vic suspects Wim and Val alike; a reason given at the vote comes too late
    script = Script(alpha=1.0).dawn(died="Von")
    script.said("Wim", True, {"Sia": (True, 0.9), "Vic": (True, 0.8), "Wes": (False, 0.1)})
    script.said("Val", False, {"Sia": (False, 0.2), "Vic": (True, 0.8), "Wim": (True, 0.7)})
    script.vote({"Sia": "Wim", "Vic": "Val", "Wim": "Val", "Wes": "Vic", "Doc": "Wes", "Val": None, "Vox": "Wim"})
    script.said("Wes", True, {"Sia": (True, 1.0), "Vic": (True, 1.0)}, phase="vote")
    found = section("votes")([script.exile("Val").end().rows()])
    # Sia follows; Vic splits between two; Wim judged Val and follows; Wes judged Wim only, below the prior of the
    # others; Doc and Vox judged nobody; Val abstains
    own, hits = found["own_argmax"], found["hits"]
    assert (own["n"], own["abstentions"], own["unjudged"]) == (4, 1, 2)
    assert (own["value"], own["chance"]) == (pytest.approx((1 + 1 / 2 + 1 + 1 / 5) / 4), pytest.approx(1 / 6))
    assert (hits["value"], hits["n"], hits["chance"]) == (3 / 4, 4, pytest.approx(2 / 6))
    assert found["hits_by_round"] == {"1": hits}
    # mean D of the living others than Werewolves (Sia, Vic, Doc, Val, Vox), 0.5 where nobody judged:
    # Wim (0.9 + 0.8 + 1.5) / 5 = 0.64; Val without herself (0.2 + 0.8 + 1.0) / 4 = 0.5
    exile = found["counterfactual"]
    assert [exile[name]["value"] for name in ("suspicion_exile", "real_exile", "real_exile_of_exiles")] == [1, 0, 0]
    assert (exile["chance"], exile["votes"]) == (pytest.approx(2 / 7), 1)


def test_suspects_that_tie_split_the_counterfactual_exile():
    script = Script(alpha=1.0).dawn()
    script.said("Wim", True, {"Sia": (True, 0.8)})
    script.said("Val", False, {"Sia": (True, 0.8), "Vic": (True, 0.5)})
    found = section("votes")([script.vote({"Sia": "Wim"}).end().rows()])
    # Sia suspects two most; towards Val there is one observer fewer, for she does not suspect herself
    assert found["own_argmax"]["value"] == 0.5
    assert found["counterfactual"]["suspicion_exile"]["value"] == 0.0


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
            continue
        most = max(d.get(name, rows.prior) for name in others)
        first = [name for name in others if d.get(name, rows.prior) >= most - 1e-9]
        found.append(1 / len(first) if vote.target in first else 0.0)
    return found


def test_credits_of_votes_agree_with_a_plain_loop():
    voted = [random_game(seed, missing=0.4).rows() for seed in range(25)]
    for games in (voted, *([each] for each in voted[:8])):
        credit = [each for rows in games for each in plainly(rows)]
        found = section("votes")(games)["own_argmax"]
        assert (found["value"], found["n"]) == (pytest.approx(np.mean(credit)) if credit else None, len(credit))


def claiming(rows, number, claim):
    claims = (ScoredClaim(claim=claim, verdict="true"),)
    told = (replace(row, claims=claims) if row.number == number else row for row in rows.statements)
    return replace(rows, statements=tuple(told))


CLAIM = RoleClaim(target="Sia", role="Seer")


@pytest.mark.parametrize(
    ("speaker", "told", "claimed"),
    [
        ("Sia", CLAIM, (1, 0)),
        ("Sia", RoleClaim(target="Vic", role="Seer"), (0, 1)),
        ("Sia", RoleClaim(target="Sia", role="Villager"), (0, 1)),
        ("Sia", InspectionClaim(target="Wim", role="Werewolf"), (0, 1)),
        ("Sia", AccusationClaim(target="Sia"), (0, 1)),
        # who only pretends to be the Seer does not count
        ("Wim", RoleClaim(target="Wim", role="Seer"), (0, 1)),
    ],
)
def test_only_a_seers_role_claim_of_itself_is_a_claim_to_be_the_seer(speaker, told, claimed):
    script = Script().dawn()
    for s in (0.6, 0.5):
        script.said(speaker, False, {"Vic": (True, s)})
    seer = section("events")([claiming(script.end().rows(), 2, told)])["seer"]
    assert (seer["claimed"], seer["silent"]) == claimed
    assert [seer[name]["value"] for name in ("before", "after")] == ([0.6, 0.5] if claimed[0] else [None, None])
    assert claimed[0] or "no Seer" in seer["before"]["reason"]


def lively(seed):
    """A random game with claims of the Seer and nights of all sorts."""
    rng, script = random.Random(seed), random_game(seed)
    dawns = [(at, event.round) for at, event in enumerate(script.events) if event.type == "dawn"]
    for at, round_ in reversed(dawns):
        target, protected, died = rng.choice((("Vic", (), "Vic"), ("Vic", ("Vic",), None), (None, (), None)))
        script.events.insert(at, NightOutcome(round=round_, target=target, protected=protected, died=died))
    rows = script.rows()
    own = [s.number for s in rows.statements if s.role == "Seer"]
    if own and rng.random() < 0.8:
        rows = claiming(rows, rng.choice(own), CLAIM)
    return rows


def test_events_agree_with_a_plain_loop():
    games = [lively(seed) for seed in range(80)]
    found = section("events")(games)
    cells = {"before": [], "after": [], "blocked": [], "killed": []}
    changes = []
    for rows in games:
        heard = {
            s.number: [j.s for j in rows.judgements if j.statement == s.number and j.usable] for s in rows.statements
        }
        first = next((s.number for s in rows.statements if s.claims), None)
        own = {"before": [], "after": []}
        for s in (s for s in rows.statements if heard[s.number]):
            mean = np.mean(heard[s.number])
            if s.role == "Seer" and first is not None:
                own["before" if s.number < first else "after"].append(mean)
            if s.role == "Doctor" and (night := rows.nights[s.round - 1]).target:
                cells["killed" if night.died else "blocked"].append(mean)
        for name, values in own.items():
            cells[name] += values
        if all(own.values()):
            changes.append(np.mean(own["after"]) - np.mean(own["before"]))
    for name, values in cells.items():
        cell = found["seer" if name in ("before", "after") else "doctor"][name]
        assert (cell["value"], cell["n"]) == (pytest.approx(np.mean(values)), len(values))
        assert cell["low"] < cell["value"] < cell["high"]
    assert found["seer"]["difference"]["value"] == pytest.approx(np.mean(changes))
    assert found["seer"]["games"] == len(changes) > 3
