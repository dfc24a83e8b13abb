"""`CsvFile`: one table as RFC 4180 CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import IO

from analytics.export.tables import ExportTable, Row
from analytics.schema import Cell
from wolfbus.printable import storable


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
