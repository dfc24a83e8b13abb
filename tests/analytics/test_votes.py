"""Votes beside suspicion: the voter's own first suspect, Werewolves hit, the exile that suspicion would have made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analytics.columns import columns_of
from analytics.findings import Metrics
from analytics.fold import fold
from analytics.measures.ballots import ballots_of
from tests.analytics.script import TABLE, Script, random_game, section
from tests.game.driver import play

GAMES = [random_game(seed, missing=0.4).rows() for seed in range(25)]


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


def test_what_is_judged_at_the_vote_counts_from_the_next_day_on():
    known = ballots_of(columns_of([scripted()]))
    # Sia's judgement of Wes came with the vote: Wim alone she suspects most
    assert known.credit[[vote.voter for vote in scripted().votes].index("Sia")] == 1.0
    assert (known.living.tolist(), known.wolves.tolist()) == ([7], [2])
    assert list(TABLE)[known.exiled[0]] == "Val"


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
    credit = np.concatenate([plainly(rows) for rows in GAMES])
    found = section("votes")(GAMES)["own_argmax"]
    assert found["value"] == pytest.approx(np.nanmean(credit))
    assert found["n"] == (~np.isnan(credit)).sum()
    by_id = sorted(GAMES, key=lambda rows: rows.game)
    vector = ballots_of(columns_of(GAMES)).credit
    assert np.array_equal(vector, np.concatenate([plainly(rows) for rows in by_id]), equal_nan=True)


def test_played_games_agree_with_a_plain_loop():
    games = [replace(fold(play(seed=f"b{seed}").events), game=f"b{seed}") for seed in range(6)]
    known = ballots_of(columns_of(games))
    assert np.array_equal(known.credit, np.concatenate([plainly(rows) for rows in games]), equal_nan=True)
    # whoever lives votes
    assert known.living.tolist() == np.bincount(known.held).tolist()


def test_hits_agree_with_a_plain_count():
    rows = [v for game in GAMES for v in game.votes if v.voter_role != "Werewolf" and v.target is not None]
    found = section("votes")(GAMES)
    assert found["hits"]["value"] == pytest.approx(np.mean([v.target_role == "Werewolf" for v in rows]))
    for round_, cell in found["hits_by_round"].items():
        own = [v.target_role == "Werewolf" for v in rows if v.round == int(round_)]
        assert (cell["value"], cell["n"]) == (pytest.approx(np.mean(own)), len(own))


def test_votes_ignore_order_partition_and_seating():
    one, other = Metrics(), Metrics()
    for at, rows in enumerate(reversed(GAMES)):
        (one if at % 3 else other).add(replace(rows, seats=dict(reversed(rows.seats.items()))))
    one.merge(other)
    assert one.result()["votes"] == section("votes")(GAMES)


def test_a_single_game_has_values_and_no_intervals():
    found = section("votes")([scripted()])
    for cell in (found["own_argmax"], found["hits"], found["counterfactual"]["suspicion_exile"]):
        assert cell["value"] is not None
        assert (cell["low"], cell["high"]) == (None, None)
        assert cell["interval_reason"].startswith("fewer than 5 games (blocks)")


@pytest.mark.parametrize("games", [[], [random_game(1, missing=1.0).rows()]])
def test_without_judgements_votes_follow_nothing(games):
    found = section("votes")(games)
    assert found["own_argmax"]["value"] is None
    assert found["own_argmax"]["reason"]
    assert found["counterfactual"]["suspicion_exile"]["value"] is None
    assert found["counterfactual"]["votes"] == 0
