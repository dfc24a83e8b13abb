"""`Gate`: what stands before an endpoint: calls in flight, limits per minute, pauses it asked for, its circuit."""

from __future__ import annotations

import asyncio
import heapq
import logging
import math
from collections import deque
from dataclasses import dataclass
from typing import Final

from players.llm.loop import loop_time
from players.llm.provider import Purpose
from players.llm.settings import Endpoint
from players.llm.tempo import MINUTE, Circuit, Tempo

logger = logging.getLogger(__name__)

LONG_WAIT_S: Final = 5.0
"""Seconds of a wait after which it is said once that calls wait for this limit."""

_SECOND: Final[frozenset[Purpose]] = frozenset({"assess_own", "assess_other"})


def urgency(purpose: Purpose) -> int:
    """Return which calls go first: 0 for what the game waits for, 1 for judgements and labels."""
    return 1 if purpose in _SECOND else 0


class Paused(Exception):  # noqa: N818 - a state of the endpoint
    """The server asked to be left alone for longer than a call can wait.

    Attributes:
        seconds: how long from now.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Window:
    """Keeps a sum over any stretch of time within a limit; a single amount beyond it passes alone.

    Args:
        limit: what may be spent in a stretch; None for any amount.
        length: the stretch, in seconds.
    """

    def __init__(self, limit: float | None, length: float = MINUTE) -> None:
        self._limit = limit
        self._length = length
        self._spent: deque[Spending] = deque()
        self._sum = 0.0

    def free_at(self, amount: float, now: float) -> float:
        """Return from when on `amount` may be spent; not after `now` if it may be now."""
        if self._limit is None:
            return now
        self._forget(now)
        over = self._sum + amount - self._limit
        if over <= 0 or not self._spent:
            return now
        for spent in self._spent:
            over -= spent.amount
            if over <= 0:
                return spent.at + self._length
        return self._spent[-1].at + self._length

    def spend(self, amount: float, now: float) -> Spending | None:
        """Count an amount; what is returned can be corrected."""
        if self._limit is None:
            return None
        spent = Spending(now, amount)
        self._spent.append(spent)
        self._sum += amount
        return spent

    def correct(self, spent: Spending | None, amount: float) -> None:
        """Put what an amount turned out to be in the place of what was counted."""
        if spent is not None and not spent.forgotten:
            self._sum += amount - spent.amount
            spent.amount = amount

    def _forget(self, now: float) -> None:
        while self._spent and self._spent[0].at + self._length <= now:
            gone = self._spent.popleft()
            gone.forgotten = True
            self._sum -= gone.amount
        if not self._spent:
            self._sum = 0.0


@dataclass(slots=True)
class Spending:
    """An amount that counts for a while."""

    at: float
    amount: float
    forgotten: bool = False


@dataclass(slots=True)
class Pass:
    """Leave to make one request; to be given back.

    Attributes:
        requests: the request, as it counts; None without a limit.
        tokens: its tokens, likewise.
        trial: whether it finds out if the endpoint is back.
    """

    requests: Spending | None
    tokens: Spending | None
    trial: bool


@dataclass(slots=True, order=True)
class _Waiting:
    urgency: int
    number: int
    tokens: float
    deadline: float
    opened: asyncio.Future[Pass]


class Gate:
    """Lets requests through, the urgent before the others and the early before the late, as far as limits allow.

    For one event loop, by whose clock it goes.

    Args:
        endpoint: its limits and patience.
        url: where it is, for what is said of it.
        tempo: how fast things go.
    """

    def __init__(self, endpoint: Endpoint, url: str, tempo: Tempo) -> None:
        requests, tokens = endpoint.requests_per_minute, endpoint.tokens_per_minute
        self._url = url
        self._holds = {
            "at_once": f"at_once = {endpoint.at_once}",
            "requests": f"requests_per_minute = {requests or 0:g}",
            "tokens": f"tokens_per_minute = {tokens or 0:g}",
            "pause": "the server's Retry-After",
        }
        self._held_by = "at_once"
        # nothing more is said of an endpoint that is down
        self._said = {"down"}
        self._at_once = self._free = endpoint.at_once
        self._requests = Window(requests, tempo.minute)
        self._tokens = Window(tokens, tempo.minute)
        self._circuit = Circuit(url, endpoint.patience, tempo)
        self._paused_until = 0.0
        self._queue: list[_Waiting] = []
        self._numbers = 0
        self._timer: asyncio.TimerHandle | None = None

    def number(self) -> int:
        """Return a place in the order of calls; a call keeps its own over all attempts."""
        self._numbers += 1
        return self._numbers

    @property
    def held_by(self) -> str:
        """What the calls wait for, in words; for a call that was cancelled, to be asked at once."""
        what = self._holds.get(self._held_by)
        return f"{self._url}, which is down" if what is None else f"{what} of {self._url}"

    async def enter(self, urgency: int, number: int, tokens: float, deadline: float) -> Pass:
        """Wait for leave to make a request.

        Args:
            urgency: 0 goes before 1.
            number: the call's place among those.
            tokens: how many the request will take, as far as one can tell.
            deadline: monotonic time beyond which a pause makes waiting useless.

        Raises:
            Paused: the server wants to be left alone until after the deadline.
            Down: patience with the endpoint is over.
        """
        if self._paused_until > deadline:
            raise Paused(self._paused_until - loop_time())
        loop = asyncio.get_running_loop()
        waiting = _Waiting(urgency, number, tokens, deadline, loop.create_future())
        heapq.heappush(self._queue, waiting)
        self._move()
        say = loop.call_later(LONG_WAIT_S, self._say, waiting)
        try:
            return await waiting.opened
        except asyncio.CancelledError:
            if waiting.opened.done() and not waiting.opened.cancelled() and waiting.opened.exception() is None:
                given = waiting.opened.result()
                self._circuit.give_up(trial=given.trial)
                self.leave(given, used=0, sent=False)
            else:
                waiting.opened.cancel()
                held_by = self._held_by
                self._move()
                self._held_by = held_by
            raise
        finally:
            say.cancel()

    def leave(self, given: Pass, used: float | None, *, sent: bool = True) -> None:
        """Give a place back.

        Args:
            given: what `enter` returned.
            used: tokens that the request took; None if the server did not tell.
            sent: whether a request was made at all.
        """
        self._free += 1
        if used is not None:
            self._tokens.correct(given.tokens, used)
        if not sent:
            self._requests.correct(given.requests, 0)
        self._move()

    def pause(self, seconds: float) -> None:
        """Leave the server alone for so long; who cannot wait for its end is told at once."""
        self._paused_until = max(self._paused_until, loop_time() + seconds)
        for waiting in self._queue:
            if waiting.deadline < self._paused_until and not waiting.opened.done():
                waiting.opened.set_exception(Paused(self._paused_until - loop_time()))
        self._move()

    def succeeded(self) -> None:
        """Say that the endpoint answered, if only to reject a request."""
        self._circuit.succeeded()
        self._move()

    def failed(self, given: Pass, reason: str, sent_at: float, *, late: bool) -> None:
        """Say that a request failed in a way that speaks against the endpoint; see `Circuit.failed`."""
        in_flight = self._at_once - self._free
        self._circuit.failed(reason, trial=given.trial, sent_at=sent_at, late=late, in_flight=in_flight)
        self._move()

    def give_up(self, given: Pass) -> None:
        """Say that a request ended without telling anything of the endpoint."""
        self._circuit.give_up(trial=given.trial)
        self._move()

    def _open_at(self, tokens: float, now: float) -> float:
        opens = {
            "at_once": now if self._free > 0 else math.inf,
            "requests": self._requests.free_at(1, now),
            "tokens": self._tokens.free_at(tokens, now),
            "pause": self._paused_until,
            "down": self._circuit.free_at,
        }
        last = max(opens, key=lambda name: opens[name])
        if opens[last] > now:
            self._held_by = last
        return opens[last]

    def _say(self, waiting: _Waiting) -> None:
        if waiting.opened.done() or self._held_by in self._said:
            return
        self._said.add(self._held_by)
        logger.warning("%s: calls wait longer than %g s for %s", self._url, LONG_WAIT_S, self._holds[self._held_by])

    def _move(self) -> None:
        """Let through who may go, tell who waits in vain, and come back when that may change."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._queue:
            first, now = self._queue[0], loop_time()
            if not first.opened.done():
                open_at = self._open_at(first.tokens, now)
                if self._circuit.over_at <= now < self._circuit.free_at:
                    first.opened.set_exception(self._circuit.down())
                elif open_at > now:
                    due = min(open_at, self._circuit.over_at)
                    if due < math.inf:
                        self._timer = asyncio.get_running_loop().call_at(max(due, now), self._move)
                    return
                else:
                    self._free -= 1
                    spent = self._requests.spend(1, now), self._tokens.spend(first.tokens, now)
                    first.opened.set_result(Pass(*spent, self._circuit.begin_trial()))
            heapq.heappop(self._queue)
