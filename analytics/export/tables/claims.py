"""The table of claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analytics.export.column import Column, ExportTable, Row
from analytics.export.game import ExportedGame
from analytics.export.ids import GAME_ID, role, seat_id, statement_id


def _rows(game: ExportedGame) -> Iterator[Row]:
    for row in game.rows.statements:
        for place, scored in enumerate(row.claims, 1):
            claim = scored.claim
            yield (
                statement_id(game.id, row.number),
                place,
                game.id,
                # a speaker may name somebody who does not play
                seat_id(game.id, claim.target) if claim.target in game.rows.seats else None,
                claim.claim,
                claim.target,
                claim.role if claim.claim == "role" or claim.claim == "inspection" else None,
                claim.round if claim.claim == "inspection" or claim.claim == "protection" else None,
                scored.verdict,
                scored.extracted,
            )


CLAIMS: Final = ExportTable(
    name="claims",
    row="something that a statement asserts and that the hidden state can confirm or refute",
    key=("statement_id", "place"),
    rows=_rows,
    columns=(
        Column("statement_id", "text", "the statement", refers="statements"),
        Column("place", "integer", "place among the statement's claims, from 1"),
        GAME_ID,
        Column("target_id", "text", "whom it is about", null="nobody of that name plays", refers="seats"),
        Column(
            "claim",
            "category",
            "what is asserted: somebody's role, having inspected or protected somebody, somebody's guilt",
            values=("role", "inspection", "protection", "accusation"),
        ),
        Column("target", "category", "the name of whom it is about"),
        role("role", "the claimed", "it claims none"),
        Column("round", "integer", "the night that it names", null="it names none"),
        Column(
            "verdict",
            "category",
            "true; false and ruled out by the speaker's own view; false, though the speaker could believe it; or "
            "nobody can tell. An accusation is an opinion and counts for no statement's truth",
            values=("true", "lie", "mistake", "uncheckable"),
        ),
        Column("extracted", "boolean", "whether it was found in the words, rather than given by the speaker"),
    ),
)
