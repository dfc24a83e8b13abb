"""What there is to read: record files and published logs under folders, and the studies that they belong to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from wolfbus.errors import RecordError
from wolfbus.record.paper_log import is_paper_log
from wolfbus.record.reader import open_lines

MANIFEST: Final = "study.json"
"""Says in a study's folder what was planned and what came of it."""
RECORDS: Final = "records"
"""Folder of a study's records."""
STUDY_FORMAT: Final = "wolfbus-study"

_SUFFIXES: Final = (".ndjson", ".ndjson.gz")
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
    """

    path: Path
    kind: Literal["record", "paper"] | None
    game: str | None
    size: int
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Study:
    """A study's manifest.

    Attributes:
        folder: where the study is.
        manifest: what ``study.json`` says.
    """

    folder: Path
    manifest: dict[str, Any]

    def blocks(self) -> dict[str, str]:
        """Return the block of every game that has one other than itself, by game id."""
        return {
            str(game["game"]): str(game["block"])
            for game in self.manifest.get("games", ())
            if isinstance(game, dict) and game.get("game") and game.get("block")
        }


def find(given: Sequence[str | Path]) -> tuple[list[Source], list[Study]]:
    """Return the files to read, in the order of their paths, and the studies whose folders were met.

    Of a study's folder its ``records`` are read; of any other folder every ``*.ndjson`` and ``*.ndjson.gz`` in it and
    below that is a game, and files of other content are passed over. A file that is given by name is read or refused.

    Args:
        given: folders and files; one given twice is read once.

    Raises:
        RecordError: there is nothing of that name, nothing to read in a folder, or a manifest cannot be read.
    """
    sources: dict[Path, Source] = {}
    studies: dict[Path, Study] = {}
    for name in given:
        path = Path(name)
        if not path.is_dir():
            if not path.exists():
                raise RecordError(f"{path}: no such file or folder")
            sources.setdefault(path.resolve(), _peek(path))
            continue
        found = _under(path, studies)
        if not found and not studies:
            raise RecordError(f"{path}: no records in it: no *.ndjson and no *.ndjson.gz")
        sources.update({each.path.resolve(): each for each in found if each.path.resolve() not in sources})
    return sorted(sources.values(), key=lambda source: str(source.path)), list(studies.values())


def _under(folder: Path, studies: dict[Path, Study]) -> list[Source]:
    for manifest in sorted(folder.rglob(MANIFEST)):
        study = _study(manifest)
        if study is not None:
            studies[study.folder.resolve()] = study
    files = sorted(path for path in folder.rglob("*") if path.name.endswith(_SUFFIXES) and not path.is_dir())
    peeked = (
        _peek(path)
        for path in files
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.parent.resolve() not in studies
    )
    return [
        source for source in peeked if source.kind is not None or source.size == 0 or _is_record_of(source, studies)
    ]


def _is_record_of(source: Source, studies: Iterable[Path]) -> bool:
    """Return whether a study put the file among its records, whatever stands in it now."""
    return any(source.path.parent.resolve() == folder / RECORDS for folder in studies)


def _study(path: Path) -> Study | None:
    try:
        told = json.loads(path.read_bytes())
    except OSError as error:
        raise RecordError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise RecordError(f"{path}: not JSON: {error}") from None
    if not isinstance(told, dict) or told.get("format") != STUDY_FORMAT:
        return None
    if told.get("version") != 1:
        raise RecordError(f"{path}: version {told.get('version')!r} of a study; this wolfbus reads version 1")
    return Study(path.parent, told)


def _peek(path: Path) -> Source:
    try:
        size = path.stat().st_size
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
