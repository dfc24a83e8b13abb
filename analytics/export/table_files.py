"""One table as RFC 4180 CSV, or as typed Parquet; and files that land whole and all together, or not at all."""

from __future__ import annotations

import csv
import hashlib
import importlib
import io
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from analytics.export.tables import ExportTable, Row
from analytics.rows.fields import Cell, Column
from wolfbus.errors import ConfigError
from wolfbus.files.printable import storable

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
        self._booleans = [index for index, column in enumerate(table.columns) if column.kind == "boolean"]
        self._texts = [index for index, column in enumerate(table.columns) if column.kind in {"text", "category"}]

    def add(self, rows: Iterable[Row]) -> int:
        """Write rows and return how many they were."""
        count = 0
        for row in rows:
            cells: list[Cell] = list(row)
            for index in self._booleans:
                if cells[index] is not None:
                    cells[index] = "true" if cells[index] else "false"
            for index in self._texts:
                cell = cells[index]
                if cell is not None:
                    cells[index] = storable(str(cell))
            self._writer.writerow(cells)
            count += 1
        return count

    def finish(self) -> None:
        """Write all bytes to the file, which stays open."""
        self._text.flush()
        self._text.detach()

    def abandon(self) -> None:
        """Do nothing: the file is not whole and will be removed."""


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
        self._texts = [index for index, column in enumerate(table.columns) if column.kind == "text"]
        self._rows: list[Row] = []
        self._characters = 0

    def add(self, rows: Iterable[Row]) -> int:
        """Write rows and return how many they were."""
        count = 0
        for row in rows:
            self._rows.append(row)
            count += 1
            for index in self._texts:
                cell = row[index]
                if cell is not None:
                    self._characters += len(str(cell))
            if len(self._rows) >= GROUP_ROWS or self._characters >= GROUP_CHARACTERS:
                self._write()
        return count

    def finish(self) -> None:
        """Write all bytes to the file, which stays open."""
        self._write()
        self._writer.close()

    def abandon(self) -> None:
        """Discard everything; the file is not whole and will be removed. Call it before the file is closed."""
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
            code = {value: index for index, value in enumerate(column.values)}
            indices = self._arrow.array([None if value is None else code[value] for value in values], "int32")
            return self._arrow.DictionaryArray.from_arrays(indices, self._arrow.array(column.values, "string"))
        if column.kind in {"category", "text"}:
            texts = self._arrow.array([None if value is None else storable(value) for value in values], "string")
            return texts.dictionary_encode() if column.kind == "category" else texts
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


_BUFFER: Final = 1 << 18


class AtomicFiles:
    """Files that are written under hidden names beside their own, and take these when all of them are done.

    A context manager: where its block ends well the files are renamed, at an exception they are removed.

    Args:
        folder: where the files go; created if need be.
        names: their names.
        force: whether files that are there already are replaced.

    Raises:
        ConfigError: one of the files is there already, or the folder is none. Nothing was touched.
        OSError: the folder or a file cannot be written; it names the folder.
    """

    def __init__(self, folder: Path, names: Iterable[str], *, force: bool = False) -> None:
        self._folder = folder
        self._names = tuple(names)
        self._force = force
        self._files: dict[str, IO[bytes]] = {}
        self._refuse()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise ConfigError(f"{folder}: that is no folder") from None

    def path(self, name: str) -> Path:
        """Return the hidden path under which a file is written."""
        return self._folder / f".{name}.{os.getpid()}.partial"

    def file(self, name: str) -> IO[bytes]:
        """Return a file, open for writing bytes; `close` on it is left to this class."""
        if name not in self._files:
            self._files[name] = self.path(name).open("wb", buffering=_BUFFER)
        return self._files[name]

    def digest(self, name: str) -> str:
        """Return the SHA-256 of what was written to a file so far, in hex."""
        self.file(name).flush()
        with self.path(name).open("rb") as written:
            return hashlib.file_digest(written, "sha256").hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._commit()
        except OSError as failure:
            raise _with_folder(failure, self._folder) from None
        finally:
            self._discard()
        if isinstance(error, OSError) and not error.filename:
            raise _with_folder(error, self._folder) from None

    def _commit(self) -> None:
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())
            file.close()
        self._refuse()
        for name in self._names:
            self.path(name).replace(self._folder / name)

    def _refuse(self) -> None:
        existing = [name for name in self._names if os.path.lexists(self._folder / name)]
        if existing and not self._force:
            raise ConfigError(f"{self._folder / existing[0]}: exists already; `wolfbus export … --force` replaces it")

    def _discard(self) -> None:
        for file in self._files.values():
            # on a full disk what is left in the buffer is of no use, and the file is closed all the same
            with suppress(OSError):
                file.close()
        for name in self._names:
            self.path(name).unlink(missing_ok=True)


def _with_folder(error: OSError, folder: Path) -> OSError:
    """Return an error that names the folder, as one of a file that is only open does not."""
    return OSError(error.errno or 0, error.strerror or str(error), str(folder))
