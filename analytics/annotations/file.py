"""Annotations of a study in files of their own beside its records: ``annotations/NAME.jsonl``, an annotator a file.

The first line says who annotates and how: the model with the prompt's version and hash, or a person. Every other line
is of one statement, with the hash of what it annotates: that of the statement's line, which seals all before it, and
the record's head, which seals all of it. Annotations of anything else are refused, never shown beside other words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field

import wolfbus
from analytics.annotations.lines import SUFFIX, Appender, Line, PromptMark, Seal, Share, read_lines
from analytics.rows import AnnotationRow, GameRows
from analytics.rows.annotation import Sort, Stance
from analytics.rows.fields import statement_id
from wolfbus.errors import RecordError
from wolfbus.game.vocabulary import Deception
from wolfbus.knowledge.passage import Passage
from wolfbus.messages.calls import Scalar
from wolfbus.study.manifest import RECORDS

FOLDER: Final = "annotations"


class Header(Line):
    """Who annotates, and how."""

    format: Literal["wolfbus-annotations"] = "wolfbus-annotations"
    version: Literal[1] = 1
    sort: Sort
    created: str = Field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    wolfbus: str = wolfbus.__version__
    prompt: PromptMark | None = None
    model: str | None = None
    parameters: dict[str, Scalar] = Field(default_factory=dict)
    fingerprint: str | None = None
    """What the server said of the model with the first reply: its name and, where it tells, its fingerprint."""

    @property
    def annotator(self) -> dict[str, Any]:
        """What must be the same for a file to be gone on with."""
        return self.model_dump(include={"sort", "prompt", "model", "parameters"})


class Annotation(Line):
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
    """Return a file of annotations; see `read_lines`.

    Raises:
        RecordError: as that does; or a statement stands there twice.
    """
    header, annotations = read_lines(path, Header, Annotation, "annotation")
    places = [annotation.place for annotation in annotations]
    if len(set(places)) < len(places):
        twice = next(place for place in places if places.count(place) > 1)
        raise RecordError(f"{path}: statement {statement_id(*twice)} stands there twice")
    return Annotations(path, header, tuple(annotations))


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
