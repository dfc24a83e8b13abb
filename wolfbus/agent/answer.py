"""What a seat answers, and the reply that carries it: built in one place for every kind of player."""

from __future__ import annotations

from dataclasses import dataclass

from wolfbus.messages.base import PROTOCOL
from wolfbus.messages.codec import pack, plain
from wolfbus.messages.content import CONTENT, Content
from wolfbus.messages.requests import Ask
from wolfbus.printable import storable
from wolfbus.vocabulary import Fault, Reading


@dataclass(frozen=True, slots=True)
class Answer:
    """What a brain answers, with what researchers may read beside it.

    Attributes:
        content: the answer itself, of the type that `wolfbus.messages.content.CONTENT` names for the kind of request;
            None where the brain has no usable answer. The request is closed all the same, and the conservative default
            stands in.
        thought: private scratchpad; recorded, shown to no other seat.
        reading: how much work it took to read the content from a model's text.
        raw: the model's text, where it differs from the content.
        fault: why there is no content.
        note: one line on what went wrong.
    """

    content: Content | None
    thought: str | None = None
    reading: Reading = "clean"
    raw: str | None = None
    fault: Fault | None = None
    note: str | None = None


def reply_to(game: str, seat: str, ask: Ask, answer: Answer, limit: int | None = None) -> dict[str, object]:
    """Return the reply that carries `answer`, as plain values.

    Args:
        game: the game's id.
        seat: who answers.
        ask: what is answered.
        answer: what the brain gave.
        limit: bytes a reply may have; what is beside the content is cut to fit, and the note says so. None for no
        limit.

    Raises:
        TypeError: the content is of another type than this kind of request wants.
    """
    reply: dict[str, object] = {
        "v": PROTOCOL,
        "type": "reply",
        "game": game,
        "request": ask.id,
        "seat": seat,
        "kind": ask.kind,
        "reading": answer.reading,
    }
    if answer.content is not None:
        wanted = CONTENT[ask.kind]
        if not isinstance(answer.content, wanted):
            raise TypeError(f"{ask.kind} is answered with {wanted.__name__}, not {type(answer.content).__name__}")
        reply["content"] = plain(answer.content)
    for name in ("thought", "raw", "fault", "note"):
        value = getattr(answer, name)
        if value is not None:
            reply[name] = storable(value)
    beside = len(answer.raw or "") + len(answer.thought or "")
    if limit is not None and 4 * beside > limit and len(pack(reply)) > limit:
        _cut(reply, limit)
    return reply


def _cut(reply: dict[str, object], limit: int) -> None:
    """Shorten the private text beside a reply's content: an oversized reply would be rejected whole."""
    reply["note"] = "; ".join(filter(None, [str(reply.get("note") or ""), "raw text and thought were cut to fit"]))
    for name in ("raw", "thought"):
        over = len(pack(reply)) - limit
        if over > 0 and isinstance(reply.get(name), str):
            reply[name] = _shortened(str(reply[name]), over)


def _shortened(text: str, over: int) -> str:
    """Return `text` without its last `over` bytes."""
    return text.encode()[:-over].decode("utf-8", "ignore")
