"""Reading one game's file: as much of it as holds, and what is wrong with the rest."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from analytics.driver import read_rows
from analytics.fold import GameFold
from analytics.gather.sources import Source
from analytics.paper import rows_of_paper_log
from analytics.rows import GameRows
from wolfbus.errors import WolfError
from wolfbus.record.checked import Checked, Prover
from wolfbus.record.line import Recorded
from wolfbus.record.published_log import meta_beside, read_paper_log
from wolfbus.record.reader import open_lines


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
        prover: makes what re-executes a record, one for each; None to re-execute none.
    """

    alpha: float | None = None
    prior: float | None = None
    include_defaulted: bool = False
    as_recorded: bool = False
    roles: Path | None = None
    include_differing: bool = False
    prover: Callable[[], Prover] | None = None


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
        head: hash on the last line that holds; "" for none.
        digest: digest of a game that was played to its end and whose every line holds; None otherwise.
        compared: by what of its outcome the record was compared with what its study noted, and found equal.
        proven: whether the rules give all its derived events; None where nobody re-executed them.
    """

    path: str
    game: str | None
    events: int
    counted: bool
    problem: str | None
    published: bool = False
    head: str = ""
    digest: str | None = None
    compared: tuple[str, ...] = ()
    proven: bool | None = None


def read_game(
    source: Source,
    criteria: Criteria,
    *,
    keep_text: bool = False,
    watch: Callable[[Recorded], None] | None = None,
) -> tuple[FileNote, GameRows | None]:
    """Return what became of a file, and the rows of as much of its game as holds and counts, None for nothing.

    Number, time, seal and content of every line are checked, and the whole by what its study noted of the game. A
    record that differs from that does not count unless the criteria say so.

    Args:
        source: the file.
        criteria: how to compute, what to count, and who re-executes records.
        keep_text: keep the statements' words.
        watch: called with every event of a record that holds; may raise RecordError or RulesError to end it there.
    """
    path = str(source.path)
    if source.problem is not None or source.kind is None:
        return FileNote(path, None, 0, False, source.problem or "not a wolfbus record"), None
    try:
        if source.kind == "paper":
            return _paper(source, criteria, keep_text=keep_text)
        return _record(source, criteria, keep_text=keep_text, watch=watch)
    except WolfError as error:
        return FileNote(path, source.game, 0, False, str(error).removeprefix(f"{path}: ")), None


def _record(
    source: Source, criteria: Criteria, *, keep_text: bool, watch: Callable[[Recorded], None] | None
) -> tuple[FileNote, GameRows | None]:
    fold = GameFold(criteria.alpha, criteria.prior, include_defaulted=criteria.include_defaulted, keep_text=keep_text)

    prover = None if criteria.prover is None else criteria.prover()
    with closing(open_lines(source.path)) as lines:
        # who looks at every line, or proves it, is to see all of it
        lenient = watch is None and prover is None
        checked, rows = read_rows(lines, fold, prover=prover, watch=watch, lenient=lenient)
    differs = _difference(source, checked)
    problem = None if checked.problem is None else checked.problem.removeprefix(f"{source.path}: ")
    problem = problem or differs
    counted = checked.opened is not None and (
        criteria.include_differing or not (checked.refuted or differs is not None)
    )
    note = FileNote(
        path=str(source.path),
        game=source.game if checked.opened is None else checked.opened.game,
        events=checked.events,
        counted=counted,
        problem=problem,
        head=checked.head,
        digest=checked.digest if checked.problem is None else None,
        compared=source.noted.compared if source.noted is not None and problem is None else (),
        proven=checked.proven,
    )
    return note, rows if counted else None


def _difference(source: Source, checked: Checked) -> str | None:
    if source.stray is not None:
        return source.stray
    return None if source.noted is None else source.noted.difference(checked)


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
