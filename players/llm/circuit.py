"""`Circuit`: keeps calls from an endpoint that is down, and finds out when it is back."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from players.llm.loop import loop_time

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
