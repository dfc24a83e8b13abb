"""`TABLES`: the tables that games come to; `Tables`: any number of games as data frames, which every metric is computed
from.

A frame holds columns of the exported table of its name: whoever has the exported tables can compute every metric again.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any, Final

import polars as pl

from analytics.rows import GameRows
from analytics.rows.annotation import AnnotationRow
from analytics.rows.belief import BeliefRow
from analytics.rows.course import CallRow, InspectionRow, NightRow, ProtectionRow, SeatRow, VotingRow, WhisperRow
from analytics.rows.fields import Column, exported
from analytics.rows.fork import ForkRow
from analytics.rows.knowledge import FactRow, KnowableRow
from analytics.rows.talk import BidRow, ClaimRow, JudgementRow, StatementRow, SuspicionRow, VoteRow


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes:
        name: its name, and that of its file.
        row: what a row is, in words.
        key: the columns that tell rows apart.
        of: the class of its rows.
        rows_of: the rows of a game.
        note: what else there is to know, "" for nothing.
        measured: names of the columns that metrics rest on; "" where none does.
    """

    name: str
    row: str
    key: tuple[str, ...]
    of: type
    rows_of: Callable[[GameRows], Iterable[Any]]
    note: str = ""
    measured: str = ""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return exported(self.of)


TABLES: Final[Mapping[str, Table]] = {
    table.name: table
    for table in (
        Table(
            "seats",
            "a player of a game",
            ("seat_id",),
            SeatRow,
            lambda game: game.seats.values(),
            measured="place name role agent process",
        ),
        Table(
            "statements",
            "a public statement, a turn of the debate or the published reason of a vote, with its speaker's own label",
            ("statement_id",),
            StatementRow,
            lambda game: game.statements,
            measured="number round phase turn speaker role agent self_deceptive intended admitted kind outcome reading "
            "truth words checksum contradicts_thought insincere thought_score thought_score_masked copied",
        ),
        Table(
            "judgements",
            "what one living player made of another's statement",
            ("judgement_id",),
            JudgementRow,
            lambda game: game.judgements,
            "A judgement that did not come, or could not be read, is a row with nulls for its answer.",
            measured="statement round observer observer_role observer_agent target target_role target_agent informed "
            "flagged suspicion outcome reading before after",
        ),
        Table(
            "votes",
            "a ballot of a vote that was counted",
            ("vote_id",),
            VoteRow,
            lambda game: game.votes,
            "A vote that did not come, or could not be used, abstains; `outcome` tells it from one that was meant to.",
            measured="round voter_role voter_agent target target_role informed unknown unknown_wolves others "
            "other_wolves credit",
        ),
        Table(
            "votings",
            "a vote that was held, and what would have come of it had suspicion voted",
            ("game_id", "round"),
            VotingRow,
            lambda game: game.votings,
            measured="round living wolves exile exile_of_all exiled news",
        ),
        Table(
            "knowable",
            "what a living player could know of another, of whom it could not be certain, as a vote was held",
            ("observer_id", "target_id", "round"),
            KnowableRow,
            lambda game: game.knowable,
            "Published logs of the paper's code have none, nor have games with more than a million deals of the roles.",
            measured="round observer observer_role observer_agent target target_role suspicion counts facts honest "
            "voted",
        ),
        Table(
            "bids",
            "what a living player bids for a turn of the debate",
            ("bid_id",),
            BidRow,
            lambda game: game.bids,
            "Published logs of the paper's code have none.",
        ),
        Table(
            "suspicion",
            "smoothed suspicion D of one player towards another, at the end of a round or of the game",
            ("observer_id", "target_id", "moment", "round"),
            SuspicionRow,
            lambda game: chain(game.suspicion_by_round(), game.final_suspicion()),
            "D starts from `games.prior`; a judgement moves it to α·s + (1−α)·D with α = `games.alpha`. It freezes "
            "when either player leaves. `round` rows are of pairs that were both alive when the round's last "
            "judgement was joined (Figure 1), `final` rows of all pairs (Table 2); pairs without a judgement so far "
            "have no row.",
            measured="round observer observer_role observer_agent target target_role target_agent informed suspicion",
        ),
        Table(
            "calls",
            "a question put to a language model, its retries included",
            ("call_id",),
            CallRow,
            lambda game: game.call_rows,
            "Prompts and replies are left out; `wolfbus replay RECORD --prompt LINE` shows those of a call. Tokens "
            "played from a cassette are those of the recorded call: for what was paid, sum `cost_usd` where "
            "`cassette` is false.",
        ),
        Table(
            "claims",
            "something that a statement asserts, and what it turns out to be against the hidden state",
            ("statement_id", "place"),
            ClaimRow,
            GameRows.claims,
            measured="statement claim target role denied side verdict extracted heard",
        ),
        Table(
            "facts",
            "a fact of the game that a thought or a statement tells, and whether it is so",
            ("game_id", "place"),
            FactRow,
            lambda game: game.facts,
            "Read are statements, and private thoughts where they are recorded, as `wolfbus/claims/facts.toml` says.",
            measured="agent fact right",
        ),
        Table(
            "nights",
            "what a night really did",
            ("game_id", "round"),
            NightRow,
            lambda game: game.nights,
            measured="round result",
        ),
        Table(
            "inspections",
            "what a Seer learned in a night",
            ("seer_id", "round"),
            InspectionRow,
            lambda game: game.inspections,
        ),
        Table(
            "protections",
            "whom a Doctor protected in a night",
            ("doctor_id", "round"),
            ProtectionRow,
            lambda game: game.protections,
        ),
        Table(
            "whispers",
            "what a Werewolf proposed to its partners at night",
            ("whisper_id",),
            WhisperRow,
            lambda game: game.whispers,
            "Only games whose rules let Werewolves whisper have any; published logs of the paper's code have none.",
        ),
        Table(
            "forks",
            "a game that was played on from a statement of another, and what came of it for who had made the statement",
            ("game_id",),
            ForkRow,
            GameRows.forks,
            "Only games that `wolfbus fork` played have a row.",
            measured="parent number round speaker role agent kind arm k tries labelled suspicion dusk votes exiled won",
        ),
        Table(
            "annotations",
            "what a reader model, a monitor of private thoughts or a person with a blind sheet makes of a statement",
            ("statement_id", "annotator"),
            AnnotationRow,
            lambda game: game.annotations,
            "They stand in `annotations/` beside the records; `wolfbus annotate` makes them.",
            measured="statement annotator sort deceptive kind stances werewolf werewolf_masked",
        ),
        Table(
            "beliefs",
            "what a living player believed of another at a moment, as its own model says after the game",
            ("observer_id", "target_id", "round", "when", "statement"),
            BeliefRow,
            lambda game: game.beliefs,
            "They stand in `beliefs.jsonl` beside the records; `wolfbus beliefs` asks for them.",
            measured="round when statement observer observer_role observer_agent target target_role target_agent "
            "belief would_vote",
        ),
    )
}
"""All tables of games by name but `games`; every one refers only to others among them."""

_OF_GAMES: Final = (
    "seed protocol label assess feedback finished winner reason nights debate_turns voting_rounds statements"
)
"""What metrics rest on in the table `games`, beside each game's id and its block."""
_LOOSE: Final = 10_000
"""Judgements whose values are held before they become frames, which are small then."""


def _chosen(row: type, names: str) -> tuple[Column, ...]:
    columns = {column.name: column for column in exported(row)}
    return tuple(columns[name] for name in names.split())


_COLUMNS: Final[Mapping[str, tuple[Column, ...]]] = {
    "games": _chosen(GameRows, _OF_GAMES),
    **{table.name: _chosen(table.of, table.measured) for table in TABLES.values() if table.measured},
}
FRAMES: Final = tuple(_COLUMNS)
"""Names of the frames."""


@cache
def _type(column: Column) -> Any:
    if column.kind == "category":
        return pl.Enum(column.values) if column.values else pl.Categorical()
    return {"text": pl.String(), "boolean": pl.Boolean(), "real": pl.Float64(), "integer": pl.Int64()}[column.kind]


SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    name: {
        **({"game_id": pl.String(), "block": pl.String()} if name == "games" else {"game": pl.Int32()}),
        **{column.name: _type(column) for column in columns},
    }
    for name, columns in _COLUMNS.items()
}
"""Names and types of the columns of every frame. ``game`` is a game's place among the rows of `Tables.games`."""


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Games as data frames: games in the order of their ids, rows of a game in that of the record.

    Attributes:
        games: a row a game: fields of `GameRows`, and its ``block``: games of one are resampled together.
        seats: fields of `SeatRow`; and so on, as `TABLES` has it. Their ``game`` is a row of `games`.
    """

    games: pl.DataFrame
    seats: pl.DataFrame
    statements: pl.DataFrame
    judgements: pl.DataFrame
    votes: pl.DataFrame
    votings: pl.DataFrame
    knowable: pl.DataFrame
    facts: pl.DataFrame
    suspicion: pl.DataFrame
    claims: pl.DataFrame
    nights: pl.DataFrame
    forks: pl.DataFrame
    annotations: pl.DataFrame
    beliefs: pl.DataFrame

    def __len__(self) -> int:
        return len(self.games)

    @property
    def ids(self) -> tuple[str, ...]:
        """The games' ids."""
        return tuple(self.games["game_id"])

    @property
    def agents(self) -> tuple[str, ...]:
        """What answers for seats, in ascending order: a brain as it was asked for, not the process that held it."""
        columns = (self.seats["agent"], self.statements["agent"], self.judgements["observer_agent"])
        return words_of(pl.concat([column.unique() for column in columns]))

    def equals(self, other: Tables) -> bool:
        """Return whether others hold the very same games."""
        return all(getattr(self, name).equals(getattr(other, name)) for name in FRAMES)

    def state(self) -> dict[str, bytes]:
        """Return every frame as an Arrow file; see `restored`."""
        return {name: _packed(getattr(self, name)) for name in FRAMES}


def words_of(column: pl.Series) -> tuple[str, ...]:
    """Return the words that stand in a column, in ascending order."""
    return tuple(sorted(column.unique().drop_nulls().cast(pl.String).to_list()))


def _packed(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_ipc(file)
    return file.getvalue()


def restored(state: Mapping[str, bytes]) -> Tables:
    """Return the games whose `Tables.state` this is."""
    return Tables(**{name: pl.read_ipc(io.BytesIO(state[name])) for name in FRAMES})


def joined(parts: Sequence[Tables]) -> Tables:
    """Return all games of some tables, in the order of their ids."""
    parts = parts or [TablesBuilder().tables()]
    games = pl.concat([part.games for part in parts]).with_row_index("before").sort("game_id")
    place = pl.Series(games["before"]).arg_sort().cast(pl.Int32)
    starts = [sum(map(len, parts[:number])) for number in range(len(parts))]

    def rows_of(name: str) -> pl.DataFrame:
        moved: Iterator[pl.DataFrame] = (
            getattr(part, name).with_columns(game=place.gather(getattr(part, name)["game"] + start))
            for part, start in zip(parts, starts, strict=True)
        )
        rows: pl.DataFrame = pl.concat(moved).sort("game", maintain_order=True)
        return rows

    return Tables(games.drop("before"), **{name: rows_of(name) for name in FRAMES if name != "games"})


class TablesBuilder:
    """Collects games one by one; `tables` returns what was added so far."""

    def __init__(self) -> None:
        self._parts: list[Tables] = []
        self._begin()

    def __len__(self) -> int:
        return sum(map(len, self._parts)) + len(self._loose["games"]["game_id"])

    def _begin(self) -> None:
        """Begin a part: the values of the latest games, which are in no frame yet."""
        self._loose: dict[str, dict[str, list[Any]]] = {
            name: {column: [] for column in schema} for name, schema in SCHEMAS.items()
        }

    def add(self, game: GameRows, block: str | None = None) -> None:
        """Add one game.

        Args:
            game: its rows.
            block: name of the block of the design that it belongs to; its own id unless given.
        """
        games = self._loose["games"]
        for name, table in TABLES.items():
            if table.measured:
                rows = list(table.rows_of(game))
                self._put(name, rows)
                self._loose[name]["game"].extend([len(games["game_id"])] * len(rows))
        games["game_id"].append(game.game)
        games["block"].append(game.game if block is None else block)
        self._put("games", [game])
        if len(self._loose["judgements"]["game"]) >= _LOOSE:
            self._end()

    def _put(self, name: str, rows: Sequence[Any]) -> None:
        for column in _COLUMNS[name]:
            self._loose[name][column.name].extend(map(attrgetter(column.path), rows))

    def _end(self) -> None:
        """Make frames of the values that are in none yet."""
        self._parts.append(Tables(**{name: pl.DataFrame(self._loose[name], SCHEMAS[name]) for name in FRAMES}))
        self._begin()

    def tables(self) -> Tables:
        """Return everything added so far."""
        self._end()
        self._parts = [joined(self._parts)]
        return self._parts[0]
