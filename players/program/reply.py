"""A child's line, read as an answer: by the same ladder as a language model's text."""

from __future__ import annotations

import json
from dataclasses import dataclass

from players.program.splitter import LONGEST, Overlong
from wolfbus.agent.answer import Answer
from wolfbus.messages.requests import Ask
from wolfbus.reading import Question, read
from wolfbus.view import SeatView
from wolfbus.vocabulary import Fault

_RAW = 4_096


@dataclass(frozen=True, slots=True)
class Outline:
    """What can be told of a line before it is read as an answer.

    Attributes:
        whole: whether it is a JSON object.
        id: the request that it says it answers; None where it says nothing of it.
    """

    whole: bool
    id: str | None = None


def outline(line: bytes | Overlong) -> Outline:
    """Return whether a line is a JSON object, and which request it names."""
    if isinstance(line, Overlong):
        return Outline(False)
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return Outline(False)
    if not isinstance(value, dict):
        return Outline(False)
    named = value.get("id")
    return Outline(True, named if named is None or isinstance(named, str) else repr(named))


def mentions(line: bytes, request: str) -> bool:
    """Return whether a line that is no JSON object, such as a broken one, has a request's id in it, in quotes."""
    text = line.decode("utf-8", "replace")
    # the quotes matter: the id of one request may begin that of another
    return any(each in text for each in (json.dumps(request), json.dumps(request, ensure_ascii=False), f"'{request}'"))


def read_reply(line: bytes | Overlong, ask: Ask, view: SeatView) -> Answer:
    """Return what a line answers; a line that cannot be used becomes an answer without content that says why."""
    if isinstance(line, Overlong):
        return unusable(line.start, f"the child wrote a line of more than {LONGEST} bytes")
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return unusable(line, "the reply is not UTF-8")
    found = read(text, Question(ask.kind, legal=ask.legal, names=view.names, bid_max=view.config.bid_max))
    if found.content is None:
        return Answer(None, thought=found.thought, raw=text, fault=found.fault or "unparseable", note=found.note)
    reading = found.reading or "clean"
    return Answer(found.content, thought=found.thought, reading=reading, raw=None if reading == "clean" else text)


def unusable(raw: bytes | None, note: str, fault: Fault = "unparseable") -> Answer:
    """Return the answer that closes a request without content; only the start of a long raw text is kept."""
    text = None if raw is None else raw[:_RAW].decode("utf-8", "replace")
    return Answer(None, fault=fault, raw=text, note=note)


def failed(note: str) -> Answer:
    """Return the answer that closes a request to a child that has ended or cannot be started: nothing is to be read."""
    return unusable(None, note, "failed")
