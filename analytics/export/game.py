"""`ExportedGame`: one game as exports see it, read from its file in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analytics.export.details import DetailFold, Details
from analytics.gather import Collection, Criteria, FileNote, Planned, Source
from analytics.gather.reading import read_game
from analytics.rows import GameRows
from wolfbus.record.line import Recorded


@dataclass(frozen=True, slots=True)
class ExportedGame:
    """One game, as far as its file holds.

    Attributes:
        rows: what metrics rest on, with the statements' words.
        details: all that an export tells beside.
        note: what became of the file.
        lines: lines of the record that hold; 0 for a log of the paper's code.
        digest: digest of the events of a game that was played to its end and whose every line holds; None otherwise.
        planned: its place in a study; None for a game of none.
    """

    rows: GameRows
    details: Details
    note: FileNote
    lines: int = 0
    digest: str | None = None
    planned: Planned | None = None

    @property
    def id(self) -> str:
        """The game's id."""
        return self.rows.game

    @property
    def block(self) -> str:
        """The games that are to be resampled together go by this name; its own id without a study."""
        return self.id if self.planned is None else self.planned.block


def read_games(
    collection: Collection,
    criteria: Criteria | None = None,
    tell: Callable[[int, int], None] = lambda _read, _all: None,
    watch: Callable[[Recorded], None] = lambda _recorded: None,
) -> Iterator[tuple[FileNote, ExportedGame | None]]:
    """Yield what became of each file, with its game where at least the opening holds.

    Args:
        collection: what to read.
        criteria: how to compute; as the games were played unless given.
        tell: called after each file with the number of files read, and of all.
        watch: called with every line of a record that holds, before its game is yielded.
    """
    for note in collection.refused:
        yield note, None
    for number, source in enumerate(collection.files, 1):
        note, game = read_exported(source, criteria or Criteria(), collection, watch)
        yield note, game
        # a game is large; it goes before the next one comes
        del game
        tell(number, len(collection.files))


def read_exported(
    source: Source,
    criteria: Criteria,
    collection: Collection,
    watch: Callable[[Recorded], None] = lambda _recorded: None,
) -> tuple[FileNote, ExportedGame | None]:
    """Return what became of a file, and as much of its game as holds, None if not even the opening does.

    What is checked, and what counts, is as `read_game` has it.
    """
    details = DetailFold()

    def see(recorded: Recorded) -> None:
        details.feed(recorded)
        watch(recorded)

    note, rows = read_game(source, criteria, keep_text=True, watch=see)
    if rows is None:
        return note, None
    planned = collection.planned.get(rows.game)
    lines = 0 if note.published else note.events
    return note, ExportedGame(rows, details.details, note, lines, note.digest, planned)
