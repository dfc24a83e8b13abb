"""`Budget`: money and tokens that a run may spend, kept by setting aside what a call could take before it goes out."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Final, Protocol, TypeAlias

from players.llm.accounts import dollars, exact_cost
from players.llm.provider import ModelQuestion, ProviderReply
from players.llm.settings import Model
from wolfbus.errors import BudgetSpent, ConfigError


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

Tell: TypeAlias = Callable[[int, int, str | None], None]
"""Tells a holder whether its call may go out: the holder, the call's key, why not (None for yes)."""


class BudgetLedger(Protocol):
    """Decides which calls of a process may go out.

    Attributes:
        hear: takes what became of a call (its key, why it may not go out); set by the `Budget` that asks.
    """

    hear: Callable[[int, str | None], None]

    def reserve(self, holder: int, key: int, worst: Callable[[], Amount], what: str) -> None:
        """Set aside the most that a call could take as soon as it fits."""

    def settle(self, holder: int, key: int, taken: Amount) -> None:
        """Count what a call took and give back the rest; a call that still waits is withdrawn."""


class SharedBudget:
    """What several holders may spend together: the workers of a study, or one process alone.

    What is spent and set aside never exceeds a limit. Calls wait in the order in which they came, and none overtakes
    another. To be used from one thread.

    Args:
        usd: limit in US dollars; None for no limit.
        tokens: limit on tokens of prompts and replies; None for no limit.
        tell: tells holders what became of their calls.
        before: what was spent before.

    Attributes:
        spent: what is spent, as far as holders have told.
        held: what is set aside.
    """

    def __init__(self, usd: float | None, tokens: int | None, tell: Tell, before: Amount = NOTHING) -> None:
        self._limit_usd = None if usd is None else Decimal(repr(usd))
        self._limit_tokens = tokens
        self._tell = tell
        self.spent = before
        self.held = NOTHING
        self._holding: dict[tuple[int, int], Amount] = {}
        self._waiting: dict[tuple[int, int], tuple[Callable[[], Amount], str]] = {}
        self._refusal: str | None = None

    def reserve(self, holder: int, key: int, worst: Callable[[], Amount], what: str) -> None:
        """Set aside the most that a call could take as soon as it fits beside those in flight; the holder is told.

        A call that would not fit even if nothing were in flight ends the budget, for all that wait and all later ones.

        Args:
            holder: who asks.
            key: names the call among the holder's.
            worst: returns the most that it could take, from what is known by then.
            what: the call, for what is said of it.
        """
        self._waiting[holder, key] = worst, what
        self._end_if_hopeless(worst(), what)
        self._move()

    def settle(self, holder: int, key: int, taken: Amount) -> None:
        """Count what a call took and give back the rest; a call that still waits is withdrawn."""
        if self._waiting.pop((holder, key), None) is None:
            self._take((holder, key), taken)
        self._move()

    def lose(self, holder: int) -> None:
        """Count all that a holder had set aside as spent: it is gone, and its calls may have been charged."""
        for place in [place for place in self._holding if place[0] == holder]:
            self._take(place, self._holding[place])
        for place in [place for place in self._waiting if place[0] == holder]:
            del self._waiting[place]
        self._move()

    def _take(self, place: tuple[int, int], taken: Amount) -> None:
        held = self._holding.pop(place, None)
        if held is not None:
            self.held -= held
            self.spent += taken

    def _move(self) -> None:
        """Let those go out that wait and fit, the first one first."""
        while self._waiting:
            place, (worst, what) = next(iter(self._waiting.items()))
            amount = worst()
            self._end_if_hopeless(amount, what)
            if self._refusal is None:
                if not self._fits(self.spent + self.held + amount):
                    return
                self._holding[place] = amount
                self.held += amount
            del self._waiting[place]
            self._tell(*place, self._refusal)

    def _fits(self, amount: Amount) -> bool:
        return (self._limit_usd is None or amount.usd <= self._limit_usd) and (
            self._limit_tokens is None or amount.tokens <= self._limit_tokens
        )

    def _end_if_hopeless(self, worst: Amount, what: str) -> None:
        after = self.spent + worst
        if self._refusal is not None or self._fits(after):
            return
        self._refusal = refusal_of(self.spent, self._limit_usd, self._limit_tokens, worst, what)


def refusal_of(spent: Amount, usd: Decimal | None, tokens: int | None, worst: Amount, what: str) -> str:
    """Return why a budget ends with a call, in one line.

    Args:
        spent: what is spent before it.
        usd: limit in US dollars; None for none.
        tokens: limit on tokens; None for none.
        worst: the most that the call could take.
        what: the call.
    """
    if usd is not None and spent.usd + worst.usd > usd:
        told, limit, more = (dollars(each, 4) for each in (spent.usd, usd, worst.usd))
    else:
        told, limit, more = f"{spent.tokens:,}", f"{tokens:,} tokens", f"{worst.tokens:,}"
    return f"the budget ends here: {told} of {limit} spent, and the next call could take up to {more} ({what})"


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

    Before a request, `reserve` sets aside the most that it could take; `Reservation.settle` puts in its place what it
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
        ledger: decides in the place of this process, whose limits then only say whether models need a price.

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
        self._ledger: BudgetLedger | SharedBudget = ledger or self._own
        if ledger is not None:
            ledger.hear = self.hear
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

    def check(self, models: Iterable[Model]) -> None:
        """Make sure that the budget can be kept with the models that will be asked.

        Raises:
            ConfigError: there is a limit in dollars, and a model has no price.
        """
        unpriced = dict.fromkeys(model.model for model in models if model.price is None)
        if self._in_dollars and unpriced:
            tables = " and ".join(f"[models.{json.dumps(name)}]" for name in unpriced)
            raise ConfigError(
                f"a budget in US dollars needs the price of {', '.join(unpriced)}: add  "
                f"price = {{ input = …, output = … }}  to {tables}, "
                "in US dollars per million tokens (0 for a server of one's own)"
            )

    async def reserve(self, question: ModelQuestion) -> Reservation:
        """Set aside the most that one request could take, as soon as it fits beside those in flight.

        Requests wait in the order in which they came, and none overtakes another.

        Raises:
            BudgetSpent: it would not fit even if nothing were in flight, or another one did not before.
            ConfigError: there is a limit in dollars, and the model has no price.
        """
        self.check([question.model])
        loop, key = asyncio.get_running_loop(), next(self._keys)
        reservation = Reservation(question, self._guess, partial(self._ledger.settle, _HERE, key))
        answer: asyncio.Future[str | None] = loop.create_future()
        self._asked[key] = loop, answer
        try:
            what = f"{question.label}: {question.purpose}, {question.model.model}"
            self._ledger.reserve(_HERE, key, reservation.worst, what)
            refusal = await answer
        except asyncio.CancelledError:
            reservation.settle(None, charged=False)
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
    """What is set aside for one request.

    Attributes:
        prompt_tokens: the most tokens that its prompt should have.
        reply_tokens: the most tokens that its reply can have.
        held: what was set aside.
    """

    def __init__(self, question: ModelQuestion, guess: _PromptGuess, settled: Callable[[Amount], None]) -> None:
        self.prompt_tokens = 0
        self.reply_tokens = 2 * question.model.max_tokens
        self.held = NOTHING
        self._model = question.model
        self._guess = guess
        self._settled = settled
        self._size = _prompt_size(question)

    def worst(self) -> Amount:
        """Return the most that the request could take, from what is known of the model now; that is set aside."""
        self.prompt_tokens = self._guess.bound(self._model.model, self._size)
        self.held = self._amount(self.prompt_tokens, None, self.reply_tokens)
        return self.held

    def settle(self, reply: ProviderReply | None, *, charged: bool) -> None:
        """Count what the request took, and give back the rest. Must be called once, whatever came of it.

        Args:
            reply: what came of it; it counts with the tokens that the server told, and with as many as were set aside
                for those that it did not tell.
            charged: whether it may have been charged without a reply, as after a time-out: it then counts as much as
                was set aside for it.
        """
        if reply is None:
            self._settled(self.held if charged else NOTHING)
            return
        self._guess.learn(self._model.model, self._size, reply.prompt_tokens)
        prompt = self.prompt_tokens if reply.prompt_tokens is None else reply.prompt_tokens
        completion = self.reply_tokens if reply.completion_tokens is None else reply.completion_tokens
        self._settled(self._amount(prompt, reply.cached_tokens, completion))

    def _amount(self, prompt: int, cached: int | None, reply: int) -> Amount:
        price = self._model.price
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
