"""Budgets are never overspent, and nobody waits in vain."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.llm.gateway import Budget
from players.llm.provider import Failure, ModelQuestion, ProviderReply
from wolfbus.errors import BudgetSpent, ConfigError

from .conftest import BID, Clock, Mocked, Step, rejected
from .test_accounts import LOST, PRICE, counted

OVERHEAD, SYSTEM = 128, "You play a game."
"""Tokens that a server may put around a prompt."""


def prompt_of(text: str, per_byte: float = 0.5) -> int:
    """Most tokens of a prompt, at first."""
    size = len(SYSTEM) + len(text) + 2 * 16 + len(json.dumps(BID))
    return OVERHEAD + -int(-size * per_byte // 1)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (counted(100, 20, 40), 120),
        (rejected(), 0),
        (LOST, prompt_of("x" * 81) + 200),
        (counted(None, None), prompt_of("x" * 81) + 200),
        (counted(None, 7), prompt_of("x" * 81) + 7),
    ],
)
def test_what_was_told_is_spent_and_what_may_have_been_charged_counts_in_full(
    clock: Clock, step: Step, expected: int
) -> None:
    budget = Budget(tokens=100_000)
    mocked = Mocked(clock, step, budget=budget)
    mocked.one("x" * 81, price=PRICE, max_tokens=100, endpoint={"attempts": 1})
    assert (budget.spent.tokens, budget.reserved.tokens) == (expected, 0)
    if expected == 120:
        assert float(budget.spent.usd) == pytest.approx((60 * 0.15 + 40 * 0.075 + 20 * 0.6) / 1e6, rel=1e-12)


def test_calls_wait_in_their_order_and_one_that_is_cancelled_leaves_its_place(clock: Clock) -> None:
    budget = Budget(tokens=prompt_of("a") + 200 + 100)
    mocked = Mocked(clock, (10.0, counted(10, 10)), budget=budget)
    mocked.default = counted(1, 1)

    async def steps() -> None:
        calls = [asyncio.create_task(mocked.gateway.complete(mocked.question(text, max_tokens=100))) for text in "abcd"]
        await asyncio.sleep(1)
        assert (mocked.prompts, budget.reserved.tokens) == (["a"], prompt_of("a") + 200)
        calls[1].cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    mocked.during(steps())
    assert mocked.prompts == ["a", "c", "d"]
    assert (budget.spent.tokens, budget.reserved.tokens) == (24, 0)


def test_what_cannot_fit_any_more_ends_the_budget_for_all_in_one_line(clock: Clock) -> None:
    ends: list[Any] = []
    mocked = Mocked(clock, 5.0, budget=Budget(usd=0.001), fatal=ends.append)
    settings: dict[str, Any] = {"model": "gpt-4o-mini", "price": PRICE}
    first, wide, small = mocked.run(*(mocked.question(max_tokens=most, **settings) for most in (256, 1024, 16)))
    assert first.text
    assert str(wide.error).startswith("the budget ends here: $0.0000 of $0.0010 spent, and the next call could take up")
    assert str(wide.error).endswith(", gpt-4o-mini)")
    assert "\n" not in str(wide.error)
    assert small.error == wide.error, "nothing goes out once it has ended"
    assert [(type(end), str(end)) for end in ends] == [(BudgetSpent, wide.error)] * 2
    assert "0 of 5 tokens spent" in str(Mocked(clock, budget=Budget(tokens=5)).one().error)


def test_the_guess_of_a_prompt_follows_what_the_server_counts(clock: Clock) -> None:
    text = "x" * 20_000
    budget = Budget(tokens=prompt_of(text) + 10_000)
    mocked = Mocked(clock, counted(OVERHEAD + 5_000, 1), budget=budget)
    mocked.default = 10.0
    mocked.one(text, max_tokens=100)

    def reserved(text: str, model: str) -> int:
        async def steps() -> int:
            call = asyncio.create_task(mocked.gateway.complete(mocked.question(text, model=model, max_tokens=100)))
            await asyncio.sleep(1)
            tokens = budget.reserved.tokens
            await call
            return tokens

        return int(mocked.during(steps()))

    assert reserved("x" * 2_000, "tiny") < prompt_of("x" * 2_000), "a quarter token a byte, and a margin"
    assert reserved("x" * 2_000, "other") == prompt_of("x" * 2_000) + 200


def test_what_a_model_was_seen_to_think_beyond_its_bound_is_reserved_from_then_on(clock: Clock) -> None:
    budget = Budget(tokens=50_000)
    mocked = Mocked(clock, counted(10, 1_100), budget=budget)
    mocked.default = 10.0
    mocked.one("a", max_tokens=100)

    async def steps() -> None:
        for model, beyond in (("tiny", 1_000 * 5 // 4), ("other", 0)):
            call = asyncio.create_task(mocked.gateway.complete(mocked.question("a", model=model, max_tokens=100)))
            await asyncio.sleep(1)
            assert budget.reserved.tokens == prompt_of("a") + 200 + beyond
            await call

    mocked.during(steps())


def test_a_limit_may_be_a_number_of_numpy_s() -> None:
    assert Budget(usd=np.float64(1.5)).spent == Budget(usd=1.5).spent


def test_limits_need_prices_and_are_numbers(clock: Clock) -> None:
    came = Mocked(clock, budget=Budget(usd=1.0)).one(model="m")
    assert 'price of m: add  price = { input = …, output = … }  to [models."m"], in US dollars' in str(came.error)
    assert Mocked(clock, budget=Budget(tokens=5_000)).one().text
    for limits in ({"usd": -1.0}, {"usd": float("nan")}, {"tokens": -1}):
        with pytest.raises(ConfigError, match="budget"):
            Budget(**limits)  # type: ignore[arg-type]


@given(st.integers(0, 2**32), st.booleans())
def test_whatever_the_order_nothing_is_overspent_and_no_call_is_forgotten(seed: int, money: bool) -> None:
    drawn = random.Random(seed)
    limit = drawn.randrange(2_000, 40_000)
    clock, budget = Clock(), Budget(usd=limit / 1e6) if money else Budget(tokens=limit)

    async def answer(_request: Any) -> ProviderReply | Failure:
        await asyncio.sleep(drawn.randrange(3))
        whole = budget.spent + budget.reserved
        assert (whole.usd * 10**6 <= limit if money else whole.tokens <= limit) or not whole.tokens
        return drawn.choice([rejected(), LOST, counted(drawn.randrange(100), drawn.randrange(1000))])

    mocked = Mocked(clock, budget=budget)
    mocked.provider.answer = answer

    async def call(question: ModelQuestion) -> None:
        await mocked.gateway.complete(question)

    async def steps() -> None:
        price = {"input": 1.0, "output": 2.0}
        texts = ["x" * drawn.randrange(1, 500) for _ in range(20)]
        settings: dict[str, Any] = {"price": price, "max_tokens": 500, "endpoint": {"attempts": 1}}
        tasks = [asyncio.create_task(call(mocked.question(text, **settings))) for text in texts]
        for task in drawn.sample(tasks, 4):
            await asyncio.sleep(drawn.random())
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    mocked.during(steps())
    assert budget.reserved.tokens == 0
    clock.close()
