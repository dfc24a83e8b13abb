"""What a run's model calls took is summed truthfully, and no price is ever made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from players.llm.gateway import Cassette
from players.llm.provider import Failure, ProviderReply

from .conftest import Clock, Mocked, Step, broken, busy, rejected

PRICE = {"input": 0.15, "cached": 0.075, "output": 0.6}
LOST = Failure("connection", "no reply in time", again=True, charged=True)


def counted(prompt: int | None, completion: int | None, cached: int | None = None) -> ProviderReply:
    return ProviderReply("{}", prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)


def test_each_model_gets_a_line_with_one_of_all_and_a_summary_by_model_and_purpose(clock: Clock) -> None:
    mocked = Mocked(
        clock, (0.02, counted(100, 5)), *[(0.75, counted(1000, 98, 680))] * 18, *[(11.0, counted(1500, 5))] * 2
    )
    mocked.one(model="a", price=PRICE, purpose="probe")
    for _ in range(20):
        mocked.one(model="b")
    mocked.default = rejected("500 from the server")
    mocked.one(model="b", purpose="vote")
    a, b, everything = mocked.gateway.accounts.lines()
    assert a == "a: 1 probe, 100 prompt tokens, 5 completion tokens, $0.000018, median 0.02 s, p95 0.02 s"
    assert b == (
        "b: 21 calls (1 failed), 21,000 prompt tokens (68\u00a0% cached), 1,774 completion tokens, "
        "price not configured, median 0.75 s, p95 10.9 s"
    )
    assert everything.startswith(
        "all models: 21 calls and 1 probe (1 failed), 21,100 prompt tokens (68\u00a0% cached), "
    )
    assert ", 1,779 completion tokens, at least $0.000018, median " in everything
    summary = json.loads(json.dumps(mocked.gateway.accounts.summary(), allow_nan=False))
    assert summary["models"]["a"]["purposes"]["probe"]["prompt_tokens"] == 100
    assert (summary["total"]["prompt_tokens"], summary["total"]["queue_max_s"]) == (21_100, 0.0)


@pytest.mark.parametrize(
    ("steps", "settings", "figures", "words"),
    [
        ([counted(1_000_000, 500_000, 400_000)], {}, {"cost_usd": 0.6 * 0.15 + 0.4 * 0.075 + 0.5 * 0.6}, ", $0.42, "),
        ([counted(9, 9)], {"price": {"input": 0.0, "output": 0.0}}, {"cost_usd": 0.0}, ", $0.00, "),
        ([counted(9, 9)], {"price": None}, {"cost_usd": None, "cost_unknown": 1}, "price not configured"),
        ([counted(9, None)], {}, {"cost_usd": None, "tokens_unknown": 1}, "cost not known"),
        # tokens that nobody counted are never priced
        (
            [counted(None, None), broken(), 1e9],
            {"endpoint": {"attempts": 1}},
            {"tokens_unknown": 2, "cost_unknown": 2, "cost_usd": None, "failed": 2, "timed_out": 1, "attempts": 3},
            "3 calls (1 failed, 1 timed out), tokens not counted by the server, cost not known, median 0.00 s",
        ),
        # what is known in part is a lower bound
        ([counted(1_000_000, 0), 1e9], {}, {"cost_usd": 0.15}, "(without 1 uncounted call), at least $0.15"),
        # what no server worked on is not uncounted
        (
            [counted(1_000_000, 0), busy(99), rejected()],
            {},
            {"tokens_unknown": 0, "cost_unknown": 0, "failed": 2},
            "completion tokens, $0.15, ",
        ),
    ],
)
def test_what_is_known_is_summed_and_what_is_not_is_told(
    clock: Clock, steps: list[Step], settings: dict[str, Any], figures: dict[str, Any], words: str
) -> None:
    mocked = Mocked(clock, *steps)
    for _ in steps:
        mocked.one(**{"price": PRICE} | settings)
        clock.now += 100
    assert {name: mocked.total[name] for name in figures} == pytest.approx(figures)
    assert words in mocked.gateway.accounts.lines()[0]


def test_replies_from_a_cassette_are_summed_told_apart_and_cost_nothing(clock: Clock, tmp_path: Path) -> None:
    with Cassette.record(tmp_path) as cassette:
        Mocked(clock, counted(1_000_000, 0), counted(None, None), cassette=cassette).one("a")
        Mocked(clock, counted(None, None), cassette=cassette).one("b")
    with Cassette.record(tmp_path) as cassette:
        mocked = Mocked(clock, counted(2_000_000, 0), cassette=cassette)
        for text in "abc":
            mocked.one(text, price=PRICE)
    total = mocked.total
    assert (total["calls"], total["from_cassette"], total["prompt_tokens"]) == (3, 2, 3_000_000)
    assert (total["cost_usd"], total["cost_unknown"], total["tokens_unknown"]) == (0.3, 0, 0)
    assert "3 calls (2 from the cassette), 3,000,000 prompt tokens" in mocked.gateway.accounts.lines()[0]
    assert ", $0.30, " in mocked.gateway.accounts.lines()[0]
