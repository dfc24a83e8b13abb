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

from wolfbus.cli import run
from wolfbus.errors import ConfigError


@pytest.fixture
def begin(capsys):
    """Have a service begin to log, on a bus that is away; returns its exit code and what it said."""

    def begin(style):
        words = ["player", "--bus", "redis://127.0.0.1:1?patience=0.01", "--house", "main", "--name", "mine"]
        return run([*words, "--log", style]), capsys.readouterr().err

    return begin


@pytest.fixture
def lines(capsys):
    """Return the JSON lines that were logged."""

    def lines():
        out, err = capsys.readouterr()
        assert out == "", "stdout is for results"
        return [json.loads(line) for line in err.splitlines()]

    return lines


log = logging.getLogger("players.agent")


def fail(reason):
    raise ValueError(reason)


def log_failure(reason):
    try:
        fail(reason)
    except ValueError:
        log.exception("it failed")


def test_a_json_line_says_when_where_and_what_in_that_order(begin, lines):
    begin("json")
    log.warning("%s is late", "Ada", extra={"seat": "Ada", "game": "g1", "by_s": 1.5})
    # what a call gives goes before what is bound
    log.info("hello", extra={"agent": "other"})
    line, other = lines()
    at = datetime.fromisoformat(line.pop("time"))
    assert at.utcoffset() == timedelta(0)
    expected = {"level": "warning", "event": "Ada is late", "service": "player", "house": "main", "agent": "mine"}
    expected |= {"game": "g1", "seat": "Ada", "by_s": 1.5, "logger": "players.agent"}
    assert list(line.items()) == list(expected.items())
    assert (other["event"], other["agent"]) == ("hello", "other")


def test_to_log_loads_nothing_that_draws_on_a_terminal():
    code = "import sys; from wolfbus.service.logs import configure_logs as log; log(); sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_traceback_stays_in_one_json_line(begin, lines):
    begin("json")
    log_failure("no\nsuch thing")
    (line,) = lines()
    assert line["event"] == "it failed"
    assert "Traceback" in line["exception"]
    assert "no\nsuch thing" in line["exception"]


@pytest.mark.parametrize("style", ["json", "text"])
def test_words_of_a_model_cannot_forge_a_line_or_reach_the_terminal(begin, capsys, style):
    text = "hello\n{}\x1b[2J\u202e"
    begin(style)
    log.info("%s", text, extra={"reason": text})
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.isascii()
    assert "\x1b" not in err


def test_a_text_line_is_short_and_a_traceback_is_indented_below(begin, capsys):
    begin("text")
    log.info("the game begins", extra={"game": "g1", "agent": "player-2"})
    log.info("hello", extra={"agent": "mine"})
    log_failure("no such thing")
    first, bound_line, second, *trace = capsys.readouterr().err.splitlines()
    assert first[8:] == " the game begins (agent player-2, game g1)"
    assert bound_line[8:] == " hello", "what is bound is the same on every line"
    assert second[8:].startswith(" ERROR it failed")
    assert trace[0].endswith("| Traceback (most recent call last):")
    assert all(line.startswith("  | ") for line in trace)


def test_only_what_is_as_grave_as_asked_for_is_logged(begin, lines, monkeypatch):
    monkeypatch.setenv("WOLFBUS_LOG_LEVEL", "Warning")
    # to configure again replaces and does not double
    begin("text")
    begin("json")
    log.info("little")
    log.warning("much")
    assert [(line["event"], line["service"]) for line in lines()] == [("much", "player")]
    monkeypatch.setenv("WOLFBUS_LOG_LEVEL", "loud")
    expected = "wolfbus: WOLFBUS_LOG_LEVEL: 'loud' is none of debug, info, warning, error\n"
    assert begin("json") == (2, expected)


def test_warnings_and_what_nobody_catches_are_logged_too(begin, lines):
    begin("json")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=False)
        logging.captureWarnings(capture=True)
        warnings.warn("old ways", stacklevel=1)

    thread = threading.Thread(target=fail, args=("in a thread",), name="reader")
    thread.start()
    thread.join()
    sys.excepthook(ValueError, ValueError("at last"), None)
    sys.excepthook(ConfigError, ConfigError("no such house"), None)
    warned, threaded, last, friendly = lines()
    assert "old ways" in str(warned["event"])
    assert threaded["event"] == "thread reader ended unexpectedly: in a thread"
    assert "ValueError" in str(threaded["exception"])
    assert (last["level"], last["event"]) == ("critical", "this was not expected: at last")
    assert friendly["event"] == "no such house"
    assert [line.get("exception") is None for line in (last, friendly)] == [False, True], (
        "a line of ours needs no traceback"
    )
