"""Annotations of a study in files of their own beside its records: ``annotations/NAME.jsonl``, an annotator a file.

The first line says who annotates and how: the model with the prompt's version and hash, or a person. Every other line
is of one statement, with the hash of what it annotates: that of the statement's line, which seals all before it, and
the record's head, which seals all of it. Annotations of anything else are refused, never shown beside other words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from pydantic import Field

from analytics.annotations.lines import (
    SUFFIX,
    Appender,
    FileHeader,
    GameLine,
    LinesFile,
    PromptMark,
    Share,
    read_lines,
    study_of,
)
from analytics.rows import GameRows
from analytics.rows.annotation import AnnotationRow, Sort, Stance
from analytics.rows.fields import statement_id
from wolfbus.game.vocabulary import Deception
from wolfbus.knowledge.passage import Passage
from wolfbus.messages.calls import Scalar

FOLDER: Final = "annotations"


class Header(FileHeader):
    """Who annotates, and how."""

    format: Literal["wolfbus-annotations"] = "wolfbus-annotations"
    sort: Sort
    prompt: PromptMark | None = None
    model: str | None = None
    parameters: dict[str, Scalar] = Field(default_factory=dict)
    fingerprint: str | None = None
    """What the server said of the model with the first reply: its name and, where it tells, its fingerprint."""

    @property
    def annotator(self) -> dict[str, Any]:
        """What must be the same for a file to be gone on with."""
        return self.model_dump(include={"sort", "prompt", "model", "parameters"})


class Annotation(GameLine):
    """What is said of one statement; ``served`` where that is not the header's `fingerprint`."""

    DONE: ClassVar[str] = "annotated"

    statement: Annotated[int, Field(ge=1)]
    deceptive: Share | None = None
    kind: Deception | None = None
    stances: dict[str, Stance] | None = None
    werewolf: Share | None = None
    werewolf_masked: Share | None = None

    @property
    def place(self) -> tuple[str, int]:
        """Game and number of the statement."""
        return self.game, self.statement

    @property
    def words(self) -> str:
        """The statement's id."""
        return f"statement {statement_id(self.game, self.statement)}"

    @property
    def seals(self) -> tuple[str, str]:
        """Both hashes."""
        return self.head, self.hash


Annotations: TypeAlias = LinesFile[Header, Annotation]
"""A file of annotations, a statement once."""


def annotation_of(passage: Passage, **values: object) -> Annotation:
    """Return what is said of a statement."""
    place = {"game": passage.game, "statement": passage.number, "head": passage.head, "hash": passage.hash}
    return Annotation.model_validate({**place, **values})


def folder_beside(record: Path) -> Path:
    """Return where annotations of a record are: in its study's folder, else beside it."""
    return study_of(record) / FOLDER


def annotations_in(folder: Path) -> list[Annotations]:
    """Return the annotations of all annotators, in the order of their names; raises RecordError as `read`."""
    return [read(path) for path in sorted(folder.glob(f"*{SUFFIX}")) if not path.name.startswith(".")]


def read(path: Path) -> Annotations:
    """Return a file of annotations; raises RecordError as `read_lines`."""
    return read_lines(path, Header, Annotation, "annotation")


def rows_of(files: Iterable[Annotations], head: str, game: GameRows) -> Iterator[AnnotationRow]:
    """Yield what is said of a game's statements, in their order.

    Raises:
        RecordError: something is said of another record; the line names the file and the statement.
    """
    for file in files:
        annotator = file.path.name.removesuffix(SUFFIX)
        for line in sorted(file.lines, key=lambda line: line.statement):
            if line.head != head or line.hash != game.seals.get(line.statement):
                raise line.misfit(file.path)
            members = line.model_dump(exclude={"head", "hash", "served"})
            yield AnnotationRow(annotator=annotator, sort=file.header.sort, **members)


class AnnotationAppender:
    """Adds annotations to a file; the header tells which model answered, and lines where another one did.

    Args:
        path: the file, there already or not.
        header: of a new one.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self._header = read(path).header if path.exists() else None
        self._new = header
        self._file = Appender(path)

    def add(self, annotation: Annotation) -> None:
        """Add one; raises RecordError or OSError where it cannot be written."""
        if self._header is None:
            self._header = self._new.model_copy(update={"fingerprint": annotation.served})
        if annotation.served == self._header.fingerprint:
            annotation = annotation.model_copy(update={"served": None})
        self._file.add(self._header, annotation)

    def close(self) -> None:
        """Bring what was added to the disk."""
        self._file.close()
