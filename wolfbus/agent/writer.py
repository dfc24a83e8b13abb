"""`ReplyWriter`: writes one seat's replies and reports."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from wolfbus.agent.answer import (
    NO_ANSWER,
    Answer,
    Said,
    answer_of,
    is_local,
    local_reply,
    pack_local,
    reply_to,
)
from wolfbus.agent.hearing import Requests
from wolfbus.bus.protocol import Unpacked
from wolfbus.errors import BusError
from wolfbus.messages.base import PROTOCOL
from wolfbus.messages.calls import REPLY_KEPT, Call, PromptText
from wolfbus.messages.codec import pack, plain
from wolfbus.messages.content import CONTENT
from wolfbus.messages.requests import Ask
from wolfbus.printable import storable

logger = logging.getLogger(__name__)


class Replies(Protocol):
    """Where an agent that answers later puts its answers and reports; safe from any thread."""

    def answer(self, ask: Ask, said: Said, /) -> None:
        """Answer one request; `NO_ANSWER` only says that there will be no answer."""
        ...

    def segments(self, texts: Sequence[PromptText], /) -> None:
        """Report prompt text before a call refers to it; what was reported is not sent again."""
        ...

    def called(self, call: Call, /) -> None:
        """Report a model call, before the answer that came of it."""
        ...


class Post(Protocol):
    """Where a seat's messages go; safe from any thread."""

    def send(self, game: str, body: bytes | Unpacked, kind: str = "reply", /) -> None:
        """Send one message of a game, of this type."""
        ...

    def send_segments(self, game: str, seat: str, texts: Sequence[PromptText], /) -> None:
        """Send prompt text that no seat of this agent sent before."""
        ...


class ReplyWriter:
    """Writes one seat's `Replies`. An answer that nobody wants any more is dropped.

    Args:
        game: the game's id.
        seat: the seat's name.
        post: takes the messages.
        requests: knows which answers are wanted, and is told of each; None where all are.

    Attributes:
        limit: bytes a message may have; what is beside an answer's content is cut to fit. None for
            no limit.
    """

    def __init__(self, game: str, seat: str, post: Post, requests: Requests | None = None) -> None:
        self.limit: int | None = None
        self._game = game
        self._seat = seat
        self._post = post
        self._requests = requests
        self._failed = False

    def answer(self, ask: Ask, said: Said) -> None:
        """Send the answer to one request; `NO_ANSWER` is not sent, and it may be put again."""
        if said is NO_ANSWER:
            if self._requests is not None:
                self._requests.drop(ask.id)
            return
        try:
            answer = answer_of(ask.kind, said)
            body: bytes | Unpacked
            if self.limit is not None and is_local(answer, CONTENT[ask.kind], self.limit):
                body = Unpacked(local_reply(self._game, self._seat, ask, answer), pack_local)
            else:
                body = pack(reply_to(self._game, self._seat, ask, answer, self.limit))
        except Exception as error:  # noqa: BLE001 - whatever an agent gives instead of an answer, the record says what
            self.fail(ask, error)
            return
        self._close(ask, body)

    def fail(self, ask: Ask, error: BaseException) -> None:
        """Close a request whose agent raised `error`; the record says what."""
        what = f"{type(error).__name__}: {printable_note(error)}"
        # the first failure is told, for its author; the record has them all
        logger.log(
            logging.DEBUG if self._failed else logging.WARNING,
            "%s: the brain failed on %s: %.200s (further failures of this seat are in the record only)",
            self._seat,
            ask.kind,
            what,
            extra={"game": self._game, "seat": self._seat},
        )
        self._failed = True
        failed = Answer(fault="failed", note=f"the brain failed: {what}"[:300])
        self._close(ask, pack(reply_to(self._game, self._seat, ask, failed)))

    def segments(self, texts: Sequence[PromptText]) -> None:
        """Send new prompt text."""
        if texts:
            self._post.send_segments(self._game, self._seat, texts)

    def called(self, call: Call) -> None:
        """Send the report of a model call."""
        if call.reply is not None and len(call.reply) > REPLY_KEPT:
            length = call.reply_length or len(call.reply)
            cut = {"reply": call.reply[:REPLY_KEPT], "reply_length": length}
            call = call.model_copy(update=cut)
        report = {"v": PROTOCOL, "type": "called", "game": self._game, "call": plain(call)}
        self._send(pack(report), "called")

    def _close(self, ask: Ask, body: bytes | Unpacked) -> None:
        if self._requests is None or self._requests.answered(ask.id):
            self._send(body, "reply")
        else:
            logger.debug("%s: %s is not asked any more: its answer is dropped", self._seat, ask.id)

    def _send(self, body: bytes | Unpacked, kind: str) -> None:
        try:
            self._post.send(self._game, body, kind)
        except BusError as error:
            logger.debug("%s: a %s came after the bus was closed: %s", self._seat, kind, error)


def printable_note(error: BaseException) -> str:
    """Return an error's text as one line that any terminal takes."""
    line = storable(" ".join(str(error).split()))
    return "".join(character for character in line if character.isprintable())
