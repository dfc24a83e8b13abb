"""`Pen`: writes one seat's replies."""

from __future__ import annotations

import logging
from typing import Protocol

from wolfbus.agent.answer import Answer, reply_to
from wolfbus.agent.requests import Requests
from wolfbus.errors import BusError
from wolfbus.messages.codec import pack
from wolfbus.messages.content import Content
from wolfbus.messages.requests import Ask
from wolfbus.printable import storable

logger = logging.getLogger(__name__)


class Post(Protocol):
    """Where a seat's messages go; safe from any thread."""

    def send(self, game: str, body: bytes, kind: str = "reply", /) -> None:
        """Send one packed message of a game, of this type."""
        ...


class Pen:
    """Writes one seat's replies; safe from any thread. An answer that nobody wants any more is dropped.

    Args:
        game: the game's id.
        seat: the seat's name.
        post: takes the replies.
        requests: knows which answers are wanted, and is told of each; None where all are.

    Attributes:
        limit: bytes a message may have; what is beside an answer's content is cut to fit. None for no limit.
    """

    def __init__(self, game: str, seat: str, post: Post, requests: Requests | None = None) -> None:
        self.limit: int | None = None
        self._game = game
        self._seat = seat
        self._post = post
        self._requests = requests
        self._failed = False

    def answer(self, ask: Ask, given: Answer | Content | None) -> None:
        """Send the answer to one request; None sends nothing, and the request may be put again."""
        if given is None:
            if self._requests is not None:
                self._requests.drop(ask.id)
            return
        try:
            answer = given if isinstance(given, Answer) else Answer(given)
            body = pack(reply_to(self._game, self._seat, ask, answer, self.limit))
        except Exception as error:  # noqa: BLE001 - whatever a brain gives instead of an answer, the record says what
            self.fail(ask, error)
            return
        self._close(ask, body)

    def fail(self, ask: Ask, error: BaseException) -> None:
        """Close a request whose brain raised `error`; the record says what."""
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
        note = f"the brain failed: {what}"
        failed = Answer(None, fault="failed", note=note[:300])
        self._close(ask, pack(reply_to(self._game, self._seat, ask, failed)))

    def _close(self, ask: Ask, body: bytes) -> None:
        if self._requests is None or self._requests.answered(ask.id):
            self._send(body)
        else:
            logger.debug("%s: %s is not asked any more: its answer is dropped", self._seat, ask.id)

    def _send(self, body: bytes) -> None:
        try:
            self._post.send(self._game, body)
        except BusError as error:
            logger.debug("%s: a message came after the bus was closed: %s", self._seat, error)


def printable_note(error: BaseException) -> str:
    """Return an error's text as one line that any terminal takes."""
    line = storable(" ".join(str(error).split()))
    return "".join(character for character in line if character.isprintable())
