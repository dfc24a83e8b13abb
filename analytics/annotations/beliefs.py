"""Beliefs, asked outright after the games of a study: ``beliefs.jsonl`` beside its records.

The first line says which models were asked, how. Every other line is of one seat at one moment of a game: how likely
each other living player is a Werewolf, with the hash of the record's line before the moment, and the record's head.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field

import wolfbus
from analytics.annotations.lines import Line, PromptMark, Seal, Share, read_lines
from analytics.rows import GameRows
from analytics.rows.belief import BeliefRow
from wolfbus.errors import RecordError
from wolfbus.knowledge.moments import WHENS, Place, When
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import Scalar
from wolfbus.study.manifest import RECORDS

FILE: Final = "beliefs.jsonl"


class AskedModel(Line):
    """What answered for an agent."""

    model: str
    parameters: dict[str, Scalar] = Field(default_factory=dict)


class BeliefHeader(Line):
    """Who was asked, and how."""

    format: Literal["wolfbus-beliefs"] = "wolfbus-beliefs"
    version: Literal[1] = 1
    created: str = Field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    wolfbus: str = wolfbus.__version__
    prompt: PromptMark
    models: dict[str, AskedModel]
    """By agent, as seats name it."""


class Belief(Line):
    """What one seat believed at one moment."""

    game: str
    round: Annotated[int, Field(ge=1)]
    when: When
    statement: Annotated[int, Field(ge=1)] | None = None
    seat: SeatName
    head: Seal
    hash: Seal
    werewolf: dict[SeatName, Share]
    vote: SeatName | None = None
    """Whom it would vote for, around a statement; None for nobody."""
    thought: str | None = None
    served: str | None = None
    """What the server said of the model."""

    @property
    def place(self) -> tuple[str, SeatName, Place]:
        """Game, seat and moment."""
        return self.game, self.seat, Place(self.round, self.when, self.statement)


@dataclass(frozen=True, slots=True)
class Beliefs:
    """A file of beliefs.

    Attributes:
        path: where it is.
        header: its first line.
        lines: the others, a seat and moment once.
    """

    path: Path
    header: BeliefHeader
    lines: tuple[Belief, ...]


def beliefs_beside(record: Path) -> Path:
    """Return where beliefs of a record's seats are: in its study's folder, else beside it."""
    folder = record.parent
    return (folder.parent if folder.name == RECORDS else folder) / FILE


def read_beliefs(path: Path) -> Beliefs:
    """Return a file of beliefs; see `read_lines`.

    Raises:
        RecordError: as that does; or a seat's moment stands there twice.
    """
    header, beliefs = read_lines(path, BeliefHeader, Belief, "belief")
    seen = set()
    for line in beliefs:
        if line.place in seen:
            raise RecordError(f"{path}: {in_words(line)} stands there twice")
        seen.add(line.place)
    return Beliefs(path, header, tuple(beliefs))


def beliefs_in(path: Path) -> list[Beliefs]:
    """Return what stands in a file of beliefs if there is one; raises RecordError as `read_beliefs`."""
    return [read_beliefs(path)] if path.exists() else []


def in_words(line: Belief) -> str:
    """Return whose belief it is, and when."""
    statement = "" if line.statement is None else f" statement {line.statement}"
    return f"{line.game}: {line.seat}, day {line.round}, {line.when}{statement}"


def rows_of_beliefs(files: Iterable[Beliefs], head: str, game: GameRows) -> Iterator[BeliefRow]:
    """Yield what was believed in a game, in the order of its moments.

    Args:
        files: what was asked, of this game alone.
        head: the record's last hash.
        game: its rows.

    Raises:
        RecordError: something was asked of another record, or of somebody who does not play; the line names the file
            and the moment.
    """
    for file in files:
        for line in sorted(file.lines, key=lambda line: (line.round, WHENS.index(line.when), line.statement or 0)):
            names = {line.seat, *line.werewolf, *([] if line.vote is None else [line.vote])}
            if line.head != head or not names <= game.seats.keys():
                raise RecordError(
                    f"{file.path}: {in_words(line)} is not what was asked about: its record is another one now; bring "
                    "that back, or move this file away"
                )
            yield from _rows(line, game)


def _rows(line: Belief, game: GameRows) -> Iterator[BeliefRow]:
    observer = game.seats[line.seat]
    moment: Mapping[str, Any] = {"round": line.round, "when": line.when, "statement": line.statement}
    for name, likely in line.werewolf.items():
        target = game.seats[name]
        yield BeliefRow(
            game=game.game,
            **moment,
            observer=observer.name,
            observer_role=observer.role,
            observer_agent=observer.agent,
            target=target.name,
            target_role=target.role,
            target_agent=target.agent,
            belief=likely,
            would_vote=None if line.statement is None else line.vote == name,
        )
