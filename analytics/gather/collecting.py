"""`collect`: what is to be read, each game once, and what studies say of it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from analytics.gather.reading import FileNote
from analytics.gather.sources import Source, StudySource, find
from wolfbus.errors import ConfigError, RecordError
from wolfbus.record.line import check_seal
from wolfbus.record.published_log import meta_beside, read_meta
from wolfbus.record.reader import open_lines
from wolfbus.study.manifest import FILE, RECORDS


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


def collect(given: Sequence[str | Path], roles: Path | None = None) -> Collection:
    """Return what there is to read in folders and files; see `find`.

    Of files that hold the same game the one is read that its study has noted; of others the first that is whole; where
    none is, the one that reaches furthest.

    Args:
        given: folders and files.
        roles: run_meta.json of published logs; None to look beside each.

    Raises:
        RecordError: as `find` does.
    """
    found, studies = find(given)
    # one that tells of no games says nothing of any
    folders = {study.records.resolve(): study for study in reversed(studies) if study.games}
    inside = {parent: folders.get(parent.resolve()) for parent in {source.path.parent for source in found}}
    found = [_in_study(_named(source, roles), inside[source.path.parent], studies) for source in found]
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
    refused += _faults(studies)
    return Collection(tuple(files), tuple(refused), tuple(studies), planned)


def _missing(studies: Sequence[StudySource], there: Container[str]) -> Iterator[FileNote]:
    """Yield a note on every game that a study has played, and whose record is in none of the files."""
    for study in studies:
        for game in study.games:
            if study.notes.games[game["game"]].state == "ended" and game["game"] not in there:
                path = study.folder / str(game.get("record") or RECORDS)
                problem = f"missing: study {study.id} says that game {game['game']} was played to its end"
                yield FileNote(str(path), game["game"], 0, False, problem)


def _faults(studies: Sequence[StudySource]) -> Iterator[FileNote]:
    for study in studies:
        if study.notes.fault is not None:
            yield FileNote(str(study.folder / FILE), None, 0, False, study.notes.fault)


def _in_study(source: Source, own: StudySource | None, studies: Sequence[StudySource]) -> Source:
    """Return a source with what its study notes of its game: its `own`, in whose folder it stands, else any that
    does.
    """
    if source.kind != "record" or source.game is None:
        return source
    if own is not None and source.game not in own.notes.games:
        return replace(source, stray=f"study {own.id} planned no game {source.game}, which stands among its records")
    for study in studies if own is None else (own,):
        if source.game in study.notes.games:
            return replace(source, noted=study.notes.games[source.game])
    return source


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
    # a study names its records after their games
    own_first = sorted(sources, key=lambda source: source.noted is None or source.path.stem != source.game)
    reached = [(source, *_reach(source)) for source in own_first]
    for source, _, _, head in reached:
        if source.noted is not None and head in source.noted.heads:
            return source
    for source, whole, _, _ in reached:
        if whole:
            return source
    return max(reached, key=lambda each: each[2])[0]


def _reach(source: Source) -> tuple[bool, int, str]:
    """Return whether a file's seals hold up to the end of its game, the number of lines that are sealed, and the seal
    of the last of them.
    """
    if source.kind != "record":
        return source.kind == "paper", 0, ""
    head, count, last = "", 0, b""
    try:
        with closing(open_lines(source.path)) as lines:
            for line in lines:
                if line[-1:] != b"\n":
                    return False, count, head
                head = check_seal(head, line[:-1], count + 1)
                last = line
                count += 1
    except RecordError:
        return False, count, head
    return b'"type":"ended"' in last, count, head
