"""The table of statements, with their speakers' own labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analytics.columns import LIE, MISTAKE, TRUE, truth_of
from analytics.export.column import Cell, Column, ExportTable, Row, text
from analytics.export.details import Details
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
    named,
    role,
    seat_id,
    statement_id,
)
from analytics.rows import StatementRow

_TRUTH: Final = {TRUE: "true", MISTAKE: "mistake", LIE: "lie"}


def _rows(game: ExportedGame) -> Iterator[Row]:
    details = game.details
    for row in game.rows.statements:
        statement = details.statements.get(row.number)
        yield (
            statement_id(game.id, row.number),
            game.id,
            seat_id(game.id, row.speaker),
            None if statement is None else statement.line,
            row.number,
            row.round,
            row.phase,
            row.turn,
            row.speaker,
            row.role,
            row.brain,
            text(row.text),
            row.d,
            row.c,
            row.kind,
            *_label(row, details),
            _TRUTH.get(truth_of(row.claims)),
            _thought(row, details),
        )


def _label(row: StatementRow, details: Details) -> tuple[Cell, ...]:
    """Return stated kind, reasoning, outcome, reading, fault and thought of a self-label."""
    noted = details.labels.get(row.number)
    if noted is None:
        return None, None, row.outcome, row.reading, None, None
    event, content = noted.event, noted.event.content
    return (
        None if content is None else content.stated_kind,
        None if content is None else text(content.reasoning),
        row.outcome,
        row.reading,
        event.fault,
        text(event.thought),
    )


def _thought(row: StatementRow, details: Details) -> str | None:
    # what a voter thought stands with its vote
    noted = details.speeches.get((row.round, row.turn)) if row.phase == "debate" else None
    return None if noted is None else text(noted.event.thought)


STATEMENTS: Final = ExportTable(
    name="statements",
    row="a public statement, a turn of the debate or the published reason of a vote, with its speaker's own label",
    key=("statement_id",),
    rows=_rows,
    columns=(
        Column("statement_id", "text", "the statement: `GAME:NNN`"),
        GAME_ID,
        Column("seat_id", "text", "who said it", refers="seats"),
        LINE,
        Column("number", "integer", "its number within the game, from 1"),
        ROUND,
        PHASE,
        Column("turn", "integer", "place within the phase, from 1"),
        Column("speaker", "category", "the speaker's name"),
        role("role", "the speaker's"),
        agent("agent", "the speaker"),
        Column("text", "text", "the words, exactly", null="they are empty, which only a published log has"),
        Column("deceptive", "boolean", "d: the speaker calls it deceptive", null="there is no label that counts"),
        Column(
            "confidence",
            "real",
            "c: how sure the speaker is of that",
            null="there is no label that counts, or it does not say",
            unit="share",
        ),
        KIND,
        STATED_KIND,
        Column("reasoning", "text", "why, in the speaker's words", null="nothing was given, or a published log"),
        named(OUTCOME, "outcome", "what became of the request for the label"),
        named(READING, "reading", "how much work it took to read the label"),
        named(FAULT, "fault", "what was wrong with the label"),
        Column("label_thought", "text", "the speaker's private thought while it labelled", null="none was given"),
        Column(
            "truth",
            "category",
            "by its checkable claims: all true; one false that the speaker could believe; one false that its own view "
            "ruled out",
            null="it makes no claim that can be checked",
            values=tuple(_TRUTH.values()),
        ),
        Column(
            "thought",
            "text",
            "the speaker's private thought before it spoke",
            null="none was given, or a vote's reason",
        ),
    ),
)
