"""What holds all through a game: who is asked, when it is over, and when a seat counts as absent."""

import pytest

from moderator.rules.game import Steps
from tests.game.driver import (
    NAMES,
    TABLE,
    Answerer,
    Missing,
    Played,
    Question,
    answered,
    hunting,
    opening,
    play,
    questions,
)
from tests.llm.tables import tables
from wolfbus.errors import RulesError
from wolfbus.game.config import GameConfig, rules_text
from wolfbus.messages.content import AccusationClaim, Bid, Speech
from wolfbus.messages.events import Dawn, Exile, Statement

SIX = ("Wim", "Wes", "Vic", "Val", "Vox", "Von")
TWO_WOLVES = GameConfig(
    villagers=4,
    werewolves=2,
    seers=0,
    doctors=0,
    debate_turns=1,
    vote_reasons=False,
    names=SIX,
    roles=dict(zip(SIX, ("Werewolf", "Werewolf", *["Villager"] * 4), strict=True)),
)


def peaceful(votes: dict[int, str] | None = None) -> Answerer:
    """Wolves propose nobody; everybody votes by round."""

    def answer(question: Question):
        return Missing() if question.kind in {"whisper", "kill"} else hunting({}, votes=votes)(question)

    return answer


def test_neither_wolves_nor_the_dead_are_legal_where_they_must_not_be_and_the_dead_are_asked_nothing():
    for seed in range(20):
        played = play(TABLE, str(seed))
        gone: set[str] = set()
        asked = iter(played.questions)
        for event in played.events:
            if event.type == "asked":
                for question in (next(asked) for asking in event.asks for _ in asking.seats):
                    assert question.seat not in gone
                    assert not gone & set(question.legal or ())
                    if question.kind in {"kill", "whisper"}:
                        assert not {"Wim", "Wes"} & set(question.legal)
            elif isinstance(event, Dawn | Exile):
                left = event.died if isinstance(event, Dawn) else event.seat
                gone |= {left} if left else set()


def test_rounds_advance_and_statements_are_numbered():
    played = play(TABLE, "1", hunting({1: "Vic", 2: "Val"}))
    assert [event.round for event in played.of("dawn")] == list(range(1, played.ended.rounds + 1))
    statements = [event for event in played.of("statement") if isinstance(event, Statement)]
    assert [event.statement for event in statements] == list(range(1, len(statements) + 1))
    assert {event.round for event in statements} > {1}


def test_the_order_in_which_answers_arrive_changes_nothing():
    def run(reverse: bool):
        steps = Steps(opening(TABLE, "5"))
        step, events, asked = steps.advance(), [], {}
        while True:
            events.extend(step.events)
            asked.update({event.batch: event for event in step.events if event.type == "asked"})
            if step.ended:
                return events
            answers = {}
            for number in sorted(step.waits_for, reverse=reverse):
                batch = asked.pop(number)
                bids = [(q, Bid(bid=5) if q.kind == "bid" else None) for q, _ in questions(batch)]
                found = [(q.seat, answered(batch, q, bid, "5")) for q, bid in bids]
                answers[number] = dict(reversed(found) if reverse else found)
            step = steps.advance(answers)

    assert run(reverse=False) == run(reverse=True)


@pytest.mark.parametrize(("days", "prey", "votes", "ended", "last"), tables(__file__)["endings"])
def test_a_game_is_over_when_one_side_has_won_or_all_days_are_played(days, prey, votes, ended, last):
    prey = {int(day): name for day, name in prey.items()}
    votes = {int(day): name for day, name in votes.items()}
    answer = hunting(prey, votes=votes) if prey else peaceful(votes)
    played = play(TWO_WOLVES.model_copy(update={"max_rounds": days}), "1", answer)
    winner, reason, rounds = ended
    assert (played.ended.winner, played.ended.reason, played.ended.rounds) == (winner or None, reason, rounds)
    assert [event.type for event in played.events[-2:]] == [last, "ended"]
    # a win at dawn is followed by no debate
    assert {question.round for question in played.asked("bid")} == set(range(1, rounds + (last == "exile")))


def what_becomes_of(seat: str, script: str, strikes: int) -> list[str]:
    """Return outcomes and absences of a seat, in record order, whose requests end as the letters say.

    T: timed out, D: declined, F: answered, but not usably, A: answered; after the last letter it answers.
    """
    letters = iter(script)
    missing = {"T": Missing("timed_out"), "D": Missing("declined"), "F": Missing("defaulted", "unparseable")}

    def answer(question: Question):
        letter = next(letters, "A") if question.seat == seat else "A"
        if letter in missing:
            return missing[letter]
        if question.kind == "bid":
            return Bid(bid=10 if question.seat in {"Wim", "Wes"} else 0)
        return peaceful()(question)

    # judging first, one joined request of the seat at a time
    config = TWO_WOLVES.model_copy(
        update={"first_night_kill": False, "debate_turns": 6, "overlap": False, "strikes": strikes, "max_rounds": 1}
    )
    return told(play(config, "1", answer), seat)


def told(played: Played, seat: str) -> list[str]:
    shown = {"timed_out": "T", "declined": "D", "defaulted": "F", "accepted": "A"}
    events = [event for event in played.of("answered", "absent", "returned") if event.seat == seat]
    return [shown[event.outcome] if event.type == "answered" else event.type for event in events]


@pytest.mark.parametrize(("strikes", "script", "course"), tables(__file__)["absences"])
def test_a_seat_is_absent_after_strikes_time_outs_in_a_row_until_it_answers(strikes, script, course):
    expected = course.split()
    assert what_becomes_of("Von", script, strikes)[: len(expected)] == expected


def test_an_absent_seat_is_still_asked_and_strikes_are_counted_by_seat():
    def answer(question: Question):
        return Missing() if question.seat in {"Vic", "Val"} else peaceful()(question)

    config = TABLE.model_copy(update={"debate_turns": 2, "max_rounds": 1, "strikes": 3})
    played = play(config, "1", answer)
    assert sorted(event.seat for event in played.of("absent")) == ["Val", "Vic"]
    assert {question.seat for question in played.asked("vote")} == set(NAMES)
    assert not played.of("returned")


@pytest.mark.parametrize("change", ["missing", "of a stranger", "instead"])
def test_a_step_with_other_answers_than_were_asked_for_is_refused(change):
    steps = Steps(opening(TABLE, "5"))
    step = steps.advance()
    asked = {event.batch: event for event in step.events if event.type == "asked"}
    answers = {n: {q.seat: answered(asked[n], q, None, "5") for q, _ in questions(asked[n])} for n in step.waits_for}
    batch = answers[step.waits_for[0]]
    seat, answer = next(iter(batch.items()))
    if change != "of a stranger":
        del batch[seat]
    if change != "missing":
        batch["Zoe"] = answer
    with pytest.raises(RulesError, match=rf"^batch {step.waits_for[0]} was joined with answers of "):
        steps.advance(answers)


@pytest.mark.parametrize(("bids", "spoilt"), [("declined", ("Von",)), ("accepted", ())])
def test_whether_a_game_is_spoilt_is_told_by_answers_that_a_seat_was_asked_for_and_does_not_decline(bids, spoilt):
    def answer(question: Question):
        if question.seat == "Von" and question.kind == "assess_other":
            return Missing()
        if question.seat == "Von" and question.kind == "bid" and bids == "declined":
            return Missing("declined")
        return Bid(bid=0) if question.kind == "bid" and question.seat == "Von" else peaceful()(question)

    config = TWO_WOLVES.model_copy(update={"debate_turns": 6, "max_rounds": 1, "spoilt_above": 0.5})
    assert play(config, "1", answer).ended.spoilt == spoilt


def test_a_villager_may_think_whom_the_day_exiled_a_werewolf_and_not_whom_the_night_killed():
    accused = tuple(AccusationClaim(target=name) for name in ("Vox", "Val"))

    def answer(question: Question):
        if question.kind == "bid":
            return Bid(bid=10 if question.seat == "Vic" else 0)
        if question.kind == "speak" and question.round == 2:
            return Speech(text="They were wolves.", claims=accused)
        return hunting({2: "Val"}, votes={1: "Vox"})(question)

    played = play(TABLE.model_copy(update={"first_night_kill": False, "debate_turns": 1, "max_rounds": 2}), "1", answer)
    (truth,) = played.of("claim_truth")
    assert [claim.verdict for claim in truth.claims] == ["mistake", "lie"]


def test_rules_are_told_in_words_whether_or_not_they_say_who_is_what():
    dealt = TWO_WOLVES.model_copy(update={"roles": None})
    assert TWO_WOLVES.roles
    assert rules_text(TWO_WOLVES) == rules_text(dealt)
    assert "6 players" in rules_text(TWO_WOLVES, technical=False)
