"""`write_tables`: files of records into folders of tables, game by game, as `write_csv` or `write_parquet`; and what
stands beside them: a data package and Croissant metadata for programs, a card for Hugging Face.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from analytics.export.table_files import AtomicFiles, CsvFile, ParquetFile, pyarrow
from analytics.export.tables import TABLES, ExportTable, read_games
from analytics.gather import Criteria, FileNote, collect
from analytics.gather.reading import StudyCheck, checks
from analytics.rows.fields import Column
from analytics.tables import Tables, TablesBuilder
from wolfbus import __version__
from wolfbus.errors import ConfigError
from wolfbus.files.package_data import PackageData, Prose, read_data

if TYPE_CHECKING:
    from analytics.metrics.study import Study
    from analytics.results import Results

PACKAGE: Final = "datapackage.json"
CARD: Final = "README.md"
CROISSANT: Final = "croissant.json"
UNKNOWN_LICENCE: Final = "unknown"


class _PackageWords(PackageData):
    name: str
    cite: str
    about: Prose
    sizes: Mapping[str, int]
    encodings: Mapping[str, str]
    types: Mapping[str, tuple[str, str]]
    context: Mapping[str, Any]


@cache
def _words() -> _PackageWords:
    return read_data("analytics.export", "package", _PackageWords)


def _package(tables: Collection[ExportTable], licence: str | None = None) -> bytes:
    """Return the data package (Frictionless Data, "tabular data package"): the tables with their columns' types and
    meanings, keys, and links between tables.

    Args:
        tables: the tables of the folder.
        licence: an SPDX identifier, None where nobody stated one.
    """
    names = {table.name for table in tables}
    return _json({
        "profile": "tabular-data-package",
        "name": _words().name,
        "description": f"Games of WOLF, exported by wolfbus {__version__}",
        **({"licenses": [{"name": licence}]} if licence else {}),
        "resources": [_resource(table, names) for table in tables],
    })  # fmt: skip


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


def _resource(table: ExportTable, names: Collection[str]) -> dict[str, Any]:
    links = [
        {"fields": column.name, "reference": {"resource": column.refers, "fields": f"{column.refers[:-1]}_id"}}
        for column in table.columns
        if column.refers in names and column.refers is not None
    ]
    return {
        "profile": "tabular-data-resource",
        "name": table.name,
        "path": f"{table.name}.csv",
        "description": f"One row: {table.row}. {table.note}" if table.note else f"One row per {table.row}.",
        "encoding": "utf-8",
        "dialect": {"delimiter": ",", "lineTerminator": "\r\n", "quoteChar": '"', "doubleQuote": True, "header": True},
        "schema": {
            "fields": [_field(column) for column in table.columns],
            "missingValues": [""],
            "primaryKey": list(table.key),
            **({"foreignKeys": links} if links else {}),
        },
    }


def _described(column: Column) -> str:
    unit = f" ({column.unit})" if column.unit else ""
    null = f"; null: {column.null}" if column.null is not None else ""
    return f"{column.meaning}{unit}{null}"


def _field(column: Column) -> dict[str, Any]:
    constraints: dict[str, Any] = {"required": True} if column.null is None else {}
    if column.values:
        constraints["enum"] = list(column.values)
    return {
        "name": column.name,
        "type": _words().types[column.kind][0],
        "description": _described(column),
        **({"constraints": constraints} if constraints else {}),
    }


def _card(tables: Collection[ExportTable], suffix: str, counts: Mapping[str, int], licence: str | None) -> bytes:
    """Return a dataset card: a YAML header that Hugging Face reads, and what the tables are.

    Args:
        tables: the tables of the folder.
        suffix: how their files end.
        counts: rows of each.
        licence: an SPDX identifier, None where nobody stated one.
    """
    words, largest = _words(), max(counts.values(), default=0)
    configs = [
        f"- config_name: {table.name}\n  data_files: {table.name}.{suffix}"
        + ("\n  default: true" if table.name == "statements" else "")
        for table in tables
    ]
    text = files("analytics.export").joinpath("card.md").read_text("utf-8")
    return text.format(
        licence_id=(licence or UNKNOWN_LICENCE).lower(),
        licence=licence or "none was stated; ask whoever shares the data",
        size=next((word for word, limit in words.sizes.items() if largest < limit), list(words.sizes)[-1]),
        configs="\n".join(configs),
        about=words.about,
        cite=words.cite,
        version=__version__,
        and_also=" and `datapackage.json`" if suffix == "csv" else " and in the files' own metadata",
        rows="\n".join(f"| `{table.name}` | {table.row} | {counts.get(table.name, 0):,} |" for table in tables),
    ).encode()


def _croissant(tables: Collection[ExportTable], suffix: str, sums: Mapping[str, str], licence: str | None) -> bytes:
    """Return the folder's Croissant metadata (MLCommons, version 1.0).

    Args:
        tables: the tables of the folder.
        suffix: how their files end.
        sums: SHA-256 of each table's file, in hex.
        licence: an SPDX identifier, None where nobody stated one.
    """
    words, names = _words(), {table.name for table in tables}
    return _json({
        "@context": words.context,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": words.name,
        "description": f"{words.about} Exported by wolfbus {__version__}.",
        "citeAs": words.cite,
        **({"license": f"https://spdx.org/licenses/{licence}.html"} if licence else {}),
        "distribution": [
            {
                "@type": "cr:FileObject",
                **dict.fromkeys(("@id", "name", "contentUrl"), f"{table.name}.{suffix}"),
                "encodingFormat": words.encodings[suffix],
                "sha256": sums[table.name],
            }
            for table in tables
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": table.name,
                "name": table.name,
                "description": f"One row: {table.row}. {table.note}".strip(),
                "key": [{"@id": f"{table.name}/{name}"} for name in table.key],
                "field": [_croissant_field(table, column, suffix, names) for column in table.columns],
            }
            for table in tables
        ],
    })  # fmt: skip


def _croissant_field(table: ExportTable, column: Column, suffix: str, names: Collection[str]) -> dict[str, Any]:
    refers = column.refers if column.refers in names else None
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{column.name}",
        "name": column.name,
        "description": _described(column),
        "dataType": _words().types[column.kind][1],
        "source": {"fileObject": {"@id": f"{table.name}.{suffix}"}, "extract": {"column": column.name}},
        **({"references": {"field": {"@id": f"{refers}/{refers[:-1]}_id"}}} if refers else {}),
    }


_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9.+-]{1,64}")


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote.

    Attributes:
        counts: rows of every table written.
        files: what became of each file, in the order in which they were read.
        checks: what was checked of the records.
    """

    counts: Mapping[str, int]
    files: tuple[FileNote, ...]
    checks: tuple[StudyCheck, ...]

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
    measured: Study | None = None,
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
        measured: games that are measured; where they are those exported, ``results`` is theirs.
        tell: called after each file with the number of files read, and of all.

    Raises:
        ConfigError: pyarrow is not installed; there is no table of a name, a licence is no identifier, or a file is
            there already.
        RecordError: there is nothing to read.
        OSError: the folder cannot be written. None of the files appears.
    """
    if form == "parquet":
        pyarrow()
    folder, chosen = Path(folder), _tables_named(tables)
    collection = collect(sources, None if criteria is None else criteria.roles)
    paths = {table.name: f"{table.name}.{form}" for table in chosen}
    if licence is not None and not _IDENTIFIER.fullmatch(licence):
        raise ConfigError(f"licence {licence!r}: it takes an SPDX identifier, such as CC-BY-4.0")
    descriptions = [*([PACKAGE] if form == "csv" else []), CROISSANT, CARD]
    of_all, builder = [table for table in chosen if table.whole], TablesBuilder()
    notes: list[FileNote] = []
    counts = {table.name: 0 for table in chosen}
    with AtomicFiles(folder, [*paths.values(), *descriptions], force=force) as atomic:
        kind = CsvFile if form == "csv" else ParquetFile
        writers = {table.name: kind(table, atomic.file(paths[table.name])) for table in chosen}
        try:
            for note, game in read_games(collection, criteria, tell):
                notes.append(note)
                if game is None:
                    continue
                for table in chosen:
                    counts[table.name] += writers[table.name].add(tuple(table.rows(game)))
                if of_all:
                    builder.add(game.rows, game.block)
            for table in of_all:
                rows = table.cells(_results(builder.tables(), measured))
                counts[table.name] += writers[table.name].add(tuple(rows))
            for writer in writers.values():
                writer.finish()
        except BaseException:
            for writer in writers.values():
                writer.abandon()
            raise
        sums = {table.name: atomic.digest(paths[table.name]) for table in chosen}
        if form == "csv":
            atomic.file(PACKAGE).write(_package(chosen, licence))
        atomic.file(CROISSANT).write(_croissant(chosen, form, sums, licence))
        atomic.file(CARD).write(_card(chosen, form, counts, licence))
    return Exported(counts, tuple(notes), tuple(checks(collection.studies, notes)))


def _results(tables: Tables, measured: Study | None) -> Results:
    """Return the figures of the games that are exported."""
    # what figures take is loaded where there are any
    from analytics.findings import results_of
    from analytics.metrics.study import Study

    if measured is not None and measured.tables.equals(tables):
        return results_of(measured)
    # a record that is measured leniently may be passed on in part only
    return results_of(Study(tables))


write_csv: Final = partial(write_tables, "csv")
write_parquet: Final = partial(write_tables, "parquet")


def _tables_named(names: Sequence[str] | None) -> list[ExportTable]:
    if names is None:
        return list(TABLES.values())
    strangers = [name for name in names if name not in TABLES]
    if strangers or not names:
        fault = f"no table {strangers[0]!r}" if strangers else "no table is named"
        raise ConfigError(f"{fault}; there are {', '.join(TABLES)}")
    return [table for name, table in TABLES.items() if name in names]
