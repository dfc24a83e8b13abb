"""`Budget`: money and tokens that a run may spend, kept by reserving what a call could take before it goes out.

A `BudgetLedger` decides whether that fits: `LocalBudget` for this process alone, or
`players.llm.redis_budget.RedisBudget`, which processes anywhere share.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Final, Protocol

from players.llm.accounts import dollars, exact_cost
from players.llm.loop import log_failure
from players.llm.provider import ModelQuestion, ProviderReply
from players.llm.settings import Model
from wolfbus.errors import BudgetSpent, ConfigError

logger = logging.getLogger(__name__)

FIRST_GUESS: Final = 0.5
"""Tokens per byte of a prompt before a model's server counted any; English text has about 0.25."""

LEAST_GUESS: Final = 0.25
"""Tokens per byte that a guess never goes below."""

MARGIN: Final = 1.25
"""How far beyond the most tokens per byte that a model ever counted its next prompt may lie."""

OVERHEAD: Final = 128
"""Tokens that a server may put around a prompt of ours: its chat template, the frame of a schema."""

_INFORMATIVE: Final = 1024
"""Bytes from which on a prompt tells more of a model's tokens than of its chat template."""

_RETRY_S: Final = 0.05
"""Seconds between two tries of a call that does not fit beside those in flight, of which others decide."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Money and tokens.

    Attributes:
        usd: US dollars; 0 for models without a price.
        tokens: of prompts and replies together.
    """

    usd: Decimal
    tokens: int

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.usd + other.usd, self.tokens + other.tokens)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.usd - other.usd, self.tokens - other.tokens)


NOTHING: Final = Amount(Decimal(0), 0)


class BudgetLedger(Protocol):
    """Keeps what is spent and reserved, and so decides which calls may go out."""

    def reserve(self, key: int, worst: Amount, call: str) -> bool:
        """Reserve the most that a call could take, if it fits beside those in flight; safe to repeat.

        Args:
            key: names the call among those of this process.
            worst: the most that it could take, from what is known by now.
            call: the call, for what is said of it.

        Returns:
            Whether it fits, and may go out.

        Raises:
            BudgetSpent: it would not fit even if nothing were in flight, or another one did not before.
        """

    def settle(self, key: int, used: Amount) -> None:
        """Count what a call took and release the rest; nothing is done for one of which nothing is reserved."""


class LocalBudget:
    """The `BudgetLedger` of one process. What is spent and reserved never exceeds a limit.

    Args:
        usd: limit in US dollars; None for no limit.
        tokens: limit on tokens of prompts and replies; None for no limit.
        before: what was spent before.

    Attributes:
        spent: what is spent, as far as calls are settled.
        reserved: what is reserved for calls in flight.
    """

    def __init__(self, usd: float | None, tokens: int | None, before: Amount = NOTHING) -> None:
        self._limit_usd = None if usd is None else Decimal(repr(float(usd)))
        self._limit_tokens = tokens
        self.spent = before
        self.reserved = NOTHING
        self._reservations: dict[int, Amount] = {}
        self._refusal: str | None = None

    def reserve(self, key: int, worst: Amount, call: str) -> bool:
        """Reserve the most that a call could take, if it fits; see `BudgetLedger`."""
        if key in self._reservations:
            return True
        if self._refusal is None and not self._fits(self.spent + worst):
            self._refusal = refusal_of(self.spent, self._limit_usd, self._limit_tokens, worst, call)
        if self._refusal is not None:
            raise BudgetSpent(self._refusal)
        fits = self._fits(self.spent + self.reserved + worst)
        if fits:
            self._reservations[key] = worst
            self.reserved += worst
        return fits

    def settle(self, key: int, used: Amount) -> None:
        """Count what a call took and release the rest; see `BudgetLedger`."""
        reserved = self._reservations.pop(key, None)
        if reserved is not None:
            self.reserved -= reserved
            self.spent += used

    def _fits(self, amount: Amount) -> bool:
        return (self._limit_usd is None or amount.usd <= self._limit_usd) and (
            self._limit_tokens is None or amount.tokens <= self._limit_tokens
        )


def refusal_of(spent: Amount, usd: Decimal | None, tokens: int | None, worst: Amount, call: str) -> str:
    """Return why a budget ends with a call, in one line.

    Args:
        spent: what is spent before it.
        usd: limit in US dollars; None for none.
        tokens: limit on tokens; None for none.
        worst: the most that the call could take.
        call: the call.
    """
    if usd is not None and spent.usd + worst.usd > usd:
        before, limit, more = dollars(spent.usd, 4), dollars(usd, 4), dollars(worst.usd, 4)
    else:
        before, limit, more = f"{spent.tokens:,}", f"{tokens:,} tokens", f"{worst.tokens:,}"
    return f"the budget ends here: {before} of {limit} spent, and the next call could take up to {more} ({call})"


class Budget:
    """What a process may spend on model calls.

    Before a request, the most that it could take is reserved; `Reservation.settle` puts in its place what it took. What
    is spent and reserved never exceeds a limit, so that neither does what is spent, *provided that* no request takes
    more than was reserved for it: a prompt of at most so many tokens as `Reservation.prompt_tokens`, a reply of at most
    twice the model's `max_tokens` (a reply that was cut off is asked for once more, with twice the room), or of the
    bound that was learned from such replies, and, where its server lets it think beyond that, a quarter more than it
    was seen to. The bound on the prompt is half a token per byte at first; later a quarter more than the most tokens
    per byte that the model has counted so far. A request that takes more all the same is counted as it was.

    To be used within one event loop; the properties may be read from any thread.

    Args:
        usd: limit in US dollars; None for no limit.
        tokens: limit on tokens of prompts and replies; None for no limit.
        before: what was spent before.
        ledger: decides in the place of this process, whose limits then only say whether models need a price; its
            methods may take their time, and are called one after the other, in a thread of their own.

    Raises:
        ConfigError: a limit that is negative or no number.
    """

    def __init__(
        self,
        usd: float | None = None,
        tokens: int | None = None,
        before: Amount = NOTHING,
        ledger: BudgetLedger | None = None,
    ) -> None:
        if usd is not None and not 0 <= usd < math.inf:
            raise ConfigError(f"budget: {usd} is no sum of US dollars")
        if tokens is not None and tokens < 0:
            raise ConfigError(f"budget-tokens: {tokens} is no number of tokens")
        self._in_dollars = usd is not None
        self._local = LocalBudget(usd, tokens, before)
        self._ledger: BudgetLedger = ledger or self._local
        self._thread = None if ledger is None else ThreadPoolExecutor(1, "budget")
        self._keys = itertools.count()
        self._turn = asyncio.Lock()
        self._settled = asyncio.Event()
        self._guess = _TokenGuess()

    @property
    def spent(self) -> Amount:
        """What is spent; requests of unknown usage count in full. Nothing is known here of what a ledger decides."""
        return self._local.spent

    @spent.setter
    def spent(self, amount: Amount) -> None:
        self._local.spent = amount

    @property
    def reserved(self) -> Amount:
        """What is reserved for calls in flight."""
        return self._local.reserved

    def check(self, models: Mapping[str, Model]) -> None:
        """Make sure that the budget can be kept with the models that will be asked, by the names of their tables.

        Raises:
            ConfigError: there is a limit in dollars, and a model has no price.
        """
        unpriced = [name for name, model in models.items() if model.price is None]
        if self._in_dollars and unpriced:
            tables = " and ".join(f"[models.{json.dumps(name)}]" for name in unpriced)
            raise ConfigError(
                f"a budget in US dollars needs the price of {', '.join(unpriced)}: add  "
                f"price = {{ input = …, output = … }}  to {tables}, "
                "in US dollars per million tokens (0 for a server of one's own)"
            )

    async def reserve(self, question: ModelQuestion, max_tokens: int = 0) -> Reservation:
        """Reserve the most that one request could take, as soon as it fits beside those in flight.

        Requests wait in the order in which they came, and none overtakes another.

        Args:
            question: what is asked.
            max_tokens: the bound on the reply, where that is more than twice the model's own.

        Raises:
            BudgetSpent: it would not fit even if nothing were in flight, or another one did not before.
            ConfigError: there is a limit in dollars, and the model has no price.
        """
        self.check({question.model.model: question.model})
        key = next(self._keys)
        reservation = Reservation(question, self._guess, partial(self._settle, key))
        reservation.reply_tokens = max(reservation.reply_tokens, max_tokens)
        call = f"{question.label}: {question.purpose}, {question.model.model}"
        try:
            async with self._turn:
                while not await self._fits(key, reservation.worst(), call):
                    self._settled.clear()
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._settled.wait(), None if self._thread is None else _RETRY_S)
        except asyncio.CancelledError:
            reservation.settle(None, charged=False)
            raise
        return reservation

    def close(self) -> None:
        """Wait until the ledger knows what all calls took."""
        if self._thread is not None:
            self._thread.shutdown()

    async def _fits(self, key: int, worst: Amount, call: str) -> bool:
        if self._thread is None:
            return self._ledger.reserve(key, worst, call)
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._ledger.reserve, key, worst, call)

    def _settle(self, key: int, used: Amount) -> None:
        if self._thread is None:
            self._ledger.settle(key, used)
        else:
            self._thread.submit(self._ledger.settle, key, used).add_done_callback(log_failure)
        self._settled.set()


class Reservation:
    """What is reserved for one request.

    Attributes:
        prompt_tokens: the most tokens that its prompt should have.
        reply_tokens: the most tokens that its reply may have.
        beyond: the most tokens that its server may let it have beyond that.
        amount: what was reserved.
    """

    def __init__(self, question: ModelQuestion, guess: _TokenGuess, on_settled: Callable[[Amount], None]) -> None:
        self.prompt_tokens = 0
        self.reply_tokens = 2 * question.model.max_tokens
        self.beyond = 0
        self.amount = NOTHING
        self._model = question.model
        self._guess = guess
        self._on_settled = on_settled
        self._size = _prompt_size(question)

    def worst(self) -> Amount:
        """Return the most that the request could take, from what is known of the model now; that is reserved."""
        self.prompt_tokens = self._guess.bound(self._model.model, self._size)
        self.beyond = self._guess.beyond(self._model.model)
        self.amount = self._amount(self.prompt_tokens, None, self.reply_tokens + self.beyond)
        return self.amount

    def settle(self, reply: ProviderReply | None, *, charged: bool, bound: int | None = None) -> None:
        """Count what the request took, and release the rest. Must be called once, whatever came of it.

        Args:
            reply: what came of it; it counts with the tokens that the server counted, and with as many as were
                reserved for those that it did not.
            charged: whether it may have been charged without a reply, as after a time-out: it then counts as much as
                was reserved for it.
            bound: tokens that its reply was to have at most; None where nothing was sent.
        """
        if reply is None:
            self._on_settled(self.amount if charged else NOTHING)
            return
        self._guess.learn(self._model.model, self._size, reply.prompt_tokens)
        if bound is not None and reply.completion_tokens is not None:
            self._guess.learn_beyond(self._model.model, reply.completion_tokens - bound)
        prompt = self.prompt_tokens if reply.prompt_tokens is None else reply.prompt_tokens
        completion = self.reply_tokens + self.beyond if reply.completion_tokens is None else reply.completion_tokens
        used = self._amount(prompt, reply.cached_tokens, completion)
        self._on_settled(replace(used, usd=max(used.usd, Decimal(repr(reply.billed_usd or 0.0)))))

    def _amount(self, prompt: int, cached: int | None, reply: int) -> Amount:
        price = self._model.price
        if price is None:
            return Amount(Decimal(0), prompt + reply)
        if cached is None:
            cached = prompt if price.cached is not None and price.cached > price.input else 0
        return Amount(exact_cost(price, prompt, cached, reply), prompt + reply)


class _TokenGuess:
    """How many tokens a prompt may have, and a reply beyond its bound, learnt per model from what its server counts."""

    def __init__(self) -> None:
        self._per_byte: dict[str, float] = {}
        self._uncounted: set[str] = set()
        self._beyond: dict[str, int] = {}

    def beyond(self, model: str) -> int:
        """Return how many tokens beyond its bound a reply of a model should have at most."""
        return math.ceil(MARGIN * self._beyond.get(model, 0))

    def learn_beyond(self, model: str, tokens: int) -> None:
        """Learn how many tokens beyond its bound a reply had, as where a server lets a model think outside it."""
        if tokens > self._beyond.get(model, 0):
            if model not in self._beyond:
                logger.warning("%s: a reply had %d tokens beyond its bound; budgets reserve as many", model, tokens)
            self._beyond[model] = tokens

    def bound(self, model: str, size: int) -> int:
        """Return the most tokens that a prompt of `size` bytes should have."""
        return OVERHEAD + math.ceil(size * self._per_byte.get(model, FIRST_GUESS))

    def learn(self, model: str, size: int, tokens: int | None) -> None:
        """Learn how many tokens a server counted in a prompt of `size` bytes, or that it did not."""
        if tokens is None:
            if model not in self._uncounted:
                self._uncounted.add(model)
                logger.info("%s: a reply came without a count of tokens; budgets count the most it can be", model)
            return
        seen = MARGIN * max(tokens - OVERHEAD, 0) / max(size, 1)
        if size >= _INFORMATIVE:
            self._per_byte[model] = max(seen, self._per_byte.get(model, LEAST_GUESS))
        elif seen > self._per_byte.get(model, FIRST_GUESS):
            self._per_byte[model] = seen


def _prompt_size(question: ModelQuestion) -> int:
    """Return the bytes of a prompt, its schema and 16 for the frame of each message included."""
    texts = (len(message.content.encode("utf-8", "surrogatepass")) + 16 for message in question.messages)
    return sum(texts) + len(json.dumps(dict(question.form.schema)))
