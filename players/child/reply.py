"""A child's line, read as an answer: by the same ladder as a language model's text."""

from __future__ import annotations

import json

from players.brain import Answer
from players.child.splitter import LONGEST, Overlong
from wolfbus.messages.delivery import Ask
from wolfbus.reading import read
from wolfbus.view import SeatView

_RAW = 4_096


def named_id(line: bytes | Overlong) -> str | None:
    """Return the id of the request that a line says it answers; None where it says nothing of it."""
    if isinstance(line, Overlong):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    named = value.get("id") if isinstance(value, dict) else None
    return named if named is None or isinstance(named, str) else repr(named)


def read_reply(line: bytes | Overlong, ask: Ask, view: SeatView) -> Answer:
    """Return what a line answers; a line that cannot be used becomes an answer without content that says why."""
    if isinstance(line, Overlong):
        return unusable(line.start, f"the child wrote a line of more than {LONGEST} bytes")
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return unusable(line, "the reply is not UTF-8")
    found = read(ask.kind, text, legal=ask.legal, names=view.names, bid_max=view.config.bid_max)
    if found.content is None:
        return Answer(None, thought=found.thought, raw=text, fault=found.fault or "unparseable", note=found.note)
    reading = found.reading or "clean"
    return Answer(found.content, thought=found.thought, reading=reading, raw=None if reading == "clean" else text)


def unusable(raw: bytes | None, note: str) -> Answer:
    """Return the answer that closes a request without content; only the start of a long raw text is kept."""
    text = None if raw is None else raw[:_RAW].decode("utf-8", "replace")
    return Answer(None, fault="unparseable", raw=text, note=note)
