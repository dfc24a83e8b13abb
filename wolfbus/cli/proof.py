"""What a file says and whether it holds: reading, re-execution and metrics of one record or published log in one
pass.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wolfbus.cli.terminal.wording import WINNERS
from wolfbus.errors import RecordError
from wolfbus.files.printable import NOTE_SHOWN, counted, printable
from wolfbus.record.line import Recorded
from wolfbus.record.reader import open_lines

if TYPE_CHECKING:
    from analytics.gather import Criteria
    from analytics.rows import GameRows
    from wolfbus.game.vocabulary import Reading, Winner
    from wolfbus.record.published_log import PaperCounts, PaperLog


@dataclass(frozen=True, slots=True)
class RecordSource:
    """A file that is open for reading, recognised by its first line; its reader closes it. What is a log, of
    the paper's code or of another table, is called so by `log`.

    Of a file whose first line is, or once was, one of a wolfbus record (`is_record`) every fault is a finding.
    """

    name: str
    path: Path | None
    lines: Iterator[bytes]
    is_paper_log: bool
    log: str | None
    is_record: bool
    close: Callable[[], None]


@dataclass
class Proof:
    """What was found.

    Attributes:
        name: the file, as it was given.
        source: which format it has.
        verified: whether seals hold and the rules give every derived event; None where there is nothing to re-execute.
        problems: what is wrong, each with its line.
        rows: what the metrics rest on; None where not even the opening holds.
        digest: digest of a verified game, None otherwise.
        head: hash on the last line that holds, "" for none.
        winner, reason, rounds: how it ended, None where it did not.
        events: events that hold.
        records: those events, if they were to be kept.
        notes: what else there is to say, for people.
        reread: labels and judgements of a published log by how our reading reads them, with their shares; None for a
            wolfbus record.
    """

    name: str
    source: Literal["wolfbus", "wolf-paper", "other-table"]
    verified: bool | None
    problems: list[str]
    rows: GameRows | None
    digest: str | None = None
    head: str = ""
    winner: Winner = None
    reason: str | None = None
    rounds: int | None = None
    events: int = 0
    records: list[Recorded] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    reread: dict[str, Any] | None = None

    @functools.cached_property
    def metrics(self) -> dict[str, Any]:
        """The metrics, plain values."""
        from analytics.findings import metrics

        return metrics([] if self.rows is None else [self.rows])

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``replay --json`` prints."""
        return {
            "source": self.source,
            "verified": self.verified,
            "problems": self.problems,
            "game": self.rows.game if self.rows else None,
            "digest": self.digest,
            "head": self.head or None,
            "winner": self.winner,
            "reason": self.reason,
            "rounds": self.rounds,
            "events": self.events,
            "statements": len(self.rows.statements) if self.rows else 0,
            "judgements": sum(1 for judgement in self.rows.judgements if judgement.usable) if self.rows else 0,
            "labels": self.metrics["labels"],
            **({} if self.reread is None else {"reread": self.reread}),
            "metrics": self.metrics,
        }

    def summary(self) -> list[str]:
        """Return the closing lines for people: what was found, and whether it holds."""
        if self.source != "wolfbus":
            return self.notes
        ended = "unfinished"
        if self.rounds is not None:
            reason = str(self.reason).replace("_", " ")
            ended = f"{WINNERS[self.winner]} after {counted(self.rounds, 'round')} ({reason})"
        game = f"Game {self.rows.game}: {ended}" if self.rows else "No game could be read"
        return [game, *self.proof_lines()]

    def proof_lines(self) -> list[str]:
        """Return whether a wolfbus record holds, and what that proves."""
        if self.verified:
            return [
                f"verified: {self.events} events. Every seal holds, and the rules give every derived event",
                "  from the recorded answers. Not proven: that labels, judgements, texts, thoughts, times,",
                "  brains and model calls are what was said. For that, compare the head with one that was",
                "  published when the game was played.",
                f"Digest {self.digest}",
                f"Head   {self.head}",
            ]
        return [f"NOT verified: the first {self.events} events hold; what is told is theirs"]


def open_source(name: str) -> RecordSource:
    """Open a file ("-" for standard input) and recognise its format by its first line.

    Raises:
        RecordError: it cannot be read at all, or is empty.
    """
    from wolfbus.foreign.log import log_in_words
    from wolfbus.record.published_log import is_paper_log

    lines = open_lines(name)
    try:
        first = next(lines, None)
    except RecordError as error:
        # one that cannot be opened is named already
        raise RecordError(f"{name}: {str(error).removeprefix(f'{name}: ')}{_hint(name)}") from None
    if first is None:
        raise RecordError(f"{name}: empty; there is no record in it")
    return RecordSource(
        name=name,
        path=None if name == "-" else Path(name),
        lines=itertools.chain([first], lines),
        is_paper_log=is_paper_log(first),
        log=log_in_words(first),
        is_record=_is_line_of_ours(first),
        close=lines.close,
    )


def _hint(name: str) -> str:
    """Return what else a file that is no record looks like; "" for nothing that is known."""
    from wolfbus.foreign.kinds import hint_for

    return "" if name == "-" else hint_for(Path(name))


def _is_line_of_ours(line: bytes) -> bool:
    return sum(mark in line for mark in (b'"hash":"', b'"audience":', b'"type":"', b'"time":')) >= 3


def prove(
    source: RecordSource,
    criteria: Criteria,
    *,
    keep: bool,
    watch: Callable[[Recorded], None] | None = None,
) -> Proof:
    """Read, re-execute and measure a wolfbus record in one pass.

    What stands before the first problem is measured all the same.

    Args:
        source: an open wolfbus record.
        criteria: how to recompute.
        keep: whether to keep the events for showing or publishing.
        watch: sees every event that holds; None for nobody.

    Raises:
        RecordError: it is no wolfbus record.
    """
    from analytics.fold import GameFold
    from analytics.gather.reading import read_rows
    from moderator.engine.reexecution import Verifier

    verifier = Verifier()
    fold = GameFold(alpha=criteria.alpha, prior=criteria.prior, include_defaulted=criteria.include_defaulted)
    records: list[Recorded] = []

    def see(recorded: Recorded) -> None:
        if watch is not None:
            watch(recorded)
        if keep:
            records.append(recorded)

    checked, rows = read_rows(source.lines, fold, prover=verifier, watch=see)
    source.close()
    if checked.opened is None and not source.is_record:
        raise RecordError(f"{source.name}: {checked.problem}{_hint(source.name)}")
    ended = checked.ended
    return Proof(
        name=source.name,
        source="wolfbus",
        verified=checked.proven is True,
        problems=[] if checked.problem is None else [checked.problem],
        rows=rows,
        digest=checked.digest if checked.proven else None,
        head=checked.head,
        winner=ended.winner if ended else None,
        reason=ended.reason if ended else None,
        rounds=ended.rounds if ended else None,
        events=checked.events,
        records=records,
    )


def read_paper(source: RecordSource, criteria: Criteria) -> Proof:
    """Read a log that the paper's code wrote; there is nothing in it to re-execute.

    Args:
        source: an open published log.
        criteria: how to compute, by the paper's α and the prior of its code unless given.

    Raises:
        RecordError: a line or the run_meta.json cannot be read.
        ConfigError: the roles are not to be had.
    """
    from analytics.gather.reading import rows_by
    from wolfbus.foreign.kinds.wolf import log_of
    from wolfbus.record.published_log import meta_beside, read_paper_log

    meta = criteria.roles
    if meta is None and source.path is not None:
        meta = meta_beside(source.path)
    try:
        log = read_paper_log(source.lines, meta, name=source.name)
    except RecordError as error:
        raise RecordError(f"{source.name}: {error}") from None
    source.close()
    small = log_of(log, as_recorded=criteria.as_recorded)
    rows = rows_by(criteria, small, include_defaulted=criteria.fills_published)
    counts = log.counts()
    reread = _reread(counts)
    return Proof(
        name=source.name,
        source="wolf-paper",
        verified=None,
        problems=[],
        rows=rows,
        winner=log.winner,
        rounds=log.rounds,
        notes=_paper_notes(log, counts, reread, as_recorded=criteria.as_recorded),
        reread=reread,
    )


def read_foreign(source: RecordSource, criteria: Criteria) -> Proof:
    """Read a log of another table; there is nothing in it to re-execute.

    Args:
        source: an open log.
        criteria: how to compute, as of a log of the paper's code.

    Raises:
        RecordError: a line cannot be read.
    """
    from analytics.gather.reading import rows_by
    from wolfbus.foreign.log import read_foreign_log

    try:
        log = read_foreign_log(source.lines)
    except RecordError as error:
        raise RecordError(f"{source.name}: {error}") from None
    source.close()
    rows, head = rows_by(criteria, log, include_defaulted=criteria.include_defaulted), log.head
    kind, file = printable(head.kind), printable(head.file, NOTE_SHOWN)
    ended = "it stops before the game's end" if log.ended is None else WINNERS[log.ended.winner]
    return Proof(
        name=source.name,
        source="other-table",
        verified=None,
        problems=[],
        rows=rows,
        winner=None if log.ended is None else log.ended.winner,
        rounds=log.rounds,
        events=len(log.lines),
        notes=[
            f"A log of another table ({kind}), not a record: nothing seals it, and no rules can be run over it.",
            f"Game {head.game}, of {file}: {ended}. What that table never asked is undefined below, not 0.",
        ],
    )


def _reread(counts: PaperCounts) -> dict[str, Any]:
    """Return how many analyses each rung of our reading recovers, and how many none does, with their shares."""
    rungs: tuple[Reading, ...] = ("clean", "extracted", "repaired", "coerced")
    numbers = {**{str(rung): counts.readings.get(rung, 0) for rung in rungs}, "lost": counts.lost}
    total = sum(numbers.values())
    return {"replies": total} | {
        name: {"n": number, "share": number / total if total else None} for name, number in numbers.items()
    }


def _paper_notes(log: PaperLog, counts: PaperCounts, reread: dict[str, Any], *, as_recorded: bool) -> list[str]:
    rungs = [(name, row) for name, row in reread.items() if name != "replies"]
    shares = ", ".join(f"{name} {row['n']} ({row['share']:.1%})" for name, row in rungs if reread["replies"])
    run, model = printable(log.run, NOTE_SHOWN), printable(log.model or "", NOTE_SHOWN) or "model unknown"
    lines = [
        f"A log of the paper's code: run {run}, {model}, {len(log.statements)} statements.",
        (
            f"Its writer stored {counts.fillers} of {counts.analyses} labels and judgements as fillers; "
            f"our reading of the raw replies recovers {counts.recovered} of them ({counts.partial} of these "
            f"cut off, with the fields they still hold)."
        ),
        f"All {reread['replies']} replies by how they are read: {shares or 'none'}.",
    ]
    if as_recorded:
        lines.append('The figures above are as recorded: fillers count as "truthful, suspicion 0.5".')
    else:
        lines.append("The figures above are of the raw replies read again; --as-recorded gives the paper's reading.")
    return lines
