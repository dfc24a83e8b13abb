"""`TABLES`: the exported tables. What a column is called and means stands at the row's field (see `analytics.rows`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeAlias

from analytics.export.game import ExportedGame
from analytics.export.results import ResultRow
from analytics.rows import (
    BidRow,
    CallRow,
    ClaimRow,
    InspectionRow,
    JudgementRow,
    NightRow,
    ProtectionRow,
    SeatRow,
    StatementRow,
    SuspicionRow,
    VoteRow,
    WhisperRow,
)
from analytics.rows.fields import Cell, Column, exported, reader

Row: TypeAlias = tuple[Cell, ...]
"""One row, in the order of the table's columns."""


@dataclass(frozen=True, slots=True)
class ExportTable:
    """One table.

    Attributes:
        name: its name, and that of its file.
        row: what a row is, in words.
        key: the columns that tell rows apart.
        of: the class of its rows.
        given: the rows of a game.
        note: what else there is to know, "" for nothing.
        whole: whether its rows are of all games together, which `given` then does not give.
    """

    name: str
    row: str
    key: tuple[str, ...]
    of: type
    given: Callable[[ExportedGame], Iterable[Any]]
    note: str = ""
    whole: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return exported(self.of)

    def rows(self, game: ExportedGame) -> Iterable[Row]:
        """Return the rows of one game; each holds a value for every column."""
        return self.cells(self.given(game))

    def cells(self, rows: Iterable[Any]) -> Iterable[Row]:
        """Return what is exported of rows of its class."""
        return map(reader(self.of), rows)


_TABLES: Final = (
    ExportTable(
        "games",
        "a game, finished or not, as far as its file holds",
        ("game_id",),
        ExportedGame,
        lambda game: (game,),
    ),
    ExportTable("seats", "a player of a game", ("seat_id",), SeatRow, lambda game: game.rows.seats.values()),
    ExportTable(
        "statements",
        "a public statement, a turn of the debate or the published reason of a vote, with its speaker's own label",
        ("statement_id",),
        StatementRow,
        lambda game: game.rows.statements,
    ),
    ExportTable(
        "judgements",
        "what one living player made of another's statement",
        ("judgement_id",),
        JudgementRow,
        lambda game: game.rows.judgements,
        "A judgement that did not come, or could not be read, is a row with nulls for its answer.",
    ),
    ExportTable(
        "votes",
        "a ballot of a vote that was counted",
        ("vote_id",),
        VoteRow,
        lambda game: game.rows.votes,
        "A vote that did not come, or could not be used, abstains; `outcome` tells it from one that was meant to.",
    ),
    ExportTable(
        "bids",
        "what a living player bids for a turn of the debate",
        ("bid_id",),
        BidRow,
        lambda game: game.rows.bids,
        "Published logs of the paper's code have none.",
    ),
    ExportTable(
        "suspicion",
        "smoothed suspicion D of one player towards another, at the end of a round or of the game",
        ("observer_id", "target_id", "moment", "round"),
        SuspicionRow,
        lambda game: chain(game.rows.suspicion_by_round(), game.rows.final_suspicion()),
        "D starts from `games.prior`; a judgement moves it to α·s + (1−α)·D with α = `games.alpha`. It freezes when "
        "either player leaves. `round` rows are of pairs that were both alive when the round's last judgement was "
        "joined (Figure 1), `final` rows of all pairs (Table 2); pairs without a judgement so far have no row.",
    ),
    ExportTable(
        "calls",
        "a question put to a language model, its retries included",
        ("call_id",),
        CallRow,
        lambda game: game.rows.call_rows,
        "Prompts and replies are left out; `wolfbus replay RECORD --prompt LINE` shows those of a call. Tokens played "
        "from a cassette are those of the recorded call: for what was paid, sum `cost_usd` where `cassette` is false.",
    ),
    ExportTable(
        "claims",
        "something that a statement asserts and that the hidden state can confirm or refute",
        ("statement_id", "place"),
        ClaimRow,
        lambda game: game.rows.claims(),
    ),
    ExportTable("nights", "what a night really did", ("game_id", "round"), NightRow, lambda game: game.rows.nights),
    ExportTable(
        "inspections",
        "what a Seer learned in a night",
        ("seer_id", "round"),
        InspectionRow,
        lambda game: game.rows.inspections,
    ),
    ExportTable(
        "protections",
        "whom a Doctor protected in a night",
        ("doctor_id", "round"),
        ProtectionRow,
        lambda game: game.rows.protections,
    ),
    ExportTable(
        "whispers",
        "what a Werewolf proposed to its partners at night",
        ("whisper_id",),
        WhisperRow,
        lambda game: game.rows.whispers,
        "Only games whose rules let Werewolves whisper have any; published logs of the paper's code have none.",
    ),
    ExportTable(
        "results",
        "a headline metric over all games of the export, with its 95 % interval",
        ("metric", "group", "observers"),
        ResultRow,
        lambda _game: (),
        "The same numbers as `wolfbus report --json` gives of these games, in one long table.",
        whole=True,
    ),
)

TABLES: Final[dict[str, ExportTable]] = {table.name: table for table in _TABLES}
"""All tables by name; every one refers only to others among them."""
