"""Logs of a service: the standard library's log calls, rendered by structlog as JSON lines or for people, on stderr."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Mapping
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from wolfbus.bus.url import masked
from wolfbus.errors import ConfigError, WolfError
from wolfbus.printable import printable

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger

LogStyle: TypeAlias = Literal["auto", "json", "text"]
"""json: one JSON object a line · text: one line for people, a traceback indented below it · auto: text in a terminal,
else json."""

LEVEL_VARIABLE: Final = "WOLFBUS_LOG_LEVEL"
LEVELS: Final = ("debug", "info", "warning", "error")

_FIRST: Final = ("time", "level", "event", "service", "house", "agent", "game", "seat")
_LAST: Final = ("logger", "exception")
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
    import structlog

    level = os.environ.get(LEVEL_VARIABLE, "").strip().lower() or "info"
    if level not in LEVELS:
        raise ConfigError(f"{LEVEL_VARIABLE}: {level!r:.40} is none of {', '.join(LEVELS)}")
    if style == "auto":
        style = "text" if sys.stderr.isatty() else "json"

    def bind(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
        return {**bound, **event}

    processors: list[Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        bind,
        _masked,
        _in_order,
        # ASCII only: whatever a model or an agent said cannot reach a terminal as anything but escapes
        structlog.processors.JSONRenderer(default=str) if style == "json" else partial(_for_people, bound),
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        processors=processors,
        foreign_pre_chain=[
            structlog.stdlib.add_logger_name,
            structlog.stdlib.add_log_level,
            structlog.stdlib.ExtraAdder(),
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_uncaught
    threading.excepthook = _log_uncaught_in_thread


def _masked(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Take users and passwords out of every address that a line or a traceback tells."""
    return {key: masked(value) if isinstance(value, str) else value for key, value in event.items()}


def _in_order(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Return the keys as a reader looks for them: when, what and where first, then what the call gave."""
    ordered = {key: event[key] for key in _FIRST if key in event}
    ordered.update((key, value) for key, value in event.items() if key not in _FIRST and key not in _LAST)
    ordered.update((key, event[key]) for key in _LAST if key in event)
    return ordered


def _for_people(bound: Mapping[str, str], _logger: WrappedLogger, _name: str, event: EventDict) -> str:
    """Return a line for people, who know what the process is that they look at, and which day it is."""
    known = {"time", "level", "event", "exception", "logger"}
    rest = {key: value for key, value in event.items() if key not in known and bound.get(key) != value}
    level = str(event.get("level", "info"))
    line = str(event.get("time", ""))[11:19] + (f" {level.upper()} " if level != "info" else " ")
    line += printable(str(event.get("event", "")), _TEXT_AT_MOST)
    if rest:
        line += f" ({', '.join(f'{key} {printable(str(value), _TEXT_AT_MOST)}' for key, value in rest.items())})"
    trace = str(event.get("exception") or "")
    return "\n  | ".join([line, *(printable(below, _TEXT_AT_MOST) for below in trace.splitlines())])


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
