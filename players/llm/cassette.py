"""`Cassette`: model replies kept in files, by what was asked, so that a run can be played again without a network.

A cassette is a folder of NDJSON files, one for each process that recorded into it. The first line of a file says its
format; every other line is one call: its key, what helps people find it, and what came of it. Of the request only
the end of its last message is kept: the prompts stand in the game's record, and a cassette stays small.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import secrets
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import wolfbus
from players.llm.accounts import cost_of
from players.llm.call import Completion, Question
from wolfbus.canonical import canonical, sha256_hex
from wolfbus.errors import CassetteError
from wolfbus.messages.calls import Scalar

_log = logging.getLogger(__name__)

FORMAT: Final = 1
"""Version of the files' format."""

ASKED_KEPT: Final = 500
"""Characters from the end of a request's last message that an entry holds, for people who read it."""

_DEFAULTS: Final = dataclasses.asdict(Completion())


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class _Header(_Line):
    type: Literal["cassette"] = "cassette"
    format: int
    wolfbus: str
    created: str


class _Came(_Line):
    """`Completion` without its cost: what the price table says when it is played counts."""

    text: str | None = None
    thought: str | None = None
    refusal: str | None = None
    finish: str | None = None
    error: str | None = None
    timed_out: bool = False
    attempts: int = 0
    queue_s: float = 0.0
    latency_s: float = 0.0
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    parameters: dict[str, Scalar] = Field(default_factory=dict)


class _Entry(_Line):
    key: str
    model: str
    purpose: str
    label: str
    asked: str
    completion: _Came


class Cassette:
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
        self._writer: _Writer | None = None
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
        path = Path(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CassetteError(f"cassette {path}: the folder cannot be made: {_reason(error)}") from None
        cassette = cls(path, plays=False)
        cassette._read_all()
        cassette._writer = _Writer(path)
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

    def find(self, question: Question) -> Completion | None:
        """Return what came of an equal call when it was recorded, priced as the model's price now says.

        Returns:
            The completion. While recording, None for a call that is not there or that failed.

        Raises:
            CassetteError: the cassette is played and lacks the call.
        """
        key = key_of(question)
        with self._lock:
            kept = self._entries.get(key)
        if self.plays:
            if kept is None:
                raise CassetteError(self._lacking(question, key))
        elif kept is None or _failed(kept):
            return None
        return _priced(kept, question)

    def keep(self, question: Question, completion: Completion) -> Completion:
        """Record what came of a call.

        Returns:
            The completion that counts for all equal calls: the one given, or the reply that another one got first.

        Raises:
            CassetteError: the file cannot be written, or the cassette is closed or played. What was recorded before
                is not harmed.
        """
        key = key_of(question)
        with self._lock:
            kept = self._entries.get(key)
            if kept is not None and not _failed(kept):
                return _priced(kept, question)
            if self._writer is None:
                raise CassetteError(f"cassette {self.folder}: not open for recording")
            self._writer.write(_entry_line(key, question, completion), question)
            self._entries[key] = completion
        return _priced(completion, question)

    def close(self) -> None:
        """Bring what was recorded to the disk and close the file; a second call does nothing.

        Raises:
            CassetteError: the disk failed; the file is closed all the same.
        """
        with self._lock:
            writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _read_all(self) -> None:
        try:
            for path in sorted(self.folder.glob("*.ndjson")):
                self._read(path)
        except OSError as error:
            raise CassetteError(f"cassette {error.filename or self.folder}: cannot be read: {_reason(error)}") from None

    def _read(self, path: Path) -> None:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    _log.warning(
                        "cassette %s: line %d was cut off when its process ended; it is left out", path, number
                    )
                    return
                try:
                    value = json.loads(line, parse_constant=_refuse_constant)
                    if number == 1:
                        self._take_header(path, value)
                    else:
                        self._take(_Entry.model_validate(value))
                except ValidationError as error:
                    raise CassetteError(f"cassette {path}: line {number}: {_first_fault(error)}") from None
                except (ValueError, RecursionError):
                    raise CassetteError(f"cassette {path}: line {number}: that is no line of JSON") from None

    def _take_header(self, path: Path, value: Any) -> None:
        version = value.get("format") if isinstance(value, dict) else None
        if isinstance(version, int) and version != FORMAT:
            raise CassetteError(f"cassette {path}: its format is {version}, this wolfbus reads format {FORMAT}")
        self._versions.add(_Header.model_validate(value).wolfbus)

    def _take(self, entry: _Entry) -> None:
        self._labels.add(entry.label)
        kept = self._entries.get(entry.key)
        if kept is None or _failed(kept):
            self._entries[entry.key] = Completion(**dict(entry.completion))

    def _lacking(self, question: Question, key: str) -> str:
        asked = (
            "a call of that name was recorded, but asked otherwise"
            if question.label in self._labels
            else "no call of that name was recorded"
        )
        other = ", ".join(sorted(self._versions - {wolfbus.__version__}))
        versions = f" (recorded with {other}, this is {wolfbus.__version__})" if other else ""
        return (
            f"cassette {self.folder}: no reply to {question.label} ({question.purpose}, {question.model.model}, "
            f"key {key[:12]}); {asked}: the seed, the game's settings, the players, a model's settings or the version "
            f"of wolfbus and so its prompts may differ{versions}"
        )


class _Writer:
    """The file that this process records into."""

    def __init__(self, folder: Path) -> None:
        now = datetime.now(UTC)
        self.path = folder / f"{now:%Y%m%dT%H%M%S.%f}Z-{secrets.token_hex(4)}.ndjson"
        self._size = 0
        self._entries = 0
        self._torn = False
        try:
            self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise CassetteError(f"cassette {self.path}: cannot be created: {_reason(error)}") from None
        header = _Header(format=FORMAT, wolfbus=wolfbus.__version__, created=now.isoformat(timespec="seconds"))
        try:
            self._append(canonical(header.model_dump()) + b"\n")
        except CassetteError:
            os.close(self._fd)
            self.path.unlink(missing_ok=True)
            raise

    def write(self, line: bytes, question: Question) -> None:
        if self._torn:
            raise CassetteError(f"cassette {self.path}: an earlier line is cut off, so no other can follow")
        try:
            self._append(line)
        except CassetteError as error:
            raise CassetteError(f"{error} (at {question.label}); what was recorded before is whole") from None
        self._entries += 1

    def close(self) -> None:
        try:
            try:
                if self._entries:
                    os.fsync(self._fd)
                else:
                    self.path.unlink(missing_ok=True)
            finally:
                os.close(self._fd)
        except OSError as error:
            raise CassetteError(f"cassette {self.path}: cannot be brought to the disk: {_reason(error)}") from None

    def _append(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError as error:
            self._take_back()
            raise CassetteError(f"cassette {self.path}: cannot be written: {_reason(error)}") from None
        self._size += len(line)

    def _take_back(self) -> None:
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            self._torn = True


def key_of(question: Question) -> str:
    """Return what names a call in a cassette, 64 hex digits.

    It covers what shapes the reply: the model's name, the messages, the form, the sampling settings and the scope;
    nothing of where the model runs, what it costs, how long anybody waits for it, or what the call is called.

    Raises:
        CassetteError: a setting of the model is no number, and so nothing that could be sent.
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
    asked = {
        "model": model.model,
        "messages": [[message.role, message.content] for message in question.messages],
        "form": [question.form.name, dict(question.form.schema)],
        "sampling": {name: value for name, value in sampling.items() if value is not None},
        "scope": question.scope,
    }
    return sha256_hex(_json(asked, question))


def _entry_line(key: str, question: Question, completion: Completion) -> bytes:
    kept = {
        name: value
        for name, value in dataclasses.asdict(completion).items()
        if name in _Came.model_fields and value != _DEFAULTS[name]
    }
    try:
        # what could not be read again must not be written
        _Came.model_validate(kept)
    except ValidationError as error:
        raise CassetteError(f"{question.label}: cannot be kept: {_first_fault(error)}") from None
    entry = {
        "key": key,
        "model": question.model.model,
        "purpose": question.purpose,
        "label": question.label,
        "asked": question.messages[-1].content[-ASKED_KEPT:] if question.messages else "",
        "completion": kept,
    }
    return _json(entry, question) + b"\n"


def _json(value: Any, question: Question) -> bytes:
    try:
        return canonical(value)
    except UnicodeEncodeError:
        # UTF-8 has no lone surrogates, an escape in JSON has
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    except ValueError:
        raise CassetteError(
            f"{question.label}: a setting or a count is NaN or infinite, and JSON has no such number"
        ) from None


def _priced(completion: Completion, question: Question) -> Completion:
    return dataclasses.replace(completion, cost_usd=cost_of(question.model.price, completion))


def _failed(completion: Completion) -> bool:
    return completion.error is not None or completion.timed_out


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else fault["msg"]


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
