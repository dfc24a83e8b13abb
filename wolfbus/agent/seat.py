"""`SeatActor`: one seat of one game: what it may know, and the agent that answers for it, be it in a coroutine."""

from __future__ import annotations

import inspect
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from wolfbus.actors import PooledActor, tell_if_alive
from wolfbus.agent.agent import Agent
from wolfbus.agent.answer import Answer
from wolfbus.agent.outbox import Outbox, Replies
from wolfbus.errors import PlayerError, RulesError
from wolfbus.files.printable import error_in_words
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.requests import Ask, Public, Seated, SeatPart

if TYPE_CHECKING:
    import asyncio

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

    future = asyncio.run_coroutine_threadsafe(_outcome_of(awaitable), _agent_loop())
    future.add_done_callback(lambda ended: done(*((None, CancelledError()) if ended.cancelled() else ended.result())))
    return future


async def _outcome_of(awaitable: Awaitable[object]) -> tuple[object, BaseException | None]:
    import asyncio

    try:
        return await awaitable, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - an agent may fail in any way, and must not end the loop
        return None, error


def _agent_loop() -> asyncio.AbstractEventLoop:
    global _loop  # noqa: PLW0603 - one per process is what it is for
    with _lock:
        if _loop is None:
            import asyncio

            _loop = asyncio.new_event_loop()
            # a daemon: an agent that never comes back must not keep the process
            threading.Thread(target=_loop.run_forever, name="agent-loop", daemon=True).start()
        return _loop


def _forget_loop() -> None:
    """Begin anew in a process that was forked: it has no thread of its parent's, and one of them may have the lock."""
    global _lock, _loop
    _lock, _loop = threading.Lock(), None


os.register_at_fork(after_in_child=_forget_loop)


class SeatNews(NamedTuple):
    """What a delivery holds for one seat: public facts, and its own part if it has one.

    Attributes:
        facts: public facts, in order.
        part: the seat's own facts and requests.
        asked_at: for a `catch_up`, which holds all that the seat may know: when `join` was said last, on the clock of
            `time.monotonic`; for an opening, which does so too, minus infinity; None for what is merely new.
        received_at: when it came, on the clock of `time.monotonic`.
    """

    facts: Sequence[Public]
    part: SeatPart | None
    asked_at: float | None
    received_at: float


def extends(view: SeatView, news: SeatNews) -> bool:
    """Return whether a `catch_up` tells all that a seat knows, as it knows it, and perhaps more."""
    if news.part is None:
        return True
    public, private = len(view.public), view.private_known
    if len(news.facts) < public or len(news.part.facts) < private:
        return False
    replayed = SeatView(me=view.me)
    try:
        replayed.hear_public(*news.facts[:public])
        for fact in news.part.facts[:private]:
            replayed.hear_private(fact)
    except RulesError:
        return False
    return replayed == view


class SeatContext(Protocol):
    """What a seat has of the process that plays it; safe from any thread."""

    @property
    def outbox(self) -> Outbox:
        """Where replies and reports go."""

    def missed(self, game: str, why: str, /) -> None:
        """Ask to be caught up with a game of which facts did not reach a seat."""

    def new_agent(self, seated: Seated, /) -> Agent:
        """Return a new agent, for a seat whose game goes on from before what was told."""

    def seat_left(self) -> None:
        """Count out a seat that holds nothing any more."""


@dataclass(frozen=True, slots=True)
class GameLeft:
    """The seat is played no more."""


@dataclass(eq=False, slots=True)
class _MethodCall:
    """A method of the agent to be called: a hook, or what answers requests."""

    method: Callable[..., object]
    arguments: tuple[object, ...]
    asks: tuple[Ask, ...] = ()
    answers: bool = False
    """Whether what it returns is the answer to its one request."""
    received_at: float = 0.0


@dataclass(frozen=True, slots=True)
class _Done:
    """A call that took its time has come back."""

    call: _MethodCall
    result: object
    error: BaseException | None


class SeatActor(PooledActor):
    """Plays one seat.

    It calls the methods of its agent one at a time, in order: quick ones and hooks inside this
    actor, coroutines on the agents' event loop, any other in a thread of its own. News wait
    meanwhile: the view does not change under an agent that thinks, unless its game is over: then it
    is closed, and what it was thinking is dropped. An agent with a `start` of its own is handed all
    requests of a delivery at once, and answers when it likes.

    Where a `catch_up` contradicts what was told before, or lacks some of it, the bus has lost data: a new view and
    agent replace the old ones.

    Args:
        game: the game's id.
        seat: the seat's name.
        agent: what answers; it knows its game and seat.
        context: takes what it sends, and makes agents.
    """

    def __init__(self, game: str, seat: str, agent: Agent, context: SeatContext) -> None:
        super().__init__()
        self._game = game
        self._seat = seat
        self._context = context
        # lists, for there are thousands of seats, and a deque is ten times larger
        self._pending: list[SeatNews] = []
        self._calls: list[_MethodCall] = []
        self._current: _MethodCall | None = None
        self._future: Future[Any] | None = None
        self._leaving = self._ended = False
        self._failed_hooks: tuple[str, ...] = ()
        self._set_agent(agent)

    def on_receive(self, message: object) -> None:
        """Take in news, take back a call, or leave; then go on with what waits."""
        if isinstance(message, SeatNews):
            if message.asked_at is not None:
                self._catch_up(message, message.asked_at)
            self._pending.append(message)
        elif isinstance(message, _Done):
            if message.call is self._current:
                self._current = self._future = None
                self._finish_call(message.call, message.result, message.error)
        elif isinstance(message, GameLeft):
            self._leaving = True
            if self._current is not None and self._current.asks:
                # its answer is not wanted any more; as it is closed, it knows how the game has ended
                while self._pending:
                    self._take_in(self._pending.pop(0))
                self._close()
        self._proceed()

    def on_stop(self) -> None:
        """Let the agent give up what it still does."""
        try:
            self._close()
        finally:
            self._context.seat_left()

    def _set_agent(self, agent: Agent) -> None:
        kind = type(agent)
        self._agent = agent
        self._closed = self._seated = False
        self._lost: PlayerError | None = None
        self._quick = agent.quick
        self._starts = kind.start is not Agent.start
        self._listens = kind.heard is not Agent.heard
        self._receives = kind.received is not Agent.received
        self._by_kind = kind.answer is Agent.answer
        self._view = SeatView(me=self._seat)
        self._replies = Replies(self._game, self._seat, self._context.outbox)
        self._calls.clear()
        self._current = None

    def _close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._future is not None:
            self._future.cancel()
        try:
            self._agent.close()
        except BaseException:
            logger.exception("%s: the brain could not be closed", self._seat, extra=self._extra)

    def _catch_up(self, news: SeatNews, asked_at: float) -> None:
        """Make ready for a `catch_up`: all that waits is in it, or was lost, and only what it asks is wanted."""
        self._pending.clear()
        part = news.part
        extends_view = extends(self._view, news)
        self._replies.resume(part.asks if extends_view and part is not None else (), asked_at)
        if extends_view or part is None:
            return
        logger.info(
            "%s: the bus lost what was told last; the brain starts anew, from what is left",
            self._seat,
            extra=self._extra,
        )
        seated = next((private.fact for private in part.facts if isinstance(private.fact, Seated)), None)
        if seated is not None:
            self._close()
            self._set_agent(self._context.new_agent(seated))

    def _proceed(self) -> None:
        while self._current is None:
            if self._calls:
                self._call(self._calls.pop(0))
            elif self._pending:
                self._take_in(self._pending.pop(0))
            elif self._leaving and not self._ended:
                self._ended = True
                if self._seated:
                    self._call(_MethodCall(self._method("ended"), (self._view,)))
            else:
                if self._leaving:
                    self.stop()
                return

    def _take_in(self, news: SeatNews) -> None:
        """Apply news. Once the agent wrote over its view so that it cannot be kept up, whatever is asked is closed."""
        try:
            if self._lost is None:
                self._apply(news)
        except Exception as error:  # noqa: BLE001 - anything may stand in the view's fields
            why = f"its view cannot be kept up, as where it is written over: {error_in_words(error)}"
            self._lost = PlayerError(why)
        if self._lost is not None and news.part is not None:
            self._replies.begin(news.part.asks)
            for ask in news.part.asks:
                self._replies.fail(ask, self._lost)

    def _apply(self, news: SeatNews) -> None:
        view = self._view
        before, remembered = view.knowledge, len(view.private)
        private = news.part.facts if news.part is not None else ()
        asks: tuple[Ask, ...] = ()
        if self._receives:
            _, error = _outcome(received := _MethodCall(self._method("received"), (news.facts, private)))
            if error is not None:
                self._report_failure(received, error)
        try:
            if news.facts:
                view.hear_public(*news.facts)
            for fact in private:
                view.hear_private(fact)
            if news.part is not None and news.part.asks:
                asks = self._replies.begin(news.part.asks)
        except RulesError as error:
            # what came before the gap is taken in; no request is
            self._context.missed(self._game, str(error))
        self._replies.limit = view.config.max_reply_bytes
        if not self._seated and view.names:
            self._seated = True
            self._calls.append(_MethodCall(self._method("seated"), (view,)))
        if self._listens and (view.knowledge is not before or len(view.private) > remembered):
            fresh = (*view.public[len(before.facts) :], *view.private[remembered:])
            self._calls.append(_MethodCall(self._method("heard"), (fresh, view)))
        for group, view_then in _with_views(asks, view):
            if self._starts:
                self._calls.append(_MethodCall(self._method("start"), (group, view_then, self._replies), group))
                continue
            for ask in group:
                method = self._method(ask.kind, "choose") if self._by_kind else self._method("answer")
                call = _MethodCall(method, (ask, view_then), (ask,), answers=True, received_at=news.received_at)
                self._calls.append(call)

    def _method(self, name: str, otherwise: str | None = None) -> Callable[..., object]:
        """Return a method of the agent, or another where it has none of that name.

        Where looking raises, as `__getattribute__` may, it is what raises that when it is called.
        """
        try:
            agent = self._agent
            method: Callable[..., object] = (
                getattr(agent, name) if otherwise is None else getattr(agent, name, getattr(agent, otherwise))
            )
        except BaseException as error:  # noqa: BLE001 - an agent may fail in any way, and is told as where it is called
            return _raising(name, error)
        return method

    def _call(self, call: _MethodCall) -> None:
        slow = call.answers and not self._quick
        if call.answers and (self._closed or (slow and (self._leaving or not self._is_wanted(call)))):
            self._replies.drop(call.asks[0].id)
        elif slow and not inspect.iscoroutinefunction(call.method):
            self._current = call
            # a daemon: an agent that never comes back must not keep the process
            name = f"agent-{self._seat}"
            threading.Thread(target=self._run_in_thread, args=(call,), name=name, daemon=True).start()
        else:
            self._finish_call(call, *_outcome(call))

    def _is_wanted(self, call: _MethodCall) -> bool:
        """Return whether a request should still be thought about.

        Who thought too long about one question should not go on with all those that are closed by now. The newest is
        answered even so: a late answer tells the moderator that the seat is alive.
        """
        (ask,) = call.asks
        newest = not self._pending and not any(later.asks for later in self._calls)
        in_time = time.monotonic() - call.received_at < ask.deadline_s
        return self._replies.under_way(ask.id) and (newest or in_time)

    def _run_in_thread(self, call: _MethodCall) -> None:
        tell_if_alive(self.actor_ref, _Done(call, *_outcome(call)))

    def _finish_call(self, call: _MethodCall, result: Any, error: BaseException | None) -> None:
        """Do with what a call returned or raised what is to be done with it."""
        if self._closed and (call.answers or isinstance(error, CancelledError)):
            logger.debug("%s: %s was given up", self._seat, call.method)
        elif error is None and result.__class__ is not Answer and inspect.isawaitable(result):
            self._current = call
            ref = self.actor_ref
            self._future = await_later(result, lambda result, error: tell_if_alive(ref, _Done(call, result, error)))
        elif error is not None:
            self._report_failure(call, error)
        elif call.answers:
            self._replies.answer(call.asks[0], result)

    def _report_failure(self, call: _MethodCall, error: BaseException) -> None:
        if not call.asks:
            name = getattr(call.method, "__name__", "a hook")
            # a hook is called with all that is new: its first failure is told, for its author
            is_repeated = name in self._failed_hooks
            logger.log(
                logging.DEBUG if is_repeated else logging.ERROR,
                "%s: the brain failed in %s (further failures of it are not told)",
                self._seat,
                name,
                exc_info=error,
                extra=self._extra,
            )
            self._failed_hooks = self._failed_hooks if is_repeated else (*self._failed_hooks, name)
        for ask in call.asks:
            logger.debug("%s: %s failed", self._seat, ask.kind, exc_info=error, extra=self._extra)
            self._replies.fail(ask, error)

    @property
    def _extra(self) -> dict[str, str]:
        return {"game": self._game, "seat": self._seat}


def _with_views(asks: tuple[Ask, ...], view: SeatView) -> Iterator[tuple[tuple[Ask, ...], SeatView]]:
    """Yield requests that are to be answered by the same knowledge, with it: what is asked when the game is over, by
    what was known when the statement was made.
    """
    if view.config.assess != "after":
        if asks:
            yield asks, view
        return
    for about, group in groupby(asks, lambda ask: ask.about):
        yield tuple(group), view if about is None else view.at(about)


def _raising(name: str, error: BaseException) -> Callable[..., object]:
    def fail(*_: object) -> object:
        raise error

    fail.__name__ = name
    return fail


def _outcome(call: _MethodCall) -> tuple[object, BaseException | None]:
    try:
        return call.method(*call.arguments), None
    except BaseException as error:  # noqa: BLE001 - an agent may fail in any way; the record says how
        return None, error
