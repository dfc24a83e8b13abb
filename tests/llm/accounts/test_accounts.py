"""What a run's model calls took is summed truthfully, and no price is ever made up."""

from __future__ import annotations

import json
from dataclasses import replace

from players.llm.accounts import Accounts, cost_of
from players.llm.provider import Completion
from players.llm.settings import Price

from .calls import PRICE, reply


def priced(completion: Completion, price: Price | None = PRICE) -> Completion:
    return replace(completion, cost_usd=cost_of(price, completion))


def test_tokens_in_the_cache_cost_the_cached_price() -> None:
    assert cost_of(PRICE, reply(1_000_000, 500_000, 400_000)) == 0.6 * 0.15 + 0.4 * 0.075 + 0.5 * 0.6


def test_there_is_no_cost_without_a_price_or_without_tokens() -> None:
    assert cost_of(None, reply()) is None
    assert cost_of(PRICE, reply(None, 5)) is None
    assert cost_of(PRICE, reply(5, None)) is None
    assert cost_of(Price(input=0.0, output=0.0), reply()) == 0


def test_a_line_says_what_a_model_took() -> None:
    accounts = Accounts()
    for number in range(409):
        accounts.add("gpt-4o-mini", "bid", priced(reply(3000, 98, 2040, latency_s=0.8 if number < 380 else 2.1)))
    for _ in range(3):
        accounts.add("gpt-4o-mini", "vote", Completion(error="500 from the server", latency_s=99.0))
    accounts.add("gpt-4o-mini", "probe", priced(reply(0, 0)))
    (line,) = accounts.lines()
    assert line == (
        "gpt-4o-mini: 412 calls and 1 probe (3 failed), 1,227,000 prompt tokens (68\u00a0% cached), "
        "40,082 completion tokens, $0.15, median 0.80 s, p95 2.10 s"
    )


def test_several_models_get_a_line_of_all() -> None:
    accounts = Accounts()
    accounts.add("a", "probe", priced(reply(100, 5, latency_s=0.02)))
    accounts.add("b", "bid", reply(1500, 5, latency_s=11.0))
    a, b, everything = accounts.lines()
    assert a == "a: 1 probe, 100 prompt tokens, 5 completion tokens, $0.000018, median 0.02 s, p95 0.02 s"
    assert b == "b: 1 call, 1,500 prompt tokens, 5 completion tokens, price not configured, median 11.0 s, p95 11.0 s"
    assert everything.startswith(
        "all models: 1 call and 1 probe, 1,600 prompt tokens, 10 completion tokens, at least $0.000018, "
    )


def test_calls_whose_tokens_are_unknown_are_counted_and_never_priced() -> None:
    accounts = Accounts()
    accounts.add("own", "speak", priced(reply(None, None)))
    accounts.add("own", "speak", Completion(error="nobody listens", attempts=0))
    accounts.add("own", "speak", Completion(error="no reply in time", timed_out=True, attempts=2))
    total = accounts.summary()["models"]["own"]
    assert (total["tokens_unknown"], total["cost_unknown"], total["cost_usd"]) == (2, 2, None)
    assert (total["failed"], total["timed_out"], total["attempts"]) == (2, 1, 3)
    (line,) = accounts.lines()
    assert line == (
        "own: 3 calls (1 failed, 1 timed out), tokens not counted by the server, cost not known, "
        "median 0.80 s, p95 0.80 s"
    )


def test_a_cost_that_is_known_in_part_is_a_lower_bound() -> None:
    accounts = Accounts()
    accounts.add("m", "bid", priced(reply(1_000_000, 0)))
    accounts.add("m", "bid", Completion(error="no reply in time", timed_out=True, attempts=1))
    assert "(without 1 uncounted call), at least $0.15" in accounts.lines()[0]


def test_replies_from_a_cassette_are_summed_told_apart_and_cost_nothing() -> None:
    accounts = Accounts()
    accounts.add("m", "bid", priced(reply(2_000_000, 0)))
    accounts.add("m", "bid", reply(1_000_000, 0, attempts=0, cassette=True))
    accounts.add("m", "bid", reply(None, None, attempts=0, cassette=True))
    total = accounts.summary()["total"]
    assert (total["calls"], total["from_cassette"], total["prompt_tokens"]) == (3, 2, 3_000_000)
    assert (total["cost_usd"], total["cost_unknown"], total["tokens_unknown"]) == (0.3, 0, 0)
    assert "3 calls (2 from the cassette), 3,000,000 prompt tokens" in accounts.lines()[0]
    assert ", $0.30, " in accounts.lines()[0]


def test_a_call_that_no_server_worked_on_is_not_uncounted() -> None:
    accounts = Accounts()
    accounts.add("m", "bid", priced(reply(1_000_000, 0)))
    accounts.add("m", "bid", Completion(error="waited and was never sent", timed_out=True, charged=False))
    accounts.add("m", "bid", Completion(error="429", attempts=9, charged=False))
    total = accounts.summary()["total"]
    assert (total["tokens_unknown"], total["cost_unknown"], total["failed"]) == (0, 0, 2)
    assert "completion tokens, $0.15, " in accounts.lines()[0]


def test_the_summary_is_json_by_model_and_purpose() -> None:
    accounts = Accounts()
    accounts.add("m", "bid", reply(10, 1, queue_s=0.5))
    accounts.add("m", "vote", reply(20, 2, queue_s=1.5))
    summary = json.loads(json.dumps(accounts.summary(), allow_nan=False))
    assert summary["models"]["m"]["prompt_tokens"] == 30
    assert summary["models"]["m"]["purposes"]["vote"]["prompt_tokens"] == 20
    assert (summary["total"]["queue_s"], summary["total"]["queue_max_s"]) == (2.0, 1.5)
