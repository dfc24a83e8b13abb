"""`AgentSeats`: plays the seats of an `Agent` subclass, each in a task of its own on one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from wolfbus.agent.agent import Agent
from wolfbus.agent.hearing import Hearing, News, worth_answering
from wolfbus.agent.member import Member
from wolfbus.agent.pen import Pen
from wolfbus.agent.said import answer_of
from wolfbus.agent.table import Table
from wolfbus.bus.protocol import Entry
from wolfbus.errors import RulesError
from wolfbus.messages.requests import Ask, Seated

logger = logging.getLogger(__name__)

_LAST_WORDS_S: Final = 2.0
"""Seconds in which seats may come to their end when the agent leaves."""


class AgentSeats:
    """Plays the seats of one agent process.

    Args:
        member: the agent's place in the house.
        make: makes the instance of a seat.

    Attributes:
        playing: games under way.
        played: games that are over, or were given up.
    """

    def __init__(self, member: Member, make: Callable[[], Agent]) -> None:
        self.playing = 0
        self.played = 0
        self._member = member
        self._make = make
        self._table: Table[Seat] = Table(self, member.outbox)
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        # a daemon: an agent that never comes back must not keep the process
        self._thread = threading.Thread(target=self._loop.run_forever, name="agent-loop", daemon=True)
        self._thread.start()

    def welcome(self) -> None:
        """Take note that a moderator has welcomed the member: seats wait for what they are told."""

    def deliver(self, entries: Sequence[Entry]) -> None:
        """Take what is said of games, from any thread."""
        self._call(self._hand_out, [entry.body for entry in entries])

    def again(self) -> None:
        """Take note that the member joins anew, from any thread."""
        self._call(self._join_anew)

    def close(self) -> None:
        """End every seat, and the event loop."""
        closing = asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        with contextlib.suppress(TimeoutError):
            # a seat that blocks the loop is not waited for
            closing.result(2 * _LAST_WORDS_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_LAST_WORDS_S)
        if not self._thread.is_alive():
            self._loop.close()

    def sit_down(self, seated: Seated) -> Seat:
        """Start the task of a seat."""
        self.playing = len(self._table)
        seat = Seat(seated, self._make, self._member, self._missed)
        task = self._loop.create_task(seat.run(), name=f"{seated.game}/{seated.seat}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return seat

    def tell(self, seat: Seat, news: News) -> None:
        """Hand a seat its news."""
        seat.hear(news)

    def rise(self, _game: str, seats: Sequence[Seat]) -> None:
        """End the tasks of a game's seats, behind what waits for them."""
        for seat in seats:
            seat.queue.put_nowait(None)
        self.played += 1
        self.playing = len(self._table)

    def behind(self, game: str, why: str) -> None:
        """Ask to be caught up with a game."""
        self._member.rejoin(f"game {game}: {why}")

    def caught_up(self) -> None:
        """Take note that no game is behind."""
        self._member.caught_up()

    def _missed(self, game: str, why: str) -> None:
        self._table.lost(game, why)

    def _hand_out(self, bodies: Sequence[bytes]) -> None:
        for body in bodies:
            self._table.hear(body)

    def _join_anew(self) -> None:
        self._table.again()

    async def _end(self) -> None:
        self._table.clear()
        tasks = tuple(self._tasks)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_LAST_WORDS_S)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=_LAST_WORDS_S)

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError as error:
            logger.debug("too late for the seats: %s", error)


class Seat:
    """One seat of one game, and the agent's instance that plays it.

    Args:
        seated: who is played.
        make: makes the instance; a failure closes every request of the seat.
        member: sends the replies.
        missed: called with the game and a reason where facts are missing.

    Attributes:
        queue: news in order; None at the end.
    """

    def __init__(
        self, seated: Seated, make: Callable[[], Agent], member: Member, missed: Callable[[str, str], None]
    ) -> None:
        self.queue: asyncio.Queue[News | None] = asyncio.Queue()
        self._game = seated.game
        self._make = make
        self._missed = missed
        self._outbox = member.outbox
        self._hearing, self._pen = self._begin(seated.seat)
        self._afresh: News | None = None
        self._agent: Agent | None = None
        self._unmade: BaseException | None = None

    def hear(self, news: News) -> None:
        """Take news for later. All that waits is in a `catch_up`, or was lost by the bus."""
        if news.asked_at is not None:
            while not self.queue.empty():
                self.queue.get_nowait()
            self._afresh = None if self._hearing.expect(news) else news
        self.queue.put_nowait(news)

    async def run(self) -> None:
        """Take in news and answer requests, one after the other, until the end."""
        while (news := await self.queue.get()) is not None:
            await self._take_in(news)
        if self._agent is not None:
            await self._hook(self._agent.ended, self._hearing.view)

    def _begin(self, seat: str) -> tuple[Hearing, Pen]:
        hearing = Hearing(seat)
        return hearing, Pen(self._game, seat, self._outbox, hearing.requests)

    async def _take_in(self, news: News) -> None:
        known = self._hearing.view
        public, private = len(known.public), len(known.private)
        if news is self._afresh:
            logger.info("%s: the bus lost what was told last: hearing it anew", known.me, extra=self._where())
            self._hearing, self._pen = self._begin(known.me)
        view = self._hearing.view
        try:
            asks = self._hearing.hear(news)
        except RulesError as error:
            self._missed(self._game, str(error))
            asks = ()
        if view is not known:
            public, private = _agreeing(known.public, view.public), _agreeing(known.private, view.private)
        self._pen.limit = view.config.max_reply_bytes
        if self._agent is None and self._unmade is None and view.names:
            await self._sit_down()
        if self._agent is not None and (len(view.public) > public or len(view.private) > private):
            await self._hook(self._agent.heard, (*view.public[public:], *view.private[private:]), view)
        requests = self._hearing.requests
        for ask in asks:
            if not worth_answering(ask, news.heard, newest=ask is asks[-1] and self.queue.empty()):
                requests.drop(ask.id)
            elif requests.under_way(ask.id):
                await self._answer(ask)

    async def _sit_down(self) -> None:
        view = self._hearing.view
        try:
            agent = self._make()
        except BaseException as error:
            # it may fail in any way; every request of the seat is closed, and the record says why
            self._unmade = error
            logger.exception("%s: the agent could not be made", view.me, extra=self._where())
            return
        agent.game, agent.seat = self._game, view.me
        self._agent = agent
        await self._hook(agent.seated, view)

    async def _answer(self, ask: Ask) -> None:
        agent = self._agent
        if agent is None:
            self._pen.fail(ask, self._unmade or RuntimeError("nobody plays this seat"))
            return
        try:
            said = await _run(getattr(agent, ask.kind), ask, self._hearing.view, quick=agent.quick)
            answer = answer_of(ask.kind, said)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            logger.debug("%s: %s failed", self._hearing.view.me, ask.kind, exc_info=True, extra=self._where())
            self._pen.fail(ask, error)
        else:
            self._pen.answer(ask, answer)

    async def _hook(self, method: Callable[..., object], *arguments: object) -> None:
        try:
            await _run(method, *arguments, quick=True)
        except asyncio.CancelledError:
            raise
        except BaseException:
            logger.exception("%s: %s failed", self._hearing.view.me, method.__name__, extra=self._where())

    def _where(self) -> dict[str, str]:
        return {"game": self._game, "seat": self._hearing.view.me}


def _agreeing(known: Sequence[object], told: Sequence[object]) -> int:
    """Return how many facts two stories have in common before they part."""
    pairs = zip(known, told, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(known), len(told)))


async def _run(method: Callable[..., object], *arguments: object, quick: bool) -> Any:
    """Call a method of an agent, plain or a coroutine function; a plain one in a thread of its own unless `quick`."""
    if quick or inspect.iscoroutinefunction(method):
        given = method(*arguments)
    else:
        given = await _in_thread(method, *arguments)
    return await given if inspect.isawaitable(given) else given


async def _in_thread(method: Callable[..., object], *arguments: object) -> object:
    """Run a function in a daemon thread: one that never comes back must not keep the process, as a pool's would."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[object, BaseException | None]] = loop.create_future()

    def settle(given: object, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((given, error))

    def work() -> None:
        given: object = None
        failed: BaseException | None = None
        try:
            given = method(*arguments)
        except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
            failed = error
        try:
            loop.call_soon_threadsafe(settle, given, failed)
        except RuntimeError:
            logger.debug("an answer came after the end")

    threading.Thread(target=work, name="agent-method", daemon=True).start()
    given, error = await done
    if error is not None:
        raise error
    return given
