"""The researcher's state is what the record says, at every point of it."""

from __future__ import annotations

import pytest

from tests.cli_views.games import SEEDS, lively, state_of, view_of
from tests.game.driver import Missing, play
from wolfbus.messages.events import Rejected, Statement
from wolfbus.state import TEXT_KEPT, GameState


@pytest.mark.parametrize("seed", SEEDS)
def test_every_statement_is_there_with_what_was_said_of_it(seed: str):
    events = [each.event for each in lively(seed)]
    state = state_of(lively(seed))
    statements = [event for event in events if event.type == "statement"]
    told = [said.text for said in state.transcript if hasattr(said, "text")]
    assert told == [each.text for each in statements]
    answered = [event for event in events if event.type == "answered"]
    for each in statements:
        said = state.statements[each.statement]
        judged = [e.content for e in answered if e.kind == "assess_other" and e.about == each.statement]
        usable = [content for content in judged if content is not None]
        assert (said.judged, said.missing) == (len(usable), len(judged) - len(usable))
        assert said.flagged == sum(content.deceptive for content in usable)
        assert said.suspicions == pytest.approx(sum(content.suspicion for content in usable))
        assert said.label is not None
        assert said.assessed
    assert state.outcomes.total() == len(answered)
    timed_out = [event for event in answered if event.kind == "speak" and event.outcome == "timed_out"]
    assert state.outcomes["speak", "timed_out"] == len(timed_out)
    assert state.faults["unparseable"] == sum(event.fault is not None for event in answered)
    assert state.readings["clean"] == sum(event.outcome == "accepted" for event in answered)
    bids = [event for event in answered if event.kind == "bid"]
    assert state.bids == {event.seat: event.content.bid for event in bids if event.batch == bids[-1].batch}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_matrix_is_made_of_the_rows_that_seats_know_and_what_is_met_of_those_of_the_living(seed: str):
    state = state_of(lively(seed))
    rows = {observer: view_of(lively(seed), observer).suspicion for observer in state.seats}
    for target in state.seats:
        assert {o: state.suspicion.of(o, target) for o in rows} == {o: row.of(o, target) for o, row in rows.items()}
        here = [o for o in rows if target in state.left or o in state.living]
        judges = [state.suspicion.of(o, target) for o in here if state.suspicion.judged(o, target)]
        assert state.suspicion_of(target) == (pytest.approx(sum(judges) / len(judges)) if judges else None)


@pytest.mark.parametrize("seed", SEEDS)
def test_those_alive_are_those_who_are_still_asked(seed: str):
    state = GameState()
    assert (state.opened, state.living, state.round, state.phase) == (None, (), 0, None)
    for event in (each.event for each in lively(seed)):
        state.feed(event)
        if event.type == "asked":
            for asking in event.asks:
                assert set(asking.seats) <= set(state.living) & set(state.waiting_for()[asking.kind])
            assert (state.round, state.phase) == (event.round, event.phase)
            assert state.turn >= event.turn
    assert (state.waiting_for(), state.ended) == ({}, event)


def test_seats_that_stop_answering_and_return_and_rejected_messages_are_told():
    state, counts = GameState(), []
    for event in play(answer=lambda q: Missing() if q.round == 1 else None).events:
        state.feed(event)
        counts.append(len(state.absent))
        assert event.type != "returned" or event.seat not in state.absent
    assert 1 < max(counts) > counts[-1]
    for reason in ("closed", "closed", "sender"):
        state.feed(Rejected(sender="agent", reason=reason, size=3, note="no"))
    assert state.rejected == {"closed": 2, "sender": 1}


def test_of_a_huge_statement_only_the_beginning_is_kept():
    state = state_of(lively("1"), 1)
    state.feed(Statement(statement=1, round=1, phase="debate", turn=1, speaker="Ada", text="y" * 50_000))
    assert (state.statements[1].text, state.statements[1].length) == ("y" * TEXT_KEPT, 50_000)
