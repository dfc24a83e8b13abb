"""Budgets are never overspent, and nobody waits in vain."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.llm.budget import FIRST_GUESS, OVERHEAD, Amount, Budget, Reservation
from players.llm.provider import ProviderReply
from players.llm.settings import Price
from tests.llm.accounts.calls import model, question
from wolfbus.errors import BudgetSpent, ConfigError

PRICE = Price(input=0.15, cached=0.075, output=0.6)


def run(body: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(body, 30))


async def idle() -> None:
    """Let every other task come to a stop."""
    for _ in range(20):
        await asyncio.sleep(0)


def told(prompt: int | None, completion: int | None, cached: int | None = None) -> ProviderReply:
    return ProviderReply("{}", prompt_tokens=prompt, cached_tokens=cached, completion_tokens=completion)


@pytest.mark.parametrize(
    ("reply", "charged", "expected"),
    [
        (told(100, 20, 40), True, 120),
        (None, False, 0),
        (None, True, "all"),
        (told(None, None), True, "all"),
        (told(None, 7), True, "prompt"),
    ],
)
def test_what_was_told_is_spent_and_what_may_have_been_charged_counts_in_full(
    reply: ProviderReply | None, charged: bool, expected: int | str
) -> None:
    async def body() -> None:
        budget = Budget(tokens=100_000)
        one = await budget.reserve(question("x" * 81, model(price=PRICE)))
        sums = {"all": one.held.tokens, "prompt": one.prompt_tokens + 7}
        assert one.held.tokens == one.prompt_tokens + one.reply_tokens == budget.held.tokens
        for _ in range(2):
            one.settle(reply, charged=charged)
            assert budget.spent.tokens == (expected if isinstance(expected, int) else sums[expected]), "settled once"
        assert budget.held.tokens == 0
        if expected == 120:
            usd = (60 * 0.15 + 40 * 0.075 + 20 * 0.6) / 1e6
            assert float(budget.spent.usd) == pytest.approx(usd, rel=1e-12)

    run(body())


def test_calls_wait_in_their_order_and_one_that_is_cancelled_leaves_its_place() -> None:
    async def body() -> None:
        worst = (await Budget().reserve(question("x" * 81))).held.tokens
        budget = Budget(tokens=worst + 100)
        first = await budget.reserve(question("x" * 81))
        order: list[str] = []

        async def wait(name: str) -> None:
            reservation = await budget.reserve(question("x" * 81))
            order.append(name)
            reservation.settle(told(1, 1), charged=True)

        tasks = []
        for name in "abcd":
            tasks.append(asyncio.ensure_future(wait(name)))
            await idle()
        tasks[1].cancel()
        await idle()
        assert not order
        first.settle(told(10, 10), charged=True)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert order == ["a", "c", "d"]
        assert (budget.spent.tokens, budget.held.tokens) == (26, 0)

    run(body())


def test_what_cannot_fit_any_more_ends_the_budget_for_all_in_one_line() -> None:
    async def body() -> None:
        budget = Budget(usd=0.001, before=Amount(Budget().spent.usd, 0))
        asked = question("x" * 81, model("gpt-4o-mini", price=PRICE, max_tokens=1024))
        first = await budget.reserve(question("x" * 81, model("gpt-4o-mini", price=PRICE, max_tokens=256)))
        with pytest.raises(BudgetSpent) as caught:
            await budget.reserve(asked)
        line = str(caught.value)
        assert line.startswith("the budget ends here: $0.0000 of $0.0010 spent, and the next call could take up")
        assert line.endswith(", gpt-4o-mini)")
        assert "\n" not in line
        first.settle(None, charged=False)
        with pytest.raises(BudgetSpent):
            await budget.reserve(question("x", model("gpt-4o-mini", price=PRICE, max_tokens=16)))
        with pytest.raises(BudgetSpent, match=r"0 of 5 tokens spent"):
            await Budget(tokens=5).reserve(question("x"))

    run(body())


def test_the_guess_of_a_prompt_follows_what_the_server_counts() -> None:
    async def body() -> None:
        budget = Budget(tokens=10_000_000)

        async def bound(size: int) -> Reservation:
            return await budget.reserve(question("x" * size))

        first = await bound(20_000)
        first.settle(told(OVERHEAD + 5_000, 1), charged=True)
        second = await bound(20_000)
        assert second.prompt_tokens < first.prompt_tokens, "a quarter token a byte, and a margin"
        small = await bound(10)
        small.settle(told(OVERHEAD + 2, 1), charged=True)
        assert (await bound(20_000)).prompt_tokens == second.prompt_tokens, "a small prompt tells of its frame"
        other = await budget.reserve(question("x" * 20_000, model("other")))
        assert other.prompt_tokens == first.prompt_tokens
        assert first.prompt_tokens > FIRST_GUESS * 20_000

    run(body())


def test_limits_need_prices_and_are_numbers() -> None:
    budget = Budget(usd=1.0)
    budget.check([model("a", price=PRICE)])
    with pytest.raises(ConfigError, match=r'price of m: add  price = .*\[models."m"\], in US dollars'):
        budget.check([model("m"), model("b", price=PRICE)])
    Budget(tokens=5).check([model()])
    for limits in ({"usd": -1.0}, {"usd": float("nan")}, {"tokens": -1}):
        with pytest.raises(ConfigError, match="budget"):
            Budget(**limits)  # type: ignore[arg-type]


@given(st.integers(0, 2**32), st.booleans())
def test_whatever_the_order_nothing_is_overspent_and_no_call_is_forgotten(seed: int, money: bool) -> None:
    drawn = random.Random(seed)
    limit = drawn.randrange(2_000, 40_000)
    priced = model(price=Price(input=1.0, output=2.0), max_tokens=500)

    async def call(budget: Budget) -> bool:
        try:
            reservation = await budget.reserve(question("x" * drawn.randrange(1, 500), priced))
        except BudgetSpent:
            return False
        try:
            for _ in range(drawn.randrange(3)):
                await asyncio.sleep(0)
            counted = told(drawn.randrange(100), drawn.randrange(1000))
            reservation.settle(drawn.choice([None, counted, counted]), charged=drawn.random() < 0.5)
        finally:
            reservation.settle(None, charged=True)
        return True

    async def body() -> None:
        budget = Budget(usd=limit / 1e6) if money else Budget(tokens=limit)
        tasks = [asyncio.ensure_future(call(budget)) for _ in range(30)]
        for task in drawn.sample(tasks, 5):
            if drawn.random() < 0.5:
                await asyncio.sleep(0)
            task.cancel()
        while not all(task.done() for task in tasks):
            whole = budget.spent + budget.held
            assert (whole.usd * 10**6 <= limit if money else whole.tokens <= limit) or not whole.tokens
            await asyncio.sleep(0)
        assert budget.held.tokens == 0

    run(body())
