"""`PlayerActor`: one seat's private view and the brain that answers for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from players.brain import Answer, Brain
from wolfbus.actors import PooledActor
from wolfbus.messages.base import PROTOCOL
from wolfbus.messages.codec import plain
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
        send: sends a reply, given as plain values; safe from any thread.
    """

    def __init__(self, game: str, seat: str, brain: Brain, send: Callable[[dict[str, object]], None]) -> None:
        super().__init__()
        self._game = game
        self._brain = brain
        self._send = send
        self._quick = bool(getattr(brain, "quick", False))
        self._view = SeatView(me=seat)
        self._thinking = False
        self._waiting: list[News] = []

    def on_receive(self, message: Any) -> None:
        """Take in news and answer what is asked."""
        if isinstance(message, News):
            self._waiting.append(message)
        elif isinstance(message, Answered):
            self._thinking = False
        while self._waiting and not self._thinking:
            self._take_in(self._waiting.pop(0))

    def _take_in(self, news: News) -> None:
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
        threading.Thread(target=self._think, args=(asks,), name=f"brain-{self._view.me}", daemon=True).start()

    def _think(self, asks: tuple[Ask, ...]) -> None:
        try:
            for ask in asks:
                self._answer(ask)
        finally:
            if self.actor_ref.is_alive():
                self.actor_ref.tell(Answered())

    def _answer(self, ask: Ask) -> None:
        try:
            given = self._brain.answer(ask, self._view)
            if given is None:
                return
            answer = given if isinstance(given, Answer) else Answer(given)
            reply = reply_to(self._game, self._view.me, ask, answer)
        except Exception as error:  # noqa: BLE001 - a brain may fail in any way; the record says how
            logger.warning("%s: the brain failed on %s: %s: %s", self._view.me, ask.kind, type(error).__name__, error)
            failure = Answer(None, fault="unparseable", note=f"the brain failed: {type(error).__name__}: {error}"[:300])
            reply = reply_to(self._game, self._view.me, ask, failure)
        self._send(reply)


def reply_to(game: str, seat: str, ask: Ask, answer: Answer) -> dict[str, object]:
    """Return the reply that carries `answer`, as plain values.

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
            raise TypeError(f"a {ask.kind} is answered with {wanted.__name__}, not {type(answer.content).__name__}")
        reply["content"] = plain(answer.content)
    for name in ("thought", "raw", "fault", "note"):
        value = getattr(answer, name)
        if value is not None:
            reply[name] = value
    return reply
