"""`Columns`: any number of games as flat arrays of numbers, for what numpy, scipy and scikit-learn
compute.

A judgement takes 55 bytes here, so two million of them take 110 MB. Words are not kept; see
`analytics.rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from analytics.rows import (
    CLAIMS,
    ENDINGS,
    HOW,
    NIGHTS,
    PHASES,
    PROTOCOLS,
    TRUTHS,
    VERDICTS,
    WINNERS,
    ClaimRow,
    GameRows,
    JudgementRow,
    NightRow,
    SeatRow,
    StatementRow,
    SuspicionRow,
    VoteRow,
)
from analytics.rows.fields import UNKNOWN, Stored, stored

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]
    Table: TypeAlias = dict[str, Array]

__all__ = [
    "CLAIMS",
    "ENDINGS",
    "HOW",
    "NIGHTS",
    "PHASES",
    "PROTOCOLS",
    "UNKNOWN",
    "VERDICTS",
    "WINNERS",
    "Columns",
    "ColumnsBuilder",
    "columns_of",
]

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
    "nights": (NightRow, lambda game: game.nights),
    "rounds": (SuspicionRow, GameRows.suspicion_by_round),
    "pairs": (SuspicionRow, GameRows.final_suspicion),
}
"""Of each table: what a row of it is, and where a game has them."""
_STORED: Final[Mapping[str, tuple[Stored, ...]]] = {
    table: tuple(each for each in stored(row) if table != "pairs" or each.name != "round")
    for table, (row, _) in _ROWS.items()
}
DTYPES: Final[Mapping[str, Mapping[str, str]]] = {
    table: {**({} if table == "games" else {"game": "i4"}), **{each.name: each.dtype for each in fields}}
    for table, fields in _STORED.items()
}
"""The arrays of each table."""
_NAMED: Final[Mapping[str, tuple[str, ...]]] = {
    index: tuple(sorted({each.name for fields in _STORED.values() for each in fields if each.index == index}))
    for index in ("agents", "processes", "names")
}
"""Arrays that are places in a list of names."""


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
        claims: the fields of `ClaimRow`; ``own`` is a Seer's claim to be its own role.
        votes: the fields of `VoteRow`.
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
    nights: Table
    rounds: Table
    pairs: Table
    processes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def label(self) -> Array:
        """Return per judgement the self-label of its statement: 1, 0, -1 if none counts."""
        found: Array = self.statements["d"][self.judgements["statement"]]
        return found

    def scored(self) -> Array:
        """Return per judgement whether flag and self-label both count: the rows of Tables 3 and 4."""
        found: Array = (self.judgements["d"] >= 0) & (self.label() >= 0)
        return found


class ColumnsBuilder:
    """Takes in games one by one, in any order and in any number of processes; `columns` puts them
    in order.
    """

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._seeds: list[str] = []
        self._blocks: list[str] = []
        self._names = {kind: _Places() for kind in _NAMED}
        self._parts: dict[str, list[Table]] = {name: [] for name in DTYPES}
        self._loose: dict[str, dict[str, list[Any]]] = _no_values()
        """Values of the latest games, which are no arrays yet."""
        self._statements = 0

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, game: GameRows, block: str | None = None) -> None:
        """Take in one game.

        Args:
            game: its rows.
            block: name of the block of the design that it belongs to; its own id unless given.
        """
        indices: dict[str, Mapping[Any, int]] = {
            "seats": {None: UNKNOWN, **{name: place for place, name in enumerate(game.seats)}},
            "statements": {row.number: self._statements + at for at, row in enumerate(game.statements)},
            **self._names,
        }
        for table, (_, rows_of) in _ROWS.items():
            self._put(table, list(rows_of(game)), indices)
        self._ids.append(game.game)
        self._seeds.append(game.seed)
        self._blocks.append(game.game if block is None else block)
        self._statements += len(game.statements)
        if len(self._loose["judgements"]["game"]) >= _LOOSE:
            self._gather()

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

    def _gather(self) -> None:
        """Make arrays of the values that are none yet."""
        import numpy as np

        for table, columns in self._loose.items():
            part = {name: np.array(values, DTYPES[table][name]) for name, values in columns.items()}
            if any(map(len, columns.values())):
                self._parts[table].append(part)
        self._loose = _no_values()

    def merge(self, other: ColumnsBuilder) -> None:
        """Add all that `other` holds."""
        other._gather()
        self._gather()
        codes = {
            kind: _codes([own.setdefault(name, len(own)) for name in other._names[kind]])
            for kind, own in self._names.items()
        }
        shifts = {"game": len(self._ids), "statement": self._statements}
        self._ids += other._ids
        self._seeds += other._seeds
        self._blocks += other._blocks
        self._statements += other._statements
        for table, parts in other._parts.items():
            for part in parts:
                moved = {name: column + shifts[name] if name in shifts else column for name, column in part.items()}
                self._parts[table].append(_renamed(moved, codes))

    def pack(self) -> None:
        """Join what is held into one array a column: less to send to another process."""
        self._gather()
        self._parts = {table: [_joined(table, parts)] for table, parts in self._parts.items()}

    def state(self) -> dict[str, Any]:
        """Return all that it holds as plain values and bytes; see `restore`."""
        self.pack()
        return {
            "ids": self._ids,
            "seeds": self._seeds,
            "blocks": self._blocks,
            "names": {kind: list(names) for kind, names in self._names.items()},
            "tables": {
                table: {name: column.tobytes() for name, column in part.items()}
                for table, (part,) in self._parts.items()
            },
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Hold what `state` returned, and nothing else."""
        import numpy as np

        self._loose = _no_values()
        self._ids, self._seeds, self._blocks = list(state["ids"]), list(state["seeds"]), list(state["blocks"])
        self._names = {
            kind: _Places({name: place for place, name in enumerate(names)}) for kind, names in state["names"].items()
        }
        self._parts = {
            table: [{name: np.frombuffer(state["tables"][table][name], dtype) for name, dtype in dtypes.items()}]
            for table, dtypes in DTYPES.items()
        }
        self._statements = len(self._parts["statements"][0]["game"])

    def columns(self) -> Columns:
        """Return everything taken in so far, in the order of the games' ids."""
        import numpy as np

        self._gather()
        order = sorted(range(len(self._ids)), key=self._ids.__getitem__)
        rank = _codes(np.argsort(np.array(order, "i8"), kind="stable"))
        names = {kind: sorted(own) for kind, own in self._names.items()}
        codes = {kind: _codes([names[kind].index(name) for name in own]) for kind, own in self._names.items()}
        tables = {name: _renamed(_joined(name, parts), codes) for name, parts in self._parts.items()}
        moved: dict[str, Table] = {}
        where: Array = np.zeros(0, "i4")
        for name, table in tables.items():
            games = np.array(order, "i4")
            by = games if name == "games" else np.argsort(rank[table["game"]], kind="stable")
            moved[name] = {column: values[by] for column, values in table.items()}
            if "game" in table:
                moved[name] = _recoded(moved[name], ("game",), rank)
            if name == "statements":
                where = np.empty(len(by), "i4")
                where[by] = np.arange(len(by), dtype="i4")
        for name in ("judgements", "claims"):
            moved[name] = _recoded(moved[name], ("statement",), where)
        moved["judgements"]["before"] = np.round(moved["judgements"]["before"], DECIMALS)
        blocks = sorted(set(self._blocks))
        code = {name: at for at, name in enumerate(blocks)}
        return Columns(
            ids=tuple(self._ids[game] for game in order),
            seeds=tuple(self._seeds[game] for game in order),
            blocks=np.array([code[self._blocks[game]] for game in order], "i4"),
            block_names=tuple(blocks),
            agents=tuple(names["agents"]),
            processes=tuple(names["processes"]),
            names=tuple(names["names"]),
            **moved,
        )


def columns_of(games: Iterable[GameRows]) -> Columns:
    """Return games as columns, each its own block."""
    builder = ColumnsBuilder()
    for game in games:
        builder.add(game)
    return builder.columns()


class _Places(dict[str, int]):
    """Places of names in a list, which grows by every name that is new."""

    def __missing__(self, name: str) -> int:
        place = self[name] = len(self)
        return place


def _no_values() -> dict[str, dict[str, list[Any]]]:
    return {table: {name: [] for name in dtypes} for table, dtypes in DTYPES.items()}


def _codes(values: Any) -> Array:
    import numpy as np

    return np.asarray(values, "i4")


def _joined(table: str, parts: Sequence[Table]) -> Table:
    import numpy as np

    return {
        name: np.concatenate([part[name] for part in parts]) if parts else np.zeros(0, dtype)
        for name, dtype in DTYPES[table].items()
    }


def _renamed(table: Table, codes: Mapping[str, Array]) -> Table:
    for kind, columns in _NAMED.items():
        table = _recoded(table, columns, codes[kind])
    return table


def _recoded(table: Table, names: Iterable[str], codes: Array) -> Table:
    """Return the table with the codes in some of its columns looked up."""
    return {**table, **{name: codes[table[name]] for name in names if name in table}}
