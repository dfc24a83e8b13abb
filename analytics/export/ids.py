"""Ids that are the same in every export of a game, and the columns that tables share."""

from __future__ import annotations

from dataclasses import replace

from analytics.export.column import Column
from wolfbus.vocabulary import DECEPTIONS, ROLES


def seat_id(game: str, name: str) -> str:
    """Return a seat's id, ``GAME:NAME``; no game's id holds a colon."""
    return f"{game}:{name}"


def statement_id(game: str, number: int) -> str:
    """Return a statement's id, ``GAME:NNN``: its number within the game, of at least three digits."""
    return f"{game}:{number:03d}"


def judgement_id(game: str, number: int, observer: str) -> str:
    """Return a judgement's id, ``GAME:NNN:OBSERVER``: the statement's and the observer's name."""
    return f"{game}:{number:03d}:{observer}"


def vote_id(game: str, round_: int, voter: str) -> str:
    """Return a vote's id, ``GAME:ROUND:VOTER``."""
    return f"{game}:{round_}:{voter}"


def bid_id(game: str, round_: int, turn: int, seat: str) -> str:
    """Return a bid's id, ``GAME:ROUND.TURN:BIDDER``."""
    return f"{game}:{round_}.{turn}:{seat}"


def call_id(game: str, line: int) -> str:
    """Return a model call's id, ``GAME:LINE``: where it stands in the record."""
    return f"{game}:{line}"


GAME_ID = Column("game_id", "text", "the game", refers="games")
ROUND = Column("round", "integer", "round, from 1: a night, then a day")
PHASE = Column(
    "phase",
    "category",
    "`debate`, or `vote` for the published reason of a vote",
    values=("debate", "vote"),
)
LINE = Column("line", "integer", "line of the record on which it stands", null="a published log of the paper's code")
OUTCOME = Column(
    "outcome",
    "category",
    "what became of the request: answered, answered with something unusable, not in time, or not asked of this agent",
    null="not known yet, or a log that does not say",
    values=("accepted", "defaulted", "timed_out", "declined"),
)
READING = Column(
    "reading",
    "category",
    "how much work it took to read the reply",
    null="nothing usable came, or a log that does not say",
    values=("clean", "extracted", "repaired", "coerced", "reasked"),
)
FAULT = Column(
    "fault",
    "category",
    "what was wrong with the reply",
    null="nothing, or a log that does not say",
    values=("unparseable", "illegal", "ambiguous", "refused", "failed"),
)
KIND = Column(
    "kind",
    "category",
    "the kind of deception that is named; `unspecified` where none is",
    null="no answer that counts",
    values=DECEPTIONS,
)
STATED_KIND = Column(
    "stated_kind",
    "category",
    "the kind as it was given, where the yes or no overruled it",
    null="it was not overruled",
    values=DECEPTIONS,
)


def role(name: str, whose: str, null: str | None = None) -> Column:
    """Return a column with somebody's role."""
    return Column(name, "category", f"{whose} role", null=null, values=ROLES)


def agent(name: str, whose: str, null: str | None = None) -> Column:
    """Return a column with what answers for a seat."""
    return Column(name, "category", f"what answers for {whose}: its brain, as it was asked for", null=null)


def named(column: Column, name: str, meaning: str | None = None, null: str | None = None) -> Column:
    """Return a shared column under another name, with a meaning and nulls of its own where given."""
    return replace(column, name=name, meaning=meaning or column.meaning, null=null or column.null)
