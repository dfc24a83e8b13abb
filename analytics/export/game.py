"""`ExportedGame`: one game as exports see it, read from its file in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from analytics.gather import Collection, Criteria, FileNote, Planned, Source
from analytics.gather.reading import read_game
from analytics.rows import GameRows
from analytics.rows.fields import FOREIGN, Column, Derived, Nested
from wolfbus.canonical import canonical
from wolfbus.printable import NOTE_SHOWN, printable
from wolfbus.record.line import Recorded

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
    id: ClassVar[Derived[Annotated[str, Column("the game", name="game_id")]]] = Derived(lambda game: game.rows.game)
    study: ClassVar[
        Derived[Annotated[str | None, Column("the study that it was played in", _NO_STUDY, category=True)]]
    ] = Derived(lambda game: None if game.planned is None else game.planned.study)
    number: ClassVar[Derived[Annotated[int | None, Column("its number in the study", _NO_STUDY)]]] = Derived(
        lambda game: None if game.planned is None else game.planned.number
    )
    block: ClassVar[
        Derived[
            Annotated[
                str,
                Column("games of one block belong together: resample blocks, not games; a game of no study is its own"),
            ]
        ]
    ] = Derived(lambda game: game.id if game.planned is None else game.planned.block)
    file: ClassVar[Derived[Annotated[str, Column("name of the file it was read from")]]] = Derived(
        lambda game: game.note.path.replace("\\", "/").rsplit("/", 1)[-1]
    )
    problem: ClassVar[
        Derived[
            Annotated[
                str | None,
                Column("why the file does not hold to its end; what stands before is exported", "it does"),
            ]
        ]
    ] = Derived(lambda game: None if game.note.problem is None else printable(game.note.problem, 2 * NOTE_SHOWN))
    rows: Annotated[GameRows, Nested]
    lines: Annotated[int, Column("lines of the record that hold; 0 for a published log")] = 0
    digest: Annotated[
        str | None,
        Column(
            "SHA-256 of rules, seats, accepted answers and what followed: equal digests, equal games",
            "the file does not hold to the game's end, or a published log",
        ),
    ] = None
    config: ClassVar[Derived[Annotated[str | None, Column("all rules, as JSON", FOREIGN)]]] = Derived(
        lambda game: _rules(game.rows)
    )


def _rules(rows: GameRows) -> str | None:
    return None if rows.opened is None else canonical(rows.opened.config.model_dump(mode="json")).decode()


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
    note, rows = read_game(source, criteria, keep_text=True, watch=watch)
    if rows is None:
        return note, None
    lines = 0 if note.published else note.events
    return note, ExportedGame(note, collection.planned.get(rows.game), rows, lines, note.digest)
