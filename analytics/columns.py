"""`Columns`: any number of games as flat arrays of numbers, for what numpy, scipy and scikit-learn compute.

A judgement takes 55 bytes here, so two million of them take 110 MB. Words are not kept; see `analytics.rows`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from analytics.rows import GameRows, JudgementRow, StatementRow
from wolfbus.messages.claims import ScoredClaim
from wolfbus.vocabulary import DECEPTIONS, ROLES, Role

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]
    Table: TypeAlias = dict[str, Array]

UNKNOWN: Final = -1
"""Stands in whole-number columns for what there is not."""
DECIMALS: Final = 12
"""D before a judgement is held to so many decimals: equal judgements in another order differ in the last bit, and are a
tie all the same.
"""
NO_CLAIM, TRUE, MISTAKE, LIE = -1, 0, 1, 2
"""Truth of a statement: no checkable claim, every checkable claim true, a false one that the speaker could believe, a
false one that it could not."""

_ROLE: Final[Mapping[Role, int]] = {role: code for code, role in enumerate(ROLES)}
_KIND: Final = {kind: code for code, kind in enumerate(DECEPTIONS)}
_PHASE: Final = {"debate": 0, "vote": 1}
_WINNER: Final = {None: 0, "villagers": 1, "werewolves": 2}

_DTYPES: Final[Mapping[str, Mapping[str, str]]] = {
    table: dict(column.split(":") for column in columns.split())
    for table, columns in {
        "games": "finished:? winner:i1 rounds:i2 seats:i1",
        "seats": "game:i4 seat:i1 role:i1 agent:i4",
        "statements": "game:i4 number:i4 round:i2 phase:i1 turn:i2 speaker:i1 role:i1 agent:i4 "
        "d:i1 c:f8 kind:i1 clean:? truth:i1",
        "judgements": "game:i4 statement:i4 round:i2 phase:i1 observer:i1 observer_role:i1 observer_agent:i4 "
        "target:i1 target_role:i1 target_agent:i4 d:i1 s:f8 c:f8 kind:i1 clean:? before:f8",
        "votes": "game:i4 round:i2 voter:i1 role:i1 agent:i4 target:i1 target_role:i1",
        "pairs": "game:i4 observer:i1 observer_role:i1 observer_agent:i4 target:i1 target_role:i1 target_agent:i4 d:f8",
    }.items()
}
_AGENTS: Final = ("agent", "observer_agent", "target_agent")


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Games in the order of their ids; within a game, rows in the order of the record.

    Roles are indices into `wolfbus.vocabulary.ROLES`, kinds into `DECEPTIONS`, agents into `agents`, phases 0 (debate)
    and 1 (vote), seats places from 0 in seating order. `UNKNOWN` (-1) and NaN stand for what there is not. An agent
    here is what answers for a seat, its brain as it was asked for, not the process that held it.

    Attributes:
        ids: the games' ids.
        seeds: the games' seeds, "" where the log has none.
        blocks: block of each game, from 0: games of one block are resampled together.
        block_names: names of the blocks.
        agents: names of the agents, in ascending order.
        games: ``finished``, ``winner`` (0 nobody, 1 villagers, 2 werewolves), ``rounds``, ``seats``.
        seats: ``game`` (index into `ids`, here and below), ``seat``, ``role``, ``agent``.
        statements: ``game number round phase turn speaker role agent``; ``d`` (self-label, -1 if none counts), ``c``,
            ``kind``, ``clean`` (label accepted as it stood), ``truth`` (`NO_CLAIM`, `TRUE`, `MISTAKE`, `LIE`).
        judgements: ``game``, ``statement`` (row of `statements`), ``round phase observer observer_role observer_agent
            target target_role target_agent``; ``d`` (flag, -1 if the judgement does not count), ``s`` (suspicion in
            [0, 1], NaN if there is none that counts), ``c``, ``kind``, ``clean``, ``before`` (D before
            it, to `DECIMALS`).
        votes: ``game round voter role agent target target_role``, the last two -1 for an abstention.
        pairs: final D of every ordered pair with a judgement: ``game observer observer_role observer_agent target
            target_role target_agent d``.
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
    votes: Table
    pairs: Table

    def label(self) -> Array:
        """Return per judgement the self-label of its statement: 1 deceptive, 0 truthful, -1 if none counts."""
        found: Array = self.statements["d"][self.judgements["statement"]]
        return found

    def scored(self) -> Array:
        """Return per judgement whether flag and self-label both count: the rows of Tables 3 and 4."""
        found: Array = (self.judgements["d"] >= 0) & (self.label() >= 0)
        return found


class ColumnsBuilder:
    """Takes in games one by one, in any order and in any number of processes; `columns` puts them in order."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._seeds: list[str] = []
        self._blocks: list[str] = []
        self._agents: dict[str, int] = {}
        self._parts: dict[str, list[Table]] = {name: [] for name in _DTYPES}
        self._statements = 0

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, game: GameRows, block: str | None = None) -> None:
        """Take in one game.

        Args:
            game: its rows.
            block: name of the block of the design that it belongs to; its own id unless given.
        """
        at = len(self._ids)
        places = {name: place for place, name in enumerate(game.seats)}
        agents = {name: self._agents.setdefault(seat.brain, len(self._agents)) for name, seat in game.seats.items()}
        index = {statement.number: self._statements + row for row, statement in enumerate(game.statements)}
        self._ids.append(game.game)
        self._seeds.append(game.seed)
        self._blocks.append(game.game if block is None else block)
        self._statements += len(game.statements)
        self._put("games", [(game.finished, _WINNER[game.winner], game.rounds, len(game.seats))])
        self._put("seats", [(at, places[s.name], _ROLE[s.role], agents[s.name]) for s in game.seats.values()])
        self._put("statements", [(at, *_statement(row, places, agents)) for row in game.statements])
        self._put(
            "judgements", [(at, index[row.statement], *_judgement(row, places, agents)) for row in game.judgements]
        )
        self._put(
            "votes",
            [
                (
                    *(at, row.round, places[row.voter], _ROLE[row.voter_role], agents[row.voter]),
                    *(UNKNOWN if row.target is None else places[row.target],),
                    *(UNKNOWN if row.target_role is None else _ROLE[row.target_role],),
                )
                for row in game.votes
            ],
        )
        roles = {name: _ROLE[seat.role] for name, seat in game.seats.items()}
        self._put(
            "pairs",
            [
                (
                    *(at, places[observer], roles[observer], agents[observer]),
                    *(places[target], roles[target], agents[target], value),
                )
                for (observer, target), value in game.suspicion.items()
            ],
        )

    def _put(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        import numpy as np

        if rows:
            columns = zip(*rows, strict=True)
            self._parts[table].append(
                {
                    name: np.array(column, dtype)
                    for (name, dtype), column in zip(_DTYPES[table].items(), columns, strict=True)
                }
            )

    def merge(self, other: ColumnsBuilder) -> None:
        """Add all that `other` holds."""
        agents = _codes([self._agents.setdefault(name, len(self._agents)) for name in other._agents])
        shifts = {"game": len(self._ids), "statement": self._statements}
        self._ids += other._ids
        self._seeds += other._seeds
        self._blocks += other._blocks
        self._statements += other._statements
        for table, parts in other._parts.items():
            for part in parts:
                moved = {name: column + shifts[name] if name in shifts else column for name, column in part.items()}
                self._parts[table].append(_recoded(moved, _AGENTS, agents))

    def pack(self) -> None:
        """Join what is held into one array a column: less to send to another process."""
        self._parts = {table: [_joined(table, parts)] for table, parts in self._parts.items()}

    def columns(self) -> Columns:
        """Return everything taken in so far, in the order of the games' ids."""
        import numpy as np

        order = sorted(range(len(self._ids)), key=self._ids.__getitem__)
        rank = _codes(np.argsort(np.array(order, "i8"), kind="stable"))
        names = sorted(self._agents)
        agents = _codes([names.index(name) for name in self._agents])
        tables = {name: _recoded(_joined(name, parts), _AGENTS, agents) for name, parts in self._parts.items()}
        moved: dict[str, Table] = {}
        where: Array = np.zeros(0, "i4")
        for name, table in tables.items():
            by = np.array(order, "i4") if name == "games" else np.argsort(rank[table["game"]], kind="stable")
            moved[name] = {column: values[by] for column, values in table.items()}
            if "game" in table:
                moved[name] = _recoded(moved[name], ("game",), rank)
            if name == "statements":
                where = np.empty(len(by), "i4")
                where[by] = np.arange(len(by), dtype="i4")
        moved["judgements"] = _recoded(moved["judgements"], ("statement",), where)
        moved["judgements"]["before"] = np.round(moved["judgements"]["before"], DECIMALS)
        blocks = sorted(set(self._blocks))
        code = {name: at for at, name in enumerate(blocks)}
        return Columns(
            ids=tuple(self._ids[game] for game in order),
            seeds=tuple(self._seeds[game] for game in order),
            blocks=np.array([code[self._blocks[game]] for game in order], "i4"),
            block_names=tuple(blocks),
            agents=tuple(names),
            **moved,
        )


def columns_of(games: Iterable[GameRows]) -> Columns:
    """Return games as columns, each its own block."""
    builder = ColumnsBuilder()
    for game in games:
        builder.add(game)
    return builder.columns()


def truth_of(claims: Iterable[ScoredClaim]) -> int:
    """Return the truth of a statement that makes these claims (metrics: objective truth).

    Accusations are opinions and count for nothing, nor do claims that nobody can check. One lie makes a lie, else one
    mistake makes a mistake.
    """
    verdicts = {scored.verdict for scored in claims if scored.claim.claim != "accusation"}
    for verdict, code in (("lie", LIE), ("mistake", MISTAKE), ("true", TRUE)):
        if verdict in verdicts:
            return code
    return NO_CLAIM


def _statement(row: StatementRow, places: Mapping[str, int], agents: Mapping[str, int]) -> tuple[Any, ...]:
    return (
        *(row.number, row.round, _PHASE[row.phase], row.turn, places[row.speaker], _ROLE[row.role]),
        *(agents[row.speaker], _flag(row.d), _real(row.c), UNKNOWN if row.kind is None else _KIND[row.kind]),
        *(row.outcome == "accepted" and row.reading == "clean", truth_of(row.claims)),
    )


def _judgement(row: JudgementRow, places: Mapping[str, int], agents: Mapping[str, int]) -> tuple[Any, ...]:
    return (
        *(row.round, _PHASE[row.phase], places[row.observer], _ROLE[row.observer_role], agents[row.observer]),
        *(places[row.target], _ROLE[row.target_role], agents[row.target], _flag(row.d)),
        *(_real(row.s), _real(row.c), UNKNOWN if row.kind is None else _KIND[row.kind]),
        *(row.outcome == "accepted" and row.reading == "clean", row.before),
    )


def _flag(d: bool | None) -> int:
    return UNKNOWN if d is None else int(d)


def _real(value: float | None) -> float:
    return float("nan") if value is None else value


def _codes(values: Any) -> Array:
    import numpy as np

    return np.asarray(values, "i4")


def _joined(table: str, parts: Sequence[Table]) -> Table:
    import numpy as np

    return {
        name: np.concatenate([part[name] for part in parts]) if parts else np.zeros(0, dtype)
        for name, dtype in _DTYPES[table].items()
    }


def _recoded(table: Table, names: Iterable[str], codes: Array) -> Table:
    """Return the table with the codes in some of its columns looked up."""
    return {**table, **{name: codes[table[name]] for name in names if name in table}}
