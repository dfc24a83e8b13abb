"""When a game is over, and when a seat counts as absent: one claim each."""

from __future__ import annotations

import pytest

from tests.game.driver import Answerer, Missing, Played, Question, play
from tests.game.test_regressions import TABLE, hunting
from wolfbus.config import GameConfig
from wolfbus.messages.content import Bid
from wolfbus.messages.events import Ended

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


def test_wolves_win_at_dawn_when_they_are_as_many_as_the_others_and_no_debate_follows():
    played = play(TWO_WOLVES, "1", hunting({1: "Vic", 2: "Val"}))
    assert played.ended == Ended(winner="werewolves", reason="wolves_reach_parity", rounds=2)
    assert played.asked("bid", 1)
    assert not played.asked("bid", 2)
    assert not played.asked("vote", 2)
    assert [event.type for event in played.events[-2:]] == ["dawn", "ended"]


def test_wolves_win_at_the_exile_that_makes_them_as_many_as_the_others():
    played = play(TWO_WOLVES, "1", hunting({1: "Vic"}, votes={1: "Val"}))
    assert played.ended == Ended(winner="werewolves", reason="wolves_reach_parity", rounds=1)
    assert [event.type for event in played.events[-2:]] == ["exile", "ended"]


def test_a_game_goes_on_while_wolves_are_one_fewer_than_the_others():
    played = play(TWO_WOLVES.model_copy(update={"max_rounds": 2}), "1", peaceful({1: "Vic"}))
    assert played.ended.reason == "max_rounds"


def test_villagers_win_at_the_exile_of_the_last_wolf():
    played = play(TWO_WOLVES, "1", peaceful({1: "Wim", 2: "Wes"}))
    assert played.ended == Ended(winner="villagers", reason="no_wolves_left", rounds=2)
    assert [event.type for event in played.events[-2:]] == ["exile", "ended"]


def test_a_win_on_the_last_day_is_a_win():
    played = play(TWO_WOLVES.model_copy(update={"max_rounds": 2}), "1", peaceful({1: "Wim", 2: "Wes"}))
    assert played.ended.winner == "villagers"


@pytest.mark.parametrize("days", [1, 3])
def test_without_a_winner_a_game_ends_after_exactly_max_rounds_completed_days(days):
    played = play(TWO_WOLVES.model_copy(update={"max_rounds": days}), "1", peaceful())
    assert played.ended == Ended(winner=None, reason="max_rounds", rounds=days)
    assert len(played.of("exile")) == days


def what_becomes_of(seat: str, script: str, strikes: int) -> list[str]:
    """Return outcomes and absences of a seat, in record order, whose requests end as the letters say.

    T: timed out, D: declined, F: answered, but not usably, A: answered; after the last letter it answers.
    """
    letters = iter(script)
    missing = {
        "T": Missing("timed_out"),
        "D": Missing("declined"),
        "F": Missing("defaulted", "unparseable"),
    }

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


@pytest.mark.parametrize(
    ("strikes", "script", "course"),
    [
        (3, "TTT", "T T T absent A returned A"),
        (3, "TTATT", "T T A T T A"),
        (3, "TTATTT", "T T A T T T absent A returned"),
        (3, "TTFTTT", "T T F T T T absent A returned"),
        (3, "TTDT", "T T D T absent A returned"),
        (3, "TDDDT", "T D D D T A"),
        (3, "TTTTTT", "T T T absent T T T A returned"),
        (3, "TTTDA", "T T T absent D A returned"),
        (3, "TTTF", "T T T absent F returned A"),
        (3, "TTTATTT", "T T T absent A returned T T T absent A returned"),
        (1, "T", "T absent A returned"),
        (2, "TATT", "T A T T absent A returned"),
        (4, "TTTA", "T T T A"),
    ],
)
def test_a_seat_is_absent_after_strikes_time_outs_in_a_row_until_it_answers(strikes, script, course):
    expected = course.split()
    assert what_becomes_of("Von", script, strikes)[: len(expected)] == expected


def test_an_absent_seat_is_still_asked_and_strikes_are_counted_by_seat():
    def answer(question: Question):
        return Missing() if question.seat in {"Vic", "Val"} else peaceful()(question)

    config = TABLE.model_copy(update={"debate_turns": 2, "max_rounds": 1, "strikes": 3})
    played = play(config, "1", answer)
    assert sorted(event.seat for event in played.of("absent")) == ["Val", "Vic"]
    assert {question.seat for question in played.asked("vote")} >= {"Vic", "Val"}
    assert not played.of("returned")
