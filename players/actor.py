"""`PlayerActor`: one seat's private view and the brain that answers for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from players.brain import Brain, LaterBrain
from wolfbus.actors import PooledActor, tell_if_alive
from wolfbus.agent.hearing import Hearing, News, worth_answering
from wolfbus.agent.pen import Pen as ReplyPen
from wolfbus.agent.pen import Post
from wolfbus.agent.requests import Requests
from wolfbus.errors import BusError, RulesError
from wolfbus.messages.base import PROTOCOL
from wolfbus.messages.calls import REPLY_KEPT, Call, PromptText
from wolfbus.messages.codec import pack, plain
from wolfbus.messages.requests import Ask, Seated

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answered:
    """A slow brain is through with its questions.

    Attributes:
        hearing: what the seat knew then; another's brain may have been put aside since.
    """

    hearing: Hearing


class Outgoing(Post, Protocol):
    """Where a seat's replies and reports go; safe from any thread."""

    def send_segments(self, game: str, seat: str, texts: Sequence[PromptText], /) -> None:
        """Send prompt text that no seat of this agent sent before."""
        ...


class Desk(Outgoing, Protocol):
    """What a player has of its agent; safe from any thread."""

    def missed(self, game: str, why: str, /) -> None:
        """Take note that facts of a game did not reach a seat."""
        ...

    def another(self, seated: Seated, /) -> Brain | LaterBrain:
        """Return a brain that knows nothing yet, for a seat whose game goes on from before what was told."""
        ...

    def left(self) -> None:
        """Take note that a player is gone and has let go of all that it had."""
        ...


class PlayerActor(PooledActor):
    """Plays one seat.

    A brain that calls itself `quick` answers inside this actor. A brain that can `start` answers later, from wherever
    it does its work. Any other gets a thread of its own while it thinks, one question after the other, and this actor
    keeps the news back meanwhile: the view does not change under a thinking brain.

    Where a `catch_up` tells another story than was told before, the bus has lost data: view and brain are put aside,
    and new ones begin with it.

    Args:
        game: the game's id.
        seat: the seat's name.
        brain: what answers.
        desk: takes the replies and reports.
    """

    def __init__(self, game: str, seat: str, brain: Brain | LaterBrain, desk: Desk) -> None:
        super().__init__()
        self._game = game
        self._seat = seat
        self._desk = desk
        self._waiting: list[News] = []
        self._begin(brain)

    def on_receive(self, message: Any) -> None:
        """Take in news and answer what is asked."""
        if isinstance(message, News):
            if message.asked_at is not None:
                self._catch_up(message)
            self._waiting.append(message)
        elif isinstance(message, Answered) and message.hearing is self._hearing:
            self._thinking = False
        while self._waiting and not self._thinking:
            self._take_in(self._waiting.pop(0))

    def on_stop(self) -> None:
        """Let the brain give up what it still does."""
        try:
            self._close()
        finally:
            self._desk.left()

    def _begin(self, brain: Brain | LaterBrain) -> None:
        self._brain = brain
        self._later = brain if isinstance(brain, LaterBrain) else None
        self._now = None if isinstance(brain, LaterBrain) else brain
        self._quick = bool(getattr(brain, "quick", False))
        self._hearing = Hearing(self._seat)
        self._pen = Pen(self._game, self._seat, self._desk, self._hearing.requests)
        self._thinking = False

    def _close(self) -> None:
        close = getattr(self._brain, "close", None)
        try:
            if callable(close):
                close()
        except Exception:
            logger.exception("%s: the brain could not be closed", self._seat)

    def _catch_up(self, news: News) -> None:
        """Make ready for a `catch_up`: all that waits is in it, or was lost."""
        self._waiting.clear()
        if self._hearing.expect(news):
            return
        logger.info(
            "%s: the bus lost what was told last; the brain starts anew, from what is left of the game",
            self._seat,
            extra={"game": self._game, "seat": self._seat},
        )
        told = news.part.facts if news.part is not None else ()
        seated = next((own.fact for own in told if isinstance(own.fact, Seated)), None)
        self._close()
        self._begin(self._brain if seated is None else self._desk.another(seated))

    def _take_in(self, news: News) -> None:
        try:
            asks = self._hearing.hear(news)
        except RulesError as error:
            self._desk.missed(self._game, str(error))
            return
        if not asks:
            self._tell()
            return
        self._pen.limit = self._hearing.view.config.max_reply_bytes
        if self._later is not None:
            self._start(self._later, asks)
        elif self._now is not None and self._quick:
            for ask in asks:
                _answer(self._now, ask, self._hearing, self._pen)
        else:
            self._thinking = True
            # a daemon: a brain that never comes back must not keep the process
            arguments = (self._now, self._hearing, self._pen, news.heard, asks)
            threading.Thread(target=self._think, args=arguments, name=f"brain-{self._seat}", daemon=True).start()

    def _tell(self) -> None:
        """Let a brain that wants to know of it hear what is new."""
        heard = getattr(self._brain, "heard", None)
        try:
            if callable(heard):
                heard(self._hearing.view)
        except Exception:
            logger.exception("%s: the brain failed on what it heard", self._seat)

    def _start(self, brain: LaterBrain, asks: tuple[Ask, ...]) -> None:
        try:
            brain.start(asks, self._hearing.view, self._pen)
        except BaseException as error:  # noqa: BLE001 - a brain may fail in any way; the record says how
            for ask in asks:
                self._pen.fail(ask, error)

    def _think(self, brain: Brain, hearing: Hearing, pen: Pen, heard: float, asks: tuple[Ask, ...]) -> None:
        for ask in asks:
            if not worth_answering(ask, heard, newest=ask is asks[-1] and not self._waiting):
                hearing.requests.drop(ask.id)
            elif hearing.requests.under_way(ask.id):
                _answer(brain, ask, hearing, pen)
        tell_if_alive(self.actor_ref, Answered(hearing))


def _answer(brain: Brain, ask: Ask, hearing: Hearing, pen: Pen) -> None:
    try:
        given = brain.answer(ask, hearing.view)
    except BaseException as error:  # noqa: BLE001 - a brain may fail in any way; the record says how
        pen.fail(ask, error)
    else:
        pen.answer(ask, given)


class Pen(ReplyPen):
    """Writes one seat's replies and reports: the `Outlet` of its brain; safe from any thread.

    Args:
        game: the game's id.
        seat: the seat's name.
        desk: takes the replies and reports.
        requests: knows which answers are wanted, and is told of each; None where all are.
    """

    def __init__(self, game: str, seat: str, desk: Outgoing, requests: Requests | None = None) -> None:
        super().__init__(game, seat, desk, requests)
        self._desk = desk

    def segments(self, texts: Sequence[PromptText]) -> None:
        """Send new prompt text."""
        if texts:
            self._desk.send_segments(self._game, self._seat, texts)

    def called(self, call: Call) -> None:
        """Send the report of a model call."""
        if call.reply is not None and len(call.reply) > REPLY_KEPT:
            length = call.reply_length or len(call.reply)
            call = call.model_copy(update={"reply": call.reply[:REPLY_KEPT], "reply_length": length})
        body = pack({"v": PROTOCOL, "type": "called", "game": self._game, "call": plain(call)})
        try:
            self._desk.send(self._game, body, "called")
        except BusError as error:
            logger.debug("%s: a report came after the bus was closed: %s", self._seat, error)
