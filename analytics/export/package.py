"""The data package: what stands in a folder of CSV files, for programs (Frictionless Data, "tabular data package")."""

from __future__ import annotations

import json
from collections.abc import Collection
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
