"""`Gate`: what stands before an endpoint: calls in flight, limits by the minute, pauses it asked for, and whether it is
down, which its `Circuit` tells. `Tempo`: how fast that goes.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import math
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from players.llm.loop import format_seconds, loop_time
from players.llm.provider import Failed, Failure
from players.llm.settings import Endpoint
from wolfbus.patience import Backoff

logger = logging.getLogger(__name__)

MINUTE: Final = 60.0

LONG_WAIT_S: Final = 5.0
"""Seconds of a wait after which it is said once that calls wait for this limit."""


_LATE_KEPT: Final = 16
_LATE_HINTED: Final = 4
"""Of the last `_LATE_KEPT` requests, so many whose time ran out while others were answered earn a hint."""


@dataclass(frozen=True, slots=True)
class Tempo:
    """How fast things go wrong, and right again; tests make it fast.

    Attributes:
        failures: so many in a row open an endpoint's circuit (of one request in five failing by chance, eight are in a
            row once in 400,000),
        lasting: if it is so many seconds since the first of them.
        first_trial: seconds from there to its first trial.
        longest_trial: seconds between trials at most.
        backoff: time between the attempts of one call.
    """

    failures: int = 8
    lasting: float = 1.0
    first_trial: float = 0.5
    longest_trial: float = 30.0
    backoff: Backoff = field(default_factory=Backoff)


class Circuit:
    """The part of a gate that tells if an endpoint is down, and finds out whether it is back.

    Closed while the endpoint answers. Open, it lets one trial through at a time, further and further apart.

    For one event loop, by whose clock it goes.

    Args:
        url: the endpoint, for what is said of it.
        patience: seconds from its opening for which calls wait; after that they fail at once.
        tempo: how many failures open it, and how far apart trials are.
    """

    def __init__(self, url: str, patience: float, tempo: Tempo) -> None:
        self._url = url
        self._patience = patience
        self._tempo = tempo
        self._failures = 0
        self._first_failure_at = 0.0
        self._opened_at: float | None = None
        self._since = ""
        self._reason = ""
        self._pause = 0.0
        self._trial_at = 0.0
        self._trial_running = False
        self._answered_at = -math.inf
        self._late: deque[bool] = deque(maxlen=_LATE_KEPT)
        self._hinted = False

    @property
    def free_at(self) -> float:
        """From when on a request may go out: the trial, while it is open."""
        if self._opened_at is None:
            return 0.0
        return math.inf if self._trial_running else self._trial_at

    @property
    def over_at(self) -> float:
        """When calls stop waiting for it."""
        return math.inf if self._opened_at is None else self._opened_at + self._patience

    def down(self) -> Failed:
        """Return the failure of calls whose patience is over."""
        line = f"{self._url} is down since {self._since}: {self._reason}"
        return Failed(Failure("connection", line, again=False))

    def begin_trial(self) -> bool:
        """Note that a request goes out; returns whether it is the trial. Whoever makes that must say what came of it,
        or `abandon` it.
        """
        self._trial_running = self._opened_at is not None
        return self._trial_running

    def succeeded(self) -> None:
        """Say that the endpoint answered, if only to reject a request."""
        self._failures = 0
        self._answered_at = loop_time()
        self._late.append(False)
        if self._opened_at is not None:
            logger.warning("%s is back after %.0f s", self._url, loop_time() - self._opened_at)
            self._opened_at = None
            self._trial_running = False

    def failed(self, failure: Failure, sent_at: float, *, trial: bool, in_flight: int) -> None:
        """Say that a request failed in a way that speaks against the endpoint.

        Args:
            failure: how.
            sent_at: when it was sent. Where another one was answered after that, the endpoint is at work: slow perhaps,
                but not down, and the failure does not count.
            trial: whether the request was the trial.
            in_flight: requests still under way. Failures come back faster than replies, so that of many requests at
                once the first to return are failures; only more of them than are still out tell of an endpoint's end.
        """
        now = loop_time()
        if self._opened_at is not None:
            if trial:
                self._trial_running = False
                self._reason = failure.line
                self._pause = min(2 * self._pause, self._tempo.longest_trial)
                self._trial_at = now + self._pause
            return
        if self._answered_at > sent_at:
            self._late.append(failure.trouble == "timeout")
            if not self._hinted and sum(self._late) >= _LATE_HINTED:
                self._hinted = True
                logger.warning(
                    "%s answers some requests while others run out of time: it is slow, not down; if it serves one at "
                    "a time, at_once = 1 in its [endpoints] table has calls wait their turn",
                    self._url,
                )
            return
        if self._failures == 0:
            self._first_failure_at = now
        self._failures += 1
        if self._failures < max(self._tempo.failures, in_flight) or now < self._first_failure_at + self._tempo.lasting:
            return
        self._opened_at = now
        self._since = datetime.now().astimezone().strftime("%H:%M:%S")
        self._reason = failure.line
        self._pause = self._tempo.first_trial
        self._trial_at = now + self._pause
        line = "%s seems to be down after %d failures in a row (%s); calls wait for it for %g s, then fail at once"
        logger.warning(line, self._url, self._failures, failure.line, self._patience)

    def abandon(self, *, trial: bool) -> None:
        """Say that a request ended without telling anything: it was cancelled."""
        if trial:
            self._trial_running = False


class Window:
    """Keeps a sum over any minute within a limit; a single amount beyond it passes alone.

    Args:
        limit: what may be spent in a minute; None for any amount.
    """

    def __init__(self, limit: float | None) -> None:
        self._limit = math.inf if limit is None else limit
        self._spent: deque[Spending] = deque()
        self._sum = 0.0

    def free_at(self, amount: float, now: float) -> float:
        """Return from when on `amount` may be spent; not after `now` if it may be now."""
        self._expire(now)
        over = self._sum + amount - self._limit
        if over <= 0 or not self._spent:
            return now
        for spent in self._spent:
            over -= spent.amount
            if over <= 0:
                break
        return spent.spent_at + MINUTE

    def spend(self, amount: float, now: float) -> Spending:
        """Count an amount; what is returned can be corrected."""
        spent = Spending(now, amount)
        self._spent.append(spent)
        self._sum += amount
        return spent

    def correct(self, spent: Spending, amount: float) -> None:
        """Put what an amount turned out to be in the place of what was counted."""
        if not spent.expired:
            self._sum += amount - spent.amount
            spent.amount = amount

    def _expire(self, now: float) -> None:
        while self._spent and self._spent[0].spent_at + MINUTE <= now:
            spent = self._spent.popleft()
            spent.expired = True
            self._sum -= spent.amount
        if not self._spent:
            self._sum = 0.0


@dataclass(slots=True)
class Spending:
    """An amount that counts for a while."""

    spent_at: float
    amount: float
    expired: bool = False


@dataclass(slots=True)
class Permit:
    """Allows one request; to be released.

    Attributes:
        requests: the request, as it counts.
        tokens: its tokens, likewise.
        trial: whether it finds out if the endpoint is back.
    """

    requests: Spending
    tokens: Spending
    trial: bool


@dataclass(slots=True, order=True)
class _Waiter:
    urgency: int
    number: int
    tokens: float
    deadline: float
    permit: asyncio.Future[Permit]


class Gate:
    """Lets requests through, the urgent before the others and the early before the late, as far as limits allow.

    For one event loop, by whose clock it goes.

    Args:
        endpoint: its limits and patience.
        url: where it is, for what is said of it.
        tempo: how fast things go.

    Attributes:
        numbers: gives places in the order of calls; a call keeps its own over all attempts.
    """

    def __init__(self, endpoint: Endpoint, url: str, tempo: Tempo) -> None:
        requests, tokens = endpoint.requests_per_minute, endpoint.tokens_per_minute
        self._url = url
        self._limit_texts = {
            "at_once": f"at_once = {endpoint.at_once}",
            "requests": f"requests_per_minute = {requests or 0:.15g}",
            "tokens": f"tokens_per_minute = {tokens or 0:.15g}",
            "pause": "the server's Retry-After",
        }
        self._limit = "at_once"
        # nothing more is said of an endpoint that is down
        self._reported = {"down"}
        self._at_once = self._free = endpoint.at_once
        self._requests = Window(requests)
        self._tokens = Window(tokens)
        self._circuit = Circuit(url, endpoint.patience, tempo)
        self._paused_until = 0.0
        self._queue: list[_Waiter] = []
        self.numbers = itertools.count()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waits_for(self) -> str:
        """What calls wait for, in words; for a call that was cancelled, to be asked at once."""
        limit = self._limit_texts.get(self._limit)
        return f"{self._url}, which is down" if limit is None else f"{limit} of {self._url}"

    async def acquire(self, urgency: int, number: int, tokens: float, deadline: float) -> Permit:
        """Wait for a permit to make a request.

        Args:
            urgency: 0 goes before 1.
            number: the call's place among those.
            tokens: how many the request will take, as far as one can tell.
            deadline: monotonic time beyond which a pause makes waiting useless.

        Raises:
            Failed: the server wants to be left alone until after the deadline, or patience with it is over.
        """
        if self._paused_until > deadline:
            raise self._paused()
        loop = asyncio.get_running_loop()
        waiter = _Waiter(urgency, number, tokens, deadline, loop.create_future())
        heapq.heappush(self._queue, waiter)
        self._admit()
        report = loop.call_later(LONG_WAIT_S, self._report, waiter)
        try:
            return await waiter.permit
        except asyncio.CancelledError:
            if waiter.permit.done() and not waiter.permit.cancelled() and waiter.permit.exception() is None:
                self.release(waiter.permit.result(), used=0, sent_at=None)
            else:
                waiter.permit.cancel()
                limit = self._limit
                self._admit()
                self._limit = limit
            raise
        finally:
            report.cancel()

    def release(
        self,
        permit: Permit,
        used: float | None,
        *,
        sent_at: float | None,
        answered: bool = False,
        outage: Failure | None = None,
    ) -> None:
        """Release a permit, and say what came of the request.

        Args:
            permit: what `acquire` returned.
            used: tokens that the request took; None if the server did not tell.
            sent_at: when it was sent; None if it was not.
            answered: whether the endpoint answered, if only to reject it.
            outage: how it failed, if in a way that speaks against the endpoint.
        """
        self._free += 1
        if used is not None:
            self._tokens.correct(permit.tokens, used)
        if sent_at is None:
            self._requests.correct(permit.requests, 0)
        if outage is not None and sent_at is not None:
            self._circuit.failed(outage, sent_at, trial=permit.trial, in_flight=self._at_once - self._free)
        elif answered:
            self._circuit.succeeded()
        else:
            self._circuit.abandon(trial=permit.trial)
        self._admit()

    def pause(self, seconds: float) -> None:
        """Send nothing to the server for so long; calls that cannot wait for the end of that fail at once."""
        self._paused_until = max(self._paused_until, loop_time() + seconds)
        for waiter in self._queue:
            if waiter.deadline < self._paused_until and not waiter.permit.done():
                waiter.permit.set_exception(self._paused())
        self._admit()

    def _paused(self) -> Failed:
        seconds = format_seconds(self._paused_until - loop_time())
        line = f"{self._url} asked to be left alone for another {seconds} s, longer than this call can wait"
        return Failed(Failure("busy", line, again=False))

    def _free_at(self, tokens: float, now: float) -> float:
        free_at = {
            "at_once": now if self._free > 0 else math.inf,
            "requests": self._requests.free_at(1, now),
            "tokens": self._tokens.free_at(tokens, now),
            "pause": self._paused_until,
            "down": self._circuit.free_at,
        }
        last = max(free_at, key=lambda name: free_at[name])
        if free_at[last] > now:
            self._limit = last
        return free_at[last]

    def _report(self, waiter: _Waiter) -> None:
        if waiter.permit.done() or self._limit in self._reported:
            return
        self._reported.add(self._limit)
        logger.warning("%s: calls wait longer than %g s for %s", self._url, LONG_WAIT_S, self._limit_texts[self._limit])

    def _admit(self) -> None:
        """Give permits to calls that may go, fail those that wait in vain, and run again when either may change."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._queue:
            first, now = self._queue[0], loop_time()
            if not first.permit.done():
                free_at = self._free_at(first.tokens, now)
                if self._circuit.over_at <= now < self._circuit.free_at:
                    first.permit.set_exception(self._circuit.down())
                elif free_at > now:
                    due = min(free_at, self._circuit.over_at)
                    if due < math.inf:
                        self._timer = asyncio.get_running_loop().call_at(max(due, now), self._admit)
                    return
                else:
                    self._free -= 1
                    spent = self._requests.spend(1, now), self._tokens.spend(first.tokens, now)
                    first.permit.set_result(Permit(*spent, self._circuit.begin_trial()))
            heapq.heappop(self._queue)
