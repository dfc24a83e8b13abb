"""`Column` and `ExportTable`: what an exported table is called, what its columns mean, and where its rows come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from analytics.export.game import ExportedGame

Cell: TypeAlias = str | int | float | bool | None
"""One value; None is null, and no text is empty."""
Row: TypeAlias = tuple[Cell, ...]
"""One row, in the order of the table's columns."""
Kind: TypeAlias = Literal["text", "category", "boolean", "integer", "real"]
"""What a column holds; a category is a text of which there are few, a real a finite 64-bit float."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        name: its name, the same in every format.
        kind: what it holds.
        meaning: what a value says, in words.
        null: what a null says; None where there never is one.
        unit: of a number: "share", "seconds", "US dollars", …; "" where the meaning says all.
        values: all that a category may hold, in their order; empty for an open one.
        refers: the table whose key this is; None for a plain column.
    """

    name: str
    kind: Kind
    meaning: str
    null: str | None = None
    unit: str = ""
    values: tuple[str, ...] = ()
    refers: str | None = None


@dataclass(frozen=True, slots=True)
class ExportTable:
    """One table.

    Attributes:
        name: its name, and that of its file.
        row: what a row is, in words.
        key: the columns that tell rows apart.
        columns: the columns, in order.
        rows: yields the rows of one game; each holds a value for every column.
        note: what else there is to know, "" for nothing.
    """

    name: str
    row: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: Callable[[ExportedGame], Iterator[Row]]
    note: str = ""


def text(value: str | None) -> str | None:
    """Return a text, None for an empty one: no format tells the two apart reliably."""
    return value or None
