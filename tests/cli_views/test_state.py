"""The researcher's state is what the record says, at every point of it."""

from __future__ import annotations

import random

import pytest

from tests.cli_views.games import SEEDS, lively, recorded
from tests.game.driver import Missing, play
from wolfbus.cli.terminal.pages import view_at
from wolfbus.messages.events import (
    Answered,
    AnsweredAssessOther,
    AnsweredBid,
    Asked,
    Ended,
    Opened,
    Rejected,
    Returned,
    Statement,
)
from wolfbus.state import TEXT_KEPT, GameState
from wolfbus.utterance import Utterance


def state_of(records, until: int | None = None) -> GameState:
    state = GameState()
    for each in records[:until]:
        state.feed(each.event)
    return state


@pytest.mark.parametrize("seed", SEEDS)
def test_every_statement_is_there_with_what_was_said_of_it(seed: str):
    events = [each.event for each in lively(seed)]
    state = state_of(lively(seed))
    statements = [event for event in events if isinstance(event, Statement)]
    assert [said.text for said in state.transcript if isinstance(said, Utterance)] == [each.text for each in statements]
    for each in statements:
        said = state.statements[each.statement]
        judgements = [e for e in events if isinstance(e, AnsweredAssessOther) and e.about == each.statement]
        usable = [e.content for e in judgements if e.content is not None]
        assert (said.judged, said.missing) == (len(usable), len(judgements) - len(usable))
        assert said.flagged == sum(content.deceptive for content in usable)
        assert said.suspicions == pytest.approx(sum(content.suspicion for content in usable))
        assert said.label is not None
        assert said.assessed


@pytest.mark.parametrize("seed", SEEDS)
def test_the_matrix_is_made_of_the_rows_that_seats_know(seed: str):
    state = state_of(lively(seed))
    for observer in state.seats:
        row = view_at(lively(seed), observer).suspicion
        for target in state.seats:
            assert state.suspicion.of(observer, target) == row.of(observer, target)


@pytest.mark.parametrize("seed", SEEDS)
def test_those_alive_are_those_who_are_still_asked(seed: str):
    state = GameState()
    for each in lively(seed):
        event = each.event
        state.feed(event)
        if isinstance(event, Asked):
            for asking in event.asks:
                assert set(asking.seats) <= set(state.living)
                assert set(asking.seats) <= set(state.waiting_for()[asking.kind])
            assert (state.round, state.phase) == (event.round, event.phase)
            assert state.turn >= event.turn
        elif isinstance(event, Ended):
            assert state.waiting_for() == {}
            assert state.ended == event


def test_answers_are_counted_by_what_became_of_them():
    state = state_of(lively("7"))
    answers = [each.event for each in lively("7") if isinstance(each.event, Answered)]
    assert state.outcomes.total() == len(answers)
    assert state.outcomes["speak", "timed_out"] == sum(
        1 for event in answers if event.kind == "speak" and event.outcome == "timed_out"
    )
    assert state.faults["unparseable"] == sum(1 for event in answers if event.fault is not None)
    clean = [event for event in answers if event.outcome == "accepted" and event.reading == "clean"]
    assert state.readings["clean"] == len(clean)


def test_bids_are_those_of_the_latest_turn():
    state = GameState()
    for each in lively("1"):
        state.feed(each.event)
        if isinstance(each.event, AnsweredBid) and each.event.content is not None:
            assert state.bids[each.event.seat] == each.event.content.bid
    last = [each.event for each in lively("1") if isinstance(each.event, AnsweredBid)]
    assert set(state.bids) == {event.seat for event in last if event.batch == last[-1].batch}


def test_seats_that_stop_answering_and_return_are_told():
    events = play(answer=lambda q: Missing() if q.round == 1 else None).events
    state, counts = GameState(), []
    for event in events:
        state.feed(event)
        counts.append(len(state.absent))
        if isinstance(event, Returned):
            assert event.seat not in state.absent
    assert max(counts) > 1
    assert counts[-1] < max(counts)


def test_of_a_huge_statement_only_the_beginning_is_kept():
    opened = lively("1")[0].event
    state = GameState()
    state.feed(opened)
    state.feed(Statement(statement=1, round=1, phase="debate", turn=1, speaker="Ada", text="y" * 50_000))
    assert state.statements[1].text == "y" * TEXT_KEPT
    assert state.statements[1].length == 50_000


def test_suspicion_met_is_that_of_the_living_who_judged():
    state = state_of(lively("23"))
    for target in state.seats:
        judges = [
            o for o in state.seats if state.suspicion.judged(o, target) and (target in state.left or o in state.living)
        ]
        met = state.suspicion_of(target)
        if judges:
            assert met == pytest.approx(sum(state.suspicion.of(o, target) for o in judges) / len(judges))
        else:
            assert met is None


def test_a_record_with_holes_is_folded_as_far_as_it_goes():
    draws = random.Random(5)
    for _ in range(20):
        events = [each.event for each in lively("7") if draws.random() < 0.5]
        draws.shuffle(events)
        state = GameState()
        for event in events:
            state.feed(event)
        assert state.events == len(events)


def test_rejected_messages_are_counted_by_reason():
    state = GameState()
    for reason in ("closed", "closed", "sender"):
        state.feed(Rejected(sender="agent", reason=reason, size=3, note="no"))
    assert state.rejected == {"closed": 2, "sender": 1}


def test_before_the_opening_there_is_nothing():
    state = GameState()
    assert (state.opened, state.living, state.round, state.phase) == (None, (), 0, None)
    first = recorded(play().events)[0].event
    assert isinstance(first, Opened)
    state.feed(first)
    assert len(state.living) == 8
