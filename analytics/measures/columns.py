"""`Columns`: any number of games as flat arrays of numbers, for what numpy, scipy and scikit-learn
compute.

A judgement takes 51 bytes here, so two million of them take some 100 MB. Words are not kept; see
`analytics.rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from analytics.rows import (
    TRUTHS,
    ClaimRow,
    GameRows,
    JudgementRow,
    NightRow,
    SeatRow,
    StatementRow,
    SuspicionRow,
    VoteRow,
    VotingRow,
)
from analytics.rows.fields import UNKNOWN, Stored, stored

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]
    Table: TypeAlias = dict[str, Array]

DECIMALS: Final = 12
"""D before a judgement is held to so many decimals: equal judgements in another order differ in the
last bit, and are a tie all the same.
"""
_LOOSE: Final = 10_000
"""Judgements whose values are held before they become arrays, which are small then."""
NO_CLAIM, TRUE, MISTAKE, LIE = UNKNOWN, *range(len(TRUTHS))
"""Truth of a statement: no checkable claim, every checkable claim true, a false one that the
speaker could believe, a false one that it could not.
"""

_ROWS: Final[Mapping[str, tuple[type, Callable[[GameRows], Iterable[Any]]]]] = {
    "games": (GameRows, lambda game: (game,)),
    "seats": (SeatRow, lambda game: game.seats.values()),
    "statements": (StatementRow, lambda game: game.statements),
    "judgements": (JudgementRow, lambda game: game.judgements),
    "claims": (ClaimRow, GameRows.claims),
    "votes": (VoteRow, lambda game: game.votes),
    "votings": (VotingRow, lambda game: game.votings),
    "nights": (NightRow, lambda game: game.nights),
    "rounds": (SuspicionRow, GameRows.suspicion_by_round),
    "pairs": (SuspicionRow, GameRows.final_suspicion),
}
"""Of each table: what a row of it is, and where a game has them."""
_STORED: Final[Mapping[str, tuple[Stored, ...]]] = {
    table: tuple(field for field in stored(row) if table != "pairs" or field.name != "round")
    for table, (row, _) in _ROWS.items()
}
DTYPES: Final[Mapping[str, Mapping[str, str]]] = {
    table: {**({} if table == "games" else {"game": "i4"}), **{field.name: field.dtype for field in fields}}
    for table, fields in _STORED.items()
}
"""The arrays of each table."""
_NAMED: Final[Mapping[str, tuple[str, ...]]] = {
    index: tuple(sorted({field.name for fields in _STORED.values() for field in fields if field.index == index}))
    for index in ("agents", "processes", "names")
}
"""Arrays that are places in a list of names."""
_TEXTS: Final = ("ids", "seeds", "block_names", *_NAMED)


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Games in the order of their ids; within a game, rows in the order of the record.

    A table has an array for every field of its row that is `Stored`. Roles are indices into
    `wolfbus.vocabulary.ROLES`, kinds into `DECEPTIONS`, agents into `agents`; other words into the
    tuples of this module; seats are places from 0 in seating order. `UNKNOWN` (-1) and NaN stand
    for what there is not. An agent is what answers for a seat, its brain as it was asked for, not
    the process that held it.

    Attributes:
        ids: the games' ids.
        seeds: the games' seeds, "" where the log has none.
        blocks: block of each game, from 0: games of one block are resampled together.
        block_names: names of the blocks.
        agents: names of the agents, in ascending order.
        games: one row a game; the fields of `GameRows`.
        seats: the fields of `SeatRow`, and ``game``: an index into `ids`, here and below.
        statements: the fields of `StatementRow`; ``d`` is the self-label, ``how`` it was come by a
            place in `HOW`.
        judgements: the fields of `JudgementRow`; ``statement`` is a row of `statements`, ``d`` the
            flag, ``before`` D before it, to `DECIMALS`.
        claims: the fields of `ClaimRow`; ``seer_reveal`` is a Seer's claim to be one.
        votes: the fields of `VoteRow`.
        votings: the fields of `VotingRow`.
        nights: the fields of `NightRow`.
        rounds: D of pairs alive when the round's last judgement was joined, with a judgement so
            far; the fields of `SuspicionRow`.
        pairs: final D of every ordered pair with a judgement: the same without ``round``.
        processes: names of the processes that held seats, in ascending order.
        names: names of the players, in ascending order.
    """

    ids: tuple[str, ...]
    seeds: tuple[str, ...]
    blocks: Array
    block_names: tuple[str, ...]
    agents: tuple[str, ...]
    games: Table
    seats: Table
    statements: Table
    judgements: Table
    claims: Table
    votes: Table
    votings: Table
    nights: Table
    rounds: Table
    pairs: Table
    processes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def label(self) -> Array:
        """Return per judgement the self-label of its statement: 1, 0, -1 if none counts."""
        labels: Array = self.statements["d"][self.judgements["statement"]]
        return labels

    def scored(self) -> Array:
        """Return per judgement whether flag and self-label both count: the rows of Tables 3 and 4."""
        scored: Array = (self.judgements["d"] >= 0) & (self.label() >= 0)
        return scored

    def state(self) -> dict[str, Any]:
        """Return all that it holds as plain values and bytes; see `restored`."""
        texts = {name: getattr(self, name) for name in _TEXTS}
        tables = {table: {name: values.tobytes() for name, values in getattr(self, table).items()} for table in DTYPES}
        return {**texts, "blocks": self.blocks.tobytes(), "tables": tables}


def restored(state: Mapping[str, Any]) -> Columns:
    """Return the columns whose `Columns.state` this is."""
    import numpy as np

    texts: dict[str, Any] = {name: tuple(state[name]) for name in _TEXTS}
    tables: dict[str, Any] = {
        table: {name: np.frombuffer(state["tables"][table][name], dtype) for name, dtype in dtypes.items()}
        for table, dtypes in DTYPES.items()
    }
    return Columns(blocks=np.frombuffer(state["blocks"], "i4"), **texts, **tables)


class ColumnsBuilder:
    """Collects games one by one, in any order; `columns` puts them in order."""

    def __init__(self) -> None:
        self._parts: list[Columns] = []
        self._begin()

    def _begin(self) -> None:
        """Begin a part: the values of the latest games, which are no arrays yet."""
        self._ids: list[str] = []
        self._seeds: list[str] = []
        self._blocks: list[int] = []
        self._names = {kind: _Places() for kind in ("block_names", *_NAMED)}
        self._loose: dict[str, dict[str, list[Any]]] = {
            table: {name: [] for name in dtypes} for table, dtypes in DTYPES.items()
        }
        self._statements = 0

    def __len__(self) -> int:
        return sum(len(part.ids) for part in self._parts) + len(self._ids)

    def add(self, game: GameRows, block: str | None = None) -> None:
        """Add one game.

        Args:
            game: its rows.
            block: name of the block of the design that it belongs to; its own id unless given.
        """
        indices: dict[str, Mapping[Any, int]] = {
            "seats": {None: UNKNOWN, **{name: place for place, name in enumerate(game.seats)}},
            "statements": {row.number: self._statements + index for index, row in enumerate(game.statements)},
            **self._names,
        }
        for table, (_, rows_of) in _ROWS.items():
            self._put(table, list(rows_of(game)), indices)
        self._ids.append(game.game)
        self._seeds.append(game.seed)
        self._blocks.append(self._names["block_names"][game.game if block is None else block])
        self._statements += len(game.statements)
        if len(self._loose["judgements"]["game"]) >= _LOOSE:
            self._end()

    def _put(self, table: str, rows: Sequence[Any], indices: Mapping[str, Mapping[Any, int]]) -> None:
        loose = self._loose[table]
        for field in _STORED[table]:
            values: Iterable[Any] = map(attrgetter(field.path), rows)
            codes = field.codes if field.index is None else indices[field.index]
            if codes is not None:
                values = map(codes.__getitem__, values)
            loose[field.name].extend(values)
        if table != "games":
            loose["game"].extend([len(self._ids)] * len(rows))

    def _end(self) -> None:
        """Make arrays of the values that are none yet."""
        import numpy as np

        tables: dict[str, Any] = {
            table: {name: np.array(values, DTYPES[table][name]) for name, values in columns.items()}
            for table, columns in self._loose.items()
        }
        tables["judgements"]["before"] = np.round(tables["judgements"]["before"], DECIMALS)
        names: dict[str, Any] = {kind: tuple(places) for kind, places in self._names.items()}
        blocks = np.array(self._blocks, "i4")
        self._parts.append(Columns(ids=tuple(self._ids), seeds=tuple(self._seeds), blocks=blocks, **names, **tables))
        self._begin()

    def columns(self) -> Columns:
        """Return everything added so far, in the order of the games' ids."""
        self._end()
        self._parts = [joined(self._parts)]
        return self._parts[0]


def columns_of(games: Iterable[GameRows]) -> Columns:
    """Return games as columns, each its own block."""
    builder = ColumnsBuilder()
    for game in games:
        builder.add(game)
    return builder.columns()


def joined(parts: Sequence[Columns]) -> Columns:
    """Return all games of some columns, in the order of their ids."""
    import numpy as np

    ids, seeds = ([text for part in parts for text in getattr(part, name)] for name in ("ids", "seeds"))
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), "i4")
    place = np.argsort(order, kind="stable").astype("i4")
    names: dict[str, Any] = {
        kind: tuple(sorted({name for part in parts for name in getattr(part, kind)}))
        for kind in ("block_names", *_NAMED)
    }
    codes = {kind: {name: index for index, name in enumerate(texts)} for kind, texts in names.items()}
    # of each part what its codes, and its places of games and statements, are among all
    among_all: list[Table] = []
    games = statements = 0
    for part in parts:
        coded = {kind: np.array([code[name] for name in getattr(part, kind)], "i4") for kind, code in codes.items()}
        count, statement_count = len(part.ids), len(part.statements["game"])
        among_all.append(
            {column: coded[kind] for kind, columns in _NAMED.items() for column in columns}
            | {"blocks": coded["block_names"], "game": place[games : games + count]}
            | {"statement": np.arange(statements, statements + statement_count, dtype="i4")}
        )
        games, statements = games + count, statements + statement_count

    def joined_column(name: str, dtype: str, arrays: Iterable[Array]) -> Array:
        pairs = zip(among_all, arrays, strict=True)
        return np.concatenate(
            [np.zeros(0, dtype), *(new[name][values] if name in new else values for new, values in pairs)]
        )

    tables: dict[str, Any] = {}
    for table, dtypes in DTYPES.items():
        columns = {
            name: joined_column(name, dtype, (getattr(part, table)[name] for part in parts))
            for name, dtype in dtypes.items()
        }
        by = order if table == "games" else np.argsort(columns["game"], kind="stable")
        if table == "statements":
            statement = np.argsort(by, kind="stable").astype("i4")
        tables[table] = {name: values[by] for name, values in columns.items()}
        if "statement" in columns:
            tables[table]["statement"] = statement[tables[table]["statement"]]
    return Columns(
        ids=tuple(ids[game] for game in order),
        seeds=tuple(seeds[game] for game in order),
        blocks=joined_column("blocks", "i4", (part.blocks for part in parts))[order],
        **names,
        **tables,
    )


class _Places(dict[str, int]):
    """Places of names in a list, which grows by every name that is new."""

    def __missing__(self, name: str) -> int:
        place = self[name] = len(self)
        return place
