"""`PlayerActor`: one seat's private view and the brain that answers for it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from players.brain import Answer, Brain
from wolfbus.actors import PooledActor, tell_if_alive
from wolfbus.errors import BusError
from wolfbus.messages.base import PROTOCOL
from wolfbus.messages.codec import pack, plain
from wolfbus.messages.content import CONTENT
from wolfbus.messages.delivery import Ask, Public, SeatPart
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


class PlayerActor(PooledActor):
    """Plays one seat.

    A brain that calls itself `quick` answers inside this actor. Any other gets a thread of its own while it thinks,
    one question after the other, and this actor keeps the news back meanwhile: the view does not change under a
    thinking brain.

    Args:
        game: the game's id.
        seat: the seat's name.
        brain: what answers.
        send: sends a packed reply for a game; safe from any thread.
    """

    def __init__(self, game: str, seat: str, brain: Brain, send: Callable[[str, bytes], None]) -> None:
        super().__init__()
        self._game = game
        self._brain = brain
        self._send = send
        self._quick = bool(getattr(brain, "quick", False))
        self._view = SeatView(me=seat)
        self._failed = False
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

    def _take_in(self, heard: float, news: News) -> None:
        for fact in news.facts:
            self._view.hear_public(fact)
        if news.part is None:
            return
        for private in news.part.facts:
            self._view.hear_private(private)
        asks = news.part.asks
        if not asks:
            return
        if self._quick:
            for ask in asks:
                self._answer(ask)
            return
        self._thinking = True
        # a daemon: a brain that never comes back must not keep the process
        threading.Thread(target=self._think, args=(heard, asks), name=f"brain-{self._view.me}", daemon=True).start()

    def _think(self, heard: float, asks: tuple[Ask, ...]) -> None:
        for ask in asks:
            # who thought too long about one question should not go on with all those that are closed by now; the
            # newest is answered even so, for a late answer tells the moderator that the seat is alive
            in_time = time.monotonic() - heard < ask.deadline_s
            if in_time or (ask is asks[-1] and not self._waiting):
                self._answer(ask)
        tell_if_alive(self.actor_ref, Answered())

    def _answer(self, ask: Ask) -> None:
        try:
            given = self._brain.answer(ask, self._view)
            if given is None:
                return
            answer = given if isinstance(given, Answer) else Answer(given)
            reply = reply_to(self._game, self._view.me, ask, answer, self._view.config.max_reply_bytes)
            body = pack(reply)
        except BaseException as error:  # noqa: BLE001 - a brain may fail in any way; the record says how
            what = f"{type(error).__name__}: {printable_note(error)}"
            # the first failure is told, for its author; the record has them all
            logger.log(
                logging.DEBUG if self._failed else logging.WARNING,
                "%s: the brain failed on %s: %.200s (further failures of this seat are in the record only)",
                self._view.me,
                ask.kind,
                what,
            )
            self._failed = True
            note = f"the brain failed: {what}"
            reply = reply_to(self._game, self._view.me, ask, Answer(None, fault="unparseable", note=note[:300]))
            body = pack(reply)
        try:
            self._send(self._game, body)
        except BusError as error:
            logger.debug("%s: an answer came after the bus was closed: %s", self._view.me, error)


def printable_note(error: BaseException) -> str:
    """Return an error's text as one line that any terminal takes."""
    line = " ".join(str(error).split()).encode("utf-8", "replace").decode()
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
            reply[name] = value
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
            kept = str(reply[name]).encode()[:-over]
            reply[name] = kept.decode("utf-8", "ignore")
