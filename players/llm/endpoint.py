"""`Server`: an endpoint as all calls of the process share it: provider, limits, circuit, pace, what it takes."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from players.llm.capability import Capability
from players.llm.limits import MINUTE, Gate
from players.llm.loop import loop_time
from players.llm.provider import Provider, Purpose
from players.llm.settings import Endpoint

logger = logging.getLogger(__name__)

FAILURES: Final = 8
"""Failures in a row that open a circuit; one request in five failing by chance makes so many once in 400,000."""


_LATE_KEPT: Final = 16
_LATE_HINTED: Final = 4
"""Of the last `_LATE_KEPT` requests, so many whose time ran out while others were answered earn a hint."""


class Down(Exception):  # noqa: N818 - a state of the endpoint
    """The endpoint is down, and has been for longer than a call may wait; the text says since when."""


@dataclass(eq=False, slots=True)
class _Waiter:
    rank: tuple[int, int]
    woken: asyncio.Future[None]


class Circuit:
    """Closed while an endpoint answers. Open, it lets one trial through at a time, further and further apart.

    For one event loop, by whose clock it goes.

    Args:
        url: the endpoint, for what is said of it.
        patience: seconds from its opening for which calls wait; after that they fail at once.
        failures: so many in a row open it, unless more requests are still under way,
        lasting: and if it is so many seconds since the first of them.
        first: seconds before the first trial; they double.
        longest: seconds between trials at most.
    """

    def __init__(
        self,
        url: str,
        patience: float,
        *,
        failures: int = FAILURES,
        lasting: float = 1.0,
        first: float = 0.5,
        longest: float = 30.0,
    ) -> None:
        self._url = url
        self._patience = patience
        self._limit = failures
        self._lasting = lasting
        self._first = first
        self._longest = longest
        self._in_a_row = 0
        self._row_began = 0.0
        self._opened_at: float | None = None
        self._since = ""
        self._reason = ""
        self._pause = first
        self._trial_at = 0.0
        self._on_trial = False
        self._waiting: list[_Waiter] = []
        self._timer: asyncio.TimerHandle | None = None
        self._answered_at: float | None = None
        self._late: deque[bool] = deque(maxlen=_LATE_KEPT)
        self._hinted = False

    @property
    def closed(self) -> bool:
        """Whether requests may go out."""
        return self._opened_at is None

    async def ready(self, rank: tuple[int, int]) -> bool:
        """Wait until a request may go out.

        Args:
            rank: who goes first of those that wait: urgency, then place in order.

        Returns:
            Whether the request is the trial; whoever makes it must say what came of it, or `give_up` the trial.

        Raises:
            Down: patience is over.
        """
        while self._opened_at is not None:
            now = loop_time()
            if not self._on_trial and now >= self._trial_at:
                self._on_trial = True
                return True
            if now >= self._opened_at + self._patience:
                raise Down(f"{self._url} is down since {self._since}: {self._reason}")
            waiting = _Waiter(rank, asyncio.get_running_loop().create_future())
            self._waiting.append(waiting)
            self._set_timer()
            try:
                await waiting.woken
            finally:
                if waiting in self._waiting:
                    self._waiting.remove(waiting)
                # nobody may be left to wake; or this one was woken for a trial that it may not make, and the next may
                self._set_timer()
        return False

    def succeeded(self) -> None:
        """Say that the endpoint answered, if only to reject a request."""
        self._in_a_row = 0
        self._answered_at = loop_time()
        self._late.append(False)
        if self._opened_at is None:
            return
        logger.warning("%s is back after %.0f s", self._url, loop_time() - self._opened_at)
        self._opened_at = None
        self._on_trial = False
        self._pause = self._first
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting = self._waiting, []
        for each in sorted(waiting, key=lambda each: each.rank):
            if not each.woken.done():
                each.woken.set_result(None)

    def failed(
        self, reason: str, *, trial: bool, sent_at: float | None = None, late: bool = False, in_flight: int = 0
    ) -> None:
        """Say that a request failed in a way that speaks against the endpoint.

        Args:
            reason: one line, without any secret.
            trial: whether the request was the trial.
            sent_at: monotonic time at which it was sent. Where another one was answered after that, the endpoint is at
                work: slow perhaps, but not down, and the failure does not count.
            late: whether its time ran out.
            in_flight: requests still under way. Failures come back faster than replies, so that of many requests at
                once the first to return are failures; only more of them than are still out tell of an endpoint's end.
        """
        now = loop_time()
        if self._opened_at is not None:
            if trial:
                self._on_trial = False
                self._reason = reason
                self._pause = min(2 * self._pause, self._longest)
                self._trial_at = now + self._pause
                self._set_timer()
            return
        if sent_at is not None and self._answered_at is not None and self._answered_at > sent_at:
            if late:
                self._late.append(True)
                self._hint()
            return
        if self._in_a_row == 0:
            self._row_began = now
        self._in_a_row += 1
        if self._in_a_row < max(self._limit, in_flight) or now < self._row_began + self._lasting:
            return
        self._opened_at = now
        self._since = datetime.now().astimezone().strftime("%H:%M:%S")
        self._reason = reason
        self._pause = self._first
        self._trial_at = now + self._pause
        logger.warning(
            "%s seems to be down after %d failures in a row (%s); calls wait for it for %g s, then fail at once",
            self._url, self._in_a_row, reason, self._patience,
        )  # fmt: skip

    def give_up(self, *, trial: bool) -> None:
        """Say that a request ended without telling anything: it was cancelled."""
        if trial and self._opened_at is not None and self._on_trial:
            self._on_trial = False
            self._set_timer()

    def _hint(self) -> None:
        if self._hinted or sum(self._late) < _LATE_HINTED:
            return
        self._hinted = True
        logger.warning(
            "%s answers some requests while others run out of time: it is slow, not down; if it serves one at a time, "
            "at_once = 1 in its [endpoints] table has calls wait their turn",
            self._url,
        )

    def _set_timer(self) -> None:
        """See to it that the next waiting call is woken for the next trial, and all when patience is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._opened_at is None or not self._waiting:
            return
        over = self._opened_at + self._patience
        due = over if self._on_trial else min(over, self._trial_at)
        self._timer = asyncio.get_running_loop().call_at(due, self._wake)

    def _wake(self) -> None:
        self._timer = None
        if self._opened_at is None:
            return
        over = loop_time() >= self._opened_at + self._patience
        woken = list(self._waiting) if over else [min(self._waiting, key=lambda each: each.rank)]
        for each in woken:
            self._waiting.remove(each)
            if not each.woken.done():
                each.woken.set_result(None)
        self._set_timer()


_KEPT: Final = 64
_LEAST: Final = 8
_SHARE: Final = 0.9


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential back-off with full jitter: a uniform draw between nothing and a bound that grows.

    Attributes:
        first: seconds, the bound before the second attempt.
        factor: growth of the bound from one attempt to the next.
        longest: seconds, the bound's own bound.
    """

    first: float = 0.5
    factor: float = 2.0
    longest: float = 20.0

    def bound(self, failures: int) -> float:
        """Return the most seconds to wait after so many failures (at least 1)."""
        return min(self.longest, self.first * self.factor ** min(failures - 1, 64))

    def delay(self, failures: int) -> float:
        """Return the seconds to wait after so many failures, drawn anew each time."""
        return random.uniform(0, self.bound(failures))


@dataclass(frozen=True, slots=True)
class Tempo:
    """How fast things go wrong, and right again; tests make it fast.

    Attributes:
        backoff: time between the attempts of a call.
        failures: so many in a row open an endpoint's circuit,
        lasting: if it is so many seconds since the first of them.
        first_trial: seconds from there to its first trial.
        longest_trial: seconds between trials at most.
        minute: seconds that limits per minute are about.
    """

    backoff: Backoff = field(default_factory=Backoff)
    failures: int = FAILURES
    lasting: float = 1.0
    first_trial: float = 0.5
    longest_trial: float = 30.0
    minute: float = MINUTE


class Pace:
    """Remembers how long the last attempts took, by model and purpose.

    An attempt that hangs should be cut in time for another one; a model that is merely slow should not be. Only what
    was seen tells them apart: attempts are cut after half the time if most replies come in less than a quarter of it.
    """

    def __init__(self) -> None:
        self._took: dict[tuple[str, Purpose], deque[float]] = {}

    def add(self, model: str, purpose: Purpose, seconds: float) -> None:
        """Take in an attempt that brought a reply, or was cut."""
        self._took.setdefault((model, purpose), deque(maxlen=_KEPT)).append(seconds)

    def cut_after(self, model: str, purpose: Purpose, given: float) -> float | None:
        """Return after how many seconds to give an attempt up.

        Args:
            model: who is asked.
            purpose: for what.
            given: seconds that the call has in all.

        Returns:
            Half of that; None, for no cut, while little is known or replies are that slow.
        """
        took = self._took.get((model, purpose), ())
        if len(took) < _LEAST:
            return None
        usual = sorted(took)[int(_SHARE * len(took))]
        return given / 2 if usual < given / 4 else None


class Server:
    """An endpoint in use, within the gateway's event loop.

    Args:
        endpoint: its settings.
        provider: the way to it.
        tempo: how fast things go.

    Attributes:
        endpoint: its settings.
        provider: the way to it.
        url: where it is, for what is said of it.
        gate: its limits.
        circuit: whether it is down.
        pace: how long its replies take.
    """

    def __init__(self, endpoint: Endpoint, provider: Provider, tempo: Tempo) -> None:
        self.endpoint = endpoint
        self.provider = provider
        self.url = url = provider.url
        self.gate = Gate(
            endpoint.at_once,
            endpoint.requests_per_minute,
            endpoint.tokens_per_minute,
            minute=tempo.minute,
            url=url,
        )
        self.circuit = Circuit(
            url,
            endpoint.patience,
            failures=tempo.failures,
            lasting=tempo.lasting,
            first=tempo.first_trial,
            longest=tempo.longest_trial,
        )
        self.pace = Pace()
        self._capabilities: dict[str, Capability] = {}

    def capability(self, model: str) -> Capability:
        """Return what is known of a model here."""
        if model not in self._capabilities:
            self._capabilities[model] = Capability(f"{model} at {self.url}", self.provider.shape(model))
        return self._capabilities[model]
