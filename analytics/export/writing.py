"""`write_csv` and `write_parquet`: files of records into folders of tables, game by game."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Protocol

from analytics.columns import ColumnsBuilder
from analytics.export.package import CARD, CROISSANT, PACKAGE, card, croissant, package
from analytics.export.table_files import CsvFile, Landing, ParquetFile, pyarrow
from analytics.export.tables import TABLES, ExportTable, Row, read_games, results_of
from analytics.gather import Criteria, FileNote, collect
from analytics.gather.reading import StudyCheck, checks
from wolfbus.errors import ConfigError

Tell = Callable[[int, int], None]

_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9.+-]{1,64}")


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote.

    Attributes:
        counts: rows of every table written.
        files: what became of each file, in the order in which they were read.
        paths: the files written.
        checks: what was checked of the records.
    """

    counts: Mapping[str, int]
    files: tuple[FileNote, ...]
    paths: tuple[Path, ...]
    checks: tuple[StudyCheck, ...] = ()

    @property
    def problems(self) -> tuple[FileNote, ...]:
        """The files with which something is wrong."""
        return tuple(note for note in self.files if note.problem is not None)


class _File(Protocol):
    def add(self, rows: Sequence[Row]) -> int: ...

    def finish(self) -> None: ...

    def abandon(self) -> None: ...


def _no_word(_read: int, _all: int) -> None:
    """Tell nobody."""


def write_csv(
    sources: Sequence[str | Path],
    folder: str | Path,
    criteria: Criteria | None = None,
    *,
    tables: Sequence[str] | None = None,
    licence: str | None = None,
    force: bool = False,
    tell: Tell = _no_word,
) -> Exported:
    """Write a CSV file per table, and what describes them: ``datapackage.json`` and ``croissant.json`` for programs, a
    dataset card for people and Hugging Face.

    Memory holds one game at a time, and for ``results`` the games' numbers. Equal sources give equal bytes. What of a
    damaged record holds is exported, and `Exported.problems` names the file.

    Args:
        sources: folders and files; see `analytics.gather.find`.
        folder: where the files go; created if need be.
        criteria: how to compute labels and suspicion; as the games were played unless given.
        tables: names out of `TABLES`; all of them unless given.
        licence: SPDX identifier of the data's licence, which the descriptions state; none unless given.
        force: whether files that are there already are replaced.
        tell: called after each file with the number of files read, and of all.

    Raises:
        ConfigError: there is no table of a name, a licence is no identifier, or a file is there already.
        RecordError: there is nothing to read.
        OSError: the folder cannot be written. None of the files appears.
    """
    return _write(sources, Path(folder), "csv", criteria, tables, licence=licence, force=force, tell=tell)


def write_parquet(
    sources: Sequence[str | Path],
    folder: str | Path,
    criteria: Criteria | None = None,
    *,
    tables: Sequence[str] | None = None,
    licence: str | None = None,
    force: bool = False,
    tell: Tell = _no_word,
) -> Exported:
    """Write a Parquet file per table; memory holds a row group of each. See `write_csv` for the rest.

    Raises:
        ConfigError: pyarrow is not installed; and as `write_csv` does.
        RecordError: as `write_csv` does.
        OSError: as `write_csv` does.
    """
    pyarrow()
    return _write(sources, Path(folder), "parquet", criteria, tables, licence=licence, force=force, tell=tell)


def _write(
    given: Sequence[str | Path],
    folder: Path,
    suffix: str,
    criteria: Criteria | None,
    names: Sequence[str] | None,
    *,
    licence: str | None,
    force: bool,
    tell: Tell,
) -> Exported:
    chosen = _chosen(names)
    collection = collect(given, None if criteria is None else criteria.roles)
    paths = {table.name: f"{table.name}.{suffix}" for table in chosen}
    if licence is not None and not _IDENTIFIER.fullmatch(licence):
        raise ConfigError(f"licence {licence!r}: it takes an SPDX identifier, such as CC-BY-4.0")
    beside = [*([PACKAGE] if suffix == "csv" else []), CROISSANT, CARD]
    builder = ColumnsBuilder()
    notes: list[FileNote] = []
    counts = {table.name: 0 for table in chosen}
    with Landing(folder, [*paths.values(), *beside], force=force) as landing:
        files = {table.name: _open(table, suffix, landing.file(paths[table.name])) for table in chosen}
        try:
            for note, game in read_games(collection, criteria, tell):
                notes.append(note)
                if game is None:
                    continue
                for table in chosen:
                    counts[table.name] += files[table.name].add(tuple(table.rows(game)))
                builder.add(game.rows, game.block)
            for table in chosen:
                if table.whole:
                    counts[table.name] += files[table.name].add(tuple(table.cells(results_of(builder.columns()))))
            for file in files.values():
                file.finish()
        except BaseException:
            for file in files.values():
                file.abandon()
            raise
        sums = {table.name: landing.digest(paths[table.name]) for table in chosen}
        if suffix == "csv":
            landing.file(PACKAGE).write(package(chosen, licence))
        landing.file(CROISSANT).write(croissant(chosen, suffix, sums, licence))
        landing.file(CARD).write(card(chosen, suffix, counts, licence))
    written = tuple(folder / name for name in (*paths.values(), *beside))
    return Exported(counts, tuple(notes), written, tuple(checks(collection.studies, notes)))


def _open(table: ExportTable, suffix: str, file: IO[bytes]) -> _File:
    return CsvFile(table, file) if suffix == "csv" else ParquetFile(table, file)


def _chosen(names: Sequence[str] | None) -> list[ExportTable]:
    if names is None:
        return list(TABLES.values())
    strangers = [name for name in names if name not in TABLES]
    if strangers or not names:
        what = f"no table {strangers[0]!r}" if strangers else "no table is named"
        raise ConfigError(f"{what}; there are {', '.join(TABLES)}")
    return [table for name, table in TABLES.items() if name in names]
