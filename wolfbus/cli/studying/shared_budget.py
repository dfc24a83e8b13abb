"""One budget for the workers of a study: each asks its parent for leave before a call, as within one process.

`SharedBudget` is the parent's side, `WorkerBudget` takes the place of a worker's own budget. Sums and refusals are
those of `players.llm.budget.Budget`: what is spent and set aside never exceeds a limit, whoever spends it.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Final

from players.llm.accounts import dollars
from players.llm.budget import Amount, Budget, Reservation
from players.llm.call import Completion, Question
from wolfbus.errors import BudgetSpent

NOTHING: Final = Amount(Decimal(0), 0)

Tell = Callable[[int, int, str | None], None]
"""Tells a worker whether its call may go out: the worker, the call's key, why not (None for yes)."""


@dataclass(frozen=True, slots=True)
class _Wish:
    worker: int
    key: int
    amount: Amount
    what: str


class SharedBudget:
    """What workers may spend together. To be used from one thread.

    Args:
        usd: limit in US dollars; None for no limit.
        tokens: limit on tokens; None for no limit.
        tell: tells workers what became of their wishes.
        before: what was spent before.
    """

    def __init__(self, usd: float | None, tokens: int | None, tell: Tell, before: Amount = NOTHING) -> None:
        self._usd = None if usd is None else Decimal(repr(usd))
        self._tokens = tokens
        self._tell = tell
        self._spent = before
        self._held: dict[tuple[int, int], Amount] = {}
        self._waiting: deque[_Wish] = deque()
        self._refusal: str | None = None

    @property
    def spent(self) -> Amount:
        """What is spent, as far as workers have told."""
        return self._spent

    def reserve(self, worker: int, key: int, amount: Amount, what: str) -> None:
        """Set aside what a call could take as soon as it fits; the worker is told."""
        self._waiting.append(_Wish(worker, key, amount, what))
        self._look()

    def settle(self, worker: int, key: int, taken: Amount) -> None:
        """Count what a call took and give back the rest; a wish that still waits is withdrawn."""
        if self._held.pop((worker, key), None) is None:
            self._waiting = deque(wish for wish in self._waiting if (wish.worker, wish.key) != (worker, key))
        else:
            self._spent += taken
        self._look()

    def lose(self, worker: int) -> None:
        """Count all that a worker had set aside as spent: it is gone, and its calls may have been charged."""
        for place in [place for place in self._held if place[0] == worker]:
            self._spent += self._held.pop(place)
        self._waiting = deque(wish for wish in self._waiting if wish.worker != worker)
        self._look()

    def _look(self) -> None:
        held = sum(self._held.values(), NOTHING)
        while self._waiting:
            wish = self._waiting[0]
            if self._refusal is None and not self._fits(self._spent + wish.amount):
                self._refusal = self._why(wish)
            if self._refusal is None:
                if not self._fits(self._spent + held + wish.amount):
                    return
                self._held[wish.worker, wish.key] = wish.amount
                held += wish.amount
            self._waiting.popleft()
            self._tell(wish.worker, wish.key, self._refusal)

    def _fits(self, amount: Amount) -> bool:
        return (self._usd is None or amount.usd <= self._usd) and (
            self._tokens is None or amount.tokens <= self._tokens
        )

    def _why(self, wish: _Wish) -> str:
        if self._usd is not None and self._spent.usd + wish.amount.usd > self._usd:
            spent, limit, more = (dollars(each, 4) for each in (self._spent.usd, self._usd, wish.amount.usd))
        else:
            spent, limit, more = f"{self._spent.tokens:,}", f"{self._tokens:,} tokens", f"{wish.amount.tokens:,}"
        return (
            f"the budget ends here: {spent} of {limit} spent, and the next call could take up to {more} ({wish.what})"
        )


class BudgetSoFar(Budget):
    """A budget of which something is spent already.

    Args:
        usd: limit in US dollars; None for no limit.
        tokens: limit on tokens; None for no limit.
        before: what was spent before.
    """

    def __init__(self, usd: float | None, tokens: int | None, before: Amount) -> None:
        super().__init__(usd, tokens)
        self._spent = before

    @property
    def spent(self) -> Amount:
        """What is spent."""
        return self._spent


class WorkerBudget(Budget):
    """A worker's budget, kept by the parent.

    Args:
        usd: the study's limit in US dollars; it is only looked at to see whether models need a price.
        tokens: the study's limit on tokens.
        wish: tells the parent of a call: its key, the most that it could take, and what it is.
        settled: tells the parent what a call took, by its key.
    """

    def __init__(
        self,
        usd: float | None,
        tokens: int | None,
        wish: Callable[[int, Amount, str], None],
        settled: Callable[[int, Amount], None],
    ) -> None:
        super().__init__(usd, tokens)
        self._wish = wish
        self._tell_settled = settled
        self._keys = itertools.count()
        self._asked: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Future[str | None]]] = {}
        self._lock = threading.Lock()

    async def reserve(self, question: Question, requests: int | None = None) -> Reservation:
        """Set aside the most that a call could take, as soon as the parent allows it.

        Raises:
            BudgetSpent: the call would not fit, or another one did not before.
            ConfigError: there is a limit in dollars, and the model has no price.
        """
        self.check([question.model])
        requests = question.model.endpoint.attempts if requests is None else requests
        loop, key = asyncio.get_running_loop(), next(self._keys)
        reservation = Reservation(question, requests, self._guess, partial(self._taken, key))
        answer: asyncio.Future[str | None] = loop.create_future()
        with self._lock:
            self._asked[key] = loop, answer
        reservation.held = reservation.worst()
        self._wish(key, reservation.held, f"{question.label}: {question.purpose}, {question.model.model}")
        try:
            refusal = await answer
        except asyncio.CancelledError:
            reservation.settle(Completion())
            raise
        finally:
            with self._lock:
                self._asked.pop(key, None)
        if refusal is not None:
            raise BudgetSpent(refusal)
        return reservation

    def hear(self, key: int, refusal: str | None) -> None:
        """Take the parent's answer, from any thread."""
        with self._lock:
            asked = self._asked.get(key)
        if asked is not None:
            loop, answer = asked
            loop.call_soon_threadsafe(_answer, answer, refusal)

    def _taken(self, key: int, _reservation: Reservation, taken: Amount) -> None:
        self._tell_settled(key, taken)


def _answer(answer: asyncio.Future[str | None], refusal: str | None) -> None:
    if not answer.done():
        answer.set_result(refusal)
