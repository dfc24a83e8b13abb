"""The table of bids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analytics.export.column import Column, ExportTable, Row, text
from analytics.export.game import ExportedGame
from analytics.export.ids import FAULT, GAME_ID, OUTCOME, READING, ROUND, agent, bid_id, role, seat_id


def _rows(game: ExportedGame) -> Iterator[Row]:
    details = game.details
    for (round_, turn, name), noted in details.bids.items():
        event, seat = noted.event, game.rows.seats[name]
        floor = details.floor.get((round_, turn))
        accepted = event.outcome == "accepted"
        yield (
            bid_id(game.id, round_, turn, name),
            game.id,
            seat_id(game.id, name),
            noted.line,
            round_,
            turn,
            name,
            seat.role,
            seat.brain,
            event.content.bid if accepted and event.content is not None else None,
            None if floor is None else floor == name,
            event.outcome,
            event.reading if accepted else None,
            event.fault,
            text(event.thought),
        )


BIDS: Final = ExportTable(
    name="bids",
    row="what a living player bids for a turn of the debate",
    key=("bid_id",),
    rows=_rows,
    note="Published logs of the paper's code have none.",
    columns=(
        Column("bid_id", "text", "the bid: `GAME:ROUND.TURN:BIDDER`"),
        GAME_ID,
        Column("seat_id", "text", "who bids", refers="seats"),
        Column("line", "integer", "line of the record on which it stands"),
        ROUND,
        Column("turn", "integer", "turn of the debate that it is for, from 1"),
        Column("bidder", "category", "the bidder's name"),
        role("role", "the bidder's"),
        agent("agent", "the bidder"),
        Column("bid", "integer", "how much it wants to speak, from 0", null="none that counts came; the game took 0"),
        Column("got_floor", "boolean", "whether it was given the turn", null="the record stops before that"),
        OUTCOME,
        READING,
        FAULT,
        Column("thought", "text", "the bidder's private thought", null="none was given"),
    ),
)
