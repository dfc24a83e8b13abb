"""`Columns`: any number of games as flat arrays of numbers, for what numpy, scipy and scikit-learn
compute.

A judgement takes 55 bytes here, so two million of them take 110 MB. Words are not kept; see
`analytics.rows`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

from analytics.rows import GameRows, JudgementRow, StatementRow
from wolfbus.messages.claims import ScoredClaim
from wolfbus.vocabulary import (
    DECEPTIONS,
    ROLES,
    Deception,
    Ending,
    Protocol,
    Role,
    Verdict,
    Winner,
)

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]
    Table: TypeAlias = dict[str, Array]

UNKNOWN: Final = -1
"""Stands in whole-number columns for what there is not."""
DECIMALS: Final = 12
"""D before a judgement is held to so many decimals: equal judgements in another order differ in the
last bit, and are a tie all the same.
"""
NO_CLAIM, TRUE, MISTAKE, LIE = -1, 0, 1, 2
"""Truth of a statement: no checkable claim, every checkable claim true, a false one that the
speaker could believe, a false one that it could not.
"""

HOW: Final = ("clean", "repaired", "defaulted")
"""How a label or judgement was come by: accepted as it stood, accepted with some repair, or
missing.
"""
PHASES: Final = ("debate", "vote")
WINNERS: Final[tuple[Winner, ...]] = (None, "villagers", "werewolves")
ENDINGS: Final[tuple[Ending, ...]] = get_args(Ending)
PROTOCOLS: Final[tuple[Protocol, ...]] = get_args(Protocol)
CLAIMS: Final = ("role", "inspection", "protection", "accusation")
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
NIGHTS: Final = ("without_attempt", "blocked", "killed")
"""What came of a night: the wolves went for nobody, a doctor saved the target, it died."""

_ROLE: Final[Mapping[Role, int]] = {role: code for code, role in enumerate(ROLES)}
_KIND: Final[Mapping[Deception | None, int]] = {
    None: UNKNOWN,
    **{kind: code for code, kind in enumerate(DECEPTIONS)},
}
_FLAG: Final[Mapping[bool | None, int]] = {None: UNKNOWN, False: 0, True: 1}

_JUDGED = "observer:i1 observer_role:i1 observer_agent:i4 target:i1 target_role:i1 target_agent:i4"
DTYPES: Final[Mapping[str, Mapping[str, str]]] = {
    table: dict(column.split(":") for column in columns.split())
    for table, columns in {
        "games": "finished:? winner:i1 ending:i1 protocol:i1 rounds:i2 seats:i1 nights:i2 turns:i2 votings:i2",
        "seats": "game:i4 seat:i1 role:i1 agent:i4 left:i2 exiled:?",
        "statements": "game:i4 number:i4 round:i2 phase:i1 turn:i2 speaker:i1 role:i1 agent:i4 "
        "process:i4 d:i1 c:f8 kind:i1 how:i1 truth:i1",
        "judgements": f"game:i4 statement:i4 round:i2 phase:i1 {_JUDGED} d:i1 s:f8 c:f8 kind:i1 how:i1 before:f8",
        "claims": "game:i4 statement:i4 claim:i1 verdict:i1 extracted:? own:?",
        "votes": "game:i4 round:i2 voter:i1 role:i1 agent:i4 target:i1 target_role:i1",
        "nights": "game:i4 round:i2 night:i1",
        "rounds": f"game:i4 round:i2 {_JUDGED} d:f8",
        "pairs": f"game:i4 {_JUDGED} d:f8",
    }.items()
}
_NAMED: Final[Mapping[str, tuple[str, ...]]] = {
    "agents": ("agent", "observer_agent", "target_agent"),
    "processes": ("process",),
}
"""Columns that are places in a list of names."""


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Games in the order of their ids; within a game, rows in the order of the record.

    Roles are indices into `wolfbus.vocabulary.ROLES`, kinds into `DECEPTIONS`, agents into
    `agents`; other words into the tuples of this module; seats are places from 0 in seating order.
    `UNKNOWN` (-1) and NaN stand for what there is not. An agent here is what answers for a seat,
    its brain as it was asked for, not the process that held it.

    Attributes:
        ids: the games' ids.
        seeds: the games' seeds, "" where the log has none.
        blocks: block of each game, from 0: games of one block are resampled together.
        block_names: names of the blocks.
        agents: names of the agents, in ascending order.
        games: ``finished``, ``winner``, ``ending``, ``protocol``, ``rounds``, ``seats``; ``nights``
            played, ``turns`` of debate, ``votings`` held.
        seats: ``game`` (index into `ids`, here and below), ``seat``, ``role``, ``agent``; ``left``,
            the round in which it left the game (0: never), and whether it was ``exiled``.
        statements: ``game number round phase turn speaker role agent process``; ``d`` (self-label,
            -1 if none counts), ``c``, ``kind``, ``how`` the label was come by (-1: not yet),
            ``truth`` (`NO_CLAIM`, `TRUE`, `MISTAKE`, `LIE`).
        judgements: ``game``, ``statement`` (row of `statements`), ``round phase observer
            observer_role observer_agent target target_role target_agent``; ``d`` (flag, -1 if the
            judgement does not count), ``s`` (suspicion in [0, 1], NaN if there is none that
            counts), ``c``, ``kind``, ``how``, ``before`` (D before it, to `DECIMALS`).
        claims: ``game``, ``statement``, ``claim``, ``verdict``, whether ``extracted`` from the
            words, and whether it is a Seer's claim to be its ``own`` role.
        votes: ``game round voter role agent target target_role``, the last two -1 for an
            abstention.
        nights: ``game round night``.
        rounds: D of pairs alive when the round's last judgement was joined, with a judgement so
            far: ``game round observer … target_agent d``.
        pairs: final D of every ordered pair with a judgement: the same without ``round``.
        processes: names of the processes that held seats, in ascending order.
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
        self._names: dict[str, dict[str, int]] = {kind: {} for kind in _NAMED}
        self._parts: dict[str, list[Table]] = {name: [] for name in DTYPES}
        self._statements = 0

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, game: GameRows, block: str | None = None) -> None:
        """Take in one game.

        Args:
            game: its rows.
            block: name of the block of the design that it belongs to; its own id unless given.
        """
        agents, processes = self._names["agents"], self._names["processes"]
        # of a seat: place, role and agent, as they stand in every row about it
        seats = {
            name: (place, _ROLE[seat.role], agents.setdefault(seat.brain, len(agents)))
            for place, (name, seat) in enumerate(game.seats.items())
        }
        index = {row.number: self._statements + at for at, row in enumerate(game.statements)}
        left = {death.seat: (death.round, death.how == "exile") for death in reversed(game.deaths)}
        tables: dict[str, list[tuple[Any, ...]]] = {
            "games": [_game(game)],
            "seats": [(*seats[name], *left.get(name, (0, False))) for name in seats],
            "statements": [
                _statement(row, seats[row.speaker], processes.setdefault(row.agent, len(processes)))
                for row in game.statements
            ],
            "judgements": [
                (
                    *(index[row.statement], row.round, row.phase == "vote", *seats[row.observer]),
                    *(*seats[row.target], _FLAG[row.d], row.s, row.c, _KIND[row.kind], _how(row)),
                    row.before,
                )
                for row in game.judgements
            ],
            "claims": [(index[row.number], *_claim(row, scored)) for row in game.statements for scored in row.claims],
            "votes": [
                (
                    *(row.round, *seats[row.voter]),
                    *((UNKNOWN, UNKNOWN) if row.target is None else seats[row.target][:2]),
                )
                for row in game.votes
            ],
            "nights": [(row.round, 0 if row.target is None else 1 if row.died is None else 2) for row in game.nights],
            "rounds": [
                (round_, *seats[observer], *seats[target], value)
                for round_, pairs in sorted(game.by_round.items())
                for (observer, target), value in pairs.items()
            ],
            "pairs": [
                (*seats[observer], *seats[target], value) for (observer, target), value in game.suspicion.items()
            ],
        }
        for name, rows in tables.items():
            self._put(name, rows, len(self._ids))
        self._ids.append(game.game)
        self._seeds.append(game.seed)
        self._blocks.append(game.game if block is None else block)
        self._statements += len(game.statements)

    def _put(self, table: str, rows: Sequence[tuple[Any, ...]], game: int) -> None:
        import numpy as np

        if not rows:
            return
        dtypes = {name: dtype for name, dtype in DTYPES[table].items() if name != "game"}
        part = {
            name: np.array(column, dtype)
            for (name, dtype), column in zip(dtypes.items(), zip(*rows, strict=True), strict=True)
        }
        if table != "games":
            part["game"] = np.full(len(rows), game, "i4")
        self._parts[table].append(part)

    def merge(self, other: ColumnsBuilder) -> None:
        """Add all that `other` holds."""
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
        self._parts = {table: [_joined(table, parts)] for table, parts in self._parts.items()}

    def columns(self) -> Columns:
        """Return everything taken in so far, in the order of the games' ids."""
        import numpy as np

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

    Accusations are opinions and count for nothing, nor do claims that nobody can check. One lie
    makes a lie, else one mistake makes a mistake.
    """
    verdicts = {scored.verdict for scored in claims if scored.claim.claim != "accusation"}
    for verdict, code in (("lie", LIE), ("mistake", MISTAKE), ("true", TRUE)):
        if verdict in verdicts:
            return code
    return NO_CLAIM


def _game(game: GameRows) -> tuple[Any, ...]:
    return (
        *(game.finished, WINNERS.index(game.winner)),
        UNKNOWN if game.reason is None else ENDINGS.index(game.reason),
        *(PROTOCOLS.index(game.protocol), game.rounds, len(game.seats)),
        *(game.night_count, game.debate_turns, game.voting_rounds),
    )


def _statement(row: StatementRow, seat: tuple[int, int, int], process: int) -> tuple[Any, ...]:
    return (
        *(row.number, row.round, row.phase == "vote", row.turn, *seat, process),
        *(_FLAG[row.d], row.c, _KIND[row.kind], _how(row), truth_of(row.claims)),
    )


def _claim(row: StatementRow, scored: ScoredClaim) -> tuple[Any, ...]:
    claim = scored.claim
    own = row.role == "Seer" and claim.claim == "role" and claim.role == "Seer"
    return (
        *(CLAIMS.index(claim.claim), VERDICTS.index(scored.verdict), scored.extracted),
        own and claim.target == row.speaker,
    )


def _how(row: StatementRow | JudgementRow) -> int:
    """Return a place in `HOW`; the true outcome decides, whether or not what is missing was filled
    in.
    """
    if row.outcome is None:
        return UNKNOWN
    return 2 if row.outcome != "accepted" else row.reading != "clean"


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
