"""`gather`: any number of files into columns, in memory that does not grow with their words."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path
from typing import Final

from analytics import Result
from analytics.columns import Columns, ColumnsBuilder
from analytics.gather.collecting import collect
from analytics.gather.reading import Criteria, FileNote, read_game
from analytics.gather.sources import Source, StudySource
from analytics.measures.ledger import Ledger
from analytics.rows import GameRows

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
        ledger: how replies were read, and what model calls took.
        files: what became of each file, in the order of their paths.
        studies: the studies whose folders were read.
    """

    columns: Columns
    ledger: Ledger
    files: tuple[FileNote, ...]
    studies: tuple[StudySource, ...]

    def tables(self) -> Result:
        """Return the paper's tables over all games; see `analytics.metrics.paper_tables`."""
        from analytics.measures.estimates import Estimates
        from analytics.measures.summing import sums_of
        from analytics.metrics import paper_tables

        return paper_tables(Estimates(sums_of(self.columns)), self.ledger)

    @property
    def problems(self) -> tuple[FileNote, ...]:
        """The files with which something is wrong."""
        return tuple(note for note in self.files if note.problem is not None)


def gather(
    given: Sequence[str | Path],
    criteria: Criteria | None = None,
    *,
    workers: int | None = None,
    tell: Callable[[int, int], None] = lambda _read, _all: None,
) -> Gathered:
    """Read folders and files.

    Args:
        given: see `find`.
        criteria: how to compute; as the games were played unless given.
        workers: processes that read; as many as there are processors unless given, one where there is little to read.
        tell: called now and then with the bytes read so far and all there are.

    Raises:
        RecordError: as `find` does. What is wrong with a single file stands in `Gathered.files`.
    """
    criteria = criteria or Criteria()
    found = collect(given, criteria.roles)
    size = sum(source.size for source in found.files)
    if workers is None:
        workers = 1 if size <= ALONE else _processors()
    ledger, builder, notes = Ledger(), ColumnsBuilder(), list(found.refused)
    read = 0
    for done, one, many, told in _read_all(found.files, criteria, found.blocks, workers):
        ledger.merge(one)
        builder.merge(many)
        notes += told
        read += done
        tell(read, size)
    notes.sort(key=lambda note: note.path)
    return Gathered(builder.columns(), ledger, tuple(notes), found.studies)


def each_game(
    given: Sequence[str | Path], criteria: Criteria | None = None, *, keep_text: bool = False
) -> Iterator[tuple[FileNote, GameRows | None]]:
    """Yield what became of each file, with the rows of its game, in the order of the files' paths.

    Raises:
        RecordError: as `find` does.
    """
    criteria = criteria or Criteria()
    found = collect(given, criteria.roles)
    waiting = {note.path: note for note in found.refused}
    for path, source in sorted(
        [*((str(each.path), each) for each in found.files), *((path, None) for path in waiting)], key=itemgetter(0)
    ):
        if source is None:
            yield waiting[path], None
        else:
            yield read_game(source, criteria, keep_text=keep_text)


_Part = tuple[int, Ledger, ColumnsBuilder, list[FileNote]]


def _read_all(
    sources: Sequence[Source], criteria: Criteria, blocks: Mapping[str, str], workers: int
) -> Iterator[_Part]:
    parts = list(_parts(sources))
    read = partial(_read, criteria=criteria)
    if workers <= 1 or len(parts) == 1:
        for part in parts:
            yield read(part, _own(part, blocks))
        return
    # a fork would carry threads' locks along; a fresh interpreter costs a fifth of a second
    with ProcessPoolExecutor(min(workers, len(parts)), mp_context=get_context("spawn")) as pool:
        waiting: set[Future[_Part]] = set()
        for part in parts:
            waiting.add(pool.submit(read, part, _own(part, blocks)))
            if len(waiting) > 2 * workers:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)


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


def _read(part: Sequence[Source], blocks: Mapping[str, str], criteria: Criteria) -> _Part:
    # games make many short-lived values and few cycles
    before = gc.get_threshold()
    gc.set_threshold(*_COLLECT)
    try:
        ledger, builder, notes = Ledger(), ColumnsBuilder(), []
        for source in part:
            note, rows = read_game(source, criteria)
            notes.append(note)
            if rows is not None:
                ledger.add(rows)
                builder.add(rows, blocks.get(rows.game))
        builder.pack()
        return sum(source.size for source in part), ledger, builder, notes
    finally:
        gc.set_threshold(*before)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
