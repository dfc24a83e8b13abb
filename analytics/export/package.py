"""What stands beside exported tables: a data package and Croissant metadata for programs, a card for Hugging Face."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from analytics.export.tables import ExportTable
from analytics.rows.fields import Column
from wolfbus import __version__

PACKAGE: Final = "datapackage.json"
"""Name of its file."""

_TYPES: Final = {"text": "string", "category": "string", "boolean": "boolean", "integer": "integer", "real": "number"}


def package(tables: Collection[ExportTable], licence: str | None = None) -> bytes:
    """Return the file's content: the tables with their columns' types and meanings, keys, and links between tables.

    Args:
        tables: the tables of the folder.
        licence: an SPDX identifier, None where nobody stated one.
    """
    names = {table.name for table in tables}
    value = {
        "profile": "tabular-data-package",
        "name": "wolfbus-export",
        "description": f"Games of WOLF, exported by wolfbus {__version__}",
        **({"licenses": [{"name": licence}]} if licence else {}),
        "resources": [_resource(table, names) for table in tables],
    }
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
        "description": f"One row per {table.row}." if not table.note else f"One row: {table.row}. {table.note}",
        "encoding": "utf-8",
        "dialect": {"delimiter": ",", "lineTerminator": "\r\n", "quoteChar": '"', "doubleQuote": True, "header": True},
        "schema": {
            "fields": [_field(column) for column in table.columns],
            "missingValues": [""],
            "primaryKey": list(table.key),
            **({"foreignKeys": links} if links else {}),
        },
    }


def _field(column: Column) -> dict[str, Any]:
    constraints: dict[str, Any] = {"required": True} if column.null is None else {}
    if column.values:
        constraints["enum"] = list(column.values)
    unit = f" ({column.unit})" if column.unit else ""
    null = f"; null: {column.null}" if column.null is not None else ""
    return {
        "name": column.name,
        "type": _TYPES[column.kind],
        "description": f"{column.meaning}{unit}{null}",
        **({"constraints": constraints} if constraints else {}),
    }


CARD: Final = "README.md"
CROISSANT: Final = "croissant.json"
UNKNOWN_LICENCE: Final = "unknown"

_CROISSANT_TYPES: Final = {
    "text": "sc:Text",
    "category": "sc:Text",
    "boolean": "sc:Boolean",
    "integer": "sc:Integer",
    "real": "sc:Float",
}
_ENCODINGS: Final = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
_NAME: Final = "wolfbus-export"
_ABOUT: Final = (
    "Games of Werewolf among language models and scripts: statements with their speakers' own labels, what every "
    "observer made of them, votes, nights and smoothed suspicion, after the WOLF benchmark of deception."
)
_NOTE: Final = (
    "`judgements.informed` tells whether what the observer knew entailed whether the speaker is a Werewolf: who knows "
    "detects nothing. Games of one `games.block` belong together: resample blocks, not games."
)
_CITE: Final = "WOLF: Werewolf-based Observations for LLM Deception and Falsehoods"


def card(tables: Collection[ExportTable], suffix: str, counts: Mapping[str, int], licence: str | None) -> bytes:
    """Return a dataset card: a YAML header that Hugging Face reads, and what the tables are.

    Args:
        tables: the tables of the folder.
        suffix: how their files end.
        counts: rows of each.
        licence: an SPDX identifier, None where nobody stated one.
    """
    largest = max(counts.values(), default=0)
    header = [
        "---",
        f"pretty_name: {json.dumps('Games of WOLF')}",
        f"license: {(licence or UNKNOWN_LICENCE).lower()}",
        "language:",
        "- en",
        "tags:",
        *(f"- {tag}" for tag in ("deception", "werewolf", "multi-agent", "llm-evaluation", "wolfbus")),
        "size_categories:",
        f"- {_size(largest)}",
        "configs:",
    ]
    for table in tables:
        header += [f"- config_name: {table.name}", f"  data_files: {table.name}.{suffix}"]
        if table.name == "statements":
            header.append("  default: true")
    lines = [
        *header,
        "---",
        "",
        "# Games of WOLF",
        "",
        _ABOUT,
        "",
        f"Exported by wolfbus {__version__}. What every column means stands in `{CROISSANT}`"
        + (" and `datapackage.json`" if suffix == "csv" else " and in the files' own metadata")
        + ".",
        "",
        "| table | one row | rows |",
        "| --- | --- | ---: |",
        *(f"| `{table.name}` | {table.row} | {counts.get(table.name, 0):,} |" for table in tables),
        "",
        _NOTE,
        "",
        "Texts are those of models, unchanged, and roles and private thoughts are in the tables.",
        "",
        "Licence: " + (licence or "none was stated; ask whoever shares the data") + ".",
        "",
        f"After: {_CITE}.",
        "",
    ]
    return "\n".join(lines).encode()


def croissant(tables: Collection[ExportTable], suffix: str, sums: Mapping[str, str], licence: str | None) -> bytes:
    """Return the folder's Croissant metadata (MLCommons, version 1.0).

    Args:
        tables: the tables of the folder.
        suffix: how their files end.
        sums: SHA-256 of each table's file, in hex.
        licence: an SPDX identifier, None where nobody stated one.
    """
    value = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": _NAME,
        "description": f"{_ABOUT} Exported by wolfbus {__version__}.",
        "citeAs": _CITE,
        **({"license": f"https://spdx.org/licenses/{licence}.html"} if licence else {}),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": f"{table.name}.{suffix}",
                "name": f"{table.name}.{suffix}",
                "contentUrl": f"{table.name}.{suffix}",
                "encodingFormat": _ENCODINGS[suffix],
                "sha256": sums[table.name],
            }
            for table in tables
        ],
        "recordSet": [_records(table, suffix, {each.name for each in tables}) for table in tables],
    }
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


def _records(table: ExportTable, suffix: str, names: Collection[str]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": f"One row: {table.row}. {table.note}".strip(),
        "key": [{"@id": f"{table.name}/{name}"} for name in table.key],
        "field": [_croissant_field(table, column, suffix, names) for column in table.columns],
    }


def _croissant_field(table: ExportTable, column: Column, suffix: str, names: Collection[str]) -> dict[str, Any]:
    unit = f" ({column.unit})" if column.unit else ""
    null = f"; null: {column.null}" if column.null is not None else ""
    refers = column.refers if column.refers in names else None
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{column.name}",
        "name": column.name,
        "description": f"{column.meaning}{unit}{null}",
        "dataType": _CROISSANT_TYPES[column.kind],
        "source": {"fileObject": {"@id": f"{table.name}.{suffix}"}, "extract": {"column": column.name}},
        **({"references": {"field": {"@id": f"{refers}/{refers[:-1]}_id"}}} if refers else {}),
    }


def _size(rows: int) -> str:
    """Return Hugging Face's word for so many rows."""
    for limit, word in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")):
        if rows < limit:
            return word
    return "1M<n<10M"


_CONTEXT: Final = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "key": "cr:key",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "sc": "https://schema.org/",
    "source": "cr:source",
}
