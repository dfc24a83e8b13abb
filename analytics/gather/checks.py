"""`StudyCheck`: what was checked of a study's records, in numbers and in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from analytics.gather.reading import FileNote
from analytics.gather.sources import StudySource
from wolfbus.printable import counted
from wolfbus.study.manifest import study_hash

if TYPE_CHECKING:
    from analytics.gather.games import Gathered

_OVER: Final = ("ended", None)
"""States of games whose records are to be whole; of None nothing is noted."""


@dataclass(frozen=True, slots=True)
class StudyCheck:
    """What was checked of the records of a study, or of those that belong to none.

    Attributes:
        study: the study's id; None for records that belong to none.
        records: games that ended, as the study noted, and records of games of which it noted
            nothing; without a study, files.
        whole: those of them whose every seal holds up to the game's end, and that are what was
            noted.
        compared: by what they were compared with the notes: of ``winner``, ``rounds``, ``digest``
            and ``head``, what is noted of each of them.
        proven: those that were re-executed, and whose every derived event the rules give; None if
            none was.
        hash: hash over game and head of all of them; None where one is not known.
    """

    study: str | None
    records: int
    whole: int
    compared: tuple[str, ...]
    proven: int | None
    hash: str | None

    @property
    def sentence(self) -> str:
        """What was found, for people."""
        of = f"of {counted(self.records, 'record')}"
        hashed = "" if self.hash is None else f", study hash {self.hash}"
        if self.proven is not None:
            return f"{self.proven:,} {of} proven{hashed}"
        if self.study is None:
            return f"{self.whole:,} {of} whole, none re-executed"
        by = " and ".join(filter(None, [", ".join(self.compared[:-1]), *self.compared[-1:]]))
        what = f"as noted ({by})" if by else "whole; nothing is noted to compare them with"
        return f"{self.whole:,} {of} {what}, none re-executed{hashed}"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "study": self.study,
            "records": self.records,
            "whole": self.whole,
            "compared": list(self.compared),
            "proven": self.proven,
            "study_hash": self.hash,
        }


def study_check(study: StudySource, files: Sequence[FileNote]) -> StudyCheck:
    """Return what was checked of a study's records.

    Args:
        study: the study.
        files: what became of all files that were read.
    """
    games = study.notes.games
    there = {
        note.game: note
        for note in files
        if note.game is not None and note.game in games and note.events and games[note.game].state in _OVER
    }
    ended = {game.game for game in games.values() if game.state == "ended"}
    whole = [note for note in there.values() if note.problem is None]
    proofs = [note.proven for note in there.values() if note.proven is not None]
    return StudyCheck(
        study.id,
        len(ended | there.keys()),
        len(whole),
        _in_all([note.compared for note in whole]),
        sum(note.problem is None and note.proven is True for note in there.values()) if proofs else None,
        study_hash(study.notes.heads({game: note.head for game, note in there.items() if game and not note.problem})),
    )


def loose_check(studies: Sequence[StudySource], files: Sequence[FileNote]) -> StudyCheck | None:
    """Return what was checked of records that no study has noted; None if there are none."""
    noted = {game for study in studies for game in study.notes.games}
    loose = [note for note in files if not note.published and note.game not in noted and note.events]
    if not loose:
        return None
    proofs = [note.proven for note in loose if note.proven is not None]
    whole = [note for note in loose if note.problem is None]
    heads = [(note.game or "", note.head if note.problem is None else "") for note in loose]
    return StudyCheck(None, len(loose), len(whole), (), sum(proofs) if proofs else None, study_hash(heads))


def checks(studies: Sequence[StudySource], files: Sequence[FileNote]) -> Iterator[StudyCheck]:
    """Yield what was checked: of each study, and of records of none if somebody proved them."""
    for study in studies:
        check = study_check(study, files)
        if check.records:
            yield check
    loose = loose_check(studies, files)
    if loose is not None and loose.proven is not None:
        yield loose


def check_lines(gathered: Gathered) -> list[str]:
    """Return a sentence on each study that was read."""
    return [check.sentence for check in checks(gathered.studies, gathered.files)]


def _in_all(compared: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(name for name in (compared[0] if compared else ()) if all(name in each for each in compared))
