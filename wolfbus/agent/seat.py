"""`SeatActor`: one seat of one game: what it may know, and the agent that answers for it, be it in a coroutine."""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from wolfbus.actors import PooledActor, tell_if_alive
from wolfbus.agent.agent import Agent
from wolfbus.agent.answer import Answer, Said
from wolfbus.agent.hearing import Hearing, SeatNews, worth_answering
from wolfbus.agent.outbox import Post, ReplyWriter
from wolfbus.errors import RulesError
from wolfbus.messages.requests import Ask, Seated

if TYPE_CHECKING:
    import asyncio

_Outcome: TypeAlias = tuple[object, BaseException | None]

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None

Done = Callable[[object, BaseException | None], object]
"""Called with what came of an awaitable: its result, or what it raised."""

logger = logging.getLogger(__name__)


def await_later(awaitable: Awaitable[object], done: Done) -> Future[Any]:
    """Await something on the agents' loop, which starts with the first call; return at once.

    Args:
        awaitable: what to wait for, such as a coroutine.
        done: called once, from the loop's thread; cancelling counts as raising.

    Returns:
        What cancels it.
    """
    import asyncio  # five megabytes that most games do without

    future = asyncio.run_coroutine_threadsafe(_ended_with(awaitable), _running())
    future.add_done_callback(lambda ended: done(*_of(ended)))
    return future


async def _ended_with(awaitable: Awaitable[object]) -> _Outcome:
    import asyncio

    try:
        return await awaitable, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - an agent may fail in any way, and must not end the loop
        return None, error


def _of(ended: Future[_Outcome]) -> _Outcome:
    return (None, CancelledError()) if ended.cancelled() else ended.result()


def _running() -> asyncio.AbstractEventLoop:
    global _loop  # noqa: PLW0603 - one per process is what it is for
    with _lock:
        if _loop is None:
            import asyncio

            _loop = asyncio.new_event_loop()
            # a daemon: an agent that never comes back must not keep the process
            threading.Thread(target=_loop.run_forever, name="agent-loop", daemon=True).start()
        return _loop


class SeatContext(Protocol):
    """What a seat has of the process that plays it; safe from any thread."""

    @property
    def outbox(self) -> Post:
        """Where replies and reports go."""
        ...

    def missed(self, game: str, why: str, /) -> None:
        """Ask to be caught up with a game of which facts did not reach a seat."""
        ...

    def another(self, seated: Seated, /) -> Agent:
        """Return a new agent, for a seat whose game goes on from before what was told."""
        ...

    def left(self) -> None:
        """Count out a seat that has let go of all that it had."""
        ...


@dataclass(frozen=True, slots=True)
class GameLeft:
    """The seat is played no more."""


@dataclass(eq=False, slots=True)
class _Call:
    """A method of the agent to be called: a hook, or what answers requests."""

    method: Callable[..., object]
    arguments: tuple[object, ...]
    asks: tuple[Ask, ...] = ()
    answers: bool = False
    """Whether what it returns is the answer to its one request."""
    heard: float = 0.0


@dataclass(frozen=True, slots=True)
class _Done:
    """A call that took its time has come back."""

    call: _Call
    given: object
    error: BaseException | None


class SeatActor(PooledActor):
    """Plays one seat.

    It calls the methods of its agent one at a time, in order: quick ones and hooks inside this
    actor, coroutines on the agents' event loop, any other in a thread of its own. News wait
    meanwhile: the view does not change under an agent that thinks, unless its game is over: then it
    is closed, and what it was thinking is dropped. An agent with a `start` of its own is handed all
    requests of a delivery at once, and answers when it likes.

    Where a `catch_up` tells another story than was told before, the bus has lost data: view and
    agent are put aside, and new ones begin with it.

    Args:
        game: the game's id.
        seat: the seat's name.
        agent: what answers.
        context: takes what it sends, and makes agents.
    """

    def __init__(self, game: str, seat: str, agent: Agent, context: SeatContext) -> None:
        super().__init__()
        self._game = game
        self._seat = seat
        self._context = context
        # lists, for there are thousands of seats, and a deque is ten times larger
        self._waiting: list[SeatNews] = []
        self._calls: list[_Call] = []
        self._busy: _Call | None = None
        self._awaited: Future[Any] | None = None
        self._leaving = self._ended = False
        self._begin(agent)

    def on_receive(self, message: object) -> None:
        """Take in news, take back a call, or leave; then go on with what waits."""
        if isinstance(message, SeatNews):
            if message.asked_at is not None:
                self._catch_up(message)
            self._waiting.append(message)
        elif isinstance(message, _Done):
            if message.call is self._busy:
                self._busy = self._awaited = None
                self._settle(message.call, message.given, message.error)
        elif isinstance(message, GameLeft):
            self._leaving = True
            if self._busy is not None and self._busy.asks:
                # its answer is not wanted any more; as it is closed, it knows how the game has ended
                while self._waiting:
                    self._take_in(self._waiting.pop(0))
                self._close()
        self._go_on()

    def on_stop(self) -> None:
        """Let the agent give up what it still does."""
        try:
            self._close()
        finally:
            self._context.left()

    def _begin(self, agent: Agent) -> None:
        agent.game, agent.seat = self._game, self._seat
        kind = type(agent)
        self._agent = agent
        self._closed = self._seated = False
        self._quick = agent.quick
        self._starts = kind.start is not Agent.start
        self._listens = kind.heard is not Agent.heard
        self._receives = kind.received is not Agent.received
        self._by_kind = kind.answer is Agent.answer
        self._hearing = Hearing(self._seat)
        self._writer = ReplyWriter(self._game, self._seat, self._context.outbox, self._hearing.requests)
        self._calls.clear()
        self._busy = None

    def _close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._awaited is not None:
            self._awaited.cancel()
        try:
            self._agent.close()
        except BaseException:
            logger.exception("%s: the brain could not be closed", self._seat, extra=self._where)

    def _catch_up(self, news: SeatNews) -> None:
        """Make ready for a `catch_up`: all that waits is in it, or was lost."""
        self._waiting.clear()
        if self._hearing.expect(news):
            return
        logger.info(
            "%s: the bus lost what was told last; the brain starts anew, from what is left",
            self._seat,
            extra=self._where,
        )
        told = news.part.facts if news.part is not None else ()
        seated = next((own.fact for own in told if isinstance(own.fact, Seated)), None)
        if seated is not None:
            self._close()
            self._begin(self._context.another(seated))

    def _go_on(self) -> None:
        while self._busy is None:
            if self._calls:
                self._call(self._calls.pop(0))
            elif self._waiting:
                self._take_in(self._waiting.pop(0))
            elif self._leaving and not self._ended:
                self._ended = True
                if self._seated:
                    self._call(_Call(self._agent.ended, (self._hearing.view,)))
            else:
                if self._leaving:
                    self.stop()
                return

    def _take_in(self, news: SeatNews) -> None:
        agent, view = self._agent, self._hearing.view
        heard, private = view.heard, len(view.private)
        asks: tuple[Ask, ...] = ()
        if self._receives:
            own = news.part.facts if news.part is not None else ()
            _, error = _outcome(received := _Call(agent.received, (news.facts, own)))
            if error is not None:
                self._record(received, error)
        try:
            asks = self._hearing.hear(news)
        except RulesError as error:
            self._context.missed(self._game, str(error))
        self._writer.limit = view.config.max_reply_bytes
        if not self._seated and view.names:
            self._seated = True
            self._calls.append(_Call(agent.seated, (view,)))
        if self._listens and (view.heard is not heard or len(view.private) > private):
            fresh = (*view.public[len(heard.facts) :], *view.private[private:])
            self._calls.append(_Call(agent.heard, (fresh, view)))
        if self._starts and asks:
            self._calls.append(_Call(agent.start, (asks, view, self._writer), asks))
            return
        for ask in asks:
            method = getattr(agent, ask.kind, agent.choose) if self._by_kind else agent.answer
            self._calls.append(_Call(method, (ask, view), (ask,), answers=True, heard=news.heard))

    def _call(self, call: _Call) -> None:
        slow = call.answers and not self._quick
        if call.answers and (self._closed or (slow and (self._leaving or not self._wanted(call)))):
            self._hearing.requests.drop(call.asks[0].id)
        elif slow and not inspect.iscoroutinefunction(call.method):
            self._busy = call
            # a daemon: an agent that never comes back must not keep the process
            name = f"agent-{self._seat}"
            threading.Thread(target=self._work, args=(call,), name=name, daemon=True).start()
        else:
            self._settle(call, *_outcome(call))

    def _wanted(self, call: _Call) -> bool:
        """Return whether a request should still be thought about."""
        (ask,) = call.asks
        newest = not self._waiting and not any(later.asks for later in self._calls)
        return self._hearing.requests.under_way(ask.id) and worth_answering(ask, call.heard, newest=newest)

    def _work(self, call: _Call) -> None:
        tell_if_alive(self.actor_ref, _Done(call, *_outcome(call)))

    def _settle(self, call: _Call, given: Any, error: BaseException | None) -> None:
        """Do with what a call returned or raised what is to be done with it."""
        if isinstance(error, CancelledError) or (call.answers and self._closed):
            logger.debug("%s: %s was given up", self._seat, call.method)
        elif error is None and given.__class__ is not Answer and inspect.isawaitable(given):
            self._busy = call
            ref = self.actor_ref
            self._awaited = await_later(given, lambda given, error: tell_if_alive(ref, _Done(call, given, error)))
        elif error is not None:
            self._record(call, error)
        elif call.answers:
            said: Said = given
            self._writer.answer(call.asks[0], said)

    def _record(self, call: _Call, error: BaseException) -> None:
        if not call.asks:
            name = getattr(call.method, "__name__", "a hook")
            logger.error("%s: the brain failed in %s", self._seat, name, exc_info=error, extra=self._where)
        for ask in call.asks:
            logger.debug("%s: %s failed", self._seat, ask.kind, exc_info=error, extra=self._where)
            self._writer.fail(ask, error)

    @property
    def _where(self) -> dict[str, str]:
        return {"game": self._game, "seat": self._seat}


def _outcome(call: _Call) -> tuple[object, BaseException | None]:
    try:
        return call.method(*call.arguments), None
    except BaseException as error:  # noqa: BLE001 - an agent may fail in any way; the record says how
        return None, error
