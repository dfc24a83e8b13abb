"""Logs of a service: the standard library's log calls, as JSON lines or as text for people, on stderr."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Literal, TypeAlias, cast

from wolfbus.bus.url import masked
from wolfbus.errors import ConfigError, WolfError
from wolfbus.files.printable import printable

LogStyle: TypeAlias = Literal["auto", "json", "text"]
"""json: one JSON object a line · text: one line for people, a traceback indented below it · auto: text in a terminal,
else json."""

LEVEL_VARIABLE: Final = "WOLFBUS_LOG_LEVEL"
LEVELS: Final = ("debug", "info", "warning", "error")

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({})))
"""Attributes that every log record has; what a call gave as ``extra=`` stands beside them."""

_FIRST: Final = ("time", "level", "event", "service", "house", "agent", "game", "seat")
_LAST: Final = ("logger", "exception")
_NOT_DETAILS: Final = frozenset({"time", "level", "event", "logger", "exception"})
_TEXT_AT_MOST: Final = 2000
"""Characters of a message, or of one value beside it, that the text style shows."""


def configure_logs(style: LogStyle = "auto", **bound: str) -> None:
    """Render every log call of this process on stderr, from now on; what was configured before is replaced.

    The keys of a JSON line are, in this order: ``time`` (ISO 8601, UTC), ``level``, ``event`` (the message), what is
    bound, what the call gave as ``extra=``, ``logger``, and ``exception``, a traceback as one string. Exceptions that
    nobody catches, in any thread, and Python's warnings are logged alike. The environment variable
    ``WOLFBUS_LOG_LEVEL`` (debug, info, warning or error) says from which level on; info unless given.

    Args:
        style: how lines look.
        bound: stands on every line, such as ``service="player"``; a call's own ``extra=`` goes before it.

    Raises:
        ConfigError: ``WOLFBUS_LOG_LEVEL`` is no level.
    """
    level = os.environ.get(LEVEL_VARIABLE, "").strip().lower() or "info"
    if level not in LEVELS:
        raise ConfigError(f"{LEVEL_VARIABLE}: {level!r:.40} is none of {', '.join(LEVELS)}")
    if style == "auto":
        style = "text" if sys.stderr.isatty() else "json"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter(bound) if style == "json" else _TextFormatter(bound))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_uncaught
    threading.excepthook = _log_uncaught_in_thread


class _JsonFormatter(logging.Formatter):
    def __init__(self, bound: Mapping[str, str]) -> None:
        super().__init__()
        self._bound = bound

    def format(self, record: logging.LogRecord) -> str:
        # ASCII only: whatever a model or an agent said cannot reach a terminal as anything but escapes
        return json.dumps(self._members(record), default=str)

    def _members(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return a line's members, in the order in which a reader looks for them: when, what and where first, then
        what the call gave; users and passwords are taken out of every address that they tell.
        """
        members: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
            **self._bound,
            **{key: value for key, value in vars(record).items() if key not in _STANDARD},
        }
        if record.exc_info:
            members["exception"] = self.formatException(record.exc_info)
        between = [key for key in members if key not in _FIRST and key not in _LAST]
        ordered = {key: members[key] for key in (*_FIRST, *between, *_LAST) if key in members}
        return {key: masked(value) if isinstance(value, str) else value for key, value in ordered.items()}


class _TextFormatter(_JsonFormatter):
    """For people, who know what the process is that they look at, and which day it is."""

    def format(self, record: logging.LogRecord) -> str:
        members = self._members(record)
        line = str(members["time"])[11:19] + ("" if members["level"] == "info" else f" {record.levelname}")
        line += f" {printable(str(members['event']), _TEXT_AT_MOST)}"
        details = {
            key: printable(str(value), _TEXT_AT_MOST)
            for key, value in members.items()
            if key not in _NOT_DETAILS and self._bound.get(key) != value
        }
        if details:
            line += f" ({', '.join(f'{key} {value}' for key, value in details.items())})"
        trace = members.get("exception", "").splitlines()
        return "\n  | ".join([line, *(printable(trace_line, _TEXT_AT_MOST) for trace_line in trace)])


def _log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    if isinstance(error, WolfError):
        # its line says all to whoever runs this process
        logging.getLogger("wolfbus").critical("%s", error)
        return
    logging.getLogger("wolfbus").critical("this was not expected: %s", error, exc_info=(kind, error, trace))


def _log_uncaught_in_thread(arguments: threading.ExceptHookArgs) -> None:
    if arguments.exc_value is None or issubclass(arguments.exc_type, SystemExit):
        return
    name = arguments.thread.name if arguments.thread is not None else "of unknown name"
    logging.getLogger("wolfbus").critical(
        "thread %s ended unexpectedly: %s",
        name,
        arguments.exc_value,
        exc_info=cast("Any", (arguments.exc_type, arguments.exc_value, arguments.exc_traceback)),
    )
