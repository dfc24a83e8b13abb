"""Calls in flight, requests and tokens per minute, and who goes first."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from players.llm.provider import ProviderReply, Purpose
from tests.llm.scripted import URL

from .conftest import OK, Clock, Mocked, busy


def test_calls_in_flight_never_exceed_the_limit_and_reach_it(clock: Clock) -> None:
    mocked = Mocked(clock)
    mocked.default = 1.0
    came = mocked.run(*(mocked.question(endpoint={"at_once": 5}) for _ in range(20)))
    assert all(completion.text for completion in came)
    assert (mocked.provider.peak, len(mocked.prompts), clock.now) == (5, 20, pytest.approx(1004.0))


def test_what_the_game_waits_for_goes_before_judgements_and_the_early_before_the_late(clock: Clock) -> None:
    mocked = Mocked(clock)
    mocked.default = 1.0
    calls: list[tuple[str, Purpose]] = [
        ("occupies the place", "assess_other"), ("judgement 1", "assess_other"), ("label", "assess_own"),
        ("bid 1", "bid"), ("judgement 2", "assess_other"), ("bid 2", "bid"), ("vote", "vote"), ("kill", "kill"),
    ]  # fmt: skip
    questions = [mocked.question(text, purpose=purpose, endpoint={"at_once": 1}) for text, purpose in calls]
    came = mocked.run(*questions)
    urgent, later = ["bid 1", "bid 2", "vote", "kill"], ["judgement 1", "label", "judgement 2"]
    assert mocked.prompts == ["occupies the place", *urgent, *later]
    assert [came[place].queue_s for place in (0, 3, 1)] == pytest.approx([0, 1, 5])


def test_requests_per_minute_hold_over_any_minute(clock: Clock) -> None:
    mocked = Mocked(clock)
    mocked.run(*(mocked.question(endpoint={"requests_per_minute": 5.0}, seconds=1000) for _ in range(12)))
    times = mocked.provider.times
    assert times == pytest.approx([1000.0] * 5 + [1060.0] * 5 + [1120.0] * 2)


def test_tokens_per_minute_are_estimated_and_then_corrected(clock: Clock) -> None:
    mocked = Mocked(clock)

    def ask(calls: int) -> None:
        settings: dict[str, Any] = {"endpoint": {"tokens_per_minute": 1100.0}, "max_tokens": 500, "seconds": 1000}
        mocked.run(*(mocked.question(**settings) for _ in range(calls)))

    # each is thought to take over 500, and takes 50
    mocked.default = ProviderReply("{}", prompt_tokens=40, completion_tokens=10)
    for _ in range(3):
        ask(2)
    assert clock.now == 1000.0
    mocked.default = ProviderReply("{}", prompt_tokens=500, completion_tokens=500)
    ask(1)
    ask(1)
    assert mocked.provider.times[-1] == pytest.approx(1060.0)


def test_calls_that_leave_the_queue_leave_no_gap(clock: Clock) -> None:
    mocked = Mocked(clock)
    mocked.default = 5.0

    async def steps() -> None:
        def ask(text: str, seconds: float) -> asyncio.Task[Any]:
            question = mocked.question(text, seconds=seconds, endpoint={"at_once": 1})
            return asyncio.create_task(mocked.gateway.complete(question))

        first, cancelled, *late = ask("a", 100), ask("b", 100), *(ask("late", 3) for _ in range(20))
        last = ask("z", 100)
        await asyncio.sleep(1)
        cancelled.cancel()
        came = await asyncio.gather(first, *late, last)
        assert all(completion.timed_out and completion.attempts == 0 for completion in came[1:-1])
        assert [completion.queue_s for completion in came[1:-1]] == pytest.approx([3.0] * 20)

    mocked.during(steps())
    assert mocked.prompts == ["a", "z"]


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"requests_per_minute": 1.0}, "requests_per_minute = 1"),
        ({"tokens_per_minute": 1100.0}, "tokens_per_minute = 1100"),
        ({"tokens_per_minute": 1_300_000.0}, "tokens_per_minute = 1300000"),
        ({"at_once": 1}, "at_once = 1"),
    ],
)
def test_a_call_that_was_never_sent_says_which_limit_it_waited_for(
    clock: Clock, settings: dict[str, float], what: str
) -> None:
    mocked = Mocked(clock)
    mocked.default = 10.0
    most = round(settings.get("tokens_per_minute", 1100) * 0.6)
    fields: dict[str, Any] = {"endpoint": settings, "max_tokens": most}
    first, came = mocked.run(mocked.question(**fields), mocked.question(**fields, seconds=2.0))
    assert first.text
    assert came.error == f"waited 2.0 s for {what} of {URL}, and was never sent"
    assert (came.timed_out, came.attempts, came.url) == (True, 0, None)
    total = mocked.total
    assert (total["failed"], total["tokens_unknown"]) == (1, 1), "the first was not counted by its server"


def test_long_waits_are_told_once_for_each_limit(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    mocked = Mocked(clock)
    endpoint = {"at_once": 1, "requests_per_minute": 2.0}
    mocked.default = 10.0
    for _ in range(2):
        mocked.run(*(mocked.question(endpoint=endpoint, seconds=500) for _ in range(5)))
        mocked.default = OK
    mocked.script = [busy(8.0), busy(8.0), OK]
    mocked.one(seconds=100)
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        f"{URL}: calls wait longer than 5 s for {what}"
        for what in ("at_once = 1", "requests_per_minute = 2", "the server's Retry-After")
    ]
