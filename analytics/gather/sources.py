"""What there is to read: record files and published logs under folders, and the studies that they belong to."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from wolfbus.errors import ConfigError, RecordError
from wolfbus.record.published_log import is_paper_log
from wolfbus.record.reader import SUFFIXES, open_lines
from wolfbus.study.manifest import FILE, RECORDS, load_manifest
from wolfbus.study.noted import NotedGame, Notes, notes_of

_GAME: Final = re.compile(rb'"game":"([A-Za-z0-9][A-Za-z0-9._-]{0,63})"')


@dataclass(frozen=True, slots=True)
class Source:
    """One file with one game.

    Attributes:
        path: where it is.
        kind: a "record" of ours, or a log of the "paper"'s code; None if it is neither, or cannot be read.
        game: the game's id, by its first line; None where that does not tell.
        size: bytes.
        problem: why it is of no use, None if it may be.
        noted: what the study to which it belongs has noted of its game; None if it belongs to none.
        stray: why it is no record of the study in whose folder it stands; None if it is one, or in none.
    """

    path: Path
    kind: Literal["record", "paper"] | None
    game: str | None
    size: int
    problem: str | None = None
    noted: NotedGame | None = None
    stray: str | None = None


@dataclass(frozen=True, slots=True)
class StudySource:
    """What a study's folder says.

    Attributes:
        folder: where the study is.
        manifest: what ``study.json`` says.
        notes: what is noted of its games, there and in its journal.
    """

    folder: Path
    manifest: dict[str, Any]
    notes: Notes = field(default_factory=lambda: Notes({}))

    @property
    def id(self) -> str:
        """The study's id; its folder's name where the manifest has none."""
        return str(self.manifest.get("study") or self.folder.name)

    @property
    def games(self) -> list[dict[str, Any]]:
        """The rows of its games."""
        return list(self.manifest.get("games") or ())

    @property
    def records(self) -> Path:
        """Where its records are."""
        return self.folder / RECORDS


def find(given: Sequence[str | Path]) -> tuple[list[Source], list[StudySource]]:
    """Return the files to read, in the order of their paths, and the studies whose folders were met.

    Of a study's folder its ``records`` are read; of any other folder every ``*.ndjson`` and ``*.ndjson.gz`` in it and
    below that is a game, and files of other content are passed over. A file that is given by name is read or refused.

    Args:
        given: folders and files; one given twice is read once.

    Raises:
        RecordError: there is nothing of that name, or a pipe; nothing to read in a folder; a manifest that cannot be
            read, or has a member that is not what it should be.
    """
    sources: dict[Path, Source] = {}
    studies: dict[Path, StudySource] = {}
    for name in given:
        path = Path(name)
        if not path.is_dir():
            if not path.exists():
                raise RecordError(f"{path}: no such file or folder")
            if not path.is_file():
                # a file is read twice, and who opens a pipe waits for somebody to write into it
                raise RecordError(f"{path}: a pipe or a device; save what comes out of it in a file")
            sources.setdefault(path.resolve(), _peek(path))
            continue
        found = _under(path, studies)
        if not found and not studies:
            raise RecordError(f"{path}: no records in it: no *.ndjson and no *.ndjson.gz")
        for place, source in {each.path.resolve(): each for each in found}.items():
            sources.setdefault(place, source)
    return sorted(sources.values(), key=lambda source: str(source.path)), list(studies.values())


def _under(folder: Path, studies: dict[Path, StudySource]) -> list[Source]:
    for manifest in sorted(folder.rglob(FILE)):
        study = _study(manifest)
        if study is not None:
            studies[study.folder.resolve()] = study
    files = sorted(path for path in folder.rglob("*") if path.name.endswith(SUFFIXES) and not path.is_dir())
    # records stand in few folders
    own = {parent: parent.resolve() in studies for parent in {path.parent for path in files}}
    peeked = (
        _peek(path)
        for path in files
        if not any(part.startswith(".") for part in path.relative_to(folder).parts) and not own[path.parent]
    )
    return [
        source for source in peeked if source.kind is not None or source.size == 0 or _is_record_of(source, studies)
    ]


def _is_record_of(source: Source, studies: Iterable[Path]) -> bool:
    """Return whether a study put the file among its records, whatever stands in it now."""
    return any(source.path.parent.resolve() == (folder / RECORDS).resolve() for folder in studies)


def _study(path: Path) -> StudySource | None:
    try:
        told = load_manifest(path) if path.is_file() else None
        if told is None:
            return None
        return StudySource(path.parent, told, notes_of(path.parent, told, StudySource(path.parent, told).id))
    except ConfigError as error:
        raise RecordError(str(error)) from None


def _peek(path: Path) -> Source:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return Source(path, None, None, 0, "no regular file; it is passed over")
        size = found.st_size
        with closing(open_lines(path)) as lines:
            first = next(lines, None)
    except (OSError, RecordError) as error:
        reason = str(error).removeprefix(f"{path}: ")
        return Source(path, None, None, 0, reason)
    if first is None:
        return Source(path, None, None, size, "empty; there is no record in it")
    if is_paper_log(first):
        return Source(path, "paper", None, size)
    match = _GAME.search(first)
    if sum(mark in first for mark in (b'"hash":"', b'"audience":', b'"type":"', b'"time":')) < 3:
        return Source(path, None, None, size, "not a wolfbus record")
    return Source(path, "record", match.group(1).decode() if match else None, size)
