"""The table of nights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analytics.export.column import Column, ExportTable, Row
from analytics.export.game import ExportedGame
from analytics.export.ids import GAME_ID, ROUND, role, seat_id


def _rows(game: ExportedGame) -> Iterator[Row]:
    seats = game.rows.seats
    for night in game.rows.nights:
        # the name is whatever the record says; others are checked where they act
        target = None if night.target is None else seats.get(night.target)
        yield (
            game.id,
            night.round,
            None if target is None else seat_id(game.id, target.name),
            None if target is None else target.name,
            None if target is None else target.role,
            len(night.protected),
            None if target is None else target.name in night.protected and night.died is None,
            seat_id(game.id, night.died) if night.died is not None and night.died in seats else None,
        )


_NOBODY: Final = "the wolves went for nobody"

NIGHTS: Final = ExportTable(
    name="nights",
    row="what a night really did",
    key=("game_id", "round"),
    rows=_rows,
    columns=(
        GAME_ID,
        ROUND,
        Column("target_id", "text", "whom the wolves went for", null=_NOBODY, refers="seats"),
        Column("target", "category", "that player's name", null=_NOBODY),
        role("target_role", "that player's", _NOBODY),
        Column("protected", "integer", "how many players doctors protected, one twice if two doctors chose it"),
        Column("blocked", "boolean", "whether a doctor saved the target", null=_NOBODY),
        Column("died_id", "text", "who died", null="nobody did", refers="seats"),
    ),
)
