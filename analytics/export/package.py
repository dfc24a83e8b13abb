"""What stands beside exported tables: a data package and Croissant metadata for programs, a card for Hugging Face."""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Mapping
from importlib.resources import files
from typing import Any, Final

from analytics.export.tables import ExportTable
from analytics.rows.fields import Column
from wolfbus import __version__
from wolfbus.package_data import PackageData, Prose, read_data

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


@functools.cache
def _words() -> _PackageWords:
    return read_data("analytics.export", "package", _PackageWords)


def package(tables: Collection[ExportTable], licence: str | None = None) -> bytes:
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


def card(tables: Collection[ExportTable], suffix: str, counts: Mapping[str, int], licence: str | None) -> bytes:
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


def croissant(tables: Collection[ExportTable], suffix: str, sums: Mapping[str, str], licence: str | None) -> bytes:
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
