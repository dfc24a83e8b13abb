"""`Circuit`: tells if an endpoint is down, and when to find out whether it is back; `Tempo`: how fast that goes."""

from __future__ import annotations

import logging
import math
import random
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from players.llm.loop import loop_time
from players.llm.provider import Failed, Failure

logger = logging.getLogger(__name__)

_LATE_KEPT: Final = 16
_LATE_HINTED: Final = 4
"""Of the last `_LATE_KEPT` requests, so many whose time ran out while others were answered earn a hint."""


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
    backoff: Backoff = Backoff()


class Circuit:
    """Closed while an endpoint answers. Open, it lets one trial through at a time, further and further apart.

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
        logger.warning(
            "%s seems to be down after %d failures in a row (%s); calls wait for it for %g s, then fail at once",
            self._url, self._failures, failure.line, self._patience,
        )  # fmt: skip

    def abandon(self, *, trial: bool) -> None:
        """Say that a request ended without telling anything: it was cancelled."""
        if trial:
            self._trial_running = False
