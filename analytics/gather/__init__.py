"""From folders and files to games: any number of files into data frames, in memory that does not grow with their words.

`gather` is what a report, a comparison and an export rest on; `fold` makes rows of the events of one game.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import active_children
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import Any, Final

from analytics.fold import GameFold, fold
from analytics.gather.cache import Basis, BatchResult, SourceBatch, keep, kept_digest, once, recall
from analytics.gather.reading import Criteria, checks, read_game
from analytics.gather.sources import Collection, FileNote, Planned, Source, StudySource, collect, digest_of, find
from analytics.replies import Ledger
from analytics.rows import GameRows
from analytics.tables import Tables, TablesBuilder, joined
from wolfbus.errors import WolfError
from wolfbus.files.cache import Cache, cache_in, hash_of

ALONE: Final = 30_000_000
"""Bytes up to which one process is quicker than several, which have to be started."""
BATCH: Final = 24_000_000
"""Bytes of the files that a worker is given at a time."""

_SAFE: Final = "PYTHONSAFEPATH"
_POLL_S: Final = 0.5
_COLLECT: Final = (50_000, 20, 20)


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that was read.

    Attributes:
        tables: the games as data frames.
        files: what became of each file, in the order of their paths.
        studies: the studies whose folders were read.
        ledger: how replies were read, and what model calls took.
        basis: what results of them rest on, where they may be kept; None where they may not.
        games: the games with their words, by path; empty unless they were asked for, few enough, and all read here.
    """

    tables: Tables
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
    def spoilt(self) -> tuple[FileNote, ...]:
        """The files whose games are spoilt."""
        return tuple(note for note in self.files if note.spoilt)

    @property
    def checked(self) -> list[str]:
        """A sentence on what was checked of each study that was read."""
        return [check.sentence for check in checks(self.studies, self.files)]


class _Words:
    """Games with their words, as long as they have no more statements than the limit; then none.

    Args:
        limit: statements.

    Attributes:
        are_kept: whether words are kept.
    """

    def __init__(self, limit: int) -> None:
        self.games: dict[str, GameRows] = {}
        self.are_kept = limit > 0
        self._left = limit

    def add(self, note: FileNote, rows: GameRows) -> None:
        """Add one game; forget all if they are too many."""
        self._left -= len(rows.statements)
        if self.are_kept and self._left >= 0:
            self.games[note.path] = rows
        else:
            self.forget()

    def forget(self) -> None:
        """Forget all words, and keep none from now on."""
        self.are_kept = False
        self.games.clear()


def gather(
    paths: Sequence[str | Path],
    criteria: Criteria | None = None,
    *,
    workers: int | None = None,
    cached: bool = False,
    with_words: int = 0,
    tell: Callable[[int, int], None] = lambda _read, _all: None,
) -> Gathered:
    """Read folders and files.

    Args:
        paths: see `find`.
        criteria: how to compute; as the games were played unless given.
        workers: processes that read; as many as there are processors unless given, one where there is little to read.
        cached: take what the same files came to before from the cache beside them, and keep it there; every byte of
            the files is hashed all the same. Where records are to be re-executed, nothing is.
        with_words: keep the games' words, too, if they have no more statements than this and one process reads them.
        tell: called now and then with the bytes read so far and all there are.

    Raises:
        RecordError: as `find` does. What is wrong with a single file is in `Gathered.files`.
    """
    criteria = criteria or Criteria()
    collection = collect(
        paths,
        criteria.roles,
        as_recorded=criteria.as_recorded,
        played_again=criteria.include_played_again,
        digest=kept_digest if cached else digest_of,
    )
    batches = [
        SourceBatch(tuple(sources), _blocks_of(sources, collection.blocks), criteria)
        for sources in _batches(collection.files)
    ]
    size = sum(batch.size for batch in batches)
    cache = cache_in(batches[0].sources[0].path.parent) if cached and batches else None
    keys = {batch.name: None if cache is None else batch.key() for batch in batches}
    words = _Words(with_words)
    ledger, tables, notes, read = Ledger(), list[Tables](), list(collection.refused), 0
    for batch, result in _results(batches, keys, cache, workers, words):
        ledger.merge(result[0])
        tables.append(result[1])
        notes += result[2]
        read += batch.size
        tell(read, size)
    notes.sort(key=lambda note: note.path)
    basis = None if cache is None else _basis(cache, batches, keys, collection)
    return Gathered(joined(tables), tuple(notes), collection.studies, ledger, basis, words.games)


def _results(
    batches: Sequence[SourceBatch],
    keys: Mapping[str, bytes | None],
    cache: Cache | None,
    workers: int | None,
    words: _Words,
) -> Iterator[tuple[SourceBatch, BatchResult]]:
    """Yield what each batch came to: first those that the cache holds, which come without words."""
    missing: list[SourceBatch] = []
    for batch in batches:
        result = None if cache is None else recall(cache, batch, keys[batch.name])
        if result is None:
            missing.append(batch)
        else:
            words.forget()
            yield batch, result
    for batch, result in _read_all(missing, workers, words):
        if cache is not None:
            keep(cache, batch, keys[batch.name], result)
        yield batch, result


def _basis(
    cache: Cache, batches: Sequence[SourceBatch], keys: Mapping[str, bytes | None], collection: Collection
) -> Basis | None:
    whole = [(batch, key) for batch in batches if (key := keys[batch.name]) is not None]
    if len(whole) < len(batches):
        return None
    return Basis(cache, hash_of([key for _, key in whole], collection.refused, collection.studies), whole)


def each_game(
    paths: Sequence[str | Path], criteria: Criteria | None = None
) -> Iterator[tuple[FileNote, GameRows | None]]:
    """Yield what became of each file, with the rows of its game and their words, in the order of the files' paths.

    Raises:
        RecordError: as `find` does.
    """
    criteria = criteria or Criteria()
    collection = collect(
        paths, criteria.roles, as_recorded=criteria.as_recorded, played_again=criteria.include_played_again
    )
    # a game that is missing is noted under the path of its record, where another game's file may stand
    files: list[Source | FileNote] = [*collection.refused, *collection.files]
    for file in sorted(files, key=lambda file: str(file.path)):
        yield (file, None) if isinstance(file, FileNote) else read_game(file, criteria, keep_text=True)


def _end(_number: int, _frame: object) -> None:
    """End this process at once; a handler of Python's, for polars takes the place of the system's own."""
    os._exit(128 + signal.SIGINT)


_starting: Final = threading.Lock()


@contextmanager
def _passing_over_the_current_folder() -> Iterator[None]:
    """Have a Python that is started look for what it imports elsewhere: the folder may be somebody else's. It is given
    this process's own path later.
    """
    with _starting:
        before = os.environ.get(_SAFE)
        os.environ[_SAFE] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[_SAFE]
            else:
                os.environ[_SAFE] = before


class _Process(SpawnProcess):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 - so it is called there
        with _passing_over_the_current_folder():
            return SpawnProcess._Popen(process_obj)  # noqa: SLF001


class _Spawning(SpawnContext):
    """A fork would carry threads' locks along; a fresh interpreter costs a fifth of a second."""

    Process = _Process


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """Have work done in processes of its own; whatever interrupts this one ends them without a word, for it says it.

    Raises:
        WolfError: one of them was killed.
    """
    with _passing_over_the_current_folder():
        pool = ProcessPoolExecutor(count, _Spawning(), signal.signal, (signal.SIGINT, _end))
    try:
        with pool:
            try:
                yield pool
            except KeyboardInterrupt:
                # Ctrl-C comes to them, too; SIGTERM to this process alone, which would wait for all that they have
                for process in active_children():
                    process.terminate()
                raise
    except BrokenProcessPool:
        raise WolfError("a process that did part of the work was killed, perhaps because memory ran out") from None


def _read_all(
    batches: Sequence[SourceBatch], workers: int | None, words: _Words
) -> Iterator[tuple[SourceBatch, BatchResult]]:
    if workers is None:
        workers = 1 if sum(batch.size for batch in batches) <= ALONE else _processors()
    if workers <= 1 or len(batches) <= 1:
        for batch in batches:
            yield batch, _read(batch, words)
        return
    with processes(min(workers, len(batches))) as pool:
        waiting: dict[Future[BatchResult], SourceBatch] = {}

        def finished() -> Iterator[tuple[SourceBatch, BatchResult]]:
            # without a time-out, Ctrl-C would wait as well: polars has its handler in the place of Python's
            done, _ = wait(waiting, _POLL_S, return_when=FIRST_COMPLETED)
            return ((waiting.pop(future), future.result()) for future in done)

        for batch in batches:
            waiting[pool.submit(_read, batch)] = batch
            if len(waiting) > 2 * workers:
                yield from finished()
        while waiting:
            yield from finished()


def _batches(sources: Sequence[Source]) -> Iterator[list[Source]]:
    batch: list[Source] = []
    size = 0
    for source in sources:
        if batch and size + source.size > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(source)
        size += source.size
    if batch:
        yield batch


def _blocks_of(sources: Sequence[Source], blocks: Mapping[str, str]) -> dict[str, str]:
    return {source.game: blocks[source.game] for source in sources if source.game is not None and source.game in blocks}


def _read(batch: SourceBatch, words: _Words | None = None) -> BatchResult:
    words = words or _Words(0)
    # games make many short-lived values and few cycles
    before = gc.get_threshold()
    gc.set_threshold(*_COLLECT)
    try:
        ledger, builder, notes = Ledger(), TablesBuilder(), []
        for source in batch.sources:
            note, rows = read_game(source, batch.criteria, keep_text=words.are_kept)
            notes.append(note)
            if rows is not None:
                words.add(note, rows)
                ledger.add(rows)
                builder.add(rows, batch.blocks.get(rows.game))
        return ledger, builder.tables(), notes
    finally:
        gc.set_threshold(*before)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


__all__ = [
    "Basis",
    "Collection",
    "Criteria",
    "FileNote",
    "GameFold",
    "GameRows",
    "Gathered",
    "Planned",
    "Source",
    "StudySource",
    "collect",
    "each_game",
    "find",
    "fold",
    "gather",
    "once",
    "processes",
]
