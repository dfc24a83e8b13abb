"""What is tried again and how long the gateway waits before: the contract of a provider, by a clock of its own."""

from __future__ import annotations

import asyncio
import dataclasses
import math
from itertools import pairwise
from typing import Any

import pytest

from players.llm.gateway import Backoff, Tempo
from players.llm.provider import Failure, ProviderReply
from tests.llm.scripted import URL
from wolfbus.errors import ModelHalted

from .conftest import HANG, OK, Clock, Mocked, broken, busy, rejected

LOST = Failure("connection", f"{URL}: the connection broke", again=True, charged=True)
GARBAGE = Failure("garbage", f"{URL}: 200, but no JSON", again=True, charged=True)


OFTEN = {"endpoint": {"attempts": 2}, "seconds": 1000}


@pytest.mark.parametrize(
    ("steps", "settings", "attempts", "error"),
    [
        *(([failure] * 2, {}, 3, None) for failure in (broken(), busy(), LOST)),
        # nobody pays for the same garbage a third time
        ([GARBAGE], {}, 2, None),
        ([GARBAGE] * 2, {}, 2, "200, but no JSON (2 attempts)"),
        # what will not pass is not tried again, and attempts have an end
        ([rejected("401: so it is")], {}, 1, "401: so it is"),
        ([broken()] * 4, {"endpoint": {"attempts": 4}}, 4, "500: broken (4 attempts)"),
        # 429s are not counted while time is left
        ([busy()] * 9, OFTEN, 10, None),
        ([busy(), broken()] * 2, OFTEN, 4, "500: broken (4 attempts)"),
        # a wait beyond the deadline is given up at once
        ([broken(wait=3600)], {}, 1, "500: broken; it asks to wait for 3600 s, longer than this call can"),
    ],
)
def test_what_may_pass_is_tried_again_while_that_makes_sense(
    clock: Clock, steps: list[Failure], settings: dict[str, Any], attempts: int, error: str | None
) -> None:
    came = Mocked(clock, *steps).one(**settings)
    assert (came.attempts, came.error) == (attempts, error and f"{URL}: {error}")
    assert (came.text, came.url) == (None if error else OK.text, URL)
    assert came.failures == tuple(step.line for step in steps[: attempts - 1])
    assert attempts > 1 or clock.now == 1000.0, "and nobody waits for what will not be tried again"


def test_where_replies_come_soon_half_the_time_is_for_the_first_attempt(clock: Clock) -> None:
    mocked = Mocked(clock)
    mocked.run(*(mocked.question() for _ in range(8)))
    mocked.script = [HANG]
    came = mocked.one(seconds=6.0)
    assert came.attempts == 2
    assert 3.0 <= came.latency_s < 6.0


def test_a_model_that_needs_most_of_its_time_is_slow_and_not_down(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    mocked = Mocked(clock, tempo=Tempo())
    mocked.default = 0.4
    came = [reply for _ in range(2) for reply in mocked.run(*(mocked.question(seconds=0.5) for _ in range(12)))]
    assert {(reply.error, reply.attempts) for reply in came} == {(None, 1)}
    assert not caplog.records


def test_the_deadline_ends_a_call_wherever_it_is(clock: Clock) -> None:
    mocked = Mocked(clock)
    mocked.default = HANG
    came = mocked.one(seconds=7.0)
    assert (came.timed_out, came.attempts, clock.now) == (True, 1, pytest.approx(1007.0))
    assert came.error == f"no reply from {URL} in the request's time"
    assert mocked.provider.open == 0
    late = mocked.one(seconds=-1)
    assert (late.timed_out, late.attempts, len(mocked.prompts)) == (True, 0, 1)


@pytest.mark.parametrize("wait", [None, 0.0])
def test_429s_without_end_end_with_the_time_and_do_not_spin(clock: Clock, wait: float | None) -> None:
    mocked = Mocked(clock, tempo=Tempo(backoff=Backoff(first=1.0, longest=2.0)))
    mocked.default = busy(wait)
    came = mocked.one(endpoint={"attempts": 2}, seconds=10)
    assert f"{URL}: 429: queue" in str(came.error)
    # none after less than half of the first back-off
    assert 3 <= came.attempts <= 20
    assert all(later - first >= 0.5 for first, later in pairwise(mocked.provider.times))
    total = mocked.total
    assert (total["failed"], total["tokens_unknown"], total["cost_unknown"]) == (1, 0, 0)


def test_a_429_pauses_everybody_on_the_endpoint(clock: Clock) -> None:
    mocked = Mocked(clock, busy(10.0))

    async def steps() -> None:
        first = asyncio.create_task(mocked.gateway.complete(mocked.question("first")))
        await asyncio.sleep(1)
        await asyncio.gather(first, *(mocked.gateway.complete(mocked.question("later")) for _ in range(3)))

    mocked.during(steps())
    assert sorted(mocked.prompts[1:]) == ["first", "later", "later", "later"]
    assert min(mocked.provider.times[1:]) == pytest.approx(1010.0)


def test_who_cannot_wait_for_a_pause_to_end_is_told_at_once(clock: Clock) -> None:
    mocked = Mocked(clock, busy(100))
    assert "100 s, longer than this call can" in str(mocked.one().error)
    came = mocked.one()
    assert (came.attempts, came.timed_out, came.halts, clock.now) == (0, False, False, 1000.0)
    assert "asked to be left alone" in str(came.error)
    assert str(came.error).endswith("; it was never sent")
    # a server that asks for minutes is asked again before that
    assert mocked.one(seconds=120).text
    assert clock.now == pytest.approx(1060.0)


def test_whoever_was_told_to_wait_for_minutes_comes_back_no_sooner(clock: Clock) -> None:
    mocked = Mocked(clock, busy(100))
    assert mocked.one(seconds=200).text
    assert len(mocked.provider.times) == 2
    assert mocked.provider.times[1] >= 1100.0


@pytest.mark.parametrize("failure", [busy(86_400), broken(wait=3600)])
def test_a_model_that_will_be_back_after_any_call_of_a_game_halts_and_is_asked_no_more(
    clock: Clock, failure: Failure
) -> None:
    halted: list[Any] = []
    mocked = Mocked(clock, failure, fatal=halted.append)
    first, later = mocked.one(), mocked.one()
    assert (first.halts, first.attempts, later.halts, later.attempts) == (True, 1, True, 0)
    assert (
        later.error
        == first.error
        == f"{failure.line}; it asks to wait for {failure.wait:.0f} s, longer than this call can"
    )
    assert [(type(error), error.game) for error in halted] == [(ModelHalted, "g")] * 2
    assert (len(mocked.prompts), clock.now) == (1, 1000.0)
    # others of its server go on at once
    assert mocked.one(model="other").text


def test_calls_that_fail_while_a_model_halts_are_no_defaults_of_its_game(clock: Clock) -> None:
    spent = Failure("rejected", f"{URL}: 402: no credits", again=False, halts=True)
    mocked = Mocked(clock, (1.0, spent), (2.0, rejected()), (2.0, OK))
    came = mocked.run(*(mocked.question(str(number)) for number in range(3)))
    assert [completion.halts for completion in came] == [True, True, False]


def test_a_cancelled_call_is_counted_and_leaves_its_place(clock: Clock) -> None:
    mocked = Mocked(clock, HANG)

    async def steps() -> None:
        call = asyncio.create_task(mocked.gateway.complete(mocked.question(endpoint={"at_once": 1})))
        await asyncio.sleep(1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await mocked.gateway.complete(mocked.question(endpoint={"at_once": 1}))).text

    mocked.during(steps())
    assert mocked.total["calls"] == 2


def test_a_reply_that_was_cut_off_before_it_said_anything_is_asked_for_once_more_with_more_room(clock: Clock) -> None:
    cut = ProviderReply("", finish="length", completion_tokens=16)
    mocked = Mocked(clock, cut, OK)
    assert mocked.one(max_tokens=16).text == OK.text
    assert [request.max_tokens for request in mocked.provider.requests] == [16, 32]
    # a draft in its thoughts is not what it says
    for draft in ('<think>Maybe {"bid": 2}, or', 'I could say {"bid": 2} now, or'):
        mocked.script = [ProviderReply(draft, finish="length", completion_tokens=16), OK]
        assert mocked.one(draft, max_tokens=16).text == OK.text
    # but this is what it goes on behind
    chatty = ProviderReply('Sure!\n```json\n{"bid": 2}\n```\nI said so because', finish="length")
    mocked.script = [chatty]
    assert mocked.one("chatty", max_tokens=16).text == chatty.text
    # half a reply is worth more than none, but not where its game goes on later
    mocked.script = [cut, rejected()]
    assert mocked.one(max_tokens=16).finish == "length"
    mocked.script = [cut, rejected("402: no credits", halts=True)]
    assert mocked.one(max_tokens=16, model="other").halts


def test_the_room_that_a_model_needs_is_learned_for_the_run_and_told_with_numbers(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    cut, asked = ProviderReply(None, finish="MAX_TOKENS"), {"max_tokens": 100}
    mocked = Mocked(clock, (1.0, cut), (1.0, cut))
    assert mocked.run(*(mocked.question(text, **asked) for text in "ab"))[0].text == OK.text
    mocked.one("c", **asked)
    assert [request.max_tokens for request in mocked.provider.requests] == [100, 100, 200, 200, 200]
    (line,) = caplog.messages
    assert "cut off at 100 tokens" in line
    assert "replies may have 200; max_tokens" in line
    # one that was long once, and not the second time, needs no more
    mocked.script = [cut, dataclasses.replace(OK, completion_tokens=150)]
    mocked.one("once", **asked)
    # a model that never comes to an end does not take ever more
    mocked.default = cut
    for text in "defg":
        mocked.one(text, **asked)
    assert [request.max_tokens for request in mocked.provider.requests[7:]] == [200, 400, 800, 800, 800]
    assert mocked.one("h", model="other", **asked).finish == "MAX_TOKENS"
    assert mocked.provider.requests[-2].max_tokens == 100


def test_the_bound_on_a_reply_is_lowered_where_its_context_has_room_for_less(clock: Clock) -> None:
    full = rejected("400: context", lacks="room")
    fuller = rejected("400: context", lacks="room", room=300)
    mocked = Mocked(clock, full, full, OK, fuller)
    assert [mocked.one(text, max_tokens=1024).attempts for text in "abc"] == [3, 2, 1]
    # of one prompt alone: the next may be shorter
    assert [request.max_tokens for request in mocked.provider.requests] == [1024, 512, 256, 1024, 300, 1024]


def test_a_model_halts_whose_context_is_too_small_for_one_prompt_after_the_other(clock: Clock) -> None:
    mocked = Mocked(clock)
    mocked.default = rejected("400: context", lacks="room", room=0)
    came = [mocked.one(str(number)) for number in range(7)]
    mocked.script = [OK]
    came.append(mocked.one("short"))
    assert not any(completion.halts for completion in came)
    came = [mocked.one(str(number)) for number in range(8)]
    assert [completion.halts for completion in came] == [False] * 7 + [True]


def test_a_server_that_drops_the_beginnings_of_prompts_is_told_of_once_with_the_settings_for_it(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    mocked = Mocked(clock)

    def read(window: float) -> None:
        for size in range(1000, 60_000, 2000):
            mocked.script = [dataclasses.replace(OK, prompt_tokens=min(size // 4, window))]
            mocked.one("x" * size, model=f"window {window}")

    read(window=math.inf)
    assert not caplog.messages
    read(window=3072)
    (line,) = caplog.messages
    assert "read 3072 tokens of a prompt of" in line
    assert all(setting in line for setting in ("num_ctx", "--ctx-size"))


def test_a_reply_that_repeats_itself_until_it_is_cut_off_is_not_asked_for_with_more_room(clock: Clock) -> None:
    loop = '{"thought": "' + "I trust nobody, and nobody trusts me. " * 40
    mocked = Mocked(clock, ProviderReply(loop, finish="length"))
    assert mocked.one(max_tokens=16).text == loop
    assert [request.max_tokens for request in mocked.provider.requests] == [16]
