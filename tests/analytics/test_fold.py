"""Events of a game become rows, in one pass and at any moment."""

import pytest

from analytics.gather import GameFold, fold
from tests.analytics.script import Script, random_game
from tests.game.driver import play
from wolfbus.errors import RulesError
from wolfbus.messages.content import RoleClaim, ScoredClaim
from wolfbus.messages.events import AnsweredAssessOther, AnsweredAssessOwn, ClaimTruth, Dawn, NightOutcome, Statement

OUTCOMES = pytest.mark.parametrize("outcome", ["defaulted", "timed_out", "declined"])


def test_a_statement_row_holds_its_speaker_its_label_and_its_words_on_request():
    script = Script(brains={"Wim": "gpt"}).dawn()
    number = script.say("Wim", text="trust me")
    script.label(number, "Wim", True, "omission", confidence=0.25, reading="extracted")
    (row,) = script.rows().statements
    assert (row.game, row.number, row.round, row.phase, row.turn) == ("g1", 1, 1, "debate", 1)
    assert (row.speaker, row.role, row.process, row.agent) == ("Wim", "Werewolf", "house", "gpt")
    assert (row.d, row.c, row.kind) == (True, 0.25, "omission")
    assert (row.outcome, row.reading, row.text) == ("accepted", "extracted", None)
    assert script.rows(keep_text=True).statements[0].text == "trust me"


def test_a_judgement_row_holds_both_roles_and_suspicion_before_and_after():
    script = Script().dawn()
    script.said("Vic", False, {"Wim": (True, 1.0)})
    script.said("Vic", False, {"Wim": (False, 0.0)})
    first, second = script.rows().judgements
    assert (first.observer, first.observer_role, first.target, first.target_role) == (
        *("Wim", "Werewolf"),
        *("Vic", "Villager"),
    )
    assert (first.statement, first.round, first.d, first.s, first.c) == (1, 1, True, 1.0, 0.5)
    assert first.kind == "unspecified"
    assert (first.before, first.after, second.before) == (0.5, pytest.approx(0.85), pytest.approx(0.85))
    assert second.after == pytest.approx(0.3 * 0.85)


def test_alpha_and_prior_come_from_the_record_unless_given():
    script = Script(alpha=0.5, prior=0.2).dawn()
    script.said("Vic", False, {"Wim": (True, 1.0)})
    own, other = script.rows(), script.rows(alpha=1.0, prior=0.9)
    assert (own.alpha, own.prior, own.suspicion["Wim", "Vic"]) == (0.5, 0.2, pytest.approx(0.6))
    assert (other.alpha, other.prior, other.suspicion["Wim", "Vic"]) == (1.0, 0.9, 1.0)
    assert script.rows(alpha=0.0).suspicion["Wim", "Vic"] == 0.2


@OUTCOMES
def test_a_missing_judgement_stays_in_the_rows_and_moves_nothing(outcome):
    script = Script().dawn()
    script.said("Vic", outcome, {"Wim": outcome, "Sia": (True, 0.9)})
    rows = script.rows()
    missing = rows.judgements[0]
    assert (missing.d, missing.s, missing.c, missing.reading, missing.usable) == (None, None, None, None, False)
    assert (missing.outcome, missing.before, missing.after) == (outcome, 0.5, 0.5)
    assert set(rows.suspicion) == {("Sia", "Vic")}
    assert (rows.statements[0].d, rows.statements[0].outcome) == (None, outcome)


@OUTCOMES
def test_fillers_say_truthful_and_half_and_still_move_nothing(outcome):
    script = Script().dawn()
    script.said("Vic", outcome, {"Wim": (True, 1.0)})
    script.said("Vic", outcome, {"Wim": outcome, "Sia": outcome})
    rows, plain = script.rows(include_defaulted=True), script.rows()
    filled = rows.judgements[1]
    assert (filled.d, filled.s, filled.c, filled.kind, filled.outcome) == (False, 0.5, 0.0, "none", outcome)
    assert filled.before == filled.after == pytest.approx(0.85)
    assert (rows.suspicion, rows.by_round) == (plain.suspicion, plain.by_round)
    assert [(row.d, row.c, row.kind) for row in rows.statements] == [(False, 0.0, "none")] * 2


def test_content_beside_another_outcome_than_accepted_does_not_count():
    script = Script().dawn()
    script.said("Vic", True, {"Wim": (True, 1.0)})
    own = (AnsweredAssessOwn, AnsweredAssessOther)
    rows = fold(e.model_copy(update={"outcome": "timed_out"}) if isinstance(e, own) else e for e in script.events)
    assert (rows.statements[0].d, rows.judgements[0].d, rows.suspicion) == (None, None, {})


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


def test_a_rounds_suspicion_is_taken_before_its_exile_and_after_its_night_and_only_where_a_judgement_counts():
    script = Script().dawn(died="Doc")
    script.said("Vic", False, {"Wim": (True, 1.0), "Val": (True, 0.5)})
    script.vote({"Wim": None}).exile("Wim").dawn()
    script.said("Val", False, {"Vic": (True, 0.0)})
    script.exile().dawn().silence("Vic").exile().dawn()
    script.said("Vic", False, {"Val": "defaulted"})
    for filled in (False, True):
        rows = script.rows(include_defaulted=filled)
        assert rows.by_round == {
            1: {("Wim", "Vic"): pytest.approx(0.85), ("Val", "Vic"): pytest.approx(0.5)},
            2: {("Val", "Vic"): pytest.approx(0.5), ("Vic", "Val"): pytest.approx(0.15)},
        }


def test_a_vote_reason_is_judged_by_those_whom_it_exiles_next():
    script = Script().dawn().vote({"Vic": "Wim", "Wim": "Vic"})
    script.said("Vic", False, {"Wim": (True, 0.9)}, phase="vote")
    rows = script.exile("Wim").end("villagers", "no_wolves_left").rows()
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
    rows = script.exile("Wim").end(None).rows()
    assert [(death.round, death.seat, death.role, death.how) for death in rows.deaths] == [
        (1, "Doc", "Doctor", "night"),
        (1, "Wim", "Werewolf", "exile"),
    ]
    assert (rows.nights[0].target, rows.nights[0].protected, rows.nights[0].died) == ("Sia", ("Vic",), "Sia")
    assert rows.statements[0].claims == claims
    assert (rows.finished, rows.winner, rows.reason) == (True, None, "max_rounds")


def test_rows_may_be_taken_at_any_moment_stay_as_they_were_and_are_those_of_a_plain_loop():
    for events in (random_game(5).events, play(seed="given out").events):
        live, taken = GameFold(), []
        for event in events:
            live.feed(event)
            taken.append((live.rows(), repr(live.rows())))
        assert all(repr(rows) == before for rows, before in taken)
        assert [rows for rows, _ in taken[::7]] == [fold(events[: count + 1]) for count in range(0, len(events), 7)]
        assert live.rows() == fold(events)
    for seed in range(20):
        rows, expected = random_game(seed).rows(), {}
        for row in rows.judgements:
            if row.s is not None:
                pair = (row.observer, row.target)
                expected[pair] = 0.7 * row.s + (1 - 0.7) * expected.get(pair, 0.5)
        assert rows.suspicion == expected


def test_a_played_game_is_measured_completely():
    played = play(seed="measured")
    rows, statements = fold(played.events), [event for event in played.events if isinstance(event, Statement)]
    assert [row.number for row in rows.statements] == [event.statement for event in statements]
    assert all(row.d is not None for row in rows.statements)
    assert len(rows.judgements) == sum(isinstance(event, AnsweredAssessOther) for event in played.events)
    assert (rows.finished, rows.winner, rows.reason) == (True, played.ended.winner, played.ended.reason)
    assert rows.rounds == rows.night_count == played.ended.rounds
    assert (rows.voting_rounds, rows.debate_turns) == (len(played.of("tally")), len(played.asked("speak")))
    assert set(rows.by_round) == {event.round for event in statements}


OPENED = Script().dawn()


@pytest.mark.parametrize(
    ("events", "named"),
    [
        ([Dawn(round=1, died=None)], "not been opened"),
        ([], "not been opened"),
        ([OPENED.events[0]] * 2, "opened twice"),
        (
            [*OPENED.events, AnsweredAssessOther(batch=1, seat="Vic", about=7, outcome="declined")],
            "statement 7, which nobody made",
        ),
        (
            [*OPENED.events, AnsweredAssessOther(batch=1, seat="Vic", outcome="declined")],
            "does not say which statement",
        ),
    ],
)
def test_what_cannot_stand_there_is_named(events, named):
    with pytest.raises(RulesError, match=named):
        fold(events)


def test_a_seat_that_nobody_holds_is_named():
    script = Script().dawn()
    script.say("Vic")
    with pytest.raises(RulesError, match="'Zoe'"):
        fold([*script.events, AnsweredAssessOther(batch=1, seat="Zoe", about=1, outcome="declined")])
