"""`RedisBudget`: what the workers of a study on many machines may spend together, kept on their Redis.

It is kept there atomically, and so whoever dies: what a worker had set aside that is silent for too
long counts as spent, since its calls may have been charged. Money is rounded up to whole units of
1e-10 US dollars.
"""

from __future__ import annotations

import logging
import queue
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Final

from redis.exceptions import ResponseError

from players.llm.budget import Amount, refusal_of
from wolfbus.bus.redis.link import RedisLink, Script, refusal
from wolfbus.bus.redis.links import Links
from wolfbus.bus.streams import house_key
from wolfbus.bus.url import read_address
from wolfbus.errors import BusError

logger = logging.getLogger(__name__)

UNIT: Final = Decimal("1e-10")
"""US dollars that sums are whole numbers of."""

_AGAIN_S: Final = 0.05
"""Seconds between two tries of a call that does not fit beside those in flight."""

_LIVES: Final = 3
"""How often a worker says that it lives in the time after which it counts as dead."""


@dataclass(frozen=True, slots=True)
class BudgetVerdict:
    """What became of a request.

    Attributes:
        word: "done", "wait", "refused", or "gone" where there is no such budget.
        spent: what is spent, as far as holders have told.
        why: why no more calls may go out; None as long as they may.
    """

    word: str
    spent: Amount
    why: str | None


class RedisBudget:
    """The budget of an agenda. Every method may raise BusError; all are safe to repeat.

    Args:
        url: the bus's address.
        agenda: the agenda's name.
        usd: limit in US dollars, for what is said of it; None for none.
        tokens: limit on tokens, likewise.
        lease_s: seconds after which what a silent holder had set aside counts as spent, > 0.

    Raises:
        ConfigError: the address cannot be understood.
    """

    def __init__(self, url: str, agenda: str, usd: float | None, tokens: int | None, lease_s: float = 15.0) -> None:
        self._links = Links(read_address(url))
        self._keys = [house_key(agenda, f"agenda:{each}") for each in ("budget", "holding", "holders")]
        self._doing = f"budget of agenda {agenda}"
        self._script = Script("budget")
        self._usd = None if usd is None else Decimal(repr(usd))
        self._tokens = tokens
        self.lease_s = lease_s
        self._lease_ms = str(max(int(lease_s * 1000), 1))

    def open(self, before: Amount) -> BudgetVerdict:
        """Begin with the limits as they are now, going on where an earlier run of the study stopped.

        Args:
            before: what was spent before, where nothing is known of it here.
        """
        usd = "" if self._usd is None else str(int((self._usd / UNIT).to_integral_value(ROUND_FLOOR)))
        tokens = "" if self._tokens is None else str(self._tokens)
        return self._run("open", usd, tokens, *_whole(before))

    def look(self) -> BudgetVerdict:
        """Return how it stands."""
        return self._run("look")

    def reserve(self, holder: str, key: int, worst: Amount, what: str) -> BudgetVerdict:
        """Set aside the most that a call could take, if it fits beside those in flight."""
        return self._run("reserve", holder, self._lease_ms, str(key), *_whole(worst), what)

    def settle(self, holder: str, key: int, taken: Amount) -> BudgetVerdict:
        """Count what a call took, and give back the rest."""
        return self._run("settle", holder, self._lease_ms, str(key), *_whole(taken))

    def live(self, holder: str) -> BudgetVerdict:
        """Say that a holder lives."""
        return self._run("live", holder, self._lease_ms)

    def remove(self) -> None:
        """Forget it."""
        self._links.run(self._keys[0], lambda link: link.ask("DEL", *self._keys, doing=self._doing))

    def close(self) -> None:
        """Hang up."""
        self._links.close()

    def _run(self, *words: str) -> BudgetVerdict:
        def call(link: RedisLink) -> Any:
            (reply,) = self._script.run(link, [("3", *self._keys, *words)])
            if isinstance(reply, ResponseError):
                raise refusal(reply, self._doing) from reply
            return reply

        word, usd, tokens, refused = (each.decode(errors="replace") for each in self._links.run(self._keys[0], call))
        why = None
        if refused:
            *sums, what = refused.split(" ", 4)
            spent, worst = _amount(*sums[:2]), _amount(*sums[2:])
            why = refusal_of(spent, self._usd, self._tokens, worst, what)
        return BudgetVerdict(word, _amount(usd, tokens), why)


def _whole(amount: Amount) -> tuple[str, str]:
    return str(int((amount.usd / UNIT).to_integral_value(ROUND_CEILING))), str(amount.tokens)


def _amount(usd: str, tokens: str) -> Amount:
    return Amount(int(usd) * UNIT, int(tokens))


class BudgetShare:
    """One process's share in a budget on Redis; a `BudgetLedger`. Calls wait in the order in which they came.

    Args:
        budget: the budget; closed with the ledger.

    Attributes:
        hear: takes what became of a call (key, why it may not go out); to be set before the first.
    """

    def __init__(self, budget: RedisBudget) -> None:
        self._budget = budget
        self._holder = secrets.token_hex(8)
        self._work: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._waiting: dict[int, tuple[Callable[[], Amount], str]] = {}
        self._closed = False
        self._here_at = time.monotonic()
        self.hear: Callable[[int, str | None], None] = lambda _key, _refusal: None
        self._thread = threading.Thread(target=self._run, name="budget", daemon=True)
        self._thread.start()

    def reserve(self, _holder: int, key: int, worst: Callable[[], Amount], what: str) -> None:
        """Set aside the most that a call could take as soon as it fits."""
        self._work.put(lambda: self._waiting.update({key: (worst, what)}))

    def settle(self, _holder: int, key: int, taken: Amount) -> None:
        """Count what a call took and give back the rest; a call that still waits is withdrawn."""
        self._work.put(lambda: self._settle(key, taken))

    def close(self) -> None:
        """Settle what is to be settled, and hang up."""
        self._closed = True
        self._work.put(lambda: None)
        self._thread.join()
        self._budget.close()

    def _settle(self, key: int, taken: Amount) -> None:
        if self._waiting.pop(key, None) is None:
            self._budget.settle(self._holder, key, taken)

    def _run(self) -> None:
        live_at = 0.0
        while not (self._closed and self._work.empty()):
            try:
                if time.monotonic() >= live_at:
                    self._budget.live(self._holder)
                    live_at = time.monotonic() + self._budget.lease_s / _LIVES
                self._do_next()
                self._move()
            except BusError as error:
                # what was not settled counts as spent; of what waits, nothing goes out
                logger.warning("%s", error)

    def _do_next(self) -> None:
        try:
            work = self._work.get(timeout=_AGAIN_S if self._waiting else self._budget.lease_s / _LIVES)
            while True:
                work()
                work = self._work.get_nowait()
        except queue.Empty:
            return

    def _move(self) -> None:
        """Let those go out that wait and fit, the first one first."""
        for key, (worst, what) in list(self._waiting.items()):
            verdict = self._budget.reserve(self._holder, key, worst(), what)
            if verdict.word != "gone":
                self._here_at = time.monotonic()
            elif time.monotonic() - self._here_at < self._budget.lease_s:
                # who runs the study may be about to open it
                return
            if verdict.word == "wait":
                return
            del self._waiting[key]
            done = verdict.word == "done"
            self.hear(key, None if done else verdict.why or "the budget is gone, and the agenda with it")
