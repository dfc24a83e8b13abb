"""The table of votes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analytics.export.column import Column, ExportTable, Row, text
from analytics.export.game import ExportedGame
from analytics.export.ids import (
    FAULT,
    GAME_ID,
    LINE,
    OUTCOME,
    READING,
    ROUND,
    agent,
    role,
    seat_id,
    statement_id,
    vote_id,
)


def _rows(game: ExportedGame) -> Iterator[Row]:
    rows = game.rows
    reasons = {(row.round, row.speaker): row.number for row in rows.statements if row.phase == "vote"}
    for row in rows.votes:
        noted = game.details.ballots.get((row.round, row.voter))
        event = None if noted is None else noted.event
        number = reasons.get((row.round, row.voter))
        target = None if row.target is None else seat_id(game.id, row.target)
        yield (
            vote_id(game.id, row.round, row.voter),
            game.id,
            seat_id(game.id, row.voter),
            target,
            None if number is None else statement_id(game.id, number),
            None if noted is None else noted.line,
            row.round,
            row.voter,
            row.voter_role,
            rows.seats[row.voter].brain,
            row.target,
            row.target_role,
            None if row.target is None else rows.seats[row.target].brain,
            row.outcome,
            event.reading if event is not None and event.outcome == "accepted" else None,
            None if event is None else event.fault,
            None if event is None else text(event.thought),
        )


_ABSTAINED: Final = "it abstains"

VOTES: Final = ExportTable(
    name="votes",
    row="a ballot of a vote that was counted",
    key=("vote_id",),
    rows=_rows,
    note="A vote that did not come, or could not be used, abstains; `outcome` tells it from one that was meant to.",
    columns=(
        Column("vote_id", "text", "the vote: `GAME:ROUND:VOTER`"),
        GAME_ID,
        Column("voter_id", "text", "who votes", refers="seats"),
        Column("target_id", "text", "whom to exile", null=_ABSTAINED, refers="seats"),
        Column("statement_id", "text", "its published reason", null="none was published", refers="statements"),
        LINE,
        ROUND,
        Column("voter", "category", "the voter's name"),
        role("voter_role", "the voter's"),
        agent("voter_agent", "the voter"),
        Column("target", "category", "the target's name", null=_ABSTAINED),
        role("target_role", "the target's", _ABSTAINED),
        agent("target_agent", "the target", _ABSTAINED),
        OUTCOME,
        READING,
        FAULT,
        Column("thought", "text", "the voter's private thought", null="none was given"),
    ),
)
