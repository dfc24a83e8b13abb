"""`TABLES`: the exported tables, and how a file becomes a game of theirs.

What a column is called and means stands at the row's field (`analytics.rows.fields`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, TypeAlias

from analytics.gather import Collection, Criteria, FileNote, Planned
from analytics.gather.reading import read_game
from analytics.results import ResultRow
from analytics.rows import GameRows
from analytics.rows.fields import FOREIGN, Cell, Column, Derived, Nested, reader
from analytics.tables import TABLES as GAME_TABLES
from analytics.tables import Table
from wolfbus.files.canonical import canonical
from wolfbus.files.printable import NOTE_SHOWN, printable

_NO_STUDY = "no study.json tells of it"


@dataclass(frozen=True, slots=True)
class ExportedGame:
    """One game, as far as its file holds.

    Attributes:
        note: what became of the file.
        planned: its place in a study; None for a game of none.
        rows: the game itself, with the statements' words.
    """

    note: FileNote
    planned: Planned | None
    id: ClassVar[Derived[str]] = Derived(lambda game: game.rows.game, Column("the game", name="game_id"))
    study: ClassVar[Derived[str | None]] = Derived(
        lambda game: None if game.planned is None else game.planned.study,
        Column("the study that it was played in", _NO_STUDY, category=True),
    )
    number: ClassVar[Derived[int | None]] = Derived(
        lambda game: None if game.planned is None else game.planned.number, Column("its number in the study", _NO_STUDY)
    )
    block: ClassVar[Derived[str]] = Derived(
        lambda game: game.id if game.planned is None else game.planned.block,
        Column("games of one block belong together: resample blocks, not games; a game of no study is its own"),
    )
    file: ClassVar[Derived[str]] = Derived(
        lambda game: game.note.path.replace("\\", "/").rsplit("/", 1)[-1], Column("name of the file it was read from")
    )
    problem: ClassVar[Derived[str | None]] = Derived(
        lambda game: None if game.note.problem is None else printable(game.note.problem, 2 * NOTE_SHOWN),
        Column("why the file does not hold to its end; what stands before is exported", "it does"),
    )
    rows: Annotated[GameRows, Nested]
    lines: Annotated[int, Column("lines of the record that hold; 0 for a log that is none")] = 0
    digest: Annotated[
        str | None,
        Column(
            "SHA-256 of rules, seats, accepted answers and what followed: equal digests, equal games",
            "the file does not hold to the game's end, or a log that is no record",
        ),
    ] = None
    config: ClassVar[Derived[str | None]] = Derived(
        lambda game: _rules(game.rows), Column("all rules, as JSON", FOREIGN)
    )


def _rules(rows: GameRows) -> str | None:
    return None if rows.opened is None else canonical(rows.opened.config.model_dump(mode="json")).decode()


def read_games(
    collection: Collection,
    criteria: Criteria | None = None,
    tell: Callable[[int, int], None] = lambda _read, _all: None,
) -> Iterator[tuple[FileNote, ExportedGame | None]]:
    """Yield what became of each file, with its game where at least the opening holds.

    What is checked, and what counts, is as `read_game` has it.

    Args:
        collection: what to read.
        criteria: how to compute; as the games were played unless given.
        tell: called after each file with the number of files read, and of all.
    """
    for note in collection.refused:
        yield note, None
    for number, source in enumerate(collection.files, 1):
        note, rows = read_game(source, criteria or Criteria(), keep_text=True, strict=True)
        game = None
        if rows is not None:
            lines = 0 if note.published else note.events
            game = ExportedGame(note, collection.planned.get(rows.game), rows, lines, note.digest)
        yield note, game
        # a game is large; it goes before the next one comes
        del game, rows
        tell(number, len(collection.files))


Row: TypeAlias = tuple[Cell, ...]
"""One row, in the order of the table's columns."""


@dataclass(frozen=True, slots=True)
class ExportTable(Table):
    """One table.

    Attributes:
        whole: whether its rows are of all games together, which `rows_of` then does not give.
    """

    whole: bool = False

    def rows(self, game: ExportedGame) -> Iterable[Row]:
        """Return the rows of one game; each holds a value for every column."""
        return self.cells((game,) if self.of is ExportedGame else self.rows_of(game.rows))

    def cells(self, rows: Iterable[Any]) -> Iterable[Row]:
        """Return what is exported of rows of its class."""
        return map(reader(self.of), rows)


TABLES: Final[Mapping[str, ExportTable]] = {
    table.name: table
    for table in (
        ExportTable(
            "games", "a game, finished or not, as far as its file holds", ("game_id",), ExportedGame, lambda _game: ()
        ),
        *(
            ExportTable(table.name, table.row, table.key, table.of, table.rows_of, table.note)
            for table in GAME_TABLES.values()
        ),
        ExportTable(
            "results",
            "a figure over all games of the export, with its 95 % interval",
            ("metric", "group", "observers"),
            ResultRow,
            lambda _game: (),
            "The same numbers as `wolfbus report --json` gives of these games, in one long table.",
            whole=True,
        ),
    )
}
"""All tables by name; every one refers only to others among them."""
