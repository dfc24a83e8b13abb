"""The double over real HTTP, asked by the openai client."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from tests.llm.double.parts import ask, messages, together
from wolfbus.reading import Question, read
from wolfbus.testing.model_behaviour import ERRORS
from wolfbus.testing.model_server import ModelServer

SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "bid",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"thought": {"type": "string"}, "bid": {"type": "integer", "enum": list(range(11))}},
            "required": ["thought", "bid"],
            "additionalProperties": False,
        },
    },
}


def get(url: str, data: bytes | None = None) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=data), timeout=10) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_it_answers_as_openai_does(server: ModelServer) -> None:
    completion = ask(server.url, "bid", response_format=SCHEMA)
    assert completion.choices[0].finish_reason == "stop"
    assert read(completion.choices[0].message.content or "", Question("bid")).reading == "clean"
    assert completion.model == "m"
    usage = completion.usage
    assert usage is not None
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert server.stats().prompt_tokens == usage.prompt_tokens


def test_the_key_is_asked_for_and_a_wrong_one_is_shown_in_part() -> None:
    with ModelServer(key="sk-right-right-right") as server:
        ask(server.url, key="sk-right-right-right")
        with pytest.raises(openai.AuthenticationError) as caught:
            ask(server.url, key="sk-wrong-key-of-somebody")
        assert get(f"{server.url}/models")[0] == 401
    assert "sk-wrong" in str(caught.value)
    assert "body" in str(caught.value)
    assert "sk-wrong-key-of-somebody" not in str(caught.value)
    assert caught.value.code == "invalid_api_key"


def test_calls_under_way_are_counted(server: ModelServer) -> None:
    server.behave(hangs=1.0)

    async def main() -> None:
        async with AsyncOpenAI(base_url=server.url, api_key="x", max_retries=0) as client:
            given: Any = messages("bid")
            calls = [asyncio.ensure_future(client.chat.completions.create(model="m", messages=given)) for _ in range(7)]
            assert await asyncio.to_thread(server.wait, lambda stats: stats.open == 7)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    asyncio.run(main())
    assert server.wait(lambda stats: stats.open == 0), "a client that goes away is no longer served"
    stats = server.stats()
    assert (stats.calls, stats.peak, stats.open, stats.errors) == (7, 7, 0, {"hang": 7})


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"model": "m"}', b'{"messages": []}',
                                  b'{"model": "m", "messages": [{"role": "king", "content": "x"}]}'])  # fmt: skip
def test_bodies_that_make_no_sense_are_refused(server: ModelServer, body: bytes) -> None:
    status, told = get(f"{server.url}/chat/completions", body)
    assert status == 400
    assert told["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("traits", "asked", "message", "param"),
    [
        ({"takes_schema": False}, {"response_format": SCHEMA}, "'json_schema' is not supported", "response_format"),
        (
            {"takes_json_mode": False},
            {"response_format": {"type": "json_object"}},
            "'json_object' is not supported",
            "response_format",
        ),
        ({"takes_system": False}, {}, "does not support 'system'", "messages[0].role"),
        ({"takes_temperature": False}, {"temperature": 0.7}, "'temperature' is not supported", "temperature"),
        ({"takes_temperature": False}, {"top_p": 0.7}, "'top_p' is not supported", "top_p"),
        (
            {"needs": "max_completion_tokens"},
            {"max_tokens": 100},
            "Use 'max_completion_tokens' instead",
            "max_tokens",
        ),
        ({"needs": "max_tokens"}, {"max_completion_tokens": 100}, "Unrecognized request argument", None),
        ({}, {"response_format": {"type": "grammar"}}, "Invalid value: 'grammar'", "response_format"),
        ({}, {"stream": True}, "does not stream", "stream"),
    ],
)
def test_what_it_cannot_do_is_refused_in_the_words_of_real_servers(
    server: ModelServer, traits: Any, asked: dict[str, Any], message: str, param: str | None
) -> None:
    server.behave(**traits)
    with pytest.raises(openai.BadRequestError, match="400") as caught:
        ask(server.url, **asked)
    assert message in str(caught.value)
    assert caught.value.param == param
    allowed: dict[str, Any] = {"messages": messages("bid")[1:]} if "takes_system" in traits else {}
    ask(server.url, **allowed)


@pytest.mark.parametrize("sort", ["reset", "half"])
def test_connections_that_break_are_broken(server: ModelServer, sort: Any) -> None:
    server.behave(errors={sort: 1.0})
    with pytest.raises(openai.APIConnectionError):
        ask(server.url, "speak")
    assert server.wait(lambda stats: stats.open == 0)
    assert server.stats().errors == {sort: 1}


def test_a_mix_of_errors_keeps_to_its_share_and_holds_every_sort(server: ModelServer) -> None:
    server.behave(errors=0.4, trickle=0.0)

    async def one(client: AsyncOpenAI, number: int) -> bool:
        given: Any = messages("bid", number)
        try:
            await client.chat.completions.create(model="m", messages=given)
        except openai.APIError:
            return False
        return True

    fine = together(server.url, lambda client: [one(client, number) for number in range(200)])
    assert set(server.stats().errors) == set(ERRORS)
    assert 55 < sum(server.stats().errors.values()) < 105
    assert fine.count(False) == sum(server.stats().errors.values()) - server.stats().errors["trickle"]


def test_a_server_that_is_down_refuses_and_comes_back_on_its_port(server: ModelServer) -> None:
    server.behave(hangs=1.0)

    async def main() -> None:
        async with AsyncOpenAI(base_url=server.url, api_key="x", max_retries=0) as client:
            given: Any = messages("bid")
            call = asyncio.ensure_future(client.chat.completions.create(model="m", messages=given))
            assert await asyncio.to_thread(server.wait, lambda stats: stats.open == 1)
            await asyncio.to_thread(server.down)
            with pytest.raises(openai.APIConnectionError):
                await call
            with pytest.raises(openai.APIConnectionError):
                await client.chat.completions.create(model="m", messages=given)
            server.behave(hangs=0.0)
            await asyncio.to_thread(server.up)
            await client.chat.completions.create(model="m", messages=given)

    asyncio.run(main())
    assert server.stats().open == 0
