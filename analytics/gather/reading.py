"""Reading one game's file: as much of it as holds, and what is wrong with the rest; and what was checked so of a
study's records, in numbers and in a sentence. Whoever measures a record comes by `read_rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from analytics.annotations.beliefs import rows_of_beliefs
from analytics.annotations.file import rows_of
from analytics.fold import GameFold, fold
from analytics.gather.sources import FileNote, Source, StudySource
from analytics.rows import GameRows
from wolfbus.errors import WolfError
from wolfbus.files.printable import counted
from wolfbus.foreign.events import recorded_of
from wolfbus.foreign.kinds.wolf import log_of
from wolfbus.foreign.log import ForeignLog, read_foreign_log
from wolfbus.messages.defaults import defaults_of
from wolfbus.record.line import Recorded
from wolfbus.record.published_log import meta_beside, read_paper_log
from wolfbus.record.reader import Checked, DigestOf, Prover, open_lines, read_checked
from wolfbus.study.manifest import study_hash


def read_rows(
    lines: Iterable[bytes],
    fold: GameFold,
    *,
    prover: Prover | None = None,
    watch: Callable[[Recorded], None] | None = None,
    lenient: bool = False,
    digest_of: DigestOf = "events",
) -> tuple[Checked, GameRows | None]:
    r"""Read a record to its end or to the first line that does not hold, and return what was found and its rows.

    Args:
        lines: the lines with their ``\n``.
        fold: new; it folds what holds.
        prover: re-executes the record; None not to.
        watch: called with every event that holds; may raise RecordError or RulesError to end the record before it.
        lenient: pass over members that nobody knows here, which is quicker: for measuring, not for proving.
        digest_of: see `read_checked`.

    Returns:
        What was found of the record; and the rows of what holds, None where not even the opening does.
    """

    def receive(recorded: Recorded) -> None:
        fold.take(recorded)
        if watch is not None:
            watch(recorded)

    checked = read_checked(lines, receive if watch else fold.take, prover, lenient=lenient, digest_of=digest_of)
    return checked, None if checked.opened is None else fold.rows()


@dataclass(frozen=True, slots=True)
class Criteria:
    """How to compute, None keeping what a game was played with, and what to count.

    Attributes:
        alpha: weight of a new judgement in D, in [0, 1].
        prior: D before any judgement, in [0, 1].
        include_defaulted: count missing labels and judgements as the paper's code did.
        as_recorded: count published logs as the paper's code stored them, not as they are read again.
        roles: run_meta.json of published logs; None to look beside each.
        include_differing: count records that are not what their study noted, or that the rules do not give.
        include_spoilt: count games that are spoilt: too many answers of a seat are defaults for want of a reply.
        include_played_again: count games of no study that are others played again, by their digest.
        prover: makes what re-executes a record, one for each; None to re-execute none.
    """

    alpha: float | None = None
    prior: float | None = None
    include_defaulted: bool = False
    as_recorded: bool = False
    roles: Path | None = None
    include_differing: bool = False
    include_spoilt: bool = False
    include_played_again: bool = False
    prover: Callable[[], Prover] | None = None

    @property
    def fills_published(self) -> bool:
        """Whether missing labels and judgements of published logs count, as they did in the paper's code."""
        return self.include_defaulted or self.as_recorded


def is_unfinished(note: FileNote, rows: GameRows | None) -> bool:
    """Return whether a game has a record that does not end: gone on with, it would be another record, and what was said
    of this one would be of none.
    """
    return rows is not None and not rows.finished and not note.published


def read_game(
    source: Source, criteria: Criteria, *, keep_text: bool = False, strict: bool = False
) -> tuple[FileNote, GameRows | None]:
    """Return what became of a file, and the rows of as much of its game as holds and counts, None for nothing.

    Number, time, seal and content of every line are checked, and the whole by what its study noted of the game. A
    record that differs from that does not count unless the criteria say so.

    Args:
        source: the file.
        criteria: how to compute, what to count, and who re-executes records.
        keep_text: keep the statements' words.
        strict: refuse members that nobody knows here, and note the digest of a record that has none to be compared
            with; it is slower: for what is passed on, not for measuring.

    Raises:
        RecordError: its annotations or beliefs are of something else; the line names their file and the place.
    """
    note, rows = _read_game(source, criteria, keep_text=keep_text, strict=strict)
    if rows is not None and source.annotations:
        rows = replace(rows, annotations=tuple(rows_of(source.annotations, note.head, rows)))
    if rows is not None and source.beliefs:
        rows = replace(rows, beliefs=tuple(rows_of_beliefs(source.beliefs, note.head, rows)))
    return note, rows


def _read_game(
    source: Source, criteria: Criteria, *, keep_text: bool, strict: bool
) -> tuple[FileNote, GameRows | None]:
    path = str(source.path)
    if source.problem is not None or source.kind is None:
        return FileNote(path, None, 0, False, source.problem or "not a wolfbus record"), None
    try:
        if source.kind == "paper":
            return _read_paper_log(source, criteria, keep_text=keep_text)
        if source.kind == "foreign":
            return _read_foreign_log(source, criteria, keep_text=keep_text)
        # who proves every line, or passes it on, is to see all of it
        lenient = not strict and criteria.prover is None
        digest_of: DigestOf = "events"
        if lenient and source.noted is not None and "digest" in source.noted.compared:
            note, rows = _read_record(source, criteria, keep_text=keep_text, lenient=True, digest_of="lines")
            if note.problem is None:
                return note, rows
            # the lines' own bytes prove a digest; that it is another one, only the events do
        elif lenient and source.noted is None:
            digest_of = "nothing"
        return _read_record(source, criteria, keep_text=keep_text, lenient=lenient, digest_of=digest_of)
    except WolfError as error:
        return FileNote(path, source.game, 0, False, str(error).removeprefix(f"{path}: ")), None


def _read_record(
    source: Source,
    criteria: Criteria,
    *,
    keep_text: bool,
    lenient: bool = False,
    digest_of: DigestOf = "events",
) -> tuple[FileNote, GameRows | None]:
    fold = GameFold(criteria.alpha, criteria.prior, include_defaulted=criteria.include_defaulted, keep_text=keep_text)
    prover = None if criteria.prover is None else criteria.prover()
    with closing(open_lines(source.path)) as lines:
        checked, rows = read_rows(lines, fold, prover=prover, lenient=lenient, digest_of=digest_of)
    differs = source.stray or (None if source.noted is None else source.noted.difference(checked))
    problem = None if checked.problem is None else checked.problem.removeprefix(f"{source.path}: ")
    problem = problem or differs
    spoilt = checked.ended is not None and bool(checked.ended.spoilt)
    counted = (
        checked.opened is not None
        and (criteria.include_differing or not (checked.refuted or differs is not None))
        and (criteria.include_spoilt or not spoilt)
    )
    note = FileNote(
        path=str(source.path),
        game=source.game if checked.opened is None else checked.opened.game,
        events=checked.events,
        counted=counted,
        problem=problem,
        head=checked.head,
        digest=checked.digest or None if checked.problem is None else None,
        compared=source.noted.compared if source.noted is not None and problem is None else (),
        proven=checked.proven,
        spoilt=spoilt,
    )
    return note, rows if counted else None


def _read_paper_log(source: Source, criteria: Criteria, *, keep_text: bool) -> tuple[FileNote, GameRows]:
    meta = criteria.roles or meta_beside(source.path)
    with closing(open_lines(source.path)) as lines:
        log = read_paper_log(lines, meta, name=str(source.path))
    small = log_of(log, as_recorded=criteria.as_recorded)
    rows = rows_by(criteria, small, include_defaulted=criteria.fills_published, keep_text=keep_text)
    return FileNote(str(source.path), rows.game, len(log.statements), True, None, published=True), rows


def _read_foreign_log(source: Source, criteria: Criteria, *, keep_text: bool) -> tuple[FileNote, GameRows]:
    with closing(open_lines(source.path)) as lines:
        log = read_foreign_log(lines)
    rows = rows_by(criteria, log, include_defaulted=criteria.include_defaulted, keep_text=keep_text)
    table, events = log.head.kind, len(log.lines)
    return FileNote(str(source.path), rows.game, events, True, None, published=True, table=table), rows


def rows_by(criteria: Criteria, log: ForeignLog, *, include_defaulted: bool, keep_text: bool = False) -> GameRows:
    """Return the rows of a log, computed as the criteria say: by the paper's α and the prior of its code unless given.

    What that table never asked is missing, and so undefined in all figures. A label without suspicion counts where
    flags are counted, and nowhere else. Role and inspection claims are found in the words, and scored with what the log
    says of the nights.

    Args:
        criteria: how to compute.
        log: the log.
        include_defaulted: count missing labels and judgements as the paper's code did.
        keep_text: keep the statements' words.
    """
    rows = fold(
        (recorded.event for recorded in recorded_of(log)),
        0.7 if criteria.alpha is None else criteria.alpha,
        0.5 if criteria.prior is None else criteria.prior,
        include_defaulted=include_defaulted,
        keep_text=keep_text,
    )
    # the opening was made up for want of one
    return replace(rows, opened=None, seals=log.seals)


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
        defaults: how many answers are defaults, as the study noted; "" where none is, or nothing is noted of them.
        under_way: games that a run is playing, or is to play, at this moment: their records are left out.
    """

    study: str | None
    records: int
    whole: int
    compared: tuple[str, ...]
    proven: int | None
    hash: str | None
    defaults: str = ""
    under_way: int = 0

    @property
    def sentence(self) -> str:
        """What was found, for people."""
        of_records = f"of {counted(self.records, 'record')}"
        # nobody is to publish a hash without having read that
        played = f"the study is being played, {counted(self.under_way, 'game')} not ended" if self.under_way else ""
        parts = [played, *([] if self.hash is None else [self.defaults, f"study hash {self.hash}"])]
        hashed = "".join(f", {part}" for part in parts if part)
        if self.proven is not None:
            return f"{self.proven:,} {of_records} proven{hashed}"
        if self.study is None:
            return f"{self.whole:,} {of_records} whole, none re-executed"
        names = " and ".join(filter(None, [", ".join(self.compared[:-1]), *self.compared[-1:]]))
        state = f"as noted ({names})" if names else "whole; nothing is noted to compare them with"
        return f"{self.whole:,} {of_records} {state}, none re-executed{hashed}"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "study": self.study,
            "records": self.records,
            "whole": self.whole,
            "compared": list(self.compared),
            "proven": self.proven,
            "study_hash": self.hash,
            "under_way": self.under_way,
        }


def study_check(study: StudySource, files: Sequence[FileNote]) -> StudyCheck:
    """Return what was checked of a study's records.

    Args:
        study: the study.
        files: what became of all files that were read.
    """
    games = study.notes.games
    by_game = {
        note.game: note
        for note in files
        if note.game is not None and note.game in games and note.events and games[note.game].state in _OVER
    }
    ended = {game.game for game in games.values() if game.state == "ended"}
    whole = [note for note in by_game.values() if note.problem is None]
    heads = study.notes.heads({note.game: note.head for note in whole if note.game})
    compared = _common([note.compared for note in whole])
    proofs = [note.proven and note.problem is None for note in by_game.values() if note.proven is not None]
    proven = sum(proofs) if proofs else None
    totals = study.manifest.get("totals") or {}
    defaults = defaults_of(int(totals.get("defaults") or 0), int(totals.get("answers") or 0))
    records = len(ended | by_game.keys())
    under_way = len(study.under_way)
    return StudyCheck(study.id, records, len(whole), compared, proven, study_hash(heads), defaults, under_way)


def loose_check(studies: Sequence[StudySource], files: Sequence[FileNote]) -> StudyCheck | None:
    """Return what was checked of records that no study has noted; None if there are none."""
    noted = {game for study in studies for game in study.notes.games}
    loose = [note for note in files if not note.published and note.game not in noted and note.events]
    if not loose:
        return None
    whole = sum(note.problem is None for note in loose)
    heads = [(note.game or "", note.head if note.problem is None else "") for note in loose]
    proofs = [note.proven for note in loose if note.proven is not None]
    return StudyCheck(None, len(loose), whole, (), sum(proofs) if proofs else None, study_hash(heads))


def checks(studies: Sequence[StudySource], files: Sequence[FileNote]) -> Iterator[StudyCheck]:
    """Yield what was checked: of each study, and of records of none if somebody proved them."""
    for study in studies:
        check = study_check(study, files)
        if check.records:
            yield check
    loose = loose_check(studies, files)
    if loose is not None and loose.proven is not None:
        yield loose


def _common(compared: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(name for name in (compared[0] if compared else ()) if all(name in names for names in compared))
