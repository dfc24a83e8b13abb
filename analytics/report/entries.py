"""Entries: statements with their labels, truth and judgements, as the index shows them, and which a selection means."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal, TypeAlias

from analytics.gather import Criteria, FileNote, Gathered, each_game
from analytics.report.context import Selection
from analytics.rows import GameRows
from analytics.rows.talk import JudgementRow, StatementRow
from analytics.tables import Tables

STATEMENTS: Final = 4_000
"""Statements up to which all are in the index: some 120 games."""
SAMPLED: Final = 2_000
"""Statements of a sample: where not all can be found on the page, as many as a reader looks through are enough."""

Judged: TypeAlias = Literal["tp", "fp", "tn", "fn", "flag", "pass", "none"]
"""A judgement against the self-label; "flag" or "pass" where no self-label counts, "none" where the judgement does
not."""
Truth: TypeAlias = Literal["true", "mistake", "lie", "none"]


@dataclass(frozen=True, slots=True)
class EntryJudgement:
    """One judgement of an entry.

    Attributes:
        row: the judgement.
        by: place of the observer's agent.
        judged: what it was.
    """

    row: JudgementRow
    by: int | None
    judged: Judged


@dataclass(frozen=True, slots=True)
class StatementEntry:
    """One statement of the index.

    Attributes:
        game: the game's place in the index, from 1.
        row: the statement.
        agent: place of the speaker's agent.
        truth: what its checkable claims make of it.
        judgements: in the order of the record.
    """

    game: int
    row: StatementRow
    agent: int | None
    truth: Truth
    judgements: tuple[EntryJudgement, ...]

    @property
    def anchor(self) -> str:
        """Its id on the page."""
        return f"g{self.game}s{self.row.number}"

    @property
    def label(self) -> str | None:
        """Its self-label in a word, None if none counts."""
        return None if self.row.d is None else "deceptive" if self.row.d else "truthful"


@dataclass(frozen=True, slots=True)
class IndexedGame:
    """One game of the index.

    Attributes:
        place: from 1.
        rows: the game.
        note: what became of its file.
        entries: its statements.
    """

    place: int
    rows: GameRows
    note: FileNote
    entries: tuple[StatementEntry, ...]


def sampled(tables: Tables, files: Sequence[FileNote], limit: int = STATEMENTS) -> list[str]:
    """Return the files whose games the index is to show, in order: all, or a seeded sample of whole games.

    The sample depends on the games' ids alone, so that one study always shows the same games.

    Args:
        tables: the games.
        files: what became of their files.
        limit: statements up to which all are shown; a sample has at most `SAMPLED` of them.
    """
    by_game = dict(zip(tables.ids, tables.games["statements"], strict=True))
    notes = [note for note in files if note.counted and note.game in by_game]
    total = sum(by_game[note.game] for note in notes if note.game is not None)
    if total <= limit:
        return [note.path for note in notes]
    limit = min(limit, SAMPLED)
    statements, paths = 0, []
    for note in sorted(notes, key=_sample_key):
        size = by_game[note.game or ""]
        if statements + size > limit:
            continue
        statements += size
        paths.append(note.path)
    return sorted(paths)


def _sample_key(note: FileNote) -> bytes:
    return hashlib.sha256(f"wolfbus index {note.game}".encode()).digest()


def entries_of(
    paths: Sequence[str],
    gathered: Gathered,
    criteria: Criteria,
) -> Iterator[IndexedGame]:
    """Yield the games of these files with their words.

    Args:
        paths: the files, in order.
        gathered: the games that were read; where it has not kept their words, they are read again.
        criteria: how to read them.
    """
    if not paths:
        return
    codes = {agent: place for place, agent in enumerate(gathered.tables.agents)}
    games: Iterable[tuple[FileNote, GameRows | None]]
    if all(path in gathered.games for path in paths):
        notes = {note.path: note for note in gathered.files}
        games = ((notes[path], gathered.games[path]) for path in paths)
    else:
        games = each_game(paths, criteria)
    place = 0
    for note, rows in games:
        if rows is not None:
            place += 1
            yield indexed_game(place, rows, note, codes)


def indexed_game(place: int, rows: GameRows, note: FileNote, codes: Mapping[str, int]) -> IndexedGame:
    """Return a game as entries."""
    judgements: dict[int, list[JudgementRow]] = {}
    for judgement in rows.judgements:
        judgements.setdefault(judgement.statement, []).append(judgement)
    entries = tuple(
        StatementEntry(
            place,
            statement,
            codes.get(statement.agent),
            statement.truth or "none",
            tuple(
                EntryJudgement(row, codes.get(row.observer_agent), _judged(row.d, statement.d))
                for row in judgements.get(statement.number, ())
            ),
        )
        for statement in rows.statements
    )
    return IndexedGame(place, rows, note, entries)


def _judged(flag: bool | None, deceptive: bool | None) -> Judged:
    if flag is None:
        return "none"
    if deceptive is None:
        return "flag" if flag else "pass"
    if deceptive:
        return "tp" if flag else "fn"
    return "fp" if flag else "tn"


_SELECTED_AS: Final[Mapping[Judged, Sequence[str]]] = {
    "tp": ("tp", "flagged", "scored", "judged"),
    "fp": ("fp", "flagged", "scored", "judged"),
    "tn": ("tn", "scored", "judged"),
    "fn": ("fn", "scored", "judged"),
    "flag": ("flagged", "judged"),
    "pass": ("judged",),
    "none": (),
}
"""All that a judgement is selected as; the page's script decides by the same rules."""
_FIELDS: Final = ("role", "agent", "label", "kind", "round", "phase", "game", "truth")


class EntryIndex:
    """Entries by everything that a selection may ask of them.

    Args:
        entries: of the index, in order.
    """

    def __init__(self, entries: Sequence[StatementEntry]) -> None:
        self._entries = entries
        self._places: defaultdict[tuple[object, ...], set[int]] = defaultdict(set)
        for place, entry in enumerate(entries):
            for fact in _facts(entry):
                self._places[fact].add(place)

    def find(self, selection: Selection) -> list[StatementEntry]:
        """Return the entries that are selected, in order."""
        values = ((name, getattr(selection, name)) for name in _FIELDS)
        facts: list[tuple[object, ...]] = [pair for pair in values if pair[1] is not None]
        if selection.observer is not None or selection.by is not None or selection.judged is not None:
            facts.append((selection.judged or "judged", selection.observer, selection.by))
        matches = [self._places.get(fact, set()) for fact in facts]
        places = set.intersection(*matches) if matches else range(len(self._entries))
        return [self._entries[place] for place in sorted(places)]


def _facts(entry: StatementEntry) -> Iterator[tuple[object, ...]]:
    """Yield what a selection may ask for that holds of an entry: fields, and what somebody judged it, by whom."""
    row = entry.row
    values = (row.role, entry.agent, entry.label, row.kind, row.round, row.phase, entry.game, entry.truth)
    yield from zip(_FIELDS, values, strict=True)
    if entry.truth != "none":
        yield "truth", "checkable"
    for judgement in entry.judgements:
        # of any role, and by anybody
        observers = (None, judgement.row.observer_role), (None, judgement.by)
        yield from product(_SELECTED_AS[judgement.judged], *observers)
