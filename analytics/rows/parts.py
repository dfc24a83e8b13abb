"""Fields that rows share: their ids, names, places in the game, and how a reply was come by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

from analytics.schema import UNKNOWN, Column, Stored, coded
from wolfbus.vocabulary import DECEPTIONS, ROLES, Deception, Fault, Outcome, Phase, Reading

HOW: Final = ("clean", "repaired", "defaulted")
"""How a label or judgement was come by: accepted as it stood, accepted with some repair, or missing."""
PHASES: Final = ("debate", "vote")

FOREIGN: Final = "a published log of the paper's code"
_NOT_READ: Final = "nothing usable came, or a log that does not say"

SEAT: Final = Stored("i1", index="seats")
ROLE: Final = coded(ROLES)
AGENT: Final = Stored("i4", index="agents")
FLAG: Final = coded((False, True))
DECEPTION: Final = coded(DECEPTIONS)
REAL: Final = Stored("f8")

GameId: TypeAlias = Annotated[str, Column("the game", refers="games", name="game_id")]
Round: TypeAlias = Annotated[int, Column("round, from 1: a night, then a day"), Stored("i2")]
SaidIn: TypeAlias = Annotated[
    Phase,
    Column("`debate`, or `vote` for the published reason of a vote", values=PHASES),
    coded(PHASES),
]
Line: TypeAlias = Annotated[int | None, Column("line of the record on which it stands", FOREIGN)]
OutcomeOf: TypeAlias = Annotated[
    Outcome | None,
    Column(
        "what became of the request: answered, answered with something unusable, not in time, or not asked of this "
        "agent",
        "not known yet, or a log that does not say",
    ),
]
ReadingOf: TypeAlias = Annotated[Reading | None, Column("how much work it took to read the reply", _NOT_READ)]
FaultOf: TypeAlias = Annotated[
    Fault | None, Column("what was wrong with the reply", "nothing, or a log that does not say")
]
KindOf: TypeAlias = Annotated[
    Deception | None,
    Column("the kind of deception that is named; `unspecified` where none is", "no answer that counts"),
    DECEPTION,
]
StatedKind: TypeAlias = Annotated[
    Deception | None,
    Column("the kind as it was given, where the yes or no overruled it", "it was not overruled"),
]


def role(whose: str, null: str | None = None) -> Column:
    """Return a column with somebody's role."""
    return Column(f"{whose} role", null)


def agent(whose: str, null: str | None = None) -> Column:
    """Return a column with what answers for a seat."""
    return Column(f"what answers for {whose}: its brain, as it was asked for", null, category=True)


def name(of: str, null: str | None = None) -> Column:
    """Return a column with a player's name."""
    return Column(of, null, category=True)


def key(of: str, table: str | None = None, null: str | None = None) -> Column:
    """Return a column with an id: the row's own, or that of a row of another table."""
    return Column(of, null, refers=table)


def how(outcome: Outcome | None, reading: Reading | None) -> int:
    """Return a place in `HOW`, `UNKNOWN` for what is not joined; the true outcome decides, whether or not what is
    missing was filled in.
    """
    if outcome is None:
        return UNKNOWN
    return 2 if outcome != "accepted" else int(reading != "clean")


def seat_id(game: str, name: str) -> str:
    """Return a seat's id, ``GAME:NAME``; no game's id holds a colon."""
    return f"{game}:{name}"


def statement_id(game: str, number: int) -> str:
    """Return a statement's id, ``GAME:NNN``: its number within the game, of at least three digits."""
    return f"{game}:{number:03d}"


def call_id(game: str, line: int) -> str:
    """Return a model call's id, ``GAME:LINE``: where it stands in the record."""
    return f"{game}:{line}"


@dataclass(frozen=True, slots=True)
class Beside:
    """What comes with an answer beside what counts of it: exports show it.

    Attributes:
        line: line of the record on which the answer stands; None where there are no lines.
        fault: what was wrong with it.
        stated_kind: the kind of deception as it was given, where the yes or no overruled it.
        reasoning: why, in the player's words.
        thought: its private thought.
    """

    line: int | None = None
    fault: Fault | None = None
    stated_kind: Deception | None = None
    reasoning: str | None = None
    thought: str | None = None


NOTHING: Final = Beside()
