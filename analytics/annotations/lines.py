"""Files of lines beside a study's records, which say something of its games afterwards: a header, then a line each.

Every line has the hash of what it is of: that of a record's line, which seals all before it, and the record's head,
which seals all of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, ClassVar, Final, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import wolfbus
from wolfbus.errors import RecordError, WolfError, first_fault
from wolfbus.files import lock
from wolfbus.files.canonical import canonical
from wolfbus.files.whole_file import read_whole, write_whole
from wolfbus.record.writer import RecordFile
from wolfbus.study.manifest import RECORDS

SUFFIX: Final = ".jsonl"
"""Not ``.ndjson``, since that is what records are called."""
_LARGEST: Final = 1 << 30
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Seal: TypeAlias = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]


class Line(BaseModel):
    """A line of such a file."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def line(self) -> bytes:
        """Return it as a line of the file, without its end."""
        return canonical(self.model_dump(mode="json", exclude_none=True))


class PromptMark(Line):
    """Which prompt a model was given."""

    version: int
    sha256: Seal


class FileHeader(Line):
    """The first line of a file."""

    version: Literal[1] = 1
    created: str = Field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    wolfbus: str = wolfbus.__version__


class GameLine(Line, ABC):
    """Any other line: something that is said of a place in a game."""

    DONE: ClassVar[str]
    """What was done with the place, as in "is not what was annotated"."""

    game: str
    head: Seal
    hash: Seal
    served: str | None = None
    """What the server said of the model."""

    @property
    @abstractmethod
    def place(self) -> Hashable:
        """The place; no two lines of a file have the same."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The place in words."""

    def misfit(self, path: Path) -> RecordError:
        """Return that the file at a path says something of another game than stands in the record now."""
        return RecordError(
            f"{path}: {self.words} is not what was {self.DONE}: its record is another one now; bring that back, or "
            "move this file away"
        )


H = TypeVar("H", bound=FileHeader)
L = TypeVar("L", bound=GameLine)
S = TypeVar("S", bound=Line)


def study_of(record: Path) -> Path:
    """Return the folder in which files about a record are: its study's, else that in which it stands."""
    folder = record.parent
    return folder.parent if folder.name == RECORDS else folder


@dataclass(frozen=True, slots=True)
class LinesFile(Generic[H, L]):
    """A file of such lines.

    Attributes:
        path: where it is.
        header: its first line.
        lines: the others, a place once.
    """

    path: Path
    header: H
    lines: tuple[L, ...]


def read_lines(path: Path, header: type[H], line: type[L], what: str) -> LinesFile[H, L]:
    """Return a file as it stands. A last line without its end, as a kill leaves it, is passed over.

    Args:
        path: the file.
        header: what its first line is.
        line: what every other is.
        what: a line's name, as in "line 3: no annotation of wolfbus".

    Raises:
        RecordError: it cannot be read, or is none, or says two things of one place; the line names the file, and the
            line or place at fault.
    """
    first, *others = _whole_lines(path) or [b""]
    beginning = _parsed(header, first, path, 1, what)
    lines = tuple(_parsed(line, text, path, number, what) for number, text in enumerate(others, 2))
    places = Counter(one.place for one in lines)
    for one in lines:
        if places[one.place] > 1:
            raise RecordError(f"{path}: {one.words} stands there twice")
    return LinesFile(path, beginning, lines)


def _parsed(shape: type[S], text: bytes, path: Path, number: int, what: str) -> S:
    try:
        return shape.model_validate_json(text)
    except ValidationError as error:
        raise RecordError(f"{path}: line {number}: no {what} of wolfbus: {first_fault(error)}") from None


def _whole_lines(path: Path) -> list[bytes]:
    return read_whole(path, _LARGEST).split(b"\n")[:-1]


def alone(path: Path) -> AbstractContextManager[None]:
    """Write a file alone; the lock ends with the process, however that ends.

    Raises:
        WolfError: somebody else is writing it.
    """
    path.parent.mkdir(exist_ok=True)
    refusal = WolfError(f"{path}: another run is writing it; one at a time")
    return lock.alone(path.with_name(f".{path.name}.lock"), refusal)


def write(path: Path, header: Line, lines: Iterable[Line]) -> None:
    """Write a whole file in the place of the one that is there; raises OSError where it cannot be written."""
    write_whole(path, (line.line() + b"\n" for line in (header, *lines)))


class Appender:
    """Adds lines to a file one by one; each survives the end of the process.

    The file comes into being with the first of them, whole: a file without its header is never seen.

    Args:
        path: the file, there already or not.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: RecordFile | None = None

    def add(self, header: Line, line: Line) -> None:
        """Add a line, behind the header where the file is new; raises RecordError or OSError where it cannot be
        written.
        """
        if self._file is None:
            if not self._path.exists():
                write(self._path, header, [line])
                return
            self._file = RecordFile(self._path, keep=len(_whole_lines(self._path)))
        self._file.write([line.line()])

    def close(self) -> None:
        """Bring what was added to the disk."""
        if self._file is not None:
            with closing(self._file):
                self._file = None
