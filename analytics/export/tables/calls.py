"""The table of model calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analytics.export.column import Column, ExportTable, Row, text
from analytics.export.game import ExportedGame
from analytics.export.ids import GAME_ID, agent, call_id, role, seat_id
from wolfbus.canonical import canonical
from wolfbus.usage import is_free, sort_of
from wolfbus.vocabulary import KINDS


def _rows(game: ExportedGame) -> Iterator[Row]:
    for noted in game.details.calls:
        call, seat = noted.event, game.rows.seats[noted.event.seat]
        yield (
            call_id(game.id, noted.line),
            game.id,
            seat_id(game.id, call.seat),
            noted.line,
            noted.time,
            call.seat,
            seat.role,
            seat.brain,
            call.kind,
            sort_of(call),
            call.requests[0],
            len(call.requests),
            call.reask,
            call.model,
            text(call.served),
            canonical(call.parameters).decode() if call.parameters else None,
            call.cassette,
            call.attempts,
            is_free(call),
            call.queue_s,
            call.latency_s,
            call.prompt_tokens,
            call.cached_tokens,
            call.completion_tokens,
            call.cost_usd,
            text(call.finish),
            text(call.error),
            call.reply_length if call.reply_length is not None else None if call.reply is None else len(call.reply),
        )


CALLS: Final = ExportTable(
    name="calls",
    row="a question put to a language model, its retries included",
    key=("call_id",),
    rows=_rows,
    note=(
        "Prompts and replies are left out; `wolfbus replay RECORD --prompt LINE` shows those of a call. Tokens played "
        "from a cassette are those of the recorded call: for what was paid, sum `cost_usd` where `cassette` is false."
    ),
    columns=(
        Column("call_id", "text", "the call: `GAME:LINE`"),
        GAME_ID,
        Column("seat_id", "text", "for which seat it was made", refers="seats"),
        Column("line", "integer", "line of the record on which it stands"),
        Column("time", "real", "when it was reported, from the opening of the game", unit="seconds"),
        Column("seat", "category", "the seat's name"),
        role("role", "the seat's"),
        agent("agent", "the seat"),
        Column("kind", "category", "what the first request that it answers asks for", values=KINDS),
        Column(
            "answers",
            "category",
            "all that it answers, in short: `bid`, `assess_other+` for several of a kind, `speak+label`, …",
        ),
        Column(
            "request", "text", "the first request: `round/phase/turn/kind/seat`, and the statement it is about, if any"
        ),
        Column("requests", "integer", "how many requests it answers; several under the compact protocol only"),
        Column("reask", "boolean", "whether it asks again, naming what was wrong with the reply before"),
        Column("model", "category", "the model, as the server was told"),
        Column("served", "category", "what the server says of the model that replied", null="it says nothing"),
        Column("parameters", "category", "what was sent beside the messages, as JSON", null="nothing"),
        Column("cassette", "boolean", "whether the reply was played from a cassette"),
        Column("attempts", "integer", "requests over the network, failed ones included; 0 where none was made"),
        Column("free", "boolean", "whether no server can have charged for it"),
        Column("queue", "real", "time it waited for its turn under the limits on calls", unit="seconds"),
        Column("latency", "real", "from the first byte sent to the last one read, back-off included", unit="seconds"),
        Column(
            "prompt_tokens", "integer", "of the prompt, in all attempts that the server counted", null="it never did"
        ),
        Column("cached_tokens", "integer", "of these, how many the server had in its cache", null="it does not say"),
        Column("completion_tokens", "integer", "of the reply, hidden reasoning included", null="it does not say"),
        Column(
            "cost_usd", "real", "price", null="no prices were configured, or tokens are not known", unit="US dollars"
        ),
        Column("finish", "category", "why the model stopped, in the server's word", null="it does not say"),
        Column("error", "text", "why there is no reply", null="there is one"),
        Column("reply_length", "integer", "of the model's text", null="there is none", unit="characters"),
    ),
)
