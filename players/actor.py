"""`PlayerActor`: one seat's private view and the brain that answers for it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from players.brain import Answer, Brain, Given, LaterBrain
from wolfbus.actors import PooledActor, tell_if_alive
from wolfbus.errors import BusError
from wolfbus.messages.base import PROTOCOL
from wolfbus.messages.calls import REPLY_KEPT, Call, PromptText
from wolfbus.messages.codec import pack, plain
from wolfbus.messages.content import CONTENT
from wolfbus.messages.delivery import Ask, Public, SeatPart
from wolfbus.printable import storable
from wolfbus.view import SeatView

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class News:
    """What a delivery holds for one seat: public facts, and its own part if it has one."""

    facts: tuple[Public, ...]
    part: SeatPart | None


@dataclass(frozen=True, slots=True)
class Answered:
    """A slow brain is through with its questions."""


class Desk(Protocol):
    """Where a player's messages go; safe from any thread."""

    def send(self, game: str, body: bytes, /) -> None:
        """Send one packed message of a game."""
        ...

    def send_segments(self, game: str, seat: str, texts: Sequence[PromptText], /) -> None:
        """Send prompt text that no seat of this agent sent before."""
        ...


class PlayerActor(PooledActor):
    """Plays one seat.

    A brain that calls itself `quick` answers inside this actor. A brain that can `start` answers later, from wherever
    it does its work. Any other gets a thread of its own while it thinks, one question after the other, and this actor
    keeps the news back meanwhile: the view does not change under a thinking brain.

    Args:
        game: the game's id.
        seat: the seat's name.
        brain: what answers.
        desk: takes the replies and reports.
    """

    def __init__(self, game: str, seat: str, brain: Brain | LaterBrain, desk: Desk) -> None:
        super().__init__()
        self._brain = brain
        self._later = brain if isinstance(brain, LaterBrain) else None
        self._now = None if isinstance(brain, LaterBrain) else brain
        self._quick = bool(getattr(brain, "quick", False))
        self._view = SeatView(me=seat)
        self._pen = Pen(game, seat, desk)
        self._thinking = False
        self._waiting: list[tuple[float, News]] = []

    def on_receive(self, message: Any) -> None:
        """Take in news and answer what is asked."""
        if isinstance(message, News):
            self._waiting.append((time.monotonic(), message))
        elif isinstance(message, Answered):
            self._thinking = False
        while self._waiting and not self._thinking:
            self._take_in(*self._waiting.pop(0))

    def on_stop(self) -> None:
        """Let the brain give up what it still does."""
        close = getattr(self._brain, "close", None)
        if not callable(close):
            return
        try:
            close()
        except Exception:
            logger.exception("%s: the brain could not be closed", self._view.me)

    def _take_in(self, heard: float, news: News) -> None:
        for fact in news.facts:
            self._view.hear_public(fact)
        if news.part is None:
            return
        for private in news.part.facts:
            self._view.hear_private(private)
        self._pen.limit = self._view.config.max_reply_bytes
        asks = news.part.asks
        if not asks:
            return
        if self._later is not None:
            self._start(self._later, asks)
        elif self._now is not None and self._quick:
            for ask in asks:
                self._answer(self._now, ask)
        else:
            self._thinking = True
            # a daemon: a brain that never comes back must not keep the process
            arguments = (self._now, heard, asks)
            threading.Thread(target=self._think, args=arguments, name=f"brain-{self._view.me}", daemon=True).start()

    def _start(self, brain: LaterBrain, asks: tuple[Ask, ...]) -> None:
        try:
            brain.start(asks, self._view, self._pen)
        except BaseException as error:  # noqa: BLE001 - a brain may fail in any way; the record says how
            for ask in asks:
                self._pen.fail(ask, error)

    def _think(self, brain: Brain, heard: float, asks: tuple[Ask, ...]) -> None:
        for ask in asks:
            # who thought too long about one question should not go on with all those that are closed by now; the
            # newest is answered even so, for a late answer tells the moderator that the seat is alive
            in_time = time.monotonic() - heard < ask.deadline_s
            if in_time or (ask is asks[-1] and not self._waiting):
                self._answer(brain, ask)
        tell_if_alive(self.actor_ref, Answered())

    def _answer(self, brain: Brain, ask: Ask) -> None:
        try:
            given = brain.answer(ask, self._view)
        except BaseException as error:  # noqa: BLE001 - a brain may fail in any way; the record says how
            self._pen.fail(ask, error)
        else:
            self._pen.answer(ask, given)


class Pen:
    """Writes one seat's replies and reports: the `Outlet` of its brain; safe from any thread.

    Attributes:
        limit: bytes a message may have; what is beside an answer's content is cut to fit. None for no limit.
    """

    def __init__(self, game: str, seat: str, desk: Desk) -> None:
        self._game = game
        self._seat = seat
        self._desk = desk
        self._failed = False
        self.limit: int | None = None

    def answer(self, ask: Ask, given: Given) -> None:
        """Send the answer to one request; None sends nothing."""
        if given is None:
            return
        try:
            answer = given if isinstance(given, Answer) else Answer(given)
            body = pack(reply_to(self._game, self._seat, ask, answer, self.limit))
        except Exception as error:  # noqa: BLE001 - whatever a brain gives instead of an answer, the record says what
            self.fail(ask, error)
            return
        self._send(body)

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
        )
        self._failed = True
        note = f"the brain failed: {what}"
        failed = Answer(None, fault="failed", note=note[:300])
        self._send(pack(reply_to(self._game, self._seat, ask, failed)))

    def segments(self, texts: Sequence[PromptText]) -> None:
        """Send new prompt text."""
        if texts:
            self._desk.send_segments(self._game, self._seat, texts)

    def called(self, call: Call) -> None:
        """Send the report of a model call."""
        if call.reply is not None and len(call.reply) > REPLY_KEPT:
            length = call.reply_length or len(call.reply)
            call = call.model_copy(update={"reply": call.reply[:REPLY_KEPT], "reply_length": length})
        self._send(pack({"v": PROTOCOL, "type": "called", "game": self._game, "call": plain(call)}))

    def _send(self, body: bytes) -> None:
        try:
            self._desk.send(self._game, body)
        except BusError as error:
            logger.debug("%s: a message came after the bus was closed: %s", self._seat, error)


def printable_note(error: BaseException) -> str:
    """Return an error's text as one line that any terminal takes."""
    line = storable(" ".join(str(error).split()))
    return "".join(character for character in line if character.isprintable())


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
