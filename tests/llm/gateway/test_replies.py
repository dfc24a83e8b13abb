"""What a server says, in our own words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from players.llm.settings import Price

from .conftest import KEY, Asking, model_at, question
from .server import ScriptedServer, Step, refuse, reply, usage


def test_a_reply_comes_with_its_text_tokens_price_and_what_was_sent(asking: Asking, server: ScriptedServer) -> None:
    server.plan(Step(reply('{"bid": 7}', usage=usage(1000, 50, cached=600))))
    priced = model_at(server, temperature=0.5, price=Price(input=1, cached=0.5, output=10), extra={"seed": 3})
    came = asking.one(question(priced))
    assert (came.text, came.finish, came.error, came.timed_out) == ('{"bid": 7}', "stop", None, False)
    assert (came.prompt_tokens, came.cached_tokens, came.completion_tokens) == (1000, 600, 50)
    assert came.cost_usd == pytest.approx((400 * 1 + 600 * 0.5 + 50 * 10) / 1e6)
    assert (came.attempts, came.latency_s > 0, came.queue_s < 1) == (1, True, True)
    assert came.parameters == {"temperature": 0.5, "max_tokens": 1024, "structured": "schema", "seed": 3}
    sent = server.bodies[0]
    assert (sent["temperature"], sent["max_tokens"], sent["seed"], sent["model"]) == (0.5, 1024, 3, "tiny")
    assert sent["response_format"]["json_schema"]["strict"] is True
    total = asking.gateway.accounts.summary()["total"]
    assert (total["calls"], total["prompt_tokens"], total["failed"]) == (1, 1000, 0)


@pytest.mark.parametrize("member", ["reasoning_content", "reasoning"])
def test_reasoning_beside_the_text_is_the_thought(asking: Asking, server: ScriptedServer, member: str) -> None:
    server.plan(Step(reply('{"bid": 2}', **{member: "I keep quiet."})))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.thought) == ('{"bid": 2}', "I keep quiet.")


def test_a_content_filter_is_named(asking: Asking, server: ScriptedServer) -> None:
    server.plan(Step(reply("", finish="content_filter")))
    came = asking.one(question(model_at(server)))
    assert came.error is not None
    assert "content filter" in came.error


def test_reasoning_models_that_reject_for_lack_of_room_get_more(asking: Asking, server: ScriptedServer) -> None:
    words = "Could not finish the message because max_tokens or model output limit was reached. Please try again with "
    server.plan(refuse(400, words + "higher max_tokens."))
    came = asking.one(question(model_at(server, max_tokens=64)))
    assert (came.text, came.attempts) == ('{"bid": 1}', 2)
    assert [body["max_tokens"] for body in server.bodies] == [64, 128]


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"  ", b"<html>502</html>", b"not json", b"[]", b'"text"', b"{}"),
        *(b'{"choices": []}', b'{"choices": [1]}', b'{"choices": null}', b"[" * 100_000),
        json.dumps({"error": {"message": "overloaded", "code": 503}}).encode(),
    ],
)
def test_bodies_that_hold_no_reply_are_asked_for_again(asking: Asking, server: ScriptedServer, body: bytes) -> None:
    server.plan(Step(body))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.attempts) == ('{"bid": 1}', 2)


def test_half_a_character_at_the_end_of_any_text_loses_nothing_else(asking: Asking, server: ScriptedServer) -> None:
    body = reply('{"bid": 7} \ud83d', finish="stop\ud83d", reasoning_content="Hm \ud83d", refusal=None)
    server.plan(Step(body))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.thought, came.finish) == ('{"bid": 7} ?', "Hm ?", "stop?")


@pytest.mark.parametrize(
    ("said", "served"),
    [
        ({"model": "tiny-2024", "system_fingerprint": "fp_1"}, "tiny-2024 fp_1"),
        ({"model": "tiny-2024"}, "tiny-2024"),
        ({"model": None, "system_fingerprint": " fp_1\n"}, "fp_1"),
        ({"model": 3, "system_fingerprint": {"a": 1}}, None),
        ({"model": "", "system_fingerprint": " "}, None),
        ({"model": f"a\x1b[31m b {KEY}"}, "a b [key]"),
        ({"model": "x" * 500}, "x" * 199 + "…"),
    ],
)
def test_what_a_server_says_of_its_model_is_kept(
    asking: Asking, server: ScriptedServer, said: dict[str, Any], served: str | None
) -> None:
    server.plan(Step(json.dumps(json.loads(reply()) | said).encode()))
    assert asking.one(question(model_at(server))).served == served
