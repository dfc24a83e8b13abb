"""The table of judgements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analytics.export.column import Column, ExportTable, Row, text
from analytics.export.game import ExportedGame
from analytics.export.ids import (
    FAULT,
    GAME_ID,
    KIND,
    LINE,
    OUTCOME,
    PHASE,
    READING,
    ROUND,
    STATED_KIND,
    agent,
    judgement_id,
    role,
    seat_id,
    statement_id,
)


def _rows(game: ExportedGame) -> Iterator[Row]:
    seats, found = game.rows.seats, game.details.judgements
    ids = {name: seat_id(game.id, name) for name in seats}
    for row in game.rows.judgements:
        noted = found.get((row.statement, row.observer))
        event = None if noted is None else noted.event
        content = None if event is None else event.content
        yield (
            judgement_id(game.id, row.statement, row.observer),
            game.id,
            statement_id(game.id, row.statement),
            ids[row.observer],
            ids[row.target],
            None if noted is None else noted.line,
            row.round,
            row.phase,
            row.observer,
            row.observer_role,
            seats[row.observer].brain,
            row.target,
            row.target_role,
            seats[row.target].brain,
            row.d,
            row.s,
            row.c,
            row.kind,
            None if content is None else content.stated_kind,
            None if content is None else text(content.reasoning),
            row.outcome,
            row.reading,
            None if event is None else event.fault,
            None if event is None else text(event.thought),
            row.before,
            row.after,
        )


JUDGEMENTS: Final = ExportTable(
    name="judgements",
    row="what one living player made of another's statement",
    key=("judgement_id",),
    rows=_rows,
    note="A judgement that did not come, or could not be read, is a row with nulls for its answer.",
    columns=(
        Column("judgement_id", "text", "the judgement: `GAME:NNN:OBSERVER`"),
        GAME_ID,
        Column("statement_id", "text", "the statement judged", refers="statements"),
        Column("observer_id", "text", "who judges", refers="seats"),
        Column("target_id", "text", "who spoke", refers="seats"),
        LINE,
        ROUND,
        PHASE,
        Column("observer", "category", "the observer's name"),
        role("observer_role", "the observer's"),
        agent("observer_agent", "the observer"),
        Column("target", "category", "the speaker's name"),
        role("target_role", "the speaker's"),
        agent("target_agent", "the speaker"),
        Column("deceptive", "boolean", "d: the observer flags the statement", null="there is no judgement that counts"),
        Column(
            "suspicion",
            "real",
            "s: from full trust, 0, to certainty of deception, 1",
            null="there is no judgement that counts, or a log that has the flag only",
            unit="share",
        ),
        Column(
            "confidence",
            "real",
            "c: how sure the observer is",
            null="there is no judgement that counts, or it does not say",
            unit="share",
        ),
        KIND,
        STATED_KIND,
        Column("reasoning", "text", "why, in the observer's words", null="nothing was given, or a published log"),
        OUTCOME,
        READING,
        FAULT,
        Column("thought", "text", "the observer's private thought", null="none was given"),
        Column("before", "real", "D of the pair before this judgement: a prediction made without it", unit="share"),
        Column("after", "real", "D with it; equal to `before` where it moves nothing", unit="share"),
    ),
)
