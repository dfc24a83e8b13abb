"""Games as the moderator really plays them, measured."""

from __future__ import annotations

from analytics.fold import fold
from tests.game.driver import play
from wolfbus.messages.events import AnsweredAssessOther, Statement


def test_a_played_game_is_measured_completely():
    played = play(seed="measured")
    rows = fold(played.events)
    statements = [event for event in played.events if isinstance(event, Statement)]
    assert [row.number for row in rows.statements] == [event.statement for event in statements]
    assert all(row.usable for row in rows.statements)
    assert len(rows.judgements) == sum(isinstance(event, AnsweredAssessOther) for event in played.events)
    assert (rows.finished, rows.winner, rows.reason) == (True, played.ended.winner, played.ended.reason)
    assert rows.rounds == rows.night_count == played.ended.rounds
    assert rows.voting_rounds == len(played.of("tally"))
    assert rows.debate_turns == len(played.asked("speak"))
    assert set(rows.by_round) == {event.round for event in statements}
