"""`write_tables`: files of records into folders of tables, game by game, as `write_csv` or `write_parquet`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal

from analytics.columns import ColumnsBuilder
from analytics.export.package import CARD, CROISSANT, PACKAGE, card, croissant, package
from analytics.export.table_files import CsvFile, Landing, ParquetFile, pyarrow
from analytics.export.tables import TABLES, ExportTable, read_games, results_of
from analytics.gather import Criteria, FileNote, collect
from analytics.gather.reading import StudyCheck, checks
from wolfbus.errors import ConfigError

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


def write_tables(
    form: Literal["csv", "parquet"],
    sources: Sequence[str | Path],
    folder: str | Path,
    criteria: Criteria | None = None,
    *,
    tables: Sequence[str] | None = None,
    licence: str | None = None,
    force: bool = False,
    tell: Callable[[int, int], None] = lambda _read, _all: None,
) -> Exported:
    """Write a file per table, and what describes them: ``croissant.json`` for programs, beside CSV ``datapackage.json``
    too, and a dataset card for people and Hugging Face.

    Memory holds one game at a time, of Parquet a row group of each table, and for ``results`` the games' numbers. Equal
    sources give equal bytes. What of a damaged record holds is exported, and `Exported.problems` names the file.

    Args:
        form: of the files, which end so.
        sources: folders and files; see `analytics.gather.find`.
        folder: where the files go; created if need be.
        criteria: how to compute labels and suspicion; as the games were played unless given.
        tables: names out of `TABLES`; all of them unless given.
        licence: SPDX identifier of the data's licence, which the descriptions state; none unless given.
        force: whether files that are there already are replaced.
        tell: called after each file with the number of files read, and of all.

    Raises:
        ConfigError: pyarrow is not installed; there is no table of a name, a licence is no identifier, or a file is
            there already.
        RecordError: there is nothing to read.
        OSError: the folder cannot be written. None of the files appears.
    """
    if form == "parquet":
        pyarrow()
    folder, chosen = Path(folder), _chosen(tables)
    collection = collect(sources, None if criteria is None else criteria.roles)
    paths = {table.name: f"{table.name}.{form}" for table in chosen}
    if licence is not None and not _IDENTIFIER.fullmatch(licence):
        raise ConfigError(f"licence {licence!r}: it takes an SPDX identifier, such as CC-BY-4.0")
    beside = [*([PACKAGE] if form == "csv" else []), CROISSANT, CARD]
    builder = ColumnsBuilder()
    notes: list[FileNote] = []
    counts = {table.name: 0 for table in chosen}
    with Landing(folder, [*paths.values(), *beside], force=force) as landing:
        kind = CsvFile if form == "csv" else ParquetFile
        files = {table.name: kind(table, landing.file(paths[table.name])) for table in chosen}
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
        if form == "csv":
            landing.file(PACKAGE).write(package(chosen, licence))
        landing.file(CROISSANT).write(croissant(chosen, form, sums, licence))
        landing.file(CARD).write(card(chosen, form, counts, licence))
    written = tuple(folder / name for name in (*paths.values(), *beside))
    return Exported(counts, tuple(notes), written, tuple(checks(collection.studies, notes)))


write_csv: Final = partial(write_tables, "csv")
write_parquet: Final = partial(write_tables, "parquet")


def _chosen(names: Sequence[str] | None) -> list[ExportTable]:
    if names is None:
        return list(TABLES.values())
    strangers = [name for name in names if name not in TABLES]
    if strangers or not names:
        what = f"no table {strangers[0]!r}" if strangers else "no table is named"
        raise ConfigError(f"{what}; there are {', '.join(TABLES)}")
    return [table for name, table in TABLES.items() if name in names]
