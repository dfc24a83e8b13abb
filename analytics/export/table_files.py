"""`CsvFile` and `ParquetFile`: one table as RFC 4180 CSV, or as typed Parquet by pyarrow."""

from __future__ import annotations

import csv
import importlib
import io
from collections.abc import Iterable
from typing import IO, Any, Final

from analytics.export.tables import ExportTable, Row
from analytics.rows.fields import Cell, Column
from wolfbus.errors import ConfigError
from wolfbus.printable import storable

GROUP_ROWS: Final = 65_536
"""Rows of a row group, unless words fill it before."""
GROUP_CHARACTERS: Final = 64_000_000
"""Characters of free text after which a row group ends."""

_COMPRESSION: Final = "zstd"


class CsvFile:
    """UTF-8 without a byte order mark, a header, CRLF line ends, quotes only where they are needed.

    Null is an empty field, booleans are ``true`` and ``false``, numbers the shortest text that reads back as the same
    number. Texts stand as they are, line ends within them too.

    Args:
        table: the table.
        file: where the bytes go; it is not closed.
    """

    def __init__(self, table: ExportTable, file: IO[bytes]) -> None:
        self.table = table
        self._text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
        self._writer = csv.writer(self._text, lineterminator="\r\n")
        self._writer.writerow(column.name for column in table.columns)
        self._booleans = [at for at, column in enumerate(table.columns) if column.kind == "boolean"]
        self._texts = [at for at, column in enumerate(table.columns) if column.kind in {"text", "category"}]

    def add(self, rows: Iterable[Row]) -> int:
        """Write rows and return how many they were."""
        count = 0
        for row in rows:
            cells: list[Cell] = list(row)
            for at in self._booleans:
                if cells[at] is not None:
                    cells[at] = "true" if cells[at] else "false"
            for at in self._texts:
                cell = cells[at]
                if cell is not None:
                    cells[at] = storable(str(cell))
            self._writer.writerow(cells)
            count += 1
        return count

    def finish(self) -> None:
        """Hand all bytes to the file, which stays open."""
        self._text.flush()
        self._text.detach()

    def abandon(self) -> None:
        """Do nothing: the file is not whole and will be thrown away."""


def pyarrow() -> Any:
    """Return the modules ``pyarrow`` and ``pyarrow.parquet`` as one.

    Raises:
        ConfigError: pyarrow is not installed; the line says how to.
    """
    try:
        module = importlib.import_module("pyarrow")
        importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ConfigError('Parquet needs pyarrow: pip install "wolfbus[parquet]"') from None
    return module


class ParquetFile:
    """Columns with types of their own, categories as dictionaries, real nulls; meanings stand in the fields' metadata.

    Args:
        table: the table.
        file: where the bytes go; it is not closed.

    Raises:
        ConfigError: pyarrow is not installed.
    """

    def __init__(self, table: ExportTable, file: IO[bytes]) -> None:
        self.table = table
        self._arrow = pyarrow()
        self._schema = self._arrow.schema([self._field(column) for column in table.columns])
        self._writer = self._arrow.parquet.ParquetWriter(file, self._schema, compression=_COMPRESSION)
        self._texts = [at for at, column in enumerate(table.columns) if column.kind == "text"]
        self._rows: list[Row] = []
        self._characters = 0

    def add(self, rows: Iterable[Row]) -> int:
        """Write rows and return how many they were."""
        count = 0
        for row in rows:
            self._rows.append(row)
            count += 1
            for at in self._texts:
                cell = row[at]
                if cell is not None:
                    self._characters += len(str(cell))
            if len(self._rows) >= GROUP_ROWS or self._characters >= GROUP_CHARACTERS:
                self._write()
        return count

    def finish(self) -> None:
        """Hand all bytes to the file, which stays open."""
        self._write()
        self._writer.close()

    def abandon(self) -> None:
        """Forget everything; the file is not whole and will be thrown away. Call it before the file is closed."""
        self._rows = []
        try:
            self._writer.close()
        except OSError:
            # the disk is full; or else the writer would try to close once more when it is collected
            self._writer.is_open = False

    def _write(self) -> None:
        if not self._rows:
            return
        columns = zip(*self._rows, strict=True)
        arrays = [self._array(column, values) for column, values in zip(self.table.columns, columns, strict=True)]
        self._writer.write_table(
            self._arrow.Table.from_arrays(arrays, schema=self._schema), row_group_size=len(self._rows)
        )
        self._rows, self._characters = [], 0

    def _array(self, column: Column, values: tuple[Any, ...]) -> Any:
        if column.kind == "category" and column.values:
            code = {value: at for at, value in enumerate(column.values)}
            indices = self._arrow.array([None if value is None else code[value] for value in values], "int32")
            return self._arrow.DictionaryArray.from_arrays(indices, self._arrow.array(column.values, "string"))
        if column.kind in {"category", "text"}:
            found = self._arrow.array([None if value is None else storable(value) for value in values], "string")
            return found.dictionary_encode() if column.kind == "category" else found
        return self._arrow.array(values, self._type(column))

    def _field(self, column: Column) -> Any:
        meaning = {"meaning": column.meaning, "unit": column.unit, "null": column.null or ""}
        metadata = {name: words for name, words in meaning.items() if words}
        return self._arrow.field(column.name, self._type(column), nullable=column.null is not None, metadata=metadata)

    def _type(self, column: Column) -> Any:
        arrow = self._arrow
        if column.kind == "category":
            return arrow.dictionary(arrow.int32(), arrow.string(), ordered=False)
        return {
            "text": arrow.string(),
            "boolean": arrow.bool_(),
            "integer": arrow.int64(),
            "real": arrow.float64(),
        }[column.kind]
