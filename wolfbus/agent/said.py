"""Simple values for answers: what an agent's method may return instead of the content type of its kind."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pydantic import ValidationError

from wolfbus.agent.answer import Answer
from wolfbus.messages.codec import first_fault
from wolfbus.messages.content import CONTENT, Ballot, Bid, Choice, Content, Proposal, Speech
from wolfbus.vocabulary import Kind

Simple: TypeAlias = Content | int | str | dict[str, Any] | None
"""An answer: its content type (`Bid`, `Speech`, `Label`, `Judgement`, `Ballot`, `Choice`, `Proposal`), a dict of that
type's fields, or for short an int as a bid, a str as a statement or as the name of a player, and None for silence,
nobody, an abstention or no assessment."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with a private thought beside it.

    Attributes:
        content: the answer.
        thought: private scratchpad: recorded for researchers, handed back to this seat when it is caught up, shown to
            no other.
        raw: a model's text that the answer was read from, for the record.
    """

    content: Simple
    thought: str | None = None
    raw: str | None = None


Said: TypeAlias = Simple | Reply
"""What a method may return."""

_WANTED: Final[dict[Kind, str]] = {
    "bid": "a whole number",
    "speak": "a string, or None for silence",
    "assess_own": "a dict of the fields of Label, or None",
    "assess_other": "a dict of the fields of Judgement, or None",
    "vote": "a name, a dict with target and reason, or None to abstain",
    "kill": "a name, or None for nobody",
    "protect": "a name, or None for nobody",
    "inspect": "a name, or None for nobody",
    "whisper": "a name, a dict with target and word, or None for nobody",
}


def answer_of(kind: Kind, said: Said) -> Answer:
    """Return what a method returned as an answer.

    Raises:
        TypeError: it cannot be an answer to this kind of request.
        ValueError: a dict whose fields are not those of the content type; the line names the first at fault.
    """
    reply = said if isinstance(said, Reply) else Reply(said)
    content = _content(kind, reply.content)
    if content is None:
        return Answer(None, thought=reply.thought, raw=reply.raw, note="the agent gave no assessment")
    return Answer(content, thought=reply.thought, raw=reply.raw)


def _content(kind: Kind, simple: Simple) -> Content | None:
    wanted = CONTENT[kind]
    if isinstance(simple, wanted):
        return simple
    if isinstance(simple, dict):
        return _from_dict(wanted, kind, simple)
    content = _from_value(kind, simple)
    if content is None and not (simple is None and kind.startswith("assess")):
        raise TypeError(f"{kind} is answered with {_WANTED[kind]}, or {wanted.__name__}; not {simple!r:.80}")
    return content


def _from_value(kind: Kind, simple: object) -> Content | None:
    """Return the content that a bare value stands for; None for nothing."""
    if isinstance(simple, int) and not isinstance(simple, bool):
        return Bid(bid=simple) if kind == "bid" else None
    if not isinstance(simple, str | None):
        return None
    if kind == "speak":
        return Speech(text=simple or "")
    if kind == "vote":
        return Ballot(target=simple)
    if kind == "whisper":
        return Proposal(target=simple)
    return Choice(target=simple) if kind in {"kill", "protect", "inspect"} else None


def _from_dict(wanted: type[Content], kind: Kind, fields: dict[str, Any]) -> Content:
    try:
        # by way of JSON, so that lists and whole numbers do where tuples and floats are meant
        return wanted.model_validate_json(json.dumps(fields))
    except ValidationError as error:
        raise ValueError(f"{kind}: {first_fault(error)}") from None
