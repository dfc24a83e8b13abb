"""Mistakes that the paper's released code makes, and this one must never make."""

from __future__ import annotations

import pytest

from tests.game.driver import Missing, Played, Question, play
from wolfbus.config import GameConfig
from wolfbus.messages.content import Ballot, Bid, Choice, Proposal, Speech
from wolfbus.messages.events import AnsweredVote, Dawn, Exile, Inspection, NightOutcome, Opened, Statement, Tally

NAMES = ("Wim", "Wes", "Sia", "Doc", "Vic", "Val", "Vox", "Von")
TABLE = GameConfig(
    names=NAMES,
    roles=dict(zip(NAMES, ("Werewolf", "Werewolf", "Seer", "Doctor", *["Villager"] * 4), strict=True)),
)


def nights(played: Played) -> dict[int, NightOutcome]:
    return {event.round: event for event in played.of("night_outcome") if isinstance(event, NightOutcome)}


def hunting(prey: dict[int, str], protect: dict[int, str] | None = None, votes: dict[int, str] | None = None):
    """Wolves go for `prey` by round, the doctor protects by round, everybody votes by round; otherwise nobody is
    exiled."""

    def answer(question: Question):
        if question.kind in {"whisper", "kill"} and prey.get(question.round) in question.legal:
            target = prey[question.round]
            return Proposal(target=target) if question.kind == "whisper" else Choice(target=target)
        if question.kind == "protect" and (protect or {}).get(question.round) in question.legal:
            return Choice(target=protect[question.round])
        if question.kind == "vote":
            target = (votes or {}).get(question.round)
            return Ballot(target=target if target in question.legal else None)
        return None

    return answer


def test_a_dead_doctor_protects_nobody():
    played = play(TABLE, "1", hunting({1: "Doc", 2: "Vic"}, protect={1: "Val"}))
    assert nights(played)[1].died == "Doc"
    assert nights(played)[2].protected == ()
    assert nights(played)[2].died == "Vic"
    assert not played.asked("protect", 2)


def test_a_doctor_killed_tonight_still_protects():
    played = play(TABLE.model_copy(update={"doctors": 1}), "1", hunting({1: "Doc"}, protect={1: "Doc"}))
    assert nights(played)[1].died is None


def test_a_saved_player_stays_in_play():
    played = play(TABLE, "1", hunting({1: "Vic"}, protect={1: "Vic"}))
    assert nights(played)[1].target == "Vic"
    assert nights(played)[1].died is None
    assert "Vic" in {question.seat for question in played.asked("vote", 1)}


def test_a_seer_killed_tonight_learns_nothing():
    played = play(TABLE, "1", hunting({1: "Sia"}, protect={1: "Vic"}))
    assert played.asked("inspect", 1)
    assert not [event for event in played.of("inspection") if isinstance(event, Inspection)]


def test_a_wolf_is_no_legal_kill():
    for seed in range(20):
        for question in play(TABLE, str(seed)).questions:
            if question.kind in {"kill", "whisper"}:
                assert not {"Wim", "Wes"} & set(question.legal)


def test_a_dead_player_is_no_legal_answer_and_is_asked_nothing():
    for seed in range(20):
        played = play(TABLE, str(seed))
        gone: set[str] = set()
        questions = iter(played.questions)
        for event in played.events:
            if event.type == "asked":
                for asking in event.asks:
                    for _ in asking.seats:
                        question = next(questions)
                        assert question.seat not in gone
                        assert not gone & {name for name in question.legal or () if name}
            elif isinstance(event, Dawn) and event.died:
                gone.add(event.died)
            elif isinstance(event, Exile) and event.seat:
                gone.add(event.seat)


def test_an_unusable_vote_is_an_abstention_and_recorded():
    def answer(question: Question):
        if question.kind == "vote":
            return Missing("defaulted", "illegal") if question.seat == "Vic" else Ballot(target="Val")
        return hunting({})(question)

    played = play(TABLE.model_copy(update={"first_night_kill": False, "max_rounds": 1}), "1", answer)
    tally = next(event for event in played.of("tally") if isinstance(event, Tally))
    assert tally.votes["Vic"] is None
    vote = next(e for e in played.of("answered") if isinstance(e, AnsweredVote) and e.seat == "Vic")
    assert (vote.outcome, vote.fault) == ("defaulted", "illegal")


def test_night_kills_resolve_with_no_seer_and_no_doctor_alive():
    played = play(TABLE, "1", hunting({1: "Sia", 2: "Doc", 3: "Vic"}, protect={1: "Doc", 2: "Sia"}))
    assert [nights(played)[round_].died for round_ in (1, 2, 3)] == ["Sia", "Doc", "Vic"]


def test_rounds_advance():
    played = play(TABLE, "1", hunting({1: "Vic", 2: "Val"}))
    assert [event.round for event in played.of("dawn")] == list(range(1, played.ended.rounds + 1))
    statements = [event for event in played.of("statement") if isinstance(event, Statement)]
    assert [event.statement for event in statements] == list(range(1, len(statements) + 1))
    assert {event.round for event in statements} > {1}


def test_the_order_in_which_answers_arrive_changes_nothing():
    # batches are joined in seating order whatever the driver's order of answers
    from moderator.rules.game import Steps
    from tests.game.driver import answered, opening, questions

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
                found = [
                    (q.seat, answered(batch, q, Bid(bid=5) if q.kind == "bid" else None, "5"))
                    for q, _ in questions(batch)
                ]
                answers[number] = dict(reversed(found) if reverse else found)
            step = steps.advance(answers)

    assert run(reverse=False) == run(reverse=True)


def test_an_empty_option_list_asks_nobody():
    # a seer that has seen everybody alive has nothing to inspect
    config = TABLE.model_copy(update={"first_night_kill": False, "max_rounds": 10})

    def answer(question: Question):
        if question.kind == "whisper":
            return Missing()
        return hunting({})(question)

    played = play(config, "1", answer)
    assert played.ended.reason == "max_rounds"
    assert len(played.of("inspection")) == 7
    assert not played.asked("inspect", 8)


def test_every_wolf_knows_its_partners():
    from wolfbus.audience import Herald

    opened = play(TABLE, "1").opened
    assert isinstance(opened, Opened)
    told = dict(Herald().tell(opened).private)
    assert told["Wim"].fact.partners == ("Wes",)
    assert told["Wes"].fact.partners == ("Wim",)
    assert all(not told[name].fact.partners for name in NAMES[2:])


def test_a_silence_is_no_statement_and_nobody_is_judged():
    def answer(question: Question):
        return Missing() if question.kind == "speak" else hunting({})(question)

    played = play(TABLE.model_copy(update={"max_rounds": 1}), "1", answer)
    assert len(played.of("silence")) == 6
    assert not played.of("statement")
    assert not played.asked("assess_other")


@pytest.mark.parametrize(
    ("bids", "speaker"), [({"Vic": 9, "Val": 8}, "Vic"), ({"Von": 1}, "Von"), ({"Sia": 10, "Doc": 10, "Wim": 9}, None)]
)
def test_the_highest_bid_speaks(bids, speaker):
    def answer(question: Question):
        if question.kind == "bid":
            return Bid(bid=bids.get(question.seat, 0))
        return hunting({})(question)

    played = play(TABLE.model_copy(update={"debate_turns": 1, "first_night_kill": False}), "1", answer)
    first = next(event for event in played.of("statement") if isinstance(event, Statement))
    assert first.speaker == speaker if speaker else first.speaker in {"Sia", "Doc"}


def test_overbidding_costs_exactly_a_factor_per_bid():
    # 10 · 0.85 = 8.5 beats 8; 10 · 0.85² = 7.225 loses to 8
    bids = {1: {"Vic": 10}, 2: {"Val": 1}, 3: {"Vic": 10, "Vox": 8}, 4: {"Val": 1}, 5: {"Vic": 10, "Von": 8}}

    def answer(question: Question):
        if question.kind == "bid":
            return Bid(bid=bids[question.turn].get(question.seat, 0))
        return hunting({})(question)

    config = TABLE.model_copy(update={"debate_turns": 5, "first_night_kill": False, "max_rounds": 1})
    for seed in range(5):
        spoken = [e.speaker for e in play(config, str(seed), answer).of("statement") if e.phase == "debate"]
        assert spoken == ["Vic", "Val", "Vic", "Val", "Von"]


def test_named_players_weigh_double_in_a_tie():
    counts = {"Vic": 0, "others": 0}

    def answer(question: Question):
        if question.kind == "bid":
            return Bid(bid=10 if question.seat == "Wim" and question.turn == 1 else 0)
        if question.kind == "speak":
            return Speech(text="I look at Vic, not at Victor.")
        return hunting({})(question)

    config = TABLE.model_copy(update={"debate_turns": 2, "first_night_kill": False, "max_rounds": 1})
    for seed in range(600):
        second = [e for e in play(config, str(seed), answer).of("statement") if e.phase == "debate"][1]
        counts["Vic" if second.speaker == "Vic" else "others"] += 1
    # seven bidders, one of weight 2: 2 in 8
    assert 110 <= counts["Vic"] <= 190
