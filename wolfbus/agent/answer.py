"""What a seat answers, in simple values or in full, and the reply that carries it: one place for every agent."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic import ValidationError

from wolfbus.errors import first_fault
from wolfbus.files.printable import storable
from wolfbus.game.vocabulary import KINDS, Fault, Kind, Reading
from wolfbus.messages.base import PROTOCOL, Part
from wolfbus.messages.codec import pack, plain
from wolfbus.messages.content import CONTENT, Ballot, Bid, Choice, Consent, Content, Label, Proposal, Speech
from wolfbus.messages.requests import Ask

if TYPE_CHECKING:
    from wolfbus.knowledge.view import SeatView
    from wolfbus.reading import Read

Simple: TypeAlias = Content | int | str | dict[str, Any] | None
"""An answer: its content type (`Bid`, `Speech`, `Label`, `Judgement`, `Ballot`, `Choice`,
`Proposal`), a dict of that type's fields, or for short an int as a bid, a str as a statement or as
the name of a player, and None for silence, nobody, an abstention or no assessment."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with what researchers may read beside it.

    Attributes:
        content: the answer itself. None beside a `fault` or a `note` is no usable answer: the
            request is closed all the same, and the conservative default stands in.
        thought: private scratchpad: recorded for researchers, handed back to this seat when it is
            caught up, shown to no other.
        reading: how much work it took to read the content from a model's text.
        raw: the model's text, where it differs from the content.
        fault: why there is no content.
        note: one line on what went wrong.
        consent: what the person who answers agreed to before it took its seat.
    """

    content: Simple = None
    thought: str | None = None
    reading: Reading = "clean"
    raw: str | None = None
    fault: Fault | None = None
    note: str | None = None
    consent: Consent | None = None


NO_ANSWER: Final = Answer(note="there is no answer")
"""Sends nothing: the moderator waits until the deadline and takes the default."""

AnswerLike: TypeAlias = Simple | Answer
"""What a method of an agent may return."""

_EXPECTED: Final[dict[Kind, str]] = {
    **dict.fromkeys(KINDS, "a name, or None for nobody"),
    "bid": "a whole number",
    "speak": "a string, or None for silence",
    "assess_own": "a dict of the fields of Label, or None",
    "assess_other": "a dict of the fields of Judgement, or None",
    "vote": "a name, a dict with target and reason, or None to abstain",
    "whisper": "a name, a dict with target and word, or None for nobody",
}


def answer_of(kind: Kind, returned: AnswerLike) -> Answer:
    """Return what a method returned as an answer whose content is of the kind's type, or None.

    Raises:
        TypeError: it cannot be an answer to this kind of request.
        ValueError: a dict whose fields are not those of the content type, or a value that its field cannot hold; the
            line names the first at fault.
    """
    answer = returned if isinstance(returned, Answer) else Answer(returned)
    simple = answer.content
    if isinstance(simple, CONTENT[kind]) or (simple is None and (answer.fault or answer.note)):
        return answer
    content = _content(kind, simple)
    if content is None:
        return replace(answer, content=None, note="the agent gave no assessment")
    return replace(answer, content=content)


def answer_in_text(text: str, read: Read, longest: int) -> Answer:
    """Return what a text answers; one that cannot be used becomes an answer without content that says why.

    Args:
        text: what was written.
        read: what the reading ladder made of it.
        longest: characters of the text that are kept at most beside the answer, where reading it took liberties.
    """
    if read.content is None:
        return Answer(None, read.thought, raw=text[:longest], fault=read.fault, note=read.note)
    reading = read.reading or "clean"
    return Answer(read.content, read.thought, reading, raw=None if reading == "clean" else text[:longest])


def labelled(answer: Answer, label: Answer) -> Answer:
    """Return words with the label that came with them; as they are where one of the two cannot be used."""
    if not isinstance(answer.content, Speech | Ballot) or not isinstance(label.content, Label):
        return answer
    return replace(answer, content=answer.content.model_copy(update={"label": label.content}))


def worth_until(ask: Ask, view: SeatView) -> float:
    """Return until when, in monotonic time, an answer is worth having.

    Where a seat is absent, the moderator's patience is short; but a late answer brings the seat back.
    """
    return time.monotonic() + max(ask.deadline_s, view.config.deadlines.of(ask.kind))


def _content(kind: Kind, simple: Simple) -> Content | None:
    content_type = CONTENT[kind]
    try:
        if isinstance(simple, dict):
            # by way of JSON, so that lists and whole numbers do where tuples and floats are meant
            return content_type.model_validate_json(json.dumps(simple))
        content = _from_value(kind, simple)
    except ValidationError as error:
        raise ValueError(f"{kind}: {first_fault(error)}") from None
    if content is None and not (simple is None and kind.startswith("assess")):
        expected = f"{_EXPECTED[kind]}, or {content_type.__name__}"
        raise TypeError(f"{kind} is answered with {expected}; not {simple!r:.80}")
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
    return Choice(target=simple) if CONTENT[kind] is Choice else None


def pack_reply(game: str, seat: str, ask: Ask, answer: Answer, limit: int | None = None) -> bytes:
    """Return the bytes of the `Reply` that carries an answer.

    Args:
        game: the game's id.
        seat: who answers.
        ask: what is answered.
        answer: what `answer_of` returned.
        limit: bytes a reply may have; what is beside the content is cut to fit, and the note says
            so. None for no limit.

    Raises:
        ValueError: the content alone is longer than that: it would be rejected unread, and waited for in vain.
    """
    reply = _plain(game, ask, seat, answer)
    body = pack(reply)
    if limit is None or len(body) <= limit:
        return body
    body = _cut(reply, limit)
    if len(body) > limit:
        raise ValueError(f"the answer has {len(body)} bytes; the limit is {limit}")
    return body


def _plain(game: str, ask: Ask, seat: str, answer: Answer) -> dict[str, Any]:
    reply: dict[str, Any] = {
        "v": PROTOCOL,
        "type": "reply",
        "game": game,
        "request": ask.id,
        "seat": seat,
        "kind": ask.kind,
        "reading": answer.reading,
    }
    if isinstance(answer.content, Part):
        reply["content"] = plain(answer.content)
    if answer.consent is not None:
        reply["consent"] = plain(answer.consent)
    for name in ("thought", "raw", "fault", "note"):
        value = getattr(answer, name)
        if value is not None:
            reply[name] = storable(value)
    return reply


def _cut(reply: dict[str, Any], limit: int) -> bytes:
    """Shorten the private text beside a reply's content, and return its bytes."""
    note = str(reply.get("note") or "")
    if "raw" in reply or "thought" in reply:
        reply["note"] = "; ".join(filter(None, [note, "raw text and thought were cut to fit"]))
    for name in ("raw", "thought"):
        over = len(pack(reply)) - limit
        if over > 0 and name in reply:
            reply[name] = reply[name].encode()[:-over].decode("utf-8", "ignore")
    return pack(reply)
