"""Annotations of a study in files of their own beside its records: ``annotations/NAME.jsonl``, an annotator a file.

The first line says who annotates and how: the model with the prompt's version and hash, or a person. Every other line
is of one statement, with the hash of what it annotates: that of the statement's line, which seals all before it, and
the record's head, which seals all of it. Annotations of anything else are refused, never shown beside other words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import wolfbus
from analytics.rows import AnnotationRow, GameRows
from analytics.rows.annotation import Sort, Stance
from analytics.rows.fields import statement_id
from wolfbus.errors import RecordError, WolfError, first_fault
from wolfbus.files import lock
from wolfbus.files.canonical import canonical
from wolfbus.files.whole_file import read_whole, write_whole
from wolfbus.game.vocabulary import Deception
from wolfbus.knowledge.passage import Passage
from wolfbus.messages.calls import Scalar
from wolfbus.record.writer import RecordFile
from wolfbus.study.manifest import RECORDS

FOLDER: Final = "annotations"
FORMAT: Final = "wolfbus-annotations"
SUFFIX: Final = ".jsonl"
"""Not ``.ndjson``, since that is what records are called."""
_LARGEST: Final = 1 << 30
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Seal: TypeAlias = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
L = TypeVar("L", bound=BaseModel)


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def line(self) -> bytes:
        """Return it as a line of the file, without its end."""
        return canonical(self.model_dump(mode="json", exclude_none=True))


class PromptMark(_Line):
    """Which prompt a model was given."""

    version: int
    sha256: Seal


class Header(_Line):
    """Who annotates, and how."""

    format: Literal["wolfbus-annotations"] = "wolfbus-annotations"
    version: Literal[1] = 1
    sort: Sort
    created: str = Field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    wolfbus: str = wolfbus.__version__
    prompt: PromptMark | None = None
    model: str | None = None
    parameters: dict[str, Scalar] = {}
    fingerprint: str | None = None
    """What the server said of the model with the first reply: its name and, where it tells, its fingerprint."""

    @property
    def annotator(self) -> dict[str, Any]:
        """What must be the same for a file to be gone on with."""
        return self.model_dump(include={"sort", "prompt", "model", "parameters"})


class Annotation(_Line):
    """What is said of one statement."""

    game: str
    statement: Annotated[int, Field(ge=1)]
    head: Seal
    hash: Seal
    deceptive: Share | None = None
    kind: Deception | None = None
    stances: dict[str, Stance] | None = None
    werewolf: Share | None = None
    werewolf_masked: Share | None = None
    served: str | None = None
    """What the server said of the model, where that is not the header's `fingerprint`."""

    @property
    def place(self) -> tuple[str, int]:
        """Game and number of the statement."""
        return self.game, self.statement

    @property
    def seals(self) -> tuple[str, str]:
        """Both hashes."""
        return self.head, self.hash


@dataclass(frozen=True, slots=True)
class Annotations:
    """A file of annotations.

    Attributes:
        path: where it is.
        header: its first line.
        lines: the others, a statement once.
    """

    path: Path
    header: Header
    lines: tuple[Annotation, ...]

    @property
    def name(self) -> str:
        """The annotator's name."""
        return self.path.name.removesuffix(SUFFIX)

    def check(self, head: str, seals: Mapping[int, str], game: str) -> None:
        """See that they are of a game as it stands.

        Args:
            head: the record's last hash.
            seals: the statements' hashes.
            game: its id.

        Raises:
            RecordError: one is not; the line names the file and the statement.
        """
        for line in self.lines:
            if line.game == game and (line.head != head or line.hash != seals.get(line.statement)):
                raise misfit(self.path, line)


def annotation_of(passage: Passage, **values: object) -> Annotation:
    """Return what is said of a statement."""
    place = {"game": passage.game, "statement": passage.number, "head": passage.head, "hash": passage.hash}
    return Annotation.model_validate({**place, **values})


def misfit(path: Path, line: Annotation) -> RecordError:
    """Return that an annotation is of something else than what stands in the record now."""
    return RecordError(
        f"{path}: statement {statement_id(line.game, line.statement)} is not what was annotated: its record is another "
        "one now; bring that back, or move this file away"
    )


def folder_beside(record: Path) -> Path:
    """Return where annotations of a record are: in its study's folder, else beside it."""
    folder = record.parent
    return (folder.parent if folder.name == RECORDS else folder) / FOLDER


def annotations_in(folder: Path) -> list[Annotations]:
    """Return the annotations of all annotators, in the order of their names; raises RecordError as `read`."""
    return [read(path) for path in sorted(folder.glob(f"*{SUFFIX}")) if not path.name.startswith(".")]


def read(path: Path) -> Annotations:
    """Return a file of annotations. A last line without its end, as a kill leaves it, is passed over.

    Raises:
        RecordError: it cannot be read, or is none; the line names the file, and the line or statement at fault.
    """
    first, *lines = _whole_lines(path) or [b""]
    header = _parsed(Header, first, path, 1)
    annotations = [_parsed(Annotation, line, path, number) for number, line in enumerate(lines, 2)]
    places = [annotation.place for annotation in annotations]
    if len(set(places)) < len(places):
        twice = next(place for place in places if places.count(place) > 1)
        raise RecordError(f"{path}: statement {statement_id(*twice)} stands there twice")
    return Annotations(path, header, tuple(annotations))


def _whole_lines(path: Path) -> list[bytes]:
    return read_whole(path, _LARGEST).split(b"\n")[:-1]


def _parsed(shape: type[L], line: bytes, path: Path, number: int) -> L:
    try:
        return shape.model_validate_json(line)
    except ValidationError as error:
        raise RecordError(f"{path}: line {number}: no annotation of wolfbus: {first_fault(error)}") from None


def rows_of(files: Iterable[Annotations], head: str, game: GameRows) -> Iterator[AnnotationRow]:
    """Yield what is said of a game's statements, in their order.

    Raises:
        RecordError: something is said of another record; the line names the file and the statement.
    """
    for file in files:
        file.check(head, game.seals, game.game)
        for line in sorted(file.lines, key=lambda line: line.statement):
            members = line.model_dump(exclude={"head", "hash", "served"})
            yield AnnotationRow(annotator=file.name, sort=file.header.sort, **members)


def alone(path: Path) -> AbstractContextManager[None]:
    """Write a file of annotations alone; the lock ends with the process, however that ends.

    Raises:
        WolfError: somebody else is writing it.
    """
    path.parent.mkdir(exist_ok=True)
    refusal = WolfError(f"{path}: another run is writing it; one at a time")
    return lock.alone(path.with_name(f".{path.name}.lock"), refusal)


def write(path: Path, header: Header, lines: Iterable[Annotation]) -> None:
    """Write a whole file in the place of the one that is there; raises OSError where it cannot be written."""
    write_whole(path, (line.line() + b"\n" for line in (header, *lines)))


class Appender:
    """Adds annotations to a file one by one; each survives the end of the process.

    The file comes into being with the first of them, whole: a file without its header is never seen.

    Args:
        path: the file, there already or not.
        header: of a new one.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self._path = path
        self._header = read(path).header if path.exists() else None
        self._new = header
        self._file: RecordFile | None = None

    def add(self, annotation: Annotation) -> None:
        """Add one; raises RecordError or OSError where it cannot be written."""
        served = annotation.served
        if self._header is None:
            self._header = self._new.model_copy(update={"fingerprint": served})
            write(self._path, self._header, [annotation.model_copy(update={"served": None})])
            return
        if self._file is None:
            self._file = RecordFile(self._path, keep=len(_whole_lines(self._path)))
        if served == self._header.fingerprint:
            annotation = annotation.model_copy(update={"served": None})
        self._file.write([annotation.line()])

    def close(self) -> None:
        """Bring what was added to the disk."""
        if self._file is not None:
            with closing(self._file):
                self._file = None
