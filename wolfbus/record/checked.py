"""`read_checked`: one pass over a record that checks what can be checked, whoever reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from wolfbus.errors import RecordError, RulesError
from wolfbus.messages.events import Ended, Opened
from wolfbus.printable import NOTE_SHOWN, printable
from wolfbus.record.digest import Digest
from wolfbus.record.line import Recorded
from wolfbus.record.reader import read_record


class Prover(Protocol):
    """Re-executes a record by the rules; the moderator's `Verifier` is one."""

    def feed(self, recorded: Recorded) -> None:
        """Check one event; raises RecordError at the first that does not follow from the rules."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found of a record.

    Attributes:
        problem: why it is not a whole record of a game that ended, or what the rules do not give;
            None for neither.
        events: events that hold, from the first on.
        opened: the first of them; None if not even that holds.
        ended: the game's end; None if the record does not reach it.
        head: hash on the last line that holds, "" for none; it seals all lines up to there.
        digest: digest of those events.
        seconds: time of the last of them.
        proven: whether the rules give every derived event; None where nobody re-executed them.
        refuted: whether the problem is that they give another one.
    """

    problem: str | None
    events: int
    opened: Opened | None
    ended: Ended | None
    head: str
    digest: str
    seconds: float
    proven: bool | None
    refuted: bool


def read_checked(
    lines: Iterable[bytes],
    watch: Callable[[Recorded], None] = lambda _recorded: None,
    prover: Prover | None = None,
    *,
    lenient: bool = False,
) -> Checked:
    r"""Read a record to its end or to the first event that does not hold.

    Number, time, seal and content of every line are checked, and by `prover` whether the rules give
    it.

    Args:
        lines: the lines with their ``\n``.
        watch: called with every event that holds; one for which it raises RecordError or RulesError
            does not.
        prover: re-executes the record; None not to.
        lenient: see `RecordReader`.
    """
    reader, digest = read_record(lines, tolerant=True, lenient=lenient), Digest()
    events, head, seconds = 0, "", 0.0
    problem = stopped = None
    opened: Opened | None = None
    ended: Ended | None = None
    refuted = False
    for recorded in reader:
        event = recorded.event
        if prover is not None:
            try:
                prover.feed(recorded)
            except (RecordError, RulesError) as error:
                problem, refuted = str(error), True
                break
        try:
            watch(recorded)
        except (RecordError, RulesError) as error:
            problem = str(error)
            break
        digest.feed(event)
        events, head, seconds = recorded.n, recorded.hash, recorded.time
        if event.type == "opened":
            opened = event
        elif event.type == "ended":
            ended = event
        elif event.type == "stopped":
            stopped = printable(event.reason, NOTE_SHOWN)
    if problem is None and reader.problems:
        problem = str(reader.problems[0])
    elif problem is None and stopped is not None:
        problem = f"line {events}: the game was stopped before its end: {stopped}"
    elif problem is None and ended is None:
        problem = f"line {events + 1}: missing: the record stops before its game ended"
    proven = None if prover is None else problem is None
    return Checked(problem, events, opened, ended, head, digest.hexdigest(), seconds, proven, refuted)
