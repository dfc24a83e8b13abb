"""What there is to read: record files and published logs under folders, the studies that they belong to, and what
became of each file. `find` names what is there, `collect` each game once with what its study says of it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from analytics.annotations.beliefs import Beliefs, beliefs_beside, beliefs_in
from analytics.annotations.file import Annotations, annotations_in, folder_beside
from analytics.annotations.lines import H, L, LinesFile
from wolfbus.errors import ConfigError, RecordError, reason_of
from wolfbus.files.whole_file import open_file
from wolfbus.foreign.kinds import hint_for
from wolfbus.foreign.log import is_foreign_log, read_foreign_log
from wolfbus.record.published_log import is_paper_log, meta_beside, read_meta
from wolfbus.record.reader import SUFFIXES, check_seals, open_lines, read_checked
from wolfbus.study.folder import is_being_played
from wolfbus.study.manifest import FILE, RECORDS, NotedGame, Notes, load_manifest, notes_of

_GAME: Final = re.compile(rb'"game":"([A-Za-z0-9][A-Za-z0-9._-]{0,63})"')
_SEED: Final = re.compile(rb'"seed":"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Source:
    """One file with one game.

    Attributes:
        path: where it is.
        kind: a "record" of ours, a log of the "paper"'s code, or an imported one of another table ("foreign"); None if
            it is none of them, or cannot be read.
        game: the game's id, by its first line; None where that does not tell.
        size: bytes.
        seed: what its game was dealt from, by its first line; None where that does not tell.
        problem: why it cannot be read, None if it may.
        noted: what the study to which it belongs has noted of its game; None if it belongs to none.
        stray: why it is no record of the study in whose folder it stands; None if it is one, or in none.
        annotations: what is said of its statements in files beside it.
        beliefs: what its seats were asked afterwards, in a file beside it.
    """

    path: Path
    kind: Literal["record", "paper", "foreign"] | None
    game: str | None
    size: int
    seed: str | None = None
    problem: str | None = None
    noted: NotedGame | None = None
    stray: str | None = None
    annotations: tuple[Annotations, ...] = ()
    beliefs: tuple[Beliefs, ...] = ()


@dataclass(frozen=True, slots=True)
class StudySource:
    """What a study's folder says.

    Attributes:
        folder: where the study is.
        manifest: what ``study.json`` says.
        notes: what is noted of its games, there and in its journal.
        is_played: whether a run is playing it at this moment.
    """

    folder: Path
    manifest: dict[str, Any]
    notes: Notes = field(default_factory=lambda: Notes({}))
    is_played: bool = False

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

    @property
    def under_way(self) -> set[str]:
        """Ids of the games that a run has not ended yet; none where no run is playing the study."""
        games = self.notes.games.values() if self.is_played else ()
        return {noted.game for noted in games if noted.state not in {None, "ended"}}


@dataclass(frozen=True, slots=True)
class FileNote:
    """What became of one file.

    Attributes:
        path: the file, as it was given or found.
        game: its game, None if it has none.
        events: lines that hold.
        counted: whether its game is among the figures.
        problem: what is wrong with the file, None for nothing; the lines before it may be counted all the same.
        published: whether it is a log of the paper's code or of another table, which has no seals.
        table: of a log of another table that was imported, of which kind that is; "" of any other file.
        head: hash on the last line that holds; "" for none.
        digest: digest of a game that was played to its end and whose every line holds; None otherwise, and where
            nobody asked for it.
        compared: by what of its outcome the record was compared with what its study noted, and found equal.
        proven: whether the rules give all its derived events; None where nobody re-executed them.
        spoilt: whether its game is: too many answers of a seat are defaults for want of a reply.
    """

    path: str
    game: str | None
    events: int
    counted: bool
    problem: str | None
    published: bool = False
    table: str = ""
    head: str = ""
    digest: str | None = None
    compared: tuple[str, ...] = ()
    proven: bool | None = None
    spoilt: bool = False


def find(paths: Sequence[str | Path]) -> tuple[list[Source], list[StudySource]]:
    """Return the files to read, in the order of their paths, and the studies whose folders were met.

    Of a study's folder its ``records`` are read; of any other folder every ``*.ndjson`` and ``*.ndjson.gz`` in it and
    below that is a game, and files of other content are passed over. A file that is given by name is read or refused.

    Args:
        paths: folders and files; one given twice is read once.

    Raises:
        RecordError: there is nothing of that name, or a pipe; nothing to read in a folder; a manifest that cannot be
            read, or has a member that is not what it should be.
    """
    sources: dict[Path, Source] = {}
    studies: dict[Path, StudySource] = {}
    for name in paths:
        path = Path(name)
        if not path.is_dir():
            if not path.exists():
                raise RecordError(f"{path}: no such file or folder")
            if not path.is_file():
                _refuse(path)
            sources.setdefault(path.resolve(), _peek(path))
            continue
        inner = _studies_under(path)
        studies |= inner
        # not `Path.resolve`, which fails on a link that leads to itself
        below = {Path(os.path.realpath(source.path)): source for source in _sources_under(path, studies)}
        if not below and not inner:
            raise RecordError(f"{path}: no records in it: no *.ndjson and no *.ndjson.gz")
        sources = below | sources
    return sorted(sources.values(), key=lambda source: str(source.path)), list(studies.values())


def _refuse(path: Path) -> None:
    """Raise RecordError for a pipe or a device."""
    try:
        open_file(path).close()
    except OSError as error:
        raise RecordError(f"{path}: {reason_of(error)}") from None


def _studies_under(folder: Path) -> dict[Path, StudySource]:
    studies = filter(None, map(_study, sorted(folder.rglob(FILE))))
    return {study.folder.resolve(): study for study in studies}


def _sources_under(folder: Path, studies: Mapping[Path, StudySource]) -> list[Source]:
    files = sorted(path for path in folder.rglob("*") if path.name.endswith(SUFFIXES) and not path.is_dir())
    # records are in few folders
    is_study = {parent: parent.resolve() in studies for parent in {path.parent for path in files}}
    peeked = (
        _peek(path)
        for path in files
        if not any(part.startswith(".") for part in path.relative_to(folder).parts) and not is_study[path.parent]
    )
    return [
        source for source in peeked if source.kind is not None or source.size == 0 or _is_record_of(source, studies)
    ]


def _is_record_of(source: Source, studies: Iterable[Path]) -> bool:
    """Return whether a study put the file among its records, whatever stands in it now."""
    return any(source.path.parent.resolve() == (folder / RECORDS).resolve() for folder in studies)


def _study(path: Path) -> StudySource | None:
    try:
        # before its notes are read: a game that ends meanwhile is under way for whoever reads them
        is_played = is_being_played(path.parent)
        manifest = load_manifest(path) if path.is_file() else None
        if manifest is None:
            return None
        study = StudySource(path.parent, manifest, is_played=is_played)
        return replace(study, notes=notes_of(path.parent, manifest, study.id))
    except ConfigError as error:
        raise RecordError(str(error)) from None


def _peek(path: Path) -> Source:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return Source(path, None, None, 0, problem="no regular file; it is passed over")
        size = status.st_size
        with closing(open_lines(path)) as lines:
            first = next(lines, None)
    except (OSError, RecordError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else str(error).removeprefix(f"{path}: ")
        return Source(path, None, None, 0, problem=f"{reason}{hint_for(path)}")
    if first is None:
        return Source(path, None, None, size, problem="empty; there is no record in it")
    if is_paper_log(first):
        return Source(path, "paper", None, size)
    if is_foreign_log(first):
        return Source(path, "foreign", _member(_GAME, first), size)
    if sum(mark in first for mark in (b'"hash":"', b'"audience":', b'"type":"', b'"time":')) < 3:
        return Source(path, None, None, size, problem=f"not a wolfbus record{hint_for(path)}")
    return Source(path, "record", _member(_GAME, first), size, _member(_SEED, first))


def _member(pattern: re.Pattern[bytes], line: bytes) -> str | None:
    match = pattern.search(line)
    return match.group(1).decode(errors="replace") if match is not None else None


@dataclass(frozen=True, slots=True)
class Planned:
    """What a study says of one of its games.

    Attributes:
        study: the study's id.
        number: the game's number in it; None where the manifest does not tell.
        block: the games that are resampled together go by this name.
    """

    study: str
    number: int | None
    block: str


@dataclass(frozen=True, slots=True)
class Collection:
    """All that is to be read, each game once.

    Attributes:
        files: the files to read, in the order of their paths.
        refused: notes on files that are left out, because another one holds their game, or that are not there.
        studies: the studies whose folders were met.
        planned: what they say of their games, by game id.
    """

    files: tuple[Source, ...]
    refused: tuple[FileNote, ...] = ()
    studies: tuple[StudySource, ...] = ()
    planned: Mapping[str, Planned] = field(default_factory=dict)

    @property
    def blocks(self) -> dict[str, str]:
        """The block of every game that a study has planned, by game id."""
        return {game: planned.block for game, planned in self.planned.items()}

    @property
    def manifests(self) -> dict[str, Mapping[str, Any]]:
        """The studies' manifests, by study id."""
        return {study.id: study.manifest for study in self.studies}


def digest_of(path: Path) -> str | None:
    """Return the digest of a game that was played to its end, and whose every line holds; None of any other."""
    try:
        with closing(open_lines(path)) as lines:
            checked = read_checked(lines, lenient=True)
    except RecordError:
        return None
    return checked.digest if checked.problem is None and checked.ended is not None else None


def collect(
    paths: Sequence[str | Path],
    roles: Path | None = None,
    *,
    as_recorded: bool = False,
    played_again: bool = False,
    digest: Callable[[Path], str | None] = digest_of,
) -> Collection:
    """Return what there is to read in folders and files; see `find`.

    Of files that hold the same game the one is read that its study has noted; of others the first that is whole; where
    none is, the one that reaches furthest. A game that belongs to no study and is another one played again, by its
    digest, is left out: it says nothing that the other does not. So are, of a study that a run is playing at this
    moment, the records of games of which it has noted no end.

    Args:
        paths: folders and files.
        roles: run_meta.json of published logs; None to look beside each.
        as_recorded: whether published logs are to be read as the paper's code stored them.
        played_again: whether to read such games, too.
        digest: gives what `digest_of` does.

    Raises:
        RecordError: as `find` does; or annotations or beliefs beside a file cannot be read.
        ConfigError: an option for published logs was given, and none of the files is one.
    """
    sources, studies = find(paths)
    if (roles is not None or as_recorded) and not any(source.kind == "paper" for source in sources):
        raise ConfigError("--roles and --as-recorded are for logs of the paper's code; here is none")
    # one that tells of no games says nothing of any
    folders = {study.records.resolve(): study for study in reversed(studies) if study.games}
    inside = {parent: folders.get(parent.resolve()) for parent in {source.path.parent for source in sources}}
    sources = [_with_notes(_with_game(source, roles), inside[source.path.parent], studies) for source in sources]
    under_way = {parent: set[str]() if home is None else home.under_way for parent, home in inside.items()}
    # of a game that was begun this moment not even the first line need be there
    sources = [source for source in sources if (source.game or source.path.stem) not in under_way[source.path.parent]]
    annotated = {folder: _by_game(annotations_in(folder)) for folder in {*map(folder_beside, _paths(sources))}}
    believed = {path: _by_game(beliefs_in(path)) for path in {*map(beliefs_beside, _paths(sources))}}
    sources = [
        replace(
            source,
            annotations=annotated[folder_beside(source.path)].get(source.game, ()),
            beliefs=believed[beliefs_beside(source.path)].get(source.game, ()),
        )
        for source in sources
    ]
    holders: dict[str, list[Source]] = {}
    for source in sources:
        if source.game is not None:
            holders.setdefault(source.game, []).append(source)
    chosen = {game: copies[0] if len(copies) == 1 else _best(copies) for game, copies in holders.items()}
    files: list[Source] = []
    refused: list[FileNote] = []
    for source in sources:
        if source.game is not None and chosen[source.game] is not source:
            problem = _left_for(source, chosen[source.game])
            refused.append(FileNote(str(source.path), source.game, 0, False, problem))
        else:
            files.append(source)
    again = {} if played_again else _played_again(files, digest)
    refused += again.values()
    files = [source for source in files if source.path not in again]
    planned = {
        game["game"]: Planned(study.id, game.get("number"), game.get("block") or game["game"])
        for study in studies
        for game in study.games
    }
    refused += _missing(studies, holders.keys())
    refused += [
        FileNote(str(study.folder / FILE), None, 0, False, study.notes.fault)
        for study in studies
        if study.notes.fault is not None
    ]
    return Collection(tuple(files), tuple(refused), tuple(studies), planned)


def _left_for(source: Source, chosen: Source) -> str:
    """Return why a file is left out for another one of the same game's id."""
    heads = [set(noted.heads) if noted is not None else set() for noted in (source.noted, chosen.noted)]
    if all(heads) and heads[0].isdisjoint(heads[1]):
        return (
            f"{chosen.path}, which is read, is another game of the id {source.game}, as studies have that differ in "
            "their models' settings alone; read one at a time, or compare them"
        )
    return f"game {source.game} stands in {chosen.path}, too; it is read from there"


def _played_again(sources: Iterable[Source], digest: Callable[[Path], str | None]) -> dict[Path, FileNote]:
    """Return a note on each game of no study that is another one played again, by the path of its record.

    Only games that were dealt alike are read for it, and those of a study only if it noted no digest: whether a record
    still is what was noted is seen when it is measured. All games of a study are counted, for it planned each of them:
    that what it varies changes nothing is a result.
    """
    by_seed: dict[str, list[Source]] = {}
    for source in sources:
        if source.seed is not None and source.stray is None:
            by_seed.setdefault(source.seed, []).append(source)
    notes: dict[Path, FileNote] = {}
    for dealt_alike in by_seed.values():
        if len(dealt_alike) < 2 or all(source.noted is not None for source in dealt_alike):
            continue
        first: dict[str, Path] = {}
        for source in sorted(dealt_alike, key=lambda source: source.noted is None):
            noted = None if source.noted is None else source.noted.digest
            its_digest = noted or digest(source.path)
            if its_digest is None:
                continue
            other = first.setdefault(its_digest, source.path)
            if other != source.path and source.noted is None:
                problem = f"the same game as {other}, played again (digest {its_digest[:12]}…); it is counted once"
                notes[source.path] = FileNote(str(source.path), source.game, 0, False, problem)
    return notes


def _paths(sources: Iterable[Source]) -> Iterator[Path]:
    return (source.path for source in sources)


def _by_game(files: Iterable[LinesFile[H, L]]) -> dict[str | None, tuple[LinesFile[H, L], ...]]:
    """Return files of annotations, or of beliefs, by game."""
    by_game: dict[str | None, list[LinesFile[H, L]]] = {}
    for file in files:
        by_file: dict[str, list[L]] = {}
        for line in file.lines:
            by_file.setdefault(line.game, []).append(line)
        for game, lines in by_file.items():
            by_game.setdefault(game, []).append(replace(file, lines=tuple(lines)))
    return {game: tuple(parts) for game, parts in by_game.items()}


def _missing(studies: Sequence[StudySource], games: Container[str]) -> Iterator[FileNote]:
    """Yield a note on every game that a study has played, and whose record is in none of the files."""
    for study in studies:
        for game in study.games:
            if study.notes.games[game["game"]].state == "ended" and game["game"] not in games:
                path = study.folder / str(game.get("record") or RECORDS)
                problem = f"missing: study {study.id} says that game {game['game']} was played to its end"
                yield FileNote(str(path), game["game"], 0, False, problem)


def _with_notes(source: Source, home: StudySource | None, studies: Sequence[StudySource]) -> Source:
    """Return a source with what its study notes of its game: its `home`, in whose folder it stands, else any that
    does.
    """
    if source.kind != "record" or source.game is None:
        return source
    if home is not None and source.game not in home.notes.games:
        return replace(source, stray=f"study {home.id} planned no game {source.game}, which stands among its records")
    for study in studies if home is None else (home,):
        if source.game in study.notes.games:
            return replace(source, noted=study.notes.games[source.game])
    return source


def _with_game(source: Source, roles: Path | None) -> Source:
    """Return a source with its game, which for a published log is in another file."""
    if source.kind != "paper":
        return source
    try:
        meta = roles or meta_beside(source.path)
        return source if meta is None else replace(source, game=read_meta(meta).run)
    except ConfigError:
        # reading the log says what is wrong with it
        return source


def _best(sources: Sequence[Source]) -> Source:
    # a study names its records after their games
    own_first = sorted(sources, key=lambda source: source.noted is None or source.path.stem != source.game)
    reached = [(source, *_extent(source)) for source in own_first]
    for source, _, _, head in reached:
        if source.noted is not None and head in source.noted.heads:
            return source
    for source, whole, _, _ in reached:
        if whole:
            return source
    return max(reached, key=lambda candidate: candidate[2])[0]


def _extent(source: Source) -> tuple[bool, int, str]:
    """Return whether a file's seals hold up to the end of its game, the number of lines that are sealed, and the seal
    of the last of them; of a log without seals whether it can be read up to there, and its lines.
    """
    if source.kind == "foreign":
        try:
            with closing(open_lines(source.path)) as lines:
                log = read_foreign_log(lines)
        except RecordError:
            return False, 0, ""
        return log.ended is not None, 1 + len(log.lines), ""
    if source.kind != "record":
        return source.kind is not None, 0, ""
    is_sealed, count, head, last = check_seals(source.path)
    return is_sealed and b'"type":"ended"' in last, count, head
