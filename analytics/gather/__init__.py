"""From folders and files to games: any number of files into columns, in memory that does not grow with their words.

`gather` is what a report, a comparison and an export rest on.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path
from typing import Final

from analytics.columns import Columns, ColumnsBuilder, joined
from analytics.gather.cache import Basis, Cache, Read, SourceBatch, cache_beside, hash_of, keep, once, recall
from analytics.gather.reading import Criteria, checks, read_game
from analytics.gather.sources import Collection, FileNote, Planned, Source, StudySource, collect, find
from analytics.measures.ledger import Ledger
from analytics.rows import GameRows
from wolfbus.errors import WolfError

ALONE: Final = 30_000_000
"""Bytes up to which one process is quicker than several, which have to be started."""
PART: Final = 24_000_000
"""Bytes of the files that a worker is given at a time."""

_COLLECT: Final = (50_000, 20, 20)


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that was read.

    Attributes:
        columns: the games as numbers.
        files: what became of each file, in the order of their paths.
        studies: the studies whose folders were read.
        ledger: how replies were read, and what model calls took.
        basis: what results of them rest on, where they may be kept; None where they may not.
        games: the games with their words, by path; empty unless they were asked for, few enough, and all read here.
    """

    columns: Columns
    files: tuple[FileNote, ...]
    studies: tuple[StudySource, ...]
    ledger: Ledger = field(default_factory=Ledger)
    basis: Basis | None = None
    games: Mapping[str, GameRows] = field(default_factory=dict)

    @property
    def problems(self) -> tuple[FileNote, ...]:
        """The files with which something is wrong."""
        return tuple(note for note in self.files if note.problem is not None)

    @property
    def checked(self) -> list[str]:
        """A sentence on what was checked of each study that was read."""
        return [check.sentence for check in checks(self.studies, self.files)]


class _WithWords:
    """Games with their words, as long as they have no more statements than wanted; then none.

    Args:
        limit: statements.

    Attributes:
        wanted: whether words are kept.
    """

    def __init__(self, limit: int) -> None:
        self.games: dict[str, GameRows] = {}
        self.wanted = limit > 0
        self._left = limit

    def add(self, note: FileNote, rows: GameRows) -> None:
        """Take in one game; forget all if it is too much."""
        self._left -= len(rows.statements)
        if self.wanted and self._left >= 0:
            self.games[note.path] = rows
        else:
            self.wanted = False
            self.games.clear()


def gather(
    given: Sequence[str | Path],
    criteria: Criteria | None = None,
    *,
    workers: int | None = None,
    cached: bool = False,
    with_words: int = 0,
    tell: Callable[[int, int], None] = lambda _read, _all: None,
) -> Gathered:
    """Read folders and files.

    Args:
        given: see `find`.
        criteria: how to compute; as the games were played unless given.
        workers: processes that read; as many as there are processors unless given, one where there is little to read.
        cached: take what the same files came to before from the cache beside them, and keep it there; every byte of
            the files is hashed all the same. Where records are to be re-executed, nothing is.
        with_words: keep the games' words, too, if they have no more statements than this and one process reads them.
        tell: called now and then with the bytes read so far and all there are.

    Raises:
        RecordError: as `find` does. What is wrong with a single file stands in `Gathered.files`.
    """
    criteria = criteria or Criteria()
    found = collect(given, criteria.roles, as_recorded=criteria.as_recorded)
    size = sum(source.size for source in found.files)
    parts = [SourceBatch(tuple(each), _own(each, found.blocks), criteria) for each in _parts(found.files)]
    cache = cache_beside(parts[0].sources[0].path) if cached and parts else None
    ledger, columns, notes = Ledger(), list[Columns](), list(found.refused)
    read = 0
    missing: list[SourceBatch] = []
    keys = {part.name: None if cache is None else part.key() for part in parts}
    for part in parts:
        known = None if cache is None else recall(cache, part, keys[part.name])
        if known is None:
            missing.append(part)
            continue
        one, many, told = known
        ledger.merge(one)
        columns.append(many)
        notes += told
        read += part.size
        tell(read, size)
    if workers is None:
        workers = 1 if size - read <= ALONE else _processors()
    words = _WithWords(with_words if len(missing) == len(parts) else 0)
    for part, (one, many, told) in _read_all(missing, workers, words):
        if cache is not None:
            keep(cache, part, keys[part.name], (one, many, told))
        ledger.merge(one)
        columns.append(many)
        notes += told
        read += part.size
        tell(read, size)
    notes.sort(key=lambda note: note.path)
    basis = None if cache is None else _basis(cache, parts, [keys[part.name] for part in parts], found)
    return Gathered(joined(columns), tuple(notes), found.studies, ledger, basis, words.games)


def _basis(cache: Cache, parts: Sequence[SourceBatch], keys: Sequence[bytes | None], found: Collection) -> Basis | None:
    whole = [(part, key) for part, key in zip(parts, keys, strict=True) if key is not None]
    if len(whole) < len(parts):
        return None
    return Basis(cache, hash_of([key for _, key in whole], found.refused, found.studies), whole)


def each_game(
    given: Sequence[str | Path], criteria: Criteria | None = None, *, keep_text: bool = False
) -> Iterator[tuple[FileNote, GameRows | None]]:
    """Yield what became of each file, with the rows of its game, in the order of the files' paths.

    Raises:
        RecordError: as `find` does.
    """
    criteria = criteria or Criteria()
    found = collect(given, criteria.roles, as_recorded=criteria.as_recorded)
    waiting = {note.path: note for note in found.refused}
    for path, source in sorted(
        [*((str(each.path), each) for each in found.files), *((path, None) for path in waiting)], key=itemgetter(0)
    ):
        if source is None:
            yield waiting[path], None
        else:
            yield read_game(source, criteria, keep_text=keep_text, digest=False)


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """Have work done in processes of its own; Ctrl-C ends them without a word, for this one says it.

    Raises:
        WolfError: one of them was killed.
    """
    # a fork would carry threads' locks along; a fresh interpreter costs a fifth of a second
    pool = ProcessPoolExecutor(count, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_DFL))
    try:
        with pool:
            yield pool
    except BrokenProcessPool:
        raise WolfError("a process that did part of the work was killed, perhaps because memory ran out") from None


def _read_all(parts: Sequence[SourceBatch], workers: int, words: _WithWords) -> Iterator[tuple[SourceBatch, Read]]:
    if workers <= 1 or len(parts) <= 1:
        for part in parts:
            yield part, _read(part, words)
        return
    with processes(min(workers, len(parts))) as pool:
        waiting: dict[Future[Read], SourceBatch] = {}
        for part in parts:
            waiting[pool.submit(_read, part)] = part
            if len(waiting) > 2 * workers:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                yield from ((waiting.pop(future), future.result()) for future in done)
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            yield from ((waiting.pop(future), future.result()) for future in done)


def _parts(sources: Sequence[Source]) -> Iterator[list[Source]]:
    part: list[Source] = []
    size = 0
    for source in sources:
        if part and size + source.size > PART:
            yield part
            part, size = [], 0
        part.append(source)
        size += source.size
    if part:
        yield part


def _own(part: Sequence[Source], blocks: Mapping[str, str]) -> dict[str, str]:
    return {source.game: blocks[source.game] for source in part if source.game is not None and source.game in blocks}


def _read(part: SourceBatch, words: _WithWords | None = None) -> Read:
    words = words or _WithWords(0)
    # games make many short-lived values and few cycles
    before = gc.get_threshold()
    gc.set_threshold(*_COLLECT)
    try:
        ledger, builder, notes = Ledger(), ColumnsBuilder(), []
        for source in part.sources:
            note, rows = read_game(source, part.criteria, keep_text=words.wanted, digest=False)
            notes.append(note)
            if rows is not None:
                words.add(note, rows)
                ledger.add(rows)
                builder.add(rows, part.blocks.get(rows.game))
        return ledger, builder.columns(), notes
    finally:
        gc.set_threshold(*before)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


__all__ = [
    "Basis",
    "Collection",
    "Criteria",
    "FileNote",
    "Gathered",
    "Planned",
    "Source",
    "StudySource",
    "collect",
    "each_game",
    "find",
    "gather",
    "once",
    "processes",
]
