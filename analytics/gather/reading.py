"""Reading one game's file: as much of it as holds, and what is wrong with the rest."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from analytics.fold import GameFold
from analytics.gather.sources import Source
from analytics.paper import rows_of_paper_log
from analytics.rows import GameRows
from wolfbus.errors import RecordError, RulesError, WolfError
from wolfbus.printable import NOTE_SHOWN, printable
from wolfbus.record.paper_log import meta_beside, read_paper_log
from wolfbus.record.reader import open_lines, read_record


@dataclass(frozen=True, slots=True)
class Criteria:
    """How to compute: None keeps what a game was played with.

    Attributes:
        alpha: weight of a new judgement in D, in [0, 1].
        prior: D before any judgement, in [0, 1].
        include_defaulted: count missing labels and judgements as the paper's code did.
        as_recorded: count published logs as the paper's code stored them, not as they are read again.
        roles: run_meta.json of published logs; None to look beside each.
    """

    alpha: float | None = None
    prior: float | None = None
    include_defaulted: bool = False
    as_recorded: bool = False
    roles: Path | None = None


@dataclass(frozen=True, slots=True)
class FileNote:
    """What became of one file.

    Attributes:
        path: the file, as it was given or found.
        game: its game, None if it has none.
        events: lines that hold.
        counted: whether its game is among the figures.
        problem: what is wrong with the file, None for nothing; the lines before it may be counted all the same.
        published: whether it is a log of the paper's code, which has no seals.
    """

    path: str
    game: str | None
    events: int
    counted: bool
    problem: str | None
    published: bool = False


def read_game(source: Source, criteria: Criteria, *, keep_text: bool = False) -> tuple[FileNote, GameRows | None]:
    """Return what became of a file, and the rows of as much of its game as holds, None if not even the opening does.

    Number, seal and content of every line are checked; whether the rules were kept is for ``wolfbus replay``.
    """
    path = str(source.path)
    if source.problem is not None or source.kind is None:
        return FileNote(path, None, 0, False, source.problem or "not a wolfbus record"), None
    try:
        if source.kind == "paper":
            return _paper(source, criteria, keep_text=keep_text)
        return _record(source, criteria, keep_text=keep_text)
    except WolfError as error:
        return FileNote(path, source.game, 0, False, str(error).removeprefix(f"{path}: ")), None


def _record(source: Source, criteria: Criteria, *, keep_text: bool) -> tuple[FileNote, GameRows | None]:
    fold = GameFold(criteria.alpha, criteria.prior, include_defaulted=criteria.include_defaulted, keep_text=keep_text)
    problem, events, stopped = None, 0, None
    with closing(open_lines(source.path)) as lines:
        reader = read_record(lines, tolerant=True, lenient=True)
        try:
            for recorded in reader:
                fold.feed(recorded.event, recorded.time)
                events += 1
                if recorded.event.type == "stopped":
                    stopped = recorded.event.reason
        except (RecordError, RulesError) as error:
            problem = str(error)
    if problem is None and reader.problems:
        problem = str(reader.problems[0])
    if problem is None and stopped is not None:
        problem = f"the game was stopped before its end: {printable(stopped, NOTE_SHOWN)}"
    elif problem is None and not reader.ended:
        problem = f"line {events + 1}: missing: the record stops before its game ended"
    game = reader.opened.game if reader.opened is not None else None
    if game is None or not events:
        return FileNote(str(source.path), source.game, events, False, problem), None
    return FileNote(str(source.path), game, events, True, problem), fold.rows()


def _paper(source: Source, criteria: Criteria, *, keep_text: bool) -> tuple[FileNote, GameRows]:
    meta = criteria.roles or meta_beside(source.path)
    with closing(open_lines(source.path)) as lines:
        log = read_paper_log(lines, meta, name=str(source.path))
    rows = rows_of_paper_log(
        log,
        criteria.as_recorded,
        alpha=0.7 if criteria.alpha is None else criteria.alpha,
        prior=0.5 if criteria.prior is None else criteria.prior,
        keep_text=keep_text,
    )
    return FileNote(str(source.path), rows.game, len(log.statements), True, None, published=True), rows
