"""Reading a record back, line by line, and saying precisely where and how it is not what was written; `read_checked`
does so in one pass for whoever checks, measures or proves a record.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias, cast

from pydantic_core import from_json

from wolfbus.errors import MessageError, RecordError, RulesError, reason_of
from wolfbus.files.printable import NOTE_SHOWN, counted, printable
from wolfbus.files.whole_file import open_file
from wolfbus.messages.codec import check_version
from wolfbus.messages.events import Ended, Opened, Stopped
from wolfbus.record.digest import Digest
from wolfbus.record.line import Recorded, check_seal, parse_line, parse_sealed

SUFFIXES: Final = (".ndjson", ".ndjson.gz")
"""How the files of records are named."""
FIRST_LINE_LIMIT: Final = 1 << 20
"""Bytes of the first line: so a file that is no record is refused before it fills the memory."""
LINE_LIMIT: Final = 1 << 26
"""Bytes of any other line; the longest legal message (1 MiB), every character of it escaped, stays far below."""

_BUFFER: Final = 1 << 17
_FIRST_BYTES: Final = b'{"audience":'
_NOT_OURS: Final = "not a wolfbus record"
_SECOND: Final = "a second record begins here; a file holds one"


def open_lines(source: str | Path) -> Generator[bytes, None, None]:
    r"""Yield a file's lines, with their ``\n``; the file is opened at the first one.

    Args:
        source: a path, or ``-`` for standard input; gzip is recognised by its first byte, not by the file's name.

    Raises:
        RecordError: the file cannot be opened or read, its compressed data is cut off or damaged, a line is too long.
    """
    if str(source) == "-":
        stdin = sys.stdin.buffer
        if isinstance(stdin, io.BufferedReader):
            yield from _lines(stdin)
        else:
            # whoever replaced standard input gave something plainer, a BytesIO perhaps
            yield from _lines(io.BufferedReader(io.BytesIO(stdin.read())))
        return
    try:
        file = open_buffered(source)
    except OSError as error:
        raise RecordError(f"{source}: {reason_of(error)}") from None
    with file:
        yield from _lines(file)


def open_buffered(source: str | Path) -> io.BufferedReader:
    """Open a record's file, for `LineReader`; raises OSError as `open_file` does, for pipes and devices too."""
    return io.BufferedReader(open_file(source), _BUFFER)


class LineReader:
    r"""Reads the lines of a file that may grow; of a line without its end it keeps what there is, up to the limit.

    Attributes:
        number: whole lines read.
        unfinished: what there is of the line after them.
    """

    def __init__(self) -> None:
        self.number = 0
        self.unfinished = bytearray()

    def read(self, file: io.BufferedReader[Any]) -> Iterator[bytes]:
        r"""Yield the whole lines from where a file stands, with their ``\n``; no byte is looked at twice.

        Raises:
            RecordError: a line is longer than `LINE_LIMIT`, or the first one than `FIRST_LINE_LIMIT`.
        """
        while piece := file.readline(self._limit + 1 - len(self.unfinished)):
            if len(self.unfinished) + len(piece) > self._limit:
                limit, self.unfinished = self._limit, bytearray()
                foreign = "" if self.number else f"; {_NOT_OURS}"
                raise RecordError(f"longer than {limit >> 20} MiB{foreign}", self.number + 1)
            if self.unfinished or piece[-1:] != b"\n":
                self.unfinished += piece
                if piece[-1:] != b"\n":
                    continue
                piece, self.unfinished = bytes(self.unfinished), bytearray()
            self.number += 1
            yield piece

    @property
    def _limit(self) -> int:
        return LINE_LIMIT if self.number else FIRST_LINE_LIMIT


def check_seals(path: Path) -> tuple[bool, int, str, bytes]:
    """Check the seals of a record, and not what its lines say; about a millisecond a game.

    Returns:
        Whether all of its lines are sealed; how many are from the first on; the last of these seals; and its line.
    """
    seal, count, last = "", 0, b""
    try:
        with closing(open_lines(path)) as lines:
            for line in lines:
                if line[-1:] != b"\n":
                    return False, count, seal, last
                seal = check_seal(seal, line[:-1], count + 1)
                last = line
                count += 1
    except RecordError:
        return False, count, seal, last
    return True, count, seal, last


def _lines(file: io.BufferedReader[Any]) -> Iterator[bytes]:
    # no record begins with this byte, and a pipe may hand over no second one yet
    if _first_byte(file) == b"\x1f":
        # not buffered once more: a buffer would swallow the whole lines before the place where a file is cut off
        file = cast("io.BufferedReader[Any]", gzip.GzipFile(fileobj=file))
    reader = LineReader()
    try:
        yield from reader.read(file)
        if reader.unfinished:
            yield bytes(reader.unfinished)
    except EOFError:
        damage = "the compressed file is cut off"
    except (zlib.error, gzip.BadGzipFile) as error:
        damage = f"the compressed data is damaged ({error})"
    except OSError as error:
        raise RecordError(f"cannot be read: {reason_of(error)}", reader.number + 1) from None
    else:
        return
    raise RecordError(f"{damage}; {counted(reader.number, 'whole line')} before it", reader.number + 1)


def _first_byte(file: io.BufferedReader[Any]) -> bytes:
    try:
        return file.peek(1)[:1]
    except OSError as error:
        raise RecordError(f"cannot be read: {reason_of(error)}") from None


class RecordReader(Iterator[Recorded]):
    r"""Iterates over the events of a record, checking number, time, seal and content of every line.

    Times count from the opening and never run backwards; the moderator's clock cannot write them so.

    It stops at the first line that is wrong: nothing after it is sealed by what can be trusted. A record without its
    `ended` event is whole as far as it goes; `ended` tells.

    Args:
        lines: the lines with their ``\n``, as a file opened in binary mode or `open_lines` gives them.
        tolerant: at a wrong line, end the iteration and leave the reason in `problem` instead of raising it.
        lenient: pass over members that nobody knows here, which is quicker: for measuring, not for proving.

    Attributes:
        count: lines read and found right.
        line: the last of them, without its newline.
        head: hash of the last of them, "" before the first.
        opened: the game's first event, None before it was read.
        ended: whether the game's end was among them.
        problem: what is wrong with the line after them; None for nothing so far.

    Raises:
        RecordError: while iterating, unless tolerant; it carries the number of the line, from 1.
    """

    def __init__(self, lines: Iterable[bytes], *, tolerant: bool = False, lenient: bool = False) -> None:
        self._lines = iter(lines)
        self._tolerant = tolerant
        self._lenient = lenient
        self._over = False
        self._time = 0.0
        self.count = 0
        self.line = b""
        self.head = ""
        self.opened: Opened | None = None
        self.ended = False
        self.problem: RecordError | None = None

    def __next__(self) -> Recorded:
        if self._over:
            raise StopIteration
        try:
            return self.read_line(next(self._lines))
        except StopIteration:
            self._over = True
            if self.count:
                raise
            self._stop_at(RecordError("an empty file; a record has at least one line"))
        except RecordError as problem:
            self._stop_at(problem)
        raise StopIteration

    def read_line(self, line: bytes) -> Recorded:
        """Read the next line, for a record of which more may come; nothing of `tolerant` holds here.

        Raises:
            RecordError: it is wrong; the reader stands where it stood.
        """
        number = self.count + 1
        if line[-1:] != b"\n":
            if number == 1:
                _refuse_foreign(line)
            raise RecordError(f"cut off in the middle; {counted(number - 1, 'whole line')} before it", number)
        line = line[:-1]
        recorded = parse_sealed(self.head, line, number) if self._lenient and number > 1 else None
        if recorded is None:
            recorded = self._examine(line, number)
        _, time, _, event, head = recorded
        if time < self._time:
            raise RecordError(f"time {time} stands after {self._time}: times run backwards", number)
        if event.type == "opened":
            if number > 1:
                raise RecordError(_SECOND, number)
            self.opened = event
        elif number == 1:
            raise RecordError(f'begins with "{event.type}", not with "opened"', number)
        elif event.type == "ended":
            self.ended = True
        self.count, self.line, self.head, self._time = number, line, head, time
        return recorded

    def refusal(self, line: bytes) -> str | None:
        """Return why a first line without its end is none of a record; None where it may be one."""
        try:
            _refuse_foreign(line)
        except RecordError as error:
            return str(error)
        return None

    def _stop_at(self, problem: RecordError) -> None:
        self._over = True
        self.problem = problem
        if isinstance(self._lines, Generator):
            # the problem's traceback holds it, and a file that it reads would stay open until garbage is collected
            self._lines.close()
        if not self._tolerant:
            raise problem from None

    def _examine(self, line: bytes, number: int) -> Recorded:
        """Return the event on a line, after checking its seal and then what it says."""
        try:
            stated = check_seal(self.head, line, number)
        except RecordError as error:
            raise RecordError(_why_unsealed(line, number) or error.args[0].partition(": ")[2], number) from None
        recorded = parse_line(line, number)
        if recorded.hash != stated:
            raise RecordError("its seal is not where a record has it", number)
        if recorded.n != number:
            raise RecordError(_misnumbered(recorded.n, number), number)
        return recorded


def read_record(lines: Iterable[bytes], *, tolerant: bool = False, lenient: bool = False) -> RecordReader:
    """Return an iterator over a record's events that checks every line; see `RecordReader`."""
    return RecordReader(lines, tolerant=tolerant, lenient=lenient)


def _why_unsealed(line: bytes, number: int) -> str | None:
    """Return what happened to a line whose seal does not hold, as precisely as its bytes tell; None without a clue."""
    if number == 1:
        _refuse_foreign(line)
    if line.endswith(b"\r"):
        return "ends in CRLF, a record's lines in LF: its line ends were converted"
    if not line.strip():
        return "a blank line; a record has none"
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8 (byte {error.start + 1} of the line); this line was edited"
    try:
        value = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        reason = str(error).replace(" at line 1 column ", ", column ")
        return f"not JSON ({reason}); this line was edited or added"
    if not isinstance(value, dict):
        return "not a JSON object; this line was edited or added"
    try:
        if "v" in value:
            check_version(value)
    except MessageError as error:
        return str(error)
    n = value.get("n")
    if n.__class__ is not int or n == number:
        return None
    return _SECOND if n == 1 and value.get("type") == "opened" else _misnumbered(n, number)


def _misnumbered(n: int, number: int) -> str:
    lost = n - number
    cause = (
        f"{counted(lost, 'line')} before it removed, or lines moved" if lost > 0 else "a line repeated, added or moved"
    )
    return f"number {n} stands where {number} was expected: {cause}"


def _refuse_foreign(line: bytes) -> None:
    """Raise RecordError if the first line shows that the file never was a record, or that something re-coded it."""
    if line.startswith(b"\xef\xbb\xbf"):
        raise RecordError("begins with a byte order mark; a record has none, so something re-saved this file", 1)
    if line.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise RecordError("UTF-16; a record is UTF-8, so something re-saved this file", 1)
    if line.startswith(_FIRST_BYTES):
        return
    try:
        value: Any = from_json(line)
    except ValueError:
        raise RecordError(_NOT_OURS, 1) from None
    if not isinstance(value, dict) or not {"n", "hash"} <= value.keys():
        raise RecordError(_NOT_OURS, 1)


def records_under(root: Path) -> list[Path]:
    """Return the record files below a folder, in order of their paths; those of hidden folders are left out."""
    return [
        path
        for path in sorted(root.rglob("*.ndjson*"))
        if path.name.endswith(SUFFIXES)
        and not any(part.startswith(".") for part in path.relative_to(root).parts)
        and path.is_file()
    ]


def newest_record(root: Path) -> Path:
    """Return the record below a folder that was written last; raises RecordError if there is none."""
    paths = records_under(root)
    if not paths:
        raise RecordError(f"{root}: there is no record in it; wolfbus play makes one")
    return max(paths, key=lambda path: (path.stat().st_mtime_ns, path.name))


DigestOf: TypeAlias = Literal["events", "lines", "nothing"]


class Prover(Protocol):
    """Re-executes a record by the rules; the moderator's `Verifier` is one."""

    def feed(self, recorded: Recorded) -> None:
        """Check one event; raises RecordError at the first that does not follow from the rules."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found of a record.

    Attributes:
        problem: why it is not a whole record of a game that ended, or what the rules do not give; None for neither.
        events: events that hold, from the first on.
        opened: the first of them; None if not even that holds.
        ended: the game's end; None if the record does not reach it.
        head: hash on the last line that holds, "" for none; it seals all lines up to there.
        digest: digest of those events; "" where nobody asked for it.
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
    digest_of: DigestOf = "events",
) -> Checked:
    r"""Read a record to its end or to the first event that does not hold.

    Number, time, seal and content of every line are checked, and by `prover` whether the rules give it.

    Args:
        lines: the lines with their ``\n``.
        watch: called with every event that holds; one for which it raises RecordError or RulesError does not.
        prover: re-executes the record; None not to.
        lenient: see `RecordReader`.
        digest_of: what the digest is taken from: "lines" is quicker, and proves one that was noted but refutes none
            (see `Digest.feed_line`). "nothing" leaves it "": where nobody asks for one.
    """
    reader, digest = read_record(lines, tolerant=True, lenient=lenient), Digest()
    events, head, seconds = 0, "", 0.0
    problem: str | None = None
    stopped: Stopped | None = None
    opened: Opened | None = None
    ended: Ended | None = None
    refuted = False
    for recorded in reader:
        number, time, _, event, seal = recorded
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
        if digest_of == "lines":
            digest.feed_line(event, reader.line)
        elif digest_of == "events":
            digest.feed(event)
        events, head, seconds = number, seal, time
        # pydantic makes `isinstance` slow
        if event.type == "opened":
            opened = event
        elif event.type == "ended":
            ended = event
        elif event.type == "stopped":
            stopped = event
    if problem is None:
        problem = str(reader.problem) if reader.problem else _why_unfinished(events, stopped, ended)
    proven = None if prover is None else problem is None
    digest_shown = "" if digest_of == "nothing" else digest.hexdigest()
    return Checked(problem, events, opened, ended, head, digest_shown, seconds, proven, refuted)


def _why_unfinished(events: int, stopped: Stopped | None, ended: Ended | None) -> str | None:
    """Return why a record whose every event holds is not that of a game that ended; None if it is."""
    if stopped is not None:
        return f"line {events}: the game was stopped before its end: {printable(stopped.reason, NOTE_SHOWN)}"
    return None if ended is not None else f"line {events + 1}: missing: the record stops before its game ended"
