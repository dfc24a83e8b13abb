"""The researcher's state is what the record says, at every point of it."""

from __future__ import annotations

import pytest

from tests.cli_views.games import SEEDS, lively, state_of, view_of


@pytest.mark.parametrize("seed", SEEDS)
def test_every_statement_is_there_with_what_was_said_of_it(seed: str):
    events = [line.event for line in lively(seed)]
    state = state_of(lively(seed))
    statements = [event for event in events if event.type == "statement"]
    texts = [moment.spoken.text for moment in state.transcript if hasattr(moment, "spoken")]
    assert texts == [statement.text for statement in statements]
    answered = [event for event in events if event.type == "answered"]
    for statement in statements:
        utterance = state.statements[statement.statement]
        judged = [e.content for e in answered if e.kind == "assess_other" and e.about == statement.statement]
        usable = [content for content in judged if content is not None]
        assert (utterance.judged, utterance.missing) == (len(usable), len(judged) - len(usable))
        assert utterance.flagged == sum(content.deceptive for content in usable)
        assert utterance.suspicions == pytest.approx(sum(content.suspicion for content in usable))
        assert utterance.label is not None
        assert utterance.assessed
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
        observers = [o for o in rows if target in state.left or o in state.living]
        judges = [state.suspicion.of(o, target) for o in observers if state.suspicion.judged(o, target)]
        assert state.suspicion_of(target) == (pytest.approx(sum(judges) / len(judges)) if judges else None)
