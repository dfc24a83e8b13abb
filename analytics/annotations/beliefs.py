"""Beliefs, asked outright after the games of a study: ``beliefs.jsonl`` beside its records.

The first line says which models were asked, how. Every other line is of one seat at one moment of a game: how likely
each other living player is a Werewolf, with the hash of the record's line before the moment, and the record's head.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import Field

from analytics.annotations.lines import FileHeader, GameLine, Line, LinesFile, PromptMark, Share, read_lines, study_of
from analytics.rows import GameRows
from analytics.rows.belief import BeliefRow
from analytics.rows.course import pair_of
from wolfbus.knowledge.moments import WHENS, Place, When
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import Scalar

FILE: Final = "beliefs.jsonl"


class AskedModel(Line):
    """What answered for an agent."""

    model: str
    parameters: dict[str, Scalar] = Field(default_factory=dict)


class BeliefHeader(FileHeader):
    """Who was asked, and how."""

    format: Literal["wolfbus-beliefs"] = "wolfbus-beliefs"
    prompt: PromptMark
    models: dict[str, AskedModel]
    """By agent, as seats name it."""


class Belief(GameLine):
    """What one seat believed at one moment."""

    DONE: ClassVar[str] = "asked about"

    round: Annotated[int, Field(ge=1, lt=2**31)]
    when: When
    statement: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    seat: SeatName
    werewolf: dict[SeatName, Share]
    vote: SeatName | None = None
    """Whom it would vote for, around a statement; None for nobody."""
    thought: str | None = None

    @property
    def place(self) -> tuple[str, SeatName, Place]:
        """Game, seat and moment."""
        return self.game, self.seat, Place(self.round, self.when, self.statement)

    @property
    def words(self) -> str:
        """Whose belief it is, and when."""
        statement = "" if self.statement is None else f" statement {self.statement}"
        return f"{self.game}: {self.seat}, day {self.round}, {self.when}{statement}"


Beliefs: TypeAlias = LinesFile[BeliefHeader, Belief]
"""A file of beliefs, a seat at a moment once."""


def beliefs_beside(record: Path) -> Path:
    """Return where beliefs of a record's seats are: in its study's folder, else beside it."""
    return study_of(record) / FILE


def read_beliefs(path: Path) -> Beliefs:
    """Return a file of beliefs; raises RecordError as `read_lines`."""
    return read_lines(path, BeliefHeader, Belief, "belief")


def beliefs_in(path: Path) -> list[Beliefs]:
    """Return what stands in a file of beliefs if there is one; raises RecordError as `read_beliefs`."""
    return [read_beliefs(path)] if path.exists() else []


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
                raise line.misfit(file.path)
            yield from _rows(line, game)


def _rows(line: Belief, game: GameRows) -> Iterator[BeliefRow]:
    for name, likely in line.werewolf.items():
        yield BeliefRow(
            game=game.game,
            round=line.round,
            when=line.when,
            statement=line.statement,
            **pair_of(game.seats[line.seat], game.seats[name]),
            belief=likely,
            would_vote=None if line.statement is None else line.vote == name,
        )
