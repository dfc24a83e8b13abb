"""The table of seats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analytics.export.column import Column, ExportTable, Row
from analytics.export.game import ExportedGame
from analytics.export.ids import GAME_ID, LINE, agent, role, seat_id
from wolfbus.vocabulary import team_of


def _rows(game: ExportedGame) -> Iterator[Row]:
    rows, opened = game.rows, game.details.opened
    in_house = {} if opened is None else {seat.name: seat.in_house for seat in opened.seats}
    left = {death.seat: death for death in rows.deaths}
    for place, seat in enumerate(rows.seats.values(), 1):
        death, team = left.get(seat.name), team_of(seat.role)
        yield (
            seat_id(game.id, seat.name),
            game.id,
            place,
            seat.name,
            seat.role,
            team,
            seat.brain,
            seat.agent,
            in_house.get(seat.name),
            rows.winner == team if rows.finished else None,
            None if death is None else death.round,
            None if death is None else death.how,
        )


SEATS: Final = ExportTable(
    name="seats",
    row="a player of a game",
    key=("seat_id",),
    rows=_rows,
    columns=(
        Column("seat_id", "text", "the seat: `GAME:NAME`"),
        GAME_ID,
        Column("place", "integer", "place in seating order, from 1"),
        Column("name", "category", "the player's name; it means nothing across games"),
        role("role", "its"),
        Column("team", "category", "the side it wins with", values=("villagers", "werewolves")),
        agent("agent", "it"),
        Column("process", "category", "the process that played it"),
        Column("in_house", "boolean", "whether that process was run by the moderator's operator", null=LINE.null),
        Column("won", "boolean", "whether its side won; false where nobody did", null="the game is unfinished"),
        Column("left_round", "integer", "round in which it left the game", null="it was there to the last"),
        Column(
            "left_by",
            "category",
            "how it left: killed at night, or voted out",
            null="it was there to the last",
            values=("night", "exile"),
        ),
    ),
)
