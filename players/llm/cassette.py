"""`Cassette`: model replies kept in files, by what was asked, so that a run can be played again without a network.

A cassette is a folder of NDJSON files, one for each process that recorded into it. The first line of a file says its
format; every other line is one call: its key, what helps people find it, what came of it, and the SHA-256 of the line's
canonical JSON without that member, so that a reply cannot be changed unnoticed by accident. Of the request only
the end of its last message is kept: the prompts stand in the game's record, and a cassette stays small.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import wolfbus
from players.llm.provider import WORDS, Completion, ModelQuestion
from wolfbus.actors.closable import Closable
from wolfbus.errors import CassetteError, RecordError, first_fault, reason_of
from wolfbus.files.canonical import canonical, sha256_hex
from wolfbus.game.fresh import fresh_name
from wolfbus.game.vocabulary import Fault
from wolfbus.messages.calls import Scalar
from wolfbus.record.reader import open_lines
from wolfbus.record.writer import RecordFile

_log = logging.getLogger(__name__)

FORMAT: Final = 3
"""Version of the files' format."""

PROMPT_SHOWN: Final = 500
"""Characters from the end of a request's last message that an entry holds, for people who read it."""

_DEFAULTS: Final = dataclasses.asdict(Completion())


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class _Header(_Line):
    type: Literal["cassette"] = "cassette"
    format: int
    wolfbus: str
    created: str


class _Recorded(_Line):
    """`Completion` without what is of its recording alone: what it cost, where it was asked, which attempts failed."""

    text: str | None = None
    thought: str | None = None
    refusal: str | None = None
    finish: str | None = None
    error: str | None = None
    fault: Fault = "failed"
    timed_out: bool = False
    attempts: int = 0
    queue_s: float = 0.0
    latency_s: float = 0.0
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    parameters: dict[str, Scalar] = Field(default_factory=dict)
    served: str | None = None
    calls_tool: bool = False


class _Entry(_Line):
    key: str
    model: str
    purpose: str
    label: str
    prompt_end: str = Field(alias="asked")
    completion: _Recorded
    hash: str


class Cassette(Closable):
    """Recorded model replies; made by `record` or `play`. Safe from any thread.

    Of equal calls (see `key_of`) the first reply is the one that counts, in all files together; a call that failed is
    kept as well, the last failure as long as there is no reply.

    Attributes:
        folder: where the files are.
        plays: True if every reply comes from the cassette, False if it records.
    """

    def __init__(self, folder: Path, *, plays: bool) -> None:
        self.folder = folder
        self.plays = plays
        self._file: RecordFile | None = None
        self._recorded = 0
        self._lock = threading.Lock()
        self._entries: dict[str, Completion] = {}
        self._labels: set[str] = set()
        self._versions: set[str] = set()

    @classmethod
    def record(cls, folder: str | Path) -> Self:
        """Open a folder, new or not, to record into a new file of it.

        Replies that it holds already are used again, so that an interrupted run goes on without paying twice. Several
        processes may record into a folder at once; each knows what it held when the process opened it.

        Raises:
            CassetteError: the file cannot be created, or a file that is there cannot be read; one clear line.
        """
        cassette = cls(Path(folder), plays=False)
        cassette._read_all()
        name = f"{fresh_name(f'{datetime.now(UTC):%Y%m%dT%H%M%S.%f}Z')}.ndjson"
        with _as_cassette_error():
            cassette._file = RecordFile(cassette.folder / name)
        return cassette

    @classmethod
    def play(cls, folder: str | Path) -> Self:
        """Open a folder to play what was recorded into it.

        Raises:
            CassetteError: there is nothing in it, or it cannot be read; one clear line.
        """
        path = Path(folder)
        if not path.is_dir():
            raise CassetteError(f"cassette {path}: there is no such folder")
        cassette = cls(path, plays=True)
        cassette._read_all()
        if not cassette._entries:
            raise CassetteError(
                f"cassette {path}: no model reply was recorded here (files that end in .ndjson hold them)"
            )
        return cassette

    def find(self, question: ModelQuestion) -> Completion | None:
        """Return what came of an equal call when it was recorded; nobody was asked, and nothing was paid.

        Returns:
            The completion, with the tokens that were counted when it was recorded, no attempt and no cost. While
            recording, None for a call that is not there or that failed.

        Raises:
            CassetteError: the cassette is played and lacks the call.
        """
        key = key_of(question)
        with self._lock:
            recorded = self._entries.get(key)
        if self.plays:
            if recorded is None:
                raise CassetteError(self._missing(question, key))
        elif recorded is None or _failed(recorded):
            return None
        return _played(recorded)

    def keep(self, question: ModelQuestion, completion: Completion) -> Completion:
        """Record what came of a call.

        Returns:
            The completion given; with the words of the reply that counts for all equal calls, if another one got that
            first.

        Raises:
            CassetteError: the file cannot be written, or the cassette is closed or played. What was recorded before
                is not harmed.
        """
        key = key_of(question)
        with self._lock:
            recorded = self._entries.get(key)
            if recorded is not None and not _failed(recorded):
                return _with_words_of(recorded, completion)
            if self._file is None:
                raise CassetteError(f"cassette {self.folder}: not open for recording")
            with _as_cassette_error(f" (at {question.label}); what was recorded before is whole"):
                entry = _entry_line(key, question, completion)
                self._file.write([entry] if self._recorded else [_header_line(), entry])
            self._recorded += 1
            self._entries[key] = completion
        return completion

    def close(self) -> None:
        """Write what was recorded to the disk and close the file, which is removed if it is empty; twice is no error.

        Raises:
            CassetteError: the disk failed; the file is closed all the same.
        """
        with self._lock:
            file, self._file = self._file, None
        if file is not None:
            with _as_cassette_error():
                file.close()
            if not self._recorded:
                file.path.unlink(missing_ok=True)

    @property
    def replies(self) -> int:
        """How many replies it knows, failures not counted."""
        with self._lock:
            return sum(not _failed(completion) for completion in self._entries.values())

    def _read_all(self) -> None:
        try:
            paths = sorted(self.folder.glob("*.ndjson"))
        except OSError as error:
            raise CassetteError(
                f"cassette {error.filename or self.folder}: cannot be read: {reason_of(error)}"
            ) from None
        for path in paths:
            self._read(path)

    def _read(self, path: Path) -> None:
        try:
            for number, line in enumerate(open_lines(path), 1):
                if not line.endswith(b"\n"):
                    _log.warning(
                        "cassette %s: line %d was cut off when its process ended; it is left out", path, number
                    )
                    return
                self._read_line(path, number, line)
        except RecordError as error:
            raise CassetteError(f"cassette {path}: {str(error).removeprefix(f'{path}: ')}") from None

    def _read_line(self, path: Path, number: int, line: bytes) -> None:
        try:
            value = json.loads(line, parse_constant=_refuse_constant)
            if number == 1:
                self._check_header(path, value)
            else:
                entry = _Entry.model_validate(value)
                del value["hash"]
                if _hash_of(value) != entry.hash:
                    raise CassetteError(
                        f"cassette {path}: line {number}: its hash is not that of its content: "
                        "the line was changed after it was recorded"
                    )
                self._add(entry)
        except ValidationError as error:
            raise CassetteError(f"cassette {path}: line {number}: {first_fault(error)}") from None
        except (ValueError, RecursionError):
            raise CassetteError(f"cassette {path}: line {number}: that is no line of JSON") from None

    def _check_header(self, path: Path, value: Any) -> None:
        version = value.get("format") if isinstance(value, dict) else None
        if isinstance(version, int) and version != FORMAT:
            raise CassetteError(f"cassette {path}: its format is {version}, this wolfbus reads format {FORMAT}")
        self._versions.add(_Header.model_validate(value).wolfbus)

    def _add(self, entry: _Entry) -> None:
        self._labels.add(entry.label)
        recorded = self._entries.get(entry.key)
        if recorded is None or _failed(recorded):
            self._entries[entry.key] = Completion(**dict(entry.completion))

    def _missing(self, question: ModelQuestion, key: str) -> str:
        same_name = (
            "a call of that name was recorded, but asked otherwise"
            if question.label in self._labels
            else "no call of that name was recorded"
        )
        other = ", ".join(sorted(self._versions - {wolfbus.__version__}))
        versions = f" (recorded with {other}, this is {wolfbus.__version__})" if other else ""
        return (
            f"cassette {self.folder}: no reply to {question.label} ({question.purpose}, {question.model.model}, "
            f"key {key[:12]}); {same_name}: the seed, the game's settings, the players, a model's settings or the "
            f"version of wolfbus and so its prompts may differ{versions}"
        )


def key_of(question: ModelQuestion) -> str:
    """Return what names a call in a cassette, 64 hex digits.

    It covers what shapes the reply: the model's name, the messages, the form and the sampling settings; and of which
    draw it is, for games of other seeds, and forks, that ask the same are other samples. It covers nothing of where the
    model runs, what it costs, how long anybody waits for it, or what the call is called.
    """
    model = question.model
    sampling = {
        "temperature": model.temperature,
        "top_p": model.top_p,
        "max_tokens": model.max_tokens,
        "reasoning_effort": model.reasoning_effort,
        "extra": model.extra or None,
        "structured": None if model.structured == "auto" else model.structured,
    }
    request = {
        "model": model.model,
        "messages": [[message.role, message.content] for message in question.messages],
        "form": [question.form.name, dict(question.form.schema)],
        "sampling": {name: value for name, value in sampling.items() if value is not None},
        "draw": question.draw,
    }
    return sha256_hex(_canonical(request))


def _header_line() -> bytes:
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return canonical(_Header(format=FORMAT, wolfbus=wolfbus.__version__, created=created).model_dump())


@contextlib.contextmanager
def _as_cassette_error(addition: str = "") -> Iterator[None]:
    """Raise what is wrong with a file as what is wrong with the cassette."""
    try:
        yield
    except RecordError as error:
        raise CassetteError(f"cassette {error}{addition}") from None


def _entry_line(key: str, question: ModelQuestion, completion: Completion) -> bytes:
    recorded = {
        name: value
        for name, value in dataclasses.asdict(completion).items()
        if name in _Recorded.model_fields and value != _DEFAULTS[name]
    }
    try:
        # what could not be read again must not be written
        _Recorded.model_validate(recorded)
    except ValidationError as error:
        raise CassetteError(f"{question.label}: cannot be kept: {first_fault(error)}") from None
    entry = {
        "key": key,
        "model": question.model.model,
        "purpose": question.purpose,
        "label": question.label,
        "asked": question.messages[-1].content[-PROMPT_SHOWN:] if question.messages else "",
        "completion": recorded,
    }
    return _canonical(entry | {"hash": _hash_of(entry)})


def _canonical(value: Any) -> bytes:
    try:
        return canonical(value)
    except UnicodeEncodeError:
        # UTF-8 has no lone surrogates, an escape in JSON has
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _hash_of(entry: dict[str, Any]) -> str:
    return sha256_hex(_canonical(entry))


def _played(recorded: Completion) -> Completion:
    # a call that was never sent tells nothing of its server when it is played, either
    timed_out = recorded.timed_out and recorded.attempts > 0
    return dataclasses.replace(
        recorded, timed_out=timed_out, attempts=0, cost_usd=None, billed_usd=None, url=None, failures=(), cassette=True
    )


def _with_words_of(recorded: Completion, completion: Completion) -> Completion:
    words = {name: getattr(recorded, name) for name in (*WORDS, "calls_tool", "error", "fault")}
    return dataclasses.replace(completion, timed_out=False, **words)


def _failed(completion: Completion) -> bool:
    # what a filter kept back is a result
    return (completion.error is not None and completion.fault != "filtered") or completion.timed_out


def _refuse_constant(name: str) -> float:
    raise ValueError(name)
