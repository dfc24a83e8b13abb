"""What a service logs, and how it looks."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import warnings
from datetime import datetime, timedelta

import pytest

from wolfbus.errors import ConfigError
from wolfbus.service.logs import LogStyle, configure_logs


@pytest.fixture(autouse=True)
def logs_as_they_were():
    root = logging.getLogger()
    handlers, level, hooks = list(root.handlers), root.level, (sys.excepthook, threading.excepthook)
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    sys.excepthook, threading.excepthook = hooks
    logging.captureWarnings(capture=False)


def fail(reason):
    raise ValueError(reason)


def lines(capsys):
    out, err = capsys.readouterr()
    assert out == "", "stdout is for results"
    return [json.loads(line) for line in err.splitlines()]


def test_a_json_line_says_when_where_and_what_in_that_order(capsys):
    configure_logs("json", service="player", house="main")
    logging.getLogger("players.agent").warning("%s is late", "Ada", extra={"seat": "Ada", "game": "g1", "by_s": 1.5})
    (line,) = lines(capsys)
    at = datetime.fromisoformat(str(line["time"]))
    assert at.utcoffset() == timedelta(0)
    assert list(line) == ["time", "level", "event", "service", "house", "game", "seat", "by_s", "logger"]
    assert {key: line[key] for key in ("level", "event", "service", "game", "seat", "by_s", "logger")} == {
        "level": "warning",
        "event": "Ada is late",
        "service": "player",
        "game": "g1",
        "seat": "Ada",
        "by_s": 1.5,
        "logger": "players.agent",
    }


def test_what_a_call_gives_goes_before_what_is_bound(capsys):
    configure_logs("json", agent="mine")
    logging.getLogger("x").info("hello", extra={"agent": "other"})
    assert [line["agent"] for line in lines(capsys)] == ["other"]


def test_a_traceback_stays_in_one_json_line(capsys):
    configure_logs("json")
    try:
        fail("no\nsuch thing")
    except ValueError:
        logging.getLogger("x").exception("it failed")
    (line,) = lines(capsys)
    assert line["event"] == "it failed"
    assert "Traceback" in str(line["exception"])
    assert "no\nsuch thing" in str(line["exception"])


def test_words_of_a_model_cannot_forge_a_line_or_reach_the_terminal(capsys):
    said = "hello\n{}\x1b[2J\u202e"
    styles: tuple[LogStyle, ...] = ("json", "text")
    for style in styles:
        configure_logs(style)
        logging.getLogger("x").info("%s", said, extra={"reason": said})
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert err.isascii()
        assert "\x1b" not in err


def test_a_text_line_is_short_and_a_traceback_is_indented_below(capsys):
    configure_logs("text", service="moderator", house="main", agent="player-1")
    log = logging.getLogger("x")
    log.info("the game begins", extra={"game": "g1", "agent": "player-2"})
    log.info("hello", extra={"agent": "player-1"})
    try:
        fail("no such thing")
    except ValueError:
        log.exception("it failed")
    first, own, second, *trace = capsys.readouterr().err.splitlines()
    assert first[8:] == " the game begins (agent player-2, game g1)"
    assert own[8:] == " hello", "what is bound is the same on every line"
    assert second[8:].startswith(" ERROR it failed")
    assert trace[0].endswith("| Traceback (most recent call last):")
    assert all(line.startswith("  | ") for line in trace)


def test_only_what_is_as_grave_as_asked_for_is_logged(capsys, monkeypatch):
    monkeypatch.setenv("WOLFBUS_LOG_LEVEL", "Warning")
    configure_logs("json")
    logging.getLogger("x").info("little")
    logging.getLogger("x").warning("much")
    assert [line["event"] for line in lines(capsys)] == ["much"]
    monkeypatch.setenv("WOLFBUS_LOG_LEVEL", "loud")
    with pytest.raises(ConfigError, match="'loud' is none of debug, info, warning, error"):
        configure_logs("json")


def test_warnings_and_what_nobody_catches_are_logged_too(capsys):
    configure_logs("json")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=False)
        logging.captureWarnings(capture=True)
        warnings.warn("old ways", stacklevel=1)

    thread = threading.Thread(target=fail, args=("in a thread",), name="reader")
    thread.start()
    thread.join()
    sys.excepthook(ValueError, ValueError("at last"), None)
    warned, threaded, last = lines(capsys)
    assert "old ways" in str(warned["event"])
    assert threaded["event"] == "thread reader ended unexpectedly: in a thread"
    assert "ValueError" in str(threaded["exception"])
    assert (last["level"], last["event"]) == ("critical", "this was not expected: at last")


def test_to_configure_again_replaces_and_does_not_double(capsys):
    configure_logs("json")
    configure_logs("json", service="analytics")
    logging.getLogger("x").info("once")
    assert [line["service"] for line in lines(capsys)] == ["analytics"]


def test_the_command_line_does_not_load_structlog_before_it_is_needed():
    code = (
        "import sys; from wolfbus.cli import run; run(['--help'])\n"
        "import wolfbus.service.logs, wolfbus.service.options\n"
        "sys.exit('structlog' in sys.modules or 'http.server' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
