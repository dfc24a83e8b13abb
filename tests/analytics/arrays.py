"""Games as flat arrays of numbers, made or changed at will: what simulators draw, and what tests count by hand.

Words are places in tuples, players places in seating order from 0, a statement its row; -1 and NaN stand for what there
is not. `tables_from` makes the frames of them that metrics rest on.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from analytics.tables import SCHEMAS, Tables, joined
from wolfbus.game.vocabulary import DECEPTIONS, ROLES

NO_CLAIM, TRUE, MISTAKE, LIE = -1, 0, 1, 2
TRUTHS = ("true", "mistake", "lie")
WINNERS = (None, "villagers", "werewolves")

DTYPES: dict[str, dict[str, str]] = {
    table: {name: dtype for part in columns.split() for name, dtype in [part.split(":")]}
    for table, columns in {
        "games": "finished:? winner:i1 nights:i2 turns:i2 votings:i2 seats:i2",
        "seats": "game:i4 name:i4 seat:i1 role:i1 agent:i4",
        "statements": "game:i4 number:i4 round:i2 phase:i1 turn:i2 speaker:i1 role:i1 agent:i4 d:i1 kind:i1 how:i1 "
        "truth:i1 length:i4 checksum:i8 against_thought:i1",
        "judgements": "game:i4 statement:i4 round:i2 observer:i1 observer_role:i1 observer_agent:i4 target:i1 "
        "target_role:i1 target_agent:i4 informed:? d:i1 s:f8 how:i1 before:f8",
        "votes": "game:i4 round:i2 voter:i1 voter_role:i1 voter_agent:i4 target:i1 target_role:i1 informed:? "
        "unknown:i1 unknown_wolves:i1 others:i1 other_wolves:i1 credit:f8",
        "rounds": "game:i4 round:i2 observer:i1 observer_role:i1 observer_agent:i4 target:i1 target_role:i1 "
        "target_agent:i4 informed:? d:f8",
        "pairs": "game:i4 observer:i1 observer_role:i1 observer_agent:i4 target:i1 target_role:i1 target_agent:i4 "
        "informed:? d:f8",
    }.items()
}
"""The arrays of each table."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Games in the order of their ids; see the module."""

    ids: tuple[str, ...]
    seeds: tuple[str, ...]
    blocks: np.ndarray
    block_names: tuple[str, ...]
    agents: tuple[str, ...]
    games: dict[str, Any]
    seats: dict[str, Any]
    statements: dict[str, Any]
    judgements: dict[str, Any]
    votes: dict[str, Any]
    rounds: dict[str, Any]
    pairs: dict[str, Any]
    names: tuple[str, ...] = ()


def filled(table: str, rows: int, **columns) -> dict[str, np.ndarray]:
    """Return a table of so many rows: a column is an array or one value for all, and 0 unless given."""
    assert columns.keys() <= DTYPES[table].keys()
    return {name: np.broadcast_to(columns.get(name, 0), rows).astype(dtype) for name, dtype in DTYPES[table].items()}


def _words(codes: np.ndarray, among) -> tuple[np.ndarray, list[str | None]]:
    return np.where(codes < 0, len(among), codes).astype("u4"), [*among, None]


def _reals(values: np.ndarray) -> pl.Series:
    return pl.Series(values).fill_nan(None)


def _flags(codes: np.ndarray) -> pl.Series:
    return pl.select(pl.when(pl.Series(codes >= 0)).then(pl.Series(codes == 1))).to_series()


def _answered(how: np.ndarray) -> dict[str, Any]:
    return {
        "outcome": _words(np.where(how < 0, -1, how // 2), ("accepted", "defaulted")),
        "reading": _words(np.where(how < 0, -1, how), ("clean", "repaired", None)),
    }


def _series(value: Any, dtype: Any) -> pl.Series:
    if isinstance(value, tuple):
        # a word is made one of the column's once, and not in every row
        codes, among = value
        value = pl.Series(among, dtype=pl.String).cast(dtype).gather(codes)
    return value if isinstance(value, pl.Series) else pl.Series(value)


@cache
def _nothing() -> Tables:
    return joined([])


def tables_from(columns: Columns | Tables) -> Tables:
    """Return games as frames."""
    if isinstance(columns, Tables):
        return columns
    seats, said = columns.seats, columns.statements
    wide = int(max([columns.games["seats"].max(initial=0), seats["seat"].max(initial=0) + 1, 16]))
    named = np.full((max(1, len(columns.ids)), wide), "", object)
    named[:] = [f"Seat {place}" for place in range(wide)]
    if len(seats["game"]):
        named[seats["game"], seats["seat"]] = np.array(columns.names, object)[seats["name"]]

    def made(table: str, rows: dict[str, Any], /, **more: Any) -> pl.DataFrame:
        schema = SCHEMAS[table]
        # what these games do not say is null in every row
        unsaid = pl.repeat(None, len(next(iter(rows.values()))), eager=True)
        values = {}
        for column in schema:
            value = more[column] if column in more else rows.get(column, unsaid)
            if column.endswith("role") and column not in more:
                value = _words(value, ROLES)
            elif column.endswith("agent") and column not in more:
                value = _words(value, columns.agents)
            elif column in {"observer", "target", "speaker"}:
                value = _words(rows["game"].astype(int) * wide + rows[column], named.ravel())
            values[column] = _series(value, schema[column])
        return pl.DataFrame(values).cast(dict(schema))

    count = len(columns.ids)
    games = columns.games
    pairs = {**columns.pairs, "round": np.zeros(len(columns.pairs["game"]), "i2")}
    both = {name: np.concatenate([columns.rounds[name], pairs[name]]) for name in DTYPES["rounds"]}
    rounds = pl.Series(both["round"]).cast(pl.Int64)
    # of what these games do not say there are no rows
    return replace(
        _nothing(),
        games=made(
            "games",
            games,
            game_id=pl.Series(columns.ids, dtype=pl.String),
            block=pl.Series([columns.block_names[block] for block in columns.blocks], dtype=pl.String),
            seed=pl.Series(columns.seeds, dtype=pl.String),
            protocol=pl.Series(["paper"] * count, dtype=pl.String),
            winner=_words(games["winner"].astype(int) - 1, WINNERS[1:]),
            debate_turns=games["turns"],
            voting_rounds=games["votings"],
            statements=np.bincount(said["game"], minlength=count),
        ),
        seats=made(
            "seats",
            seats,
            place=seats["seat"].astype(int) + 1,
            name=_words(seats["name"], columns.names),
            process=pl.Series(["house"] * len(seats["game"]), dtype=pl.String),
        ),
        statements=made(
            "statements",
            said,
            phase=_words(said["phase"], ("debate", "vote")),
            kind=_words(said["kind"], DECEPTIONS),
            truth=_words(said["truth"], TRUTHS),
            self_deceptive=_flags(said["d"]),
            contradicts_thought=_flags(said["against_thought"]),
            words=said["length"],
            **_answered(said["how"]),
        ),
        judgements=made(
            "judgements",
            columns.judgements,
            statement=said["number"][columns.judgements["statement"]],
            flagged=_flags(columns.judgements["d"]),
            suspicion=_reals(columns.judgements["s"]),
            **_answered(columns.judgements["how"]),
        ),
        votes=made(
            "votes",
            columns.votes,
            target_role=_words(np.where(columns.votes["target"] < 0, -1, columns.votes["target_role"]), ROLES),
            credit=_reals(columns.votes["credit"]),
        ),
        suspicion=made("suspicion", both, suspicion=both["d"], round=rounds.replace(0, None)),
    )
