"""Annotating a study: its statements, a reader model, and a file of annotations that grows as the replies come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analytics.annotations.file import (
    AnnotationAppender,
    Annotations,
    Header,
    annotation_of,
    folder_beside,
    read,
)
from analytics.annotations.lines import PromptMark
from analytics.annotations.passages import passages_of
from analytics.gather import FileNote, each_game
from analytics.gather.reading import is_unfinished
from players.llm.inquiry import Reply
from players.llm.reader import Reader, prompt_mark
from wolfbus.errors import ConfigError
from wolfbus.files.printable import counted
from wolfbus.knowledge.passage import Passage
from wolfbus.running.asking import AskingRun
from wolfbus.running.brains import estimate_of

if TYPE_CHECKING:
    from players.llm.settings import Model
    from players.spec import BrainContext


def statements_of(folder: Path) -> tuple[list[Passage], list[FileNote], int]:
    """Return the statements of a study, or of any folder of records or logs; the files with which something is wrong;
    and how many games were left out because they have not ended.

    Raises:
        RecordError: there is nothing to read; or annotations that are there are of other records.
        ConfigError: annotations of a game in it are kept with another folder, where nobody would find these.
    """
    items: list[Passage] = []
    problems: list[FileNote] = []
    unfinished = 0
    for note, rows in each_game([folder]):
        if is_unfinished(note, rows):
            unfinished += 1
            continue
        if note.problem is not None:
            problems.append(note)
        if rows is not None:
            beside = folder_beside(Path(note.path)).parent
            if beside.resolve() != folder.resolve():
                raise ConfigError(f"{folder}: annotations of {note.path} are kept with {beside}; annotate that folder")
            items += passages_of(rows, note.head)
    return items, problems, unfinished


def header_of(model: Model, *, private: bool) -> Header:
    """Return the header of what a model is about to say."""
    return Header(
        sort="monitor" if private else "reader",
        prompt=PromptMark(**prompt_mark(private=private)),
        model=model.model,
        parameters=model.asked_with,
    )


def left_over(path: Path, header: Header, chosen: Sequence[Passage], items: Sequence[Passage]) -> list[Passage]:
    """Return which of the chosen statements a file does not yet hold; those that it holds, chosen or not, are the
    study's own.

    Args:
        path: the file.
        header: its first line, were it begun now.
        chosen: the statements that are to be read.
        items: all statements of the study.

    Raises:
        RecordError: the file cannot be read, or is of other records.
        ConfigError: it is of another model, prompt or setting.
    """
    if not path.exists():
        return list(chosen)
    file: Annotations = read(path)
    for name, value in header.annotator.items():
        before = file.header.annotator[name]
        if before != value:
            raise ConfigError(
                f"{path}: was made with {name} {_short(before)}, not {_short(value)}; take another --name"
            )
    by_place = {item.place: item for item in items}
    for line in file.lines:
        item = by_place.get(line.place)
        if item is None or item.seals != line.seals:
            raise line.misfit(path)
    there_already = {line.place for line in file.lines}
    return [item for item in chosen if item.place not in there_already]


def _short(value: object) -> str:
    return "none" if value is None else str(value)[:200]


@dataclass(slots=True)
class ReaderRun(AskingRun):
    """One run of a reader model over statements.

    Attributes:
        model: the model's settings.
        items: the statements.
        private: whether it reads private thoughts.
    """

    model: Model
    items: Sequence[Passage]
    private: bool

    def estimate(self, gateway: Any) -> str:
        """Return about what the calls will take, in a line."""
        reader = Reader(self.model, gateway, private=self.private)
        questions = (question for passage in self.items for question in reader.questions(passage).values())
        return f"{counted(len(self.items), 'statement')}, {estimate_of(questions)[1]}"

    def play(self, context: BrainContext, path: Path, header: Header, tell: Callable[[int], None]) -> None:
        """Read all statements, and add what is said of each to the file at once.

        Args:
            context: the way to the model.
            path: the file.
            header: its header, if it is new.
            tell: called with the number of statements done.
        """
        with closing(AnnotationAppender(path, header)) as file:

            def keep(passage: Passage, reply: Reply) -> None:
                file.add(annotation_of(passage, **reply.content, served=reply.served))

            self.ask_all(
                context,
                iter(self.items),
                self.model.endpoint.at_once,
                answer=Reader(self.model, context.gateway, private=self.private).answer,
                keep=keep,
                name_of=lambda passage: passage.id,
                tell=tell,
            )
