"""A budget is never overspent, and nobody waits for room that is there."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from players.llm.budget import FIRST_GUESS, OVERHEAD, Budget, Reservation
from players.llm.provider import Completion
from players.llm.settings import Price
from wolfbus.errors import BudgetSpent, ConfigError

from .calls import PRICE, model, question, reply

WORST = 128 + 96 + 200  # tokens that `ASKED` may take: what a server adds, half its bytes, twice its longest reply
ASKED = question("x" * 81)
TIMED_OUT = Completion(error="no reply in time", timed_out=True, attempts=1)


def run(body: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(body, 20))


async def idle() -> None:
    """Let every task that can go on go on."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_the_worst_case_is_the_prompt_and_a_doubled_reply_for_each_request() -> None:
    async def body() -> None:
        budget = Budget(tokens=1_000_000)
        one = await budget.reserve(ASKED)
        assert one.held.tokens == one.prompt_tokens + one.reply_tokens == WORST
        assert (await budget.reserve(question("x" * 81, model(attempts=6)))).held.tokens == 6 * WORST
        assert (await budget.reserve(question("x" * 81, model(attempts=6)), requests=1)).held.tokens == WORST

    run(body())


def test_what_was_told_is_what_is_spent() -> None:
    async def body() -> None:
        budget = Budget(usd=1.0, tokens=10_000)
        asked = question(asked=model(price=PRICE))
        reservation = await budget.reserve(asked)
        reservation.settle(reply(100, 20, 40))
        assert budget.spent.tokens == 120
        assert float(budget.spent.usd) == pytest.approx((60 * 0.15 + 40 * 0.075 + 20 * 0.6) / 1e6, rel=1e-12)
        reservation.settle(reply(100, 20, 40))
        assert budget.spent.tokens == 120, "settled once, however often it is called"

    run(body())


def test_a_call_that_never_went_out_costs_nothing() -> None:
    async def body() -> None:
        budget = Budget(tokens=WORST)
        (await budget.reserve(ASKED)).settle(Completion(error="the endpoint is down"))
        (await budget.reserve(ASKED)).settle(Completion())
        assert budget.spent.tokens == 0

    run(body())


def test_a_time_out_counts_as_if_it_had_been_answered_at_length() -> None:
    async def body() -> None:
        budget = Budget(tokens=1_000_000)
        (await budget.reserve(ASKED)).settle(TIMED_OUT)
        assert budget.spent.tokens == WORST

    run(body())


def test_attempts_of_unknown_usage_count_unless_they_are_known_to_be_free() -> None:
    async def body() -> None:
        asked = question("x" * 81, model(attempts=4))
        for lost, expected in ((None, 2 * WORST + 120), (0, 120), (1, WORST + 120)):
            budget = Budget(tokens=1_000_000)
            (await budget.reserve(asked)).settle(reply(100, 20, attempts=3), lost)
            assert budget.spent.tokens == expected

    run(body())


def test_a_server_that_counts_no_tokens_uses_up_what_was_set_aside() -> None:
    async def body() -> None:
        budget = Budget(tokens=1_000_000)
        (await budget.reserve(ASKED)).settle(reply(None, None))
        assert budget.spent.tokens == WORST
        (await budget.reserve(ASKED)).settle(reply(None, 7))
        assert budget.spent.tokens == 2 * WORST - 200 + 7

    run(body())


def test_a_call_waits_until_those_in_flight_have_settled_for_less() -> None:
    async def body() -> None:
        budget = Budget(tokens=2 * WORST - 1)
        first = await budget.reserve(ASKED)
        second = asyncio.create_task(budget.reserve(ASKED))
        await idle()
        assert not second.done()
        first.settle(reply(100, 20))
        (await second).settle(reply(100, 20))
        assert budget.spent.tokens == 240

    run(body())


def test_waiting_calls_go_out_in_the_order_in_which_they_came() -> None:
    async def body() -> None:
        budget = Budget(tokens=3 * WORST)
        big, small = question("x" * 81, model(attempts=3)), ASKED
        went: list[int] = []

        async def call(number: int, asked: Any) -> Reservation:
            reservation = await budget.reserve(asked)
            went.append(number)
            return reservation

        first = await call(0, small)
        tasks = [asyncio.create_task(call(n, asked)) for n, asked in enumerate((big, small, small), 1)]
        await idle()
        assert went == [0], "the small ones would fit, but none overtakes the big one"
        first.settle(Completion())
        await idle()
        assert went == [0, 1]
        tasks[0].result().settle(Completion())
        await idle()
        assert went == [0, 1, 2, 3]

    run(body())


def test_what_cannot_fit_any_more_ends_the_budget_for_all_in_one_line() -> None:
    async def body() -> None:
        budget = Budget(usd=0.001)
        asked = question("x" * 81, model(price=Price(input=1.0, output=2.0)))
        first = await budget.reserve(asked)
        waiting = [asyncio.create_task(budget.reserve(asked)) for _ in range(3)]
        await idle()
        first.settle(reply(100, 200))
        with pytest.raises(BudgetSpent) as caught:
            await waiting[0]
        assert str(caught.value) == (
            "the budget ends here: $0.00050 of $0.0010 spent, and the next call could take up to $0.00062 "
            "(1/debate/1/bid/Ann: bid, tiny)"
        )
        for task in waiting[1:]:
            with pytest.raises(BudgetSpent):
                await task
        with pytest.raises(BudgetSpent, match="the budget ends here"):
            await budget.reserve(question("", model("free", max_tokens=16, price=Price(input=0.0, output=0.0))))

    run(body())


def test_a_budget_in_tokens_says_how_many() -> None:
    async def body() -> None:
        with pytest.raises(BudgetSpent, match=r"0 of 10 tokens spent, and the next call could take up to 424 \("):
            await Budget(tokens=10).reserve(ASKED)

    run(body())


def test_a_cancelled_call_leaves_its_place_to_the_next() -> None:
    async def body() -> None:
        budget = Budget(tokens=2 * WORST)
        in_flight = await budget.reserve(ASKED)
        big = asyncio.create_task(budget.reserve(question("x" * 81, model(attempts=2))))
        small = asyncio.create_task(budget.reserve(ASKED))
        await idle()
        assert not small.done()
        big.cancel()
        (await small).settle(Completion())
        in_flight.settle(Completion())
        (await budget.reserve(question("x" * 81, model(attempts=2)))).settle(Completion())

    run(body())


def test_a_call_cancelled_in_the_moment_it_was_let_go_leaks_no_room() -> None:
    async def body() -> None:
        budget = Budget(tokens=WORST)
        first = await budget.reserve(ASKED)
        second, third = (asyncio.create_task(budget.reserve(ASKED)) for _ in range(2))
        await idle()
        first.settle(Completion())
        second.cancel()
        (await third).settle(Completion())
        assert second.cancelled()
        assert budget.held.tokens == 0

    run(body())


def test_the_guess_of_a_prompt_follows_what_the_server_counts() -> None:
    async def body() -> None:
        budget = Budget()
        long = question("x" * 10_000)
        first = await budget.reserve(long)
        size = first._size
        assert first.prompt_tokens == OVERHEAD + -int(-FIRST_GUESS * size // 1)
        first.settle(reply(round(0.3 * size), 5))
        second = await budget.reserve(long)
        assert 0.3 * size < second.prompt_tokens < 0.4 * size + OVERHEAD
        second.settle(reply(round(0.2 * size), 5))
        third = await budget.reserve(long)
        assert third.prompt_tokens == second.prompt_tokens, "the most that was ever seen counts"
        third.settle(reply(size, 5))
        assert (await budget.reserve(long)).prompt_tokens > size
        assert (await budget.reserve(question("x" * 10_000, model("other")))).prompt_tokens == first.prompt_tokens

    run(body())


def test_a_small_prompt_does_not_make_a_large_one_look_small() -> None:
    async def body() -> None:
        budget = Budget()
        (await budget.reserve(ASKED)).settle(reply(20, 1))
        long = await budget.reserve(question("x" * 10_000))
        assert long.prompt_tokens > 5000

    run(body())


def test_a_guess_that_was_too_high_is_made_anew_before_a_waiting_call_is_refused() -> None:
    async def body() -> None:
        budget = Budget(tokens=12_000)
        long = question("x" * 10_000)
        first = await budget.reserve(long)
        first_bound = first.held.tokens
        second, third = (asyncio.create_task(budget.reserve(long)) for _ in range(2))
        await idle()
        first.settle(reply(2500, 20))
        (await second).settle(reply(2500, 20))
        third_call = await third
        assert third_call.held.tokens < first_bound
        assert budget.spent.tokens == 5040

    run(body())


def test_a_limit_in_dollars_needs_a_price() -> None:
    budget = Budget(usd=1.0)
    budget.check([model("a", price=PRICE)])
    with pytest.raises(ConfigError, match=r'\[models."gpt-4o-mini"\]'):
        budget.check([model("gpt-4o-mini"), model("b", price=PRICE)])
    Budget(tokens=5).check([model()])

    async def body() -> None:
        with pytest.raises(ConfigError, match="price of tiny"):
            await budget.reserve(ASKED)

    run(body())


@pytest.mark.parametrize("limit", [-1.0, float("nan"), float("inf")])
def test_a_limit_that_is_none_is_refused(limit: float) -> None:
    with pytest.raises(ConfigError):
        Budget(usd=limit)
    with pytest.raises(ConfigError):
        Budget(tokens=-1)


def test_without_limits_everything_is_counted_and_nothing_refused() -> None:
    async def body() -> None:
        budget = Budget()
        for _ in range(3):
            (await budget.reserve(ASKED)).settle(reply(100, 20))
        assert (budget.spent.tokens, float(budget.spent.usd)) == (360, 0.0)

    run(body())


SHARES = st.sampled_from([0.0, 0.1, 0.5, 1.0])  # of what was set aside
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["call", "call", "settle", "cancel"]),
        st.integers(0, 99),
        st.booleans(),
        SHARES,
        SHARES,
        st.sampled_from(["told", "told", "not told", "timed out", "never sent", "repeated"]),
    ),
    min_size=10,
    max_size=40,
)


def outcome(reservation: Reservation, prompt: float, answer: float, how: str) -> Completion:
    told = (int(prompt * reservation.prompt_tokens), int(answer * reservation.reply_tokens))
    match how:
        case "told":
            return reply(*told)
        case "not told":
            return reply(None, None)
        case "timed out":
            return TIMED_OUT
        case "repeated":
            return reply(*told, attempts=reservation.requests)
        case _:
            return Completion(error="the endpoint is down")


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 30).map(lambda tenths: tenths * WORST // 10), st.booleans(), STEPS)
def test_whatever_the_order_nothing_is_overspent_and_no_call_is_forgotten(limit: int, money: bool, steps: Any) -> None:
    price = Price(input=0.1, cached=0.3, output=0.7)
    models = [model("a", attempts=1, price=price), model("b", attempts=2, price=price, max_tokens=20)]

    async def body() -> None:
        usd = limit * 4e-7 if money else None
        budget = Budget(usd, None if money else limit)
        tasks: list[asyncio.Task[Reservation]] = []
        open_calls: list[Reservation] = []

        async def look() -> None:
            await idle()
            for task in [task for task in tasks if task.done()]:
                tasks.remove(task)
                if not task.cancelled() and task.exception() is None:
                    open_calls.append(task.result())
            assert budget.spent.tokens <= limit or money
            assert usd is None or float(budget.spent.usd) <= usd
            assert open_calls or not tasks, "somebody waits while nothing is in flight"
            held = sum((each.held.usd for each in open_calls), start=budget.held.usd * 0)
            assert budget.held.usd == held
            assert budget.held.tokens == sum(each.held.tokens for each in open_calls)

        for step, which, at_once, prompt, answer, how in steps:
            if step == "call":
                tasks.append(asyncio.create_task(budget.reserve(question("x" * which, models[which % 2]))))
            elif step == "settle" and open_calls:
                reservation = open_calls.pop(which % len(open_calls))
                reservation.settle(outcome(reservation, prompt, answer, how))
            elif step == "cancel" and tasks:
                tasks[which % len(tasks)].cancel()
            if not at_once:
                await look()
        await look()
        while open_calls:
            open_calls.pop().settle(Completion())
            await look()
        assert not tasks
        assert budget.held.tokens == 0

    run(body())
