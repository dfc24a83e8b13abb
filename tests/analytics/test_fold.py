"""Events of a game become rows, in one pass and at any moment."""

from __future__ import annotations

import pytest

from analytics.fold import GameFold, fold
from tests.analytics.script import Script, random_game
from tests.game.driver import play
from wolfbus.errors import RulesError
from wolfbus.messages.content import RoleClaim, ScoredClaim
from wolfbus.messages.events import AnsweredAssessOther, AnsweredAssessOwn, ClaimTruth, Dawn, NightOutcome
from wolfbus.suspicion import smooth


def test_a_statement_row_holds_its_speaker_and_its_label():
    script = Script(brains={"Wim": "gpt"}).dawn()
    number = script.say("Wim")
    script.label(number, "Wim", True, "omission", confidence=0.25, reading="extracted")
    (row,) = script.rows().statements
    assert (row.game, row.number, row.round, row.phase, row.turn) == ("g1", 1, 1, "debate", 1)
    assert (row.speaker, row.role, row.process, row.agent) == ("Wim", "Werewolf", "house", "gpt")
    assert (row.d, row.c, row.kind, row.usable) == (True, 0.25, "omission", True)
    assert (row.outcome, row.reading, row.text) == ("accepted", "extracted", None)


def test_a_judgement_row_holds_both_roles_and_suspicion_before_and_after():
    script = Script().dawn()
    script.said("Vic", False, {"Wim": (True, 1.0)})
    script.said("Vic", False, {"Wim": (False, 0.0)})
    first, second = script.rows().judgements
    assert (first.observer, first.observer_role, first.target, first.target_role) == (
        "Wim",
        "Werewolf",
        "Vic",
        "Villager",
    )
    assert (first.statement, first.round, first.d, first.s, first.c, first.kind) == (
        1,
        1,
        True,
        1.0,
        0.5,
        "unspecified",
    )
    assert first.before == 0.5
    assert first.after == second.before == pytest.approx(0.85)
    assert second.after == pytest.approx(0.3 * 0.85)


def test_alpha_and_prior_come_from_the_record_unless_given():
    script = Script(alpha=0.5, prior=0.2).dawn()
    script.said("Vic", False, {"Wim": (True, 1.0)})
    own, other = script.rows(), script.rows(alpha=1.0, prior=0.9)
    assert (own.alpha, own.prior, own.suspicion["Wim", "Vic"]) == (0.5, 0.2, pytest.approx(0.6))
    assert (other.alpha, other.prior, other.suspicion["Wim", "Vic"]) == (1.0, 0.9, 1.0)
    assert script.rows(alpha=0.0).suspicion["Wim", "Vic"] == 0.2


@pytest.mark.parametrize("outcome", ["defaulted", "timed_out", "declined"])
def test_a_missing_judgement_stays_in_the_rows_and_moves_nothing(outcome):
    script = Script().dawn()
    script.said("Vic", outcome, {"Wim": outcome, "Sia": (True, 0.9)})
    rows = script.rows()
    missing = rows.judgements[0]
    assert (missing.d, missing.s, missing.c, missing.reading, missing.usable) == (None, None, None, None, False)
    assert missing.outcome == outcome
    assert missing.before == missing.after == 0.5
    assert set(rows.suspicion) == {("Sia", "Vic")}
    assert (rows.statements[0].d, rows.statements[0].outcome) == (None, outcome)


@pytest.mark.parametrize("outcome", ["defaulted", "timed_out", "declined"])
def test_fillers_say_truthful_and_half_and_still_move_nothing(outcome):
    script = Script().dawn()
    script.said("Vic", outcome, {"Wim": (True, 1.0)})
    script.said("Vic", outcome, {"Wim": outcome, "Sia": outcome})
    rows = script.rows(include_defaulted=True)
    filled = rows.judgements[1]
    assert (filled.d, filled.s, filled.c, filled.kind, filled.outcome) == (False, 0.5, 0.0, "none", outcome)
    assert filled.before == filled.after == pytest.approx(0.85)
    assert rows.suspicion == script.rows().suspicion
    assert rows.by_round == script.rows().by_round
    assert [(row.d, row.c, row.kind) for row in rows.statements] == [(False, 0.0, "none")] * 2


def test_content_beside_another_outcome_than_accepted_does_not_count():
    script = Script().dawn()
    script.said("Vic", True, {"Wim": (True, 1.0)})
    late = [
        event.model_copy(update={"outcome": "timed_out"})
        if isinstance(event, AnsweredAssessOwn | AnsweredAssessOther)
        else event
        for event in script.events
    ]
    rows = fold(late)
    assert rows.statements[0].d is None
    assert rows.judgements[0].d is None
    assert not rows.suspicion


def test_suspicion_freezes_when_either_of_a_pair_leaves():
    script = Script().dawn()
    script.said("Vic", False, {"Wim": (True, 1.0), "Sia": (True, 1.0), "Doc": (True, 1.0)})
    script.exile("Wim").dawn(died="Sia")
    script.said("Vic", False, {"Wim": (False, 0.0), "Sia": (False, 0.0), "Doc": (False, 0.0)})
    rows = script.rows()
    assert rows.suspicion["Wim", "Vic"] == rows.suspicion["Sia", "Vic"] == pytest.approx(0.85)
    assert rows.suspicion["Doc", "Vic"] == pytest.approx(0.255)
    of_the_dead = rows.judgements[3]
    assert of_the_dead.usable
    assert of_the_dead.before == of_the_dead.after == pytest.approx(0.85)
    assert set(rows.by_round[2]) == {("Doc", "Vic")}


def test_a_rounds_suspicion_is_taken_before_its_exile_and_after_its_night():
    script = Script().dawn(died="Doc")
    script.said("Vic", False, {"Wim": (True, 1.0), "Val": (True, 0.5)})
    script.vote({"Wim": None}).exile("Wim").dawn()
    script.said("Val", False, {"Vic": (True, 0.0)})
    rows = script.rows()
    assert rows.by_round[1] == {("Wim", "Vic"): pytest.approx(0.85), ("Val", "Vic"): pytest.approx(0.5)}
    assert rows.by_round[2] == {("Val", "Vic"): pytest.approx(0.5), ("Vic", "Val"): pytest.approx(0.15)}


def test_a_round_without_a_usable_judgement_has_no_suspicion_of_its_own():
    script = Script().dawn()
    script.said("Vic", False, {"Wim": (True, 1.0)})
    script.exile().dawn().silence("Vic").exile().dawn()
    script.said("Vic", False, {"Wim": "defaulted"})
    assert list(script.rows().by_round) == [1]
    assert list(script.rows(include_defaulted=True).by_round) == [1]


def test_a_vote_reason_is_judged_by_those_whom_it_exiles_next():
    script = Script().dawn()
    script.vote({"Vic": "Wim", "Wim": "Vic"})
    script.said("Vic", False, {"Wim": (True, 0.9)}, phase="vote")
    script.exile("Wim").end("villagers", "no_wolves_left")
    rows = script.rows()
    assert rows.judgements[0].phase == "vote"
    assert set(rows.by_round[1]) == {("Wim", "Vic")}


def test_ballots_carry_roles_and_whether_they_were_cast():
    script = Script().dawn().vote({"Vic": "Wim", "Wim": None, "Sia": "Vic"}, late=["Wim"])
    assert [(v.voter, v.voter_role, v.target, v.target_role, v.outcome, v.round) for v in script.rows().votes] == [
        ("Vic", "Villager", "Wim", "Werewolf", "accepted", 1),
        ("Wim", "Werewolf", None, None, "timed_out", 1),
        ("Sia", "Seer", "Vic", "Villager", "accepted", 1),
    ]


def test_deaths_nights_claims_and_the_end_are_kept():
    script = Script().dawn(died="Doc")
    number = script.say("Sia", text="I am your Seer.")
    claims = (ScoredClaim(claim=RoleClaim(target="Sia", role="Seer"), verdict="true"),)
    script.events.append(ClaimTruth(statement=number, claims=claims))
    script.events.append(NightOutcome(round=2, target="Sia", protected=("Vic",), died="Sia"))
    script.exile("Wim").end(None)
    rows = script.rows()
    assert [(death.round, death.seat, death.role, death.how) for death in rows.deaths] == [
        (1, "Doc", "Doctor", "night"),
        (1, "Wim", "Werewolf", "exile"),
    ]
    assert (rows.nights[0].target, rows.nights[0].protected, rows.nights[0].died) == ("Sia", ("Vic",), "Sia")
    assert rows.statements[0].claims == claims
    assert (rows.finished, rows.winner, rows.reason) == (True, None, "max_rounds")


def test_rows_may_be_taken_at_any_moment_and_stay_as_they_were():
    events = random_game(5).events
    live, taken = GameFold(), []
    for event in events:
        live.feed(event)
        taken.append(live.rows())
    assert taken == [fold(events[:count]) for count in range(1, len(events) + 1)]


def test_words_are_kept_on_request():
    script = Script().dawn()
    script.say("Vic", text="trust me")
    assert script.rows(keep_text=True).statements[0].text == "trust me"


def test_suspicion_equals_a_plain_loop_over_the_judgements():
    for seed in range(20):
        rows = random_game(seed).rows()
        expected: dict[tuple[str, str], float] = {}
        for row in rows.judgements:
            if row.s is not None:
                pair = (row.observer, row.target)
                expected[pair] = smooth(expected.get(pair, 0.5), row.s, 0.7)
        assert rows.suspicion == expected


def test_what_cannot_stand_there_is_named():
    with pytest.raises(RulesError, match="not been opened"):
        GameFold().feed(Dawn(round=1, died=None))
    with pytest.raises(RulesError, match="not been opened"):
        GameFold().rows()
    script = Script().dawn()
    with pytest.raises(RulesError, match="opened twice"):
        fold([script.events[0], script.events[0]])
    with pytest.raises(RulesError, match="statement 7, which nobody made"):
        fold([*script.events, AnsweredAssessOther(batch=1, seat="Vic", about=7, outcome="declined")])
    with pytest.raises(RulesError, match="does not say which statement"):
        fold([*script.events, AnsweredAssessOther(batch=1, seat="Vic", outcome="declined")])
    script.say("Vic")
    with pytest.raises(RulesError, match="'Zoe'"):
        fold([*script.events, AnsweredAssessOther(batch=1, seat="Zoe", about=1, outcome="declined")])


def test_rows_that_were_given_out_stay_as_they_were_and_lose_nothing_by_it():
    events = play(seed="given out").events
    game, given = GameFold(), []
    for event in events:
        game.feed(event)
        rows = game.rows()
        given.append((rows, repr(rows)))
    assert all(repr(rows) == before for rows, before in given)
    assert game.rows() == fold(events)
