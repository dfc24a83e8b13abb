"""`Budget`: money and tokens that a run may spend, kept by setting aside what a call could take before it goes out."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import math
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import partial
from typing import Final

from players.llm.accounts import exact_cost
from players.llm.call import Completion, ModelQuestion
from players.llm.settings import Model
from players.llm.shared_budget import NOTHING, Amount, BudgetLedger, SharedBudget
from wolfbus.errors import BudgetSpent, ConfigError

_log = logging.getLogger(__name__)

FIRST_GUESS: Final = 0.5
"""Tokens per byte of a prompt before a model was heard of; English text has about 0.25."""

LEAST_GUESS: Final = 0.25
"""Tokens per byte that a guess never goes below."""

MARGIN: Final = 1.25
"""How far beyond the most tokens per byte that a model ever counted its next prompt may lie."""

OVERHEAD: Final = 128
"""Tokens that a server may put around a prompt of ours: its chat template, the frame of a schema."""

_TELLING = 1024  # bytes from which on a prompt tells more of a model's tokens than of its chat template

_HERE: Final = 0
"""The holder that a process is to itself."""


class Budget:
    """What a process may spend on model calls.

    Before a call, `reserve` sets aside the most that it could take; `Reservation.settle` puts in its place what it
    took. What is spent and set aside never exceeds a limit, so that neither does what is spent, *provided that* no
    request takes more than was set aside for it: a prompt of at most so many tokens as `Reservation.prompt_tokens`, a
    reply of at most twice the model's `max_tokens` (a reply that was cut off is asked for once more, with twice the
    room). The bound on the prompt is half a token per byte at first; later a quarter more than the most tokens per byte
    that the model has counted so far. A request that takes more all the same is counted as it was.

    To be used within one event loop; the properties may be read from any thread.

    Args:
        usd: limit in US dollars; None for no limit.
        tokens: limit on tokens of prompts and replies; None for no limit.
        before: what was spent before.
        ledger: decides in the place of this process, whose limits then only say whether models need a price; it
            answers by `hear`.

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
        self._own = SharedBudget(usd, tokens, self._answer, before)
        self._ledger: BudgetLedger = ledger or self._own
        self._keys = itertools.count()
        self._asked: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Future[str | None]]] = {}
        self._guess = _PromptGuess()

    @property
    def spent(self) -> Amount:
        """What is spent; requests of unknown usage count in full. Nothing is known here of what a ledger decides."""
        return self._own.spent

    @property
    def held(self) -> Amount:
        """What is set aside for calls in flight."""
        return self._own.held

    @property
    def spent_usd(self) -> float:
        """US dollars spent, where prices are configured."""
        return float(self._own.spent.usd)

    @property
    def spent_tokens(self) -> int:
        """Tokens spent."""
        return self._own.spent.tokens

    def check(self, models: Mapping[str, Model] | Iterable[Model]) -> None:
        """Make sure that the budget can be kept with these models.

        Args:
            models: those that will be asked, by alias or alone.

        Raises:
            ConfigError: there is a limit in dollars, and a model has no price.
        """
        if not self._in_dollars:
            return
        named = models.items() if isinstance(models, Mapping) else ((model.model, model) for model in models)
        unpriced = {alias: model for alias, model in named if model.price is None}
        if unpriced:
            raise ConfigError(_price_missing(unpriced))

    async def reserve(self, question: ModelQuestion, requests: int | None = None) -> Reservation:
        """Set aside the most that a call could take, as soon as it fits beside the calls in flight.

        Calls wait in the order in which they came, and none overtakes another.

        Args:
            question: the call.
            requests: how many of its requests over the network may be charged; as many as the endpoint's `attempts`
                unless given. Who reserves anew before each request says 1, and so keeps less of the budget idle.

        Raises:
            BudgetSpent: the call would not fit even if nothing were in flight, or another call did not before.
            ConfigError: there is a limit in dollars, and the model has no price.
        """
        self.check([question.model])
        requests = question.model.endpoint.attempts if requests is None else requests
        loop, key = asyncio.get_running_loop(), next(self._keys)
        reservation = Reservation(question, requests, self._guess, partial(self._ledger.settle, _HERE, key))
        answer: asyncio.Future[str | None] = loop.create_future()
        self._asked[key] = loop, answer
        try:
            what = f"{question.label}: {question.purpose}, {question.model.model}"
            self._ledger.reserve(_HERE, key, reservation.worst, what)
            refusal = await answer
        except asyncio.CancelledError:
            reservation.settle(Completion())
            raise
        finally:
            del self._asked[key]
        if refusal is not None:
            raise BudgetSpent(refusal)
        return reservation

    def hear(self, key: int, refusal: str | None) -> None:
        """Take a ledger's answer, from any thread."""
        asked = self._asked.get(key)
        if asked is not None:
            asked[0].call_soon_threadsafe(self._answer, _HERE, key, refusal)

    def _answer(self, _holder: int, key: int, refusal: str | None) -> None:
        asked = self._asked.get(key)
        if asked is not None and not asked[1].done():
            asked[1].set_result(refusal)


class Reservation:
    """What is set aside for one call.

    Attributes:
        question: the call.
        requests: how many of its requests may be charged.
        prompt_tokens: the most tokens that the prompt of one request should have.
        reply_tokens: the most tokens that the reply to one request can have.
        held: what was set aside.
    """

    def __init__(
        self, question: ModelQuestion, requests: int, guess: _PromptGuess, settled: Callable[[Amount], None]
    ) -> None:
        self.question = question
        self.requests = requests
        self.prompt_tokens = 0
        self.reply_tokens = 2 * question.model.max_tokens
        self.held = NOTHING
        self._guess = guess
        self._settled: Callable[[Amount], None] | None = settled
        self._size = _prompt_size(question)

    def worst(self) -> Amount:
        """Return the most that the call could take, from what is known of the model now; that is set aside."""
        self.prompt_tokens = self._guess.bound(self.question.model.model, self._size)
        self.held = self._amount(self.prompt_tokens, None, self.reply_tokens) * self.requests
        return self.held

    def settle(self, completion: Completion, lost: int | None = None) -> None:
        """Count what the call took, and give back the rest. Must be called once, whatever came of the call; a second
        time does nothing. ``settle(Completion())`` gives all back.

        A request that was answered counts with the tokens that the server told; with as many as were set aside
        for those that it did not tell. A request that went out and was not answered, a time-out above all, may have
        been charged too, with as long a reply as it was allowed: it counts as much as was set aside for it.

        Args:
            completion: what came of the call.
            lost: requests that may have been charged although no answer came: time-outs and connections that
                broke, but not refusals such as 429 and 500, nor connections that never stood. Unless given, all
                attempts but the answered one count as lost, at most as many as were reserved for: never too few.
        """
        settled, self._settled = self._settled, None
        if settled is None:
            return
        prompt, reply = completion.prompt_tokens, completion.completion_tokens
        replied = completion.attempts > 0 and completion.error is None and not completion.timed_out
        answered = replied or prompt is not None or reply is not None
        if lost is None:
            lost = max(min(completion.attempts, self.requests) - answered, 0)
        taken = self._amount(self.prompt_tokens, None, self.reply_tokens) * lost
        if answered:
            taken += self._amount(
                self.prompt_tokens if prompt is None else prompt,
                completion.cached_tokens,
                self.reply_tokens if reply is None else reply,
            )
        # tokens of several attempts may come summed up
        if answered and completion.attempts == 1:
            self._guess.learn(self.question.model.model, self._size, prompt)
        settled(taken)

    def _amount(self, prompt: int, cached: int | None, reply: int) -> Amount:
        price = self.question.model.price
        if price is None:
            return Amount(Decimal(0), prompt + reply)
        if cached is None:
            cached = prompt if price.cached is not None and price.cached > price.input else 0
        return Amount(exact_cost(price, prompt, cached, reply), prompt + reply)


class _PromptGuess:
    """How many tokens a prompt may have, learnt per model from the most tokens per byte that its server counted."""

    def __init__(self) -> None:
        self._per_byte: dict[str, float] = {}
        self._uncounted: set[str] = set()

    def bound(self, model: str, size: int) -> int:
        """Return the most tokens that a prompt of `size` bytes should have."""
        return OVERHEAD + math.ceil(size * self._per_byte.get(model, FIRST_GUESS))

    def learn(self, model: str, size: int, tokens: int | None) -> None:
        """Take in how many tokens a server counted in a prompt of `size` bytes, or that it did not."""
        if tokens is None:
            if model not in self._uncounted:
                self._uncounted.add(model)
                _log.info("%s: a reply came without a count of tokens; budgets count the most it can be", model)
            return
        seen = MARGIN * max(tokens - OVERHEAD, 0) / max(size, 1)
        if size >= _TELLING:
            self._per_byte[model] = max(seen, self._per_byte.get(model, LEAST_GUESS))
        elif seen > self._per_byte.get(model, FIRST_GUESS):
            self._per_byte[model] = seen


def _prompt_size(question: ModelQuestion) -> int:
    """Return the bytes of a prompt, its schema and 16 for the frame of each message included."""
    texts = (len(message.content.encode("utf-8", "surrogatepass")) + 16 for message in question.messages)
    return sum(texts) + len(json.dumps(dict(question.form.schema)))


def _price_missing(models: Mapping[str, Model]) -> str:
    names = ", ".join(dict.fromkeys(model.model for model in models.values()))
    tables = " and ".join(f"[models.{json.dumps(alias)}]" for alias in models)
    return (
        f"a budget in US dollars needs the price of {names}: add  price = {{ input = …, output = … }}  to {tables}, "
        f"in US dollars per million tokens (0 for a server of one's own)"
    )
