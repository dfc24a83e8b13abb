"""What a server says over real HTTP, in our own words: replies, rejections, statuses, broken connections."""

from __future__ import annotations

import dataclasses
import gzip
import json
import logging
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from players.llm.gateway import Budget
from players.llm.provider import Completion, Message
from tests.llm.tables import tables

from .conftest import KEY, Asking, MakeGateway, model_at, question
from .server import ScriptedServer, Step, refuse, reply, roles, usage

TABLES: Any = tables(__file__)
CHAIN = (
    Message("system", "You play a game.", prefix_length=16),
    Message("user", "It is day. What now?", prefix_length=10),
)


def test_a_reply_comes_with_its_text_tokens_price_and_what_was_sent(asking: Asking, server: ScriptedServer) -> None:
    server.plan(Step(reply('{"bid": 7}', usage=usage(1000, 50, cached=600))))
    priced = model_at(server, temperature=0.5, price={"input": 1, "cached": 0.5, "output": 10}, extra={"seed": 3})
    came = asking.one(question(priced))
    assert (came.text, came.finish, came.error, came.timed_out) == ('{"bid": 7}', "stop", None, False)
    assert (came.prompt_tokens, came.cached_tokens, came.completion_tokens) == (1000, 600, 50)
    assert came.cost_usd == pytest.approx((400 * 1 + 600 * 0.5 + 50 * 10) / 1e6)
    assert (came.attempts, came.latency_s > 0, came.queue_s < 1) == (1, True, True)
    assert came.parameters == {"temperature": 0.5, "max_tokens": 1024, "structured": "schema", "seed": 3}
    sent = server.bodies[0]
    assert (sent["temperature"], sent["max_tokens"], sent["seed"], sent["model"]) == (0.5, 1024, 3, "tiny")
    assert sent["response_format"]["json_schema"]["strict"] is True


def test_any_json_goes_into_a_request_and_into_a_record_as_scalars(asking: Asking, server: ScriptedServer) -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "stop": ["</s>", "<|e|>"], "big": 2**60, "none": None}
    came = asking.one(question(model_at(server, extra=extra)))
    assert {name: server.bodies[0][name] for name in extra} == extra
    assert {name: came.parameters[name] for name in extra} == {
        "chat_template_kwargs": '{"enable_thinking":false}',
        "stop": '["</s>","<|e|>"]',
        "big": str(2**60),
        "none": None,
    }


@pytest.mark.parametrize("case", TABLES["reply"])
def test_a_reply_is_read_whatever_its_form(asking: Asking, server: ScriptedServer, case: dict[str, Any]) -> None:
    message = {"text": '{"bid": 1}', **case.get("message", {})}
    body = json.loads(reply(message.pop("content", message.pop("text")), **message)) | case.get("body", {})
    server.plan(Step(json.dumps(body).replace("KEY", KEY).encode()))
    came = dataclasses.asdict(asking.one(question(model_at(server))))
    words = ("text", "thought", "refusal", "served", "prompt_tokens", "cached_tokens", "completion_tokens")
    expected = dataclasses.asdict(Completion()) | {"served": "tiny"} | case["came"]
    if "body" in case:
        expected |= {"served": case["came"].get("served", came["served"]), "text": came["text"]}
    assert {name: came[name] for name in words} == {name: expected[name] for name in words}
    assert came["error"] is None


@pytest.mark.parametrize(("usage", "counted"), TABLES["usage"])
def test_tokens_are_counted_by_whatever_name_and_wherever_reasoning_is(
    asking: Asking, server: ScriptedServer, usage: dict[str, Any], counted: list[int]
) -> None:
    server.plan(Step(reply(usage=usage)))
    came = asking.one(question(model_at(server)))
    assert [came.prompt_tokens, came.cached_tokens or 0, came.completion_tokens] == counted


def test_what_was_paid_is_counted_where_no_reply_came_of_it(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    counted = {"usage": usage(1000, 50), "choices": []}
    server.plan(Step(json.dumps(counted).encode()), Step(json.dumps(counted).encode(), 500))
    budget = Budget(tokens=100_000)
    asking = make_gateway(budget=budget)
    came = asking.one(question(model_at(server)))
    assert (came.text, came.prompt_tokens, came.completion_tokens) == ('{"bid": 1}', 2000, 100)
    server.plan(default=Step(json.dumps(counted).encode()))
    spent = budget.spent.tokens
    asking.one(question(model_at(server, endpoint={"attempts": 1})))
    assert budget.spent.tokens == spent + 1050


def test_a_servers_own_cost_stands_beside_ones_price(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    budget = Budget(usd=1.0)
    asking = make_gateway(budget=budget)
    server.plan(default=Step(reply(usage=usage(1000, 50) | {"cost": 0.25})))
    came = asking.one(question(model_at(server, price={"input": 100, "output": 0})))
    assert (came.cost_usd, came.billed_usd) == (0.1, 0.25)
    (line,) = asking.gateway.accounts.lines()
    assert ", $0.10 (its server says $0.25), " in line
    assert asking.gateway.accounts.summary()["total"]["billed_usd"] == 0.25
    assert float(budget.spent.usd) == 0.25, "a budget believes the dearer of the two"


def test_half_a_character_at_the_end_of_any_text_loses_nothing_else(asking: Asking, server: ScriptedServer) -> None:
    server.plan(Step(reply('{"bid": 7} \ud83d', finish="stop\ud83d", reasoning_content="Hm \ud83d", refusal=None)))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.thought, came.finish) == ('{"bid": 7} ?', "Hm ?", "stop?")


@pytest.mark.parametrize("body", [*TABLES["nothing"]["bodies"], "[" * 100_000])
def test_bodies_that_hold_no_reply_are_asked_for_again(asking: Asking, server: ScriptedServer, body: str) -> None:
    server.plan(Step(body.encode()))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.attempts) == ('{"bid": 1}', 2)


@pytest.mark.parametrize("place", ["thinking", "content", "error"])
def test_a_reply_that_is_nested_without_end_is_asked_for_again(
    asking: Asking, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    nested: Any = "x"
    for _ in range(200_000):
        nested = [{"thinking": nested}] if place == "thinking" else {"a": nested}
    deep = {"error": nested} if place == "error" else {"choices": [{"message": {"content": nested}}]}
    # how deep JSON is read differs by the version of Python
    read = "players.llm.providers.openai.body_in"
    monkeypatch.setattr(read, lambda content: deep if content == b"deep" else json.loads(content))
    server.plan(Step(b"deep"))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.attempts) == ('{"bid": 1}', 2)


@pytest.mark.parametrize("aiohttp", [True, False])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("status", [200, 500])
def test_a_reply_without_end_is_read_no_further_than_a_reply_can_be(
    asking: Asking,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    *,
    packed: bool,
    aiohttp: bool,
) -> None:
    monkeypatch.setattr("players.llm.providers.openai.LONGEST", 1 << 20)
    monkeypatch.setattr("players.llm.providers.openai.find_spec", lambda _name: aiohttp or None)
    long, usual = reply("x" * (4 << 20)), reply('{"bid": 3}')
    headers = {"Content-Encoding": "gzip"} if packed else {}
    bodies = (gzip.compress(long), gzip.compress(usual)) if packed else (long, usual)
    server.plan(Step(bodies[0], status, headers), Step(bodies[1], headers=headers), Step(bodies[0], 200, headers))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.attempts) == ('{"bid": 3}', 2)
    assert "the reply is longer than 1 MiB" in came.failures[0]


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 413, 422, 501])
def test_a_status_that_will_not_pass_is_not_tried_again(asking: Asking, server: ScriptedServer, status: int) -> None:
    server.plan(refuse(status, "so it is"))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.attempts) == (None, 1)
    assert f"{status}" in str(came.error)
    assert "so it is" in str(came.error)


def test_what_the_server_itself_found_wanting_and_what_it_kept_back(asking: Asking, server: ScriptedServer) -> None:
    server.plan(
        refuse(400, "Failed to generate JSON.", code="json_validate_failed", failed_generation='{"bid": 3'),
        Step(reply("", finish="content_filter")),
        refuse(400, "max_tokens or model output limit was reached. Please try again with higher max_tokens."),
        Step(reply('{"bid": 1}')),
        refuse(429, "You exceeded your current quota.", type="insufficient_quota", code="insufficient_quota"),
    )
    mended = asking.one(question(model_at(server)))
    kept_back = asking.one(question(model_at(server)))
    cut = asking.one(question(model_at(server)))
    spent = asking.one(question(model_at(server)))
    after = asking.one(question(model_at(server)))
    assert (mended.text, mended.finish, mended.error) == ('{"bid": 3', "json_validate_failed", None)
    assert "content filter" in str(kept_back.error)
    assert (cut.text, [body["max_tokens"] for body in server.bodies[2:4]]) == ('{"bid": 1}', [1024, 2048])
    assert (spent.attempts, "quota is used up" in str(spent.error)) == (1, True)
    # and no more is asked
    assert (after.error, after.attempts, len(server.bodies)) == (spent.error, 0, 5)


@pytest.mark.parametrize("form", ["seconds", "date", "milliseconds"])
def test_retry_after_is_honoured_in_all_its_forms(asking: Asking, server: ScriptedServer, form: str) -> None:
    # a date has whole seconds, so that it may be in the past already: only that it is read is claimed of it
    headers = {
        "seconds": {"Retry-After": "0.3"},
        "milliseconds": {"retry-after-ms": "300"},
        "date": {"Retry-After": format_datetime(datetime.now(UTC) + timedelta(seconds=1.5), usegmt=True)},
    }[form]
    server.plan(refuse(429, headers=headers))
    assert asking.one(question(model_at(server))).attempts == 2
    assert form == "date" or server.times[1] - server.times[0] >= 0.29


@pytest.mark.parametrize(("_server", "status", "body", "lack"), TABLES["rejections"]["said"])
def test_what_a_server_does_not_take_is_found_out_from_its_words_once(
    asking: Asking, server: ScriptedServer, _server: str, status: int, body: Any, lack: str, caplog: Any
) -> None:
    server.plan(Step(body.encode() if isinstance(body, str) else json.dumps(body).encode(), status))
    model = model_at(server, temperature=0.5, max_tokens=99, extra={"seed": 3, "min_p": 0.1})
    came = asking.one(question(model, "And you?"))
    if not lack:
        assert (came.attempts, came.text) == (1, None)
    else:
        assert (came.attempts, came.text) == (2, '{"bid": 1}')
    asking.one(question(model, "And you?"))
    first, last = server.bodies[0], server.bodies[-1]
    assert len(server.bodies) == (3 if lack else 2)
    assert all((body_sent["seed"], body_sent["min_p"]) == (3, 0.1) for body_sent in server.bodies)
    assert last.get("max_completion_tokens" if lack == "tokens" else "max_tokens") == 99
    assert last["response_format"]["type"] == ("json_object" if lack == "mode" else "json_schema")
    assert (roles(first), roles(last)) == (["system", "user"], ["user"] if lack == "system" else ["system", "user"])
    assert server.questions()[-1] == ("You play a game.\n\nAnd you?" if lack == "system" else "And you?")
    assert ("temperature" in last) == (lack != "temperature")
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == (lack in {"mode", "temperature"})
    if lack == "temperature":
        assert warnings == [f"tiny at {server.url} does not take temperature = 0.5: it is not sent"]


def test_a_server_that_rejects_everything_is_left_in_the_end(asking: Asking, server: ScriptedServer) -> None:
    words = "unsupported: response_format, max_tokens, max_completion_tokens, temperature, system role"
    server.plan(default=refuse(400, words))
    came = asking.one(question(model_at(server, temperature=0.1)))
    assert came.attempts < 10
    assert str(came.error).count(": 400: ") == 1, came.error


@pytest.mark.parametrize(("mode", "sent"), [("schema", "json_schema"), ("object", "json_object"), ("text", None)])
def test_a_mode_that_is_set_is_kept(asking: Asking, server: ScriptedServer, mode: str, sent: str | None) -> None:
    asking.one(question(model_at(server, structured=mode)))
    server.plan(refuse(400, "'response_format' of type 'json_schema' is not supported with this model."))
    came = asking.one(question(model_at(server, structured=mode)))
    assert [body.get("response_format", {}).get("type") for body in server.bodies] == [sent, sent]
    assert (came.attempts, came.text) == (1, None)


@pytest.mark.parametrize("system", [True, False], ids=["system", "no system role"])
def test_a_server_that_wants_marks_gets_them_where_the_next_prompt_goes_on(
    asking: Asking, server: ScriptedServer, system: bool
) -> None:
    if not system:
        server.plan(refuse(400, "system role not supported"))
    model = model_at(server, endpoint={"cache": "marks"})
    asking.one(dataclasses.replace(question(model), messages=CHAIN))
    parts = [part for message in server.bodies[-1]["messages"] for part in message["content"]]
    marked = [part["text"] for part in parts if part.get("cache_control") == {"type": "ephemeral"}]
    assert marked == (["You play a game.", "It is day."] if system else ["You play a game.\n\nIt is day."])
    assert (
        "".join(part["text"] for part in parts) == "You play a game." + "\n\n" * (not system) + "It is day. What now?"
    )


@pytest.mark.parametrize("cache", ["auto", "key"])
def test_a_seats_calls_carry_one_key_only_where_the_endpoint_asks_for_it(
    asking: Asking, server: ScriptedServer, cache: str
) -> None:
    model = model_at(server, endpoint={"cache": cache})
    for chain in ("a" * 64, "a" * 64, "b" * 64, ""):
        asking.one(dataclasses.replace(question(model), messages=CHAIN, chain=chain))
    keys = [body.get("prompt_cache_key") for body in server.bodies]
    assert keys == ([None] * 4 if cache == "auto" else [f"wolfbus-{'a' * 32}"] * 2 + [f"wolfbus-{'b' * 32}", None])
    assert all(isinstance(message["content"], str) for body in server.bodies for message in body["messages"])
