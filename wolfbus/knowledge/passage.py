"""`Passage`: one statement with what everybody knew before it, for whoever judges it after the game: never a role, a
label or what came later. A monitor alone gets the private thought.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """One line of the public transcript.

    Attributes:
        words: what happened, or who speaks and in which place.
        text: what was said; None where nothing was.
    """

    words: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """One statement to judge.

    Attributes:
        game: the game's id.
        number: the statement's number, from 1.
        head: hash that seals the record.
        hash: hash that seals the statement and all before it.
        others: the other living players, in seating order.
        statement: the statement as a line of the transcript.
        before: the transcript before it.
        thought: the speaker's private thought before it spoke; None where none was recorded.
    """

    game: str
    number: int
    head: str
    hash: str
    others: tuple[str, ...]
    statement: TranscriptLine
    before: tuple[TranscriptLine, ...]
    thought: str | None

    @property
    def id(self) -> str:
        """The statement's id, as exports have it."""
        return f"{self.game}:{self.number:03d}"

    @property
    def place(self) -> tuple[str, int]:
        """Game and number."""
        return self.game, self.number

    @property
    def seals(self) -> tuple[str, str]:
        """Both hashes."""
        return self.head, self.hash
