"""`collect`: what is to be read, each game once, and what studies say of it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from analytics.gather.reading import FileNote
from analytics.gather.sources import Source, Study, find
from wolfbus.errors import ConfigError, RecordError
from wolfbus.record.line import check_seal
from wolfbus.record.paper_log import meta_beside, read_meta
from wolfbus.record.reader import open_lines
from wolfbus.study.manifest import RECORDS


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
        remarks: what is wrong with a file though it may be whole, by its path: its study does not know its game, or
            takes it for failed.
    """

    files: tuple[Source, ...]
    refused: tuple[FileNote, ...] = ()
    studies: tuple[Study, ...] = ()
    planned: Mapping[str, Planned] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)

    @property
    def blocks(self) -> dict[str, str]:
        """The block of every game that a study has planned, by game id."""
        return {game: planned.block for game, planned in self.planned.items()}

    @property
    def manifests(self) -> dict[str, Mapping[str, Any]]:
        """The studies' manifests, by study id."""
        return {study.id: study.manifest for study in self.studies}

    def remarked(self, note: FileNote) -> FileNote:
        """Return a note with what is known of its file beside what was read."""
        remark = self.remarks.get(note.path)
        return note if remark is None or note.problem is not None else replace(note, problem=remark)


def collect(given: Sequence[str | Path], roles: Path | None = None) -> Collection:
    """Return what there is to read in folders and files; see `find`.

    Of files that hold the same game the first one that is whole is read; where none is, the one that reaches furthest.

    Args:
        given: folders and files.
        roles: run_meta.json of published logs; None to look beside each.

    Raises:
        RecordError: as `find` does.
    """
    found, studies = find(given)
    found = [_named(source, roles) for source in found]
    holders: dict[str, list[Source]] = {}
    for source in found:
        if source.game is not None:
            holders.setdefault(source.game, []).append(source)
    chosen = {game: sources[0] if len(sources) == 1 else _best(sources) for game, sources in holders.items()}
    files: list[Source] = []
    refused: list[FileNote] = []
    for source in found:
        if source.game is not None and chosen[source.game] is not source:
            problem = f"game {source.game} stands in {chosen[source.game].path}, too; it is read from there"
            refused.append(FileNote(str(source.path), source.game, 0, False, problem))
        else:
            files.append(source)
    planned = {
        game["game"]: Planned(study.id, game.get("number"), game.get("block") or game["game"])
        for study in studies
        for game in study.games
    }
    refused += _missing(studies, holders.keys())
    return Collection(tuple(files), tuple(refused), tuple(studies), planned, _remarks(files, studies))


def _missing(studies: Sequence[Study], there: Container[str]) -> Iterator[FileNote]:
    """Yield a note on every game that a study has played, and whose record is in none of the files."""
    for study in studies:
        for game in study.games:
            if game.get("state") == "ended" and game["game"] not in there:
                path = study.folder / str(game.get("record") or RECORDS)
                problem = f"missing: study {study.id} says that game {game['game']} was played to its end"
                yield FileNote(str(path), game["game"], 0, False, problem)


def _named(source: Source, roles: Path | None) -> Source:
    """Return a source with its game, which of a published log stands in another file."""
    if source.kind != "paper":
        return source
    try:
        meta = roles or meta_beside(source.path)
        return source if meta is None else replace(source, game=read_meta(meta).run)
    except ConfigError:
        # reading the log says what is wrong with it
        return source


def _best(sources: Sequence[Source]) -> Source:
    best, most = sources[0], -1
    for source in sources:
        whole, lines = _reach(source)
        if whole:
            return source
        if lines > most:
            best, most = source, lines
    return best


def _reach(source: Source) -> tuple[bool, int]:
    """Return whether a file's seals hold up to the end of its game, and the number of lines that are sealed."""
    if source.kind != "record":
        return source.kind == "paper", 0
    head, count, last = "", 0, b""
    try:
        with closing(open_lines(source.path)) as lines:
            for line in lines:
                if line[-1:] != b"\n":
                    return False, count
                head = check_seal(head, line[:-1], count + 1)
                last = line
                count += 1
    except RecordError:
        return False, count
    return b'"type":"ended"' in last, count


def _remarks(files: Sequence[Source], studies: Sequence[Study]) -> dict[str, str]:
    """Return what there is to say of files among a study's records that its manifest does not take for games of it."""
    states = {
        study.records.resolve(): (study, {game["game"]: game.get("state") for game in study.games})
        for study in studies
        # one that tells of no games says nothing of any
        if study.games
    }
    found: dict[str, str] = {}
    for source in files:
        study, known = states.get(source.path.resolve().parent, (None, {}))
        if study is None or source.game is None:
            continue
        if source.game not in known:
            found[str(source.path)] = f"study {study.id} planned no game {source.game}, which stands among its records"
        elif known[source.game] == "failed":
            found[str(source.path)] = f"study {study.id} says that game {source.game} failed"
    return found
