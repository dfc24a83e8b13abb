"""The gateway as a whole: probe, fatal ends, cassettes, budgets, closing."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
import threading
import time
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from players.llm.provider import Completion, Endpoint, Model, ProviderReply, Request
from tests.llm.scripted import URL, ScriptedProvider
from tests.waiting import PATIENCE_S, wait_until
from wolfbus.errors import GivenUp, PlayerError

from .conftest import OK, Asking, Clock, MakeGateway, Mocked, model_at, question
from .server import HANG, RESET, ScriptedServer, Step, error, refuse, reply


def test_a_probe_asks_each_model_once_and_finds_out_what_its_server_takes(
    asking: Asking, server: ScriptedServer
) -> None:
    keeping = Step(reply('{"mark": "kept"}'))
    server.plan(Step(error("response_format of type json_schema is not supported"), 400), default=keeping)
    small, large = model_at(server, "small"), model_at(server, "large")
    asking.gateway.probe([small, small.model_copy(update={"temperature": 1.0}), large])
    assert sorted(body["model"] for body in server.bodies) in (["large", "large", "small"], ["large", "small", "small"])
    assert all(body["max_tokens"] == small.max_tokens for body in server.bodies)
    target = next(body for body in server.bodies if body["response_format"]["type"] == "json_schema")
    schema = target["response_format"]["json_schema"]["schema"]
    assert None in schema["properties"]["target"]["enum"]
    assert asking.gateway.accounts.summary()["total"]["calls"] == 2


@pytest.mark.parametrize(
    "step", [refuse(401), refuse(404), refuse(400, "context"), refuse(500), RESET, Step(b"<html>")]
)
def test_a_probe_says_in_one_line_what_is_wrong(asking: Asking, server: ScriptedServer, step: Step) -> None:
    server.plan(default=step)
    with pytest.raises(PlayerError, match=f"^tiny does not answer: {server.url}: [^\n]+$"):
        asking.gateway.probe([model_at(server)])
    assert len(server.bodies) <= 3


def test_a_check_finds_keys_that_are_missing_or_malformed_without_a_network(
    make_gateway: MakeGateway,
) -> None:
    local, remote = Endpoint(key_env="MINE"), Endpoint(url="http://host.invalid/v1", key_env="THERE")
    models = [Model(model="a"), Model(model="b"), Model(model="c", endpoint=local), Model(model="d", endpoint=remote)]
    gateway = make_gateway(environment={"MINE": "two words"}).gateway
    with pytest.raises(PlayerError) as error:
        gateway.check(models)
    first, second, third = str(error.value).split("; and ")
    assert first.startswith("no key for https://api.openai.com/v1: set the environment variable OPENAI_API_KEY")
    assert second.startswith("MINE holds no key")
    assert third.startswith("no key for http://host.invalid/v1: set the environment variable THERE")
    make_gateway(environment={"MINE": "k", "THERE": "k", "OPENAI_API_KEY": "k"}).gateway.check(models)
    with pytest.raises(PlayerError, match=r"^OPENAI_BASE_URL: 'nonsense' is no URL"):
        make_gateway(environment={"OPENAI_BASE_URL": "nonsense"}).gateway.check(models[:1])
    assert not gateway._servers
    asking = make_gateway(environment={})
    came = asking.one(question(models[0]))
    assert (str(came.error).startswith("no key for https://api.openai.com/v1"), came.attempts) == (True, 0)
    with pytest.raises(PlayerError, match=r"OPENAI_API_KEY, or put it into \.env"):
        asking.gateway.probe(models[:1])


def test_a_tokens_limit_below_what_one_call_may_take_is_refused(make_gateway: MakeGateway) -> None:
    few = Endpoint(url="http://127.0.0.1:9/v1", tokens_per_minute=1_000_000)
    gateway = make_gateway().gateway
    line = (
        "tiny: tokens_per_minute = 1000000 of http://127.0.0.1:9/v1 is less than one call may take: "
        "max_tokens = 999900 and a prompt of at least 256"
    )
    for look in (gateway.check, gateway.probe):
        with pytest.raises(PlayerError) as error:
            look([Model(model="tiny", endpoint=few, max_tokens=999_900)])
        assert str(error.value) == line
    gateway.check([Model(model="tiny", endpoint=few, max_tokens=999_700)])


def modes(server: ScriptedServer) -> list[str | None]:
    return [body.get("response_format", {}).get("type") for body in server.bodies]


OPEN = Step(reply('{"thought": "ready", "target": null, "bid": 1, "mark": "open"}'))
PROSE = Step(reply("Ready."))
KEPT = Step(reply('{"thought": "ready", "target": null, "bid": 1, "mark": "kept"}'))


@pytest.mark.parametrize(
    ("steps", "formats", "structured"),
    [
        ([Step(reply('{"mark": "kept"}'))], ["json_schema"], "schema"),
        ([Step(reply('<think>Hm.</think>{"mark": "kept"}'))], ["json_schema"], "schema"),
        ([OPEN, OPEN], ["json_schema", "json_object"], "object"),
        ([PROSE, PROSE], ["json_schema", "json_object", None], "text"),
        ([OPEN, refuse(400, "json_object is not supported")], ["json_schema", "json_object", None], "text"),
        ([Step(reply("", finish="length")), KEPT], ["json_schema"] * 2, "schema"),
        ([Step(reply('{"thought": "rea', finish="length")), KEPT], ["json_schema"] * 2, "schema"),
        # what does not say that it is about the form is tried without
        ([refuse(400, "so it is")], ["json_schema", "json_object"], "object"),
        ([refuse(500, "so it is")], ["json_schema", None], "text"),
        ([Step(reply(""))], ["json_schema", None], "text"),
        # an error in the reply's place says nothing of the form
        ([Step(reply('{"error": "overloaded"}')), KEPT], ["json_schema"] * 2, "schema"),
        ([Step(reply("Error: upstream timed out")), KEPT], ["json_schema"] * 2, "schema"),
        ([refuse(503, "Loading model")] * 5 + [KEPT], ["json_schema"] * 6, "schema"),
        ([Step(reply(None, refusal="No."))], ["json_schema"], "schema"),
    ],
)
def test_a_probe_finds_out_whether_a_server_keeps_to_what_it_takes(
    asking: Asking, server: ScriptedServer, steps: list[Step], formats: list[str | None], structured: str
) -> None:
    server.plan(*steps)
    asking.gateway.probe([model_at(server)])
    assert modes(server) == formats
    prompts = {message["content"] for body in server.bodies for message in body["messages"]}
    assert not any("kept" in prompt for prompt in prompts)
    assert asking.one(question(model_at(server))).parameters["structured"] == structured


def test_another_process_is_told_what_a_probe_found_out(asking: Asking, server: ScriptedServer) -> None:
    model, schema = model_at(server), model_at(server, "other", structured="schema")
    assert asking.gateway.settled(model) == model
    server.plan(default=OPEN)
    asking.gateway.probe([model, schema])
    assert asking.gateway.settled(model) == model.model_copy(update={"structured": "object"})
    assert asking.gateway.settled(schema) == schema


def test_closing_ends_calls_in_flight_at_once(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    server.plan(default=HANG)
    asking = make_gateway()
    model = model_at(server, endpoint={"at_once": 10})
    futures = asking.begin(*(question(model, seconds=2 * PATIENCE_S) for _ in range(30)))
    wait_until(lambda: len(server.bodies) == 10)
    began = time.monotonic()
    asking.gateway.close()
    assert time.monotonic() - began < PATIENCE_S
    assert all(future.done() for future in futures)
    assert all(job.done() for job in asking.jobs)
    assert not [thread for thread in threading.enumerate() if thread.name == "model-gateway" and thread.is_alive()]
    wait_until(lambda: server.cancelled == 10)
    asking.gateway.close()
    assert asking.begin(question(model_at(server)))[0].done() is False
    with pytest.raises(RuntimeError, match="closed"):
        asking.gateway.probe([model_at(server)])


def test_a_job_that_fails_says_so_and_harms_no_other(asking: Asking, caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    done = threading.Event()

    async def work() -> None:
        done.set()

    asking.gateway.start([fail(), work()])
    assert done.wait(60)
    asking.gateway.close()
    assert "a job of model calls failed" in caplog.text


def test_a_fault_inside_a_call_is_an_error_of_that_call(asking: Asking, server: ScriptedServer, caplog: Any) -> None:
    broken = model_at(server).model_copy(update={"max_tokens": "many"})
    came = asking.one(question(broken))
    assert str(came.error).startswith("the gateway failed: ")
    assert asking.one(question(model_at(server))).text


def test_a_provider_that_cancels_its_own_work_is_a_fault_inside_that_call(clock: Clock, caplog: Any) -> None:
    async def broken_off_once(_request: Request) -> ProviderReply:
        work: asyncio.Future[ProviderReply] = clock.create_future()
        if len(mocked.prompts) == 1:
            work.cancel()
        else:
            work.set_result(OK)
        return await work

    mocked = Mocked(clock)
    mocked.provider.answer = broken_off_once
    came = mocked.one()
    assert (came.error, came.text, came.attempts) == ("the gateway failed: RuntimeError", None, 1)
    assert "the provider cancelled work of its own" in caplog.text
    assert mocked.one().text == OK.text


@pytest.mark.parametrize("fault", [ZeroDivisionError, TimeoutError])
@pytest.mark.parametrize("method", ["ask", "shape"])
def test_a_provider_that_is_faulty_does_not_answer_a_probe(
    make_gateway: MakeGateway, monkeypatch: pytest.MonkeyPatch, caplog: Any, method: str, fault: type[Exception]
) -> None:
    monkeypatch.setattr(ScriptedProvider, method, Mock(side_effect=fault))
    gateway = make_gateway(providers=lambda _endpoint, _keys: ScriptedProvider(AsyncMock())).gateway
    with pytest.raises(PlayerError, match=rf"^tiny does not answer: the gateway failed: {fault.__name__}$"):
        gateway.probe([Model(model="tiny")])
    assert fault.__name__ in caplog.text
    assert gateway.accounts.summary()["total"]["failed"] == 1


@pytest.mark.parametrize("aiohttp", [True, False])
def test_both_transports_of_the_library_tell_the_same(
    asking: Asking, server: ScriptedServer, aiohttp: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not aiohttp:
        monkeypatch.setitem(sys.modules, "aiohttp", None)
    server.plan(Step(), RESET, HANG, refuse(501, "never"), Step(b""))
    settings = [{}, {}, {"timeouts": {"bid": 1.0}}, {}, {}]
    models = [model_at(server, endpoint={"attempts": 1}, **more) for more in settings]
    good, *bad = (asking.one(question(model)) for model in models)
    server.plan(RESET, RESET)
    assert asking.one(question(model_at(server))).attempts == 3, "a connection that breaks is tried again"
    server.close()
    bad.append(asking.one(question(models[0])))
    assert good.text == '{"bid": 1}'
    assert [str(completion.error).removeprefix(f"{server.url}: ") for completion in bad] == [
        "the connection broke before a reply came", "no reply within 1 s", "501: never",
        "200, but the reply's body is empty", "connection refused",
    ]  # fmt: skip
    assert [completion.charged for completion in bad] == [True, True, False, True, False]


@pytest.mark.parametrize("aiohttp", [True, False])
@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{",
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a": \r\nZZZ\r\n',
        # all of it has come, so that a client would ask by this connection again unless it is told that it closes
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone",
    ],
)
def test_a_reply_that_breaks_off_is_paid_twice_at_most_and_named(
    asking: Asking, server: ScriptedServer, raw: bytes, aiohttp: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not aiohttp:
        monkeypatch.setitem(sys.modules, "aiohttp", None)
    server.plan(default=Step(raw=raw))
    came = asking.one(question(model_at(server)))
    assert came.error == f"{server.url}: the reply broke off in its middle, or is no HTTP (2 attempts)"
    assert (came.fault, came.charged, len(server.bodies)) == ("error", True, 2)


@pytest.mark.parametrize("bound", [None, 20.0])
def test_a_time_out_of_the_systems_own_is_a_broken_connection_bounded_or_not(
    asking: Asking, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, bound: float | None
) -> None:
    model = model_at(server, endpoint={"attempts": 1}, timeouts={"bid": bound})
    with monkeypatch.context() as patched:
        lost = TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
        patched.setattr("openai.AsyncOpenAI.post", AsyncMock(side_effect=lost))
        came = asking.one(question(model))
    assert came.error == f"{server.url}: the connection broke before a reply came"
    assert (came.attempts, came.timed_out, came.charged) == (1, False, True)
    assert asking.one(question(model)).text == '{"bid": 1}'


def test_a_model_of_which_nothing_was_ever_read_is_given_up_alone(clock: Clock) -> None:
    ends: list[Any] = []
    mocked = Mocked(clock, give_up=2, fatal=ends.append)

    def hear(model: str, *faults: str | None) -> Completion:
        question = mocked.question(model=model)
        for fault in faults:
            mocked.gateway.note_reading(question, mocked.run(question)[0], fault)
        return mocked.run(question)[0]

    assert hear("once read", None, "no JSON", "no JSON", "no JSON").text
    assert str(hear("never", "no JSON", "no JSON").error).startswith(f"never at {URL} is given up: 2 replies in a row ")
    assert hear("other", "no JSON").text
    assert {(type(end), end.game) for end in ends} == {(GivenUp, "g")}
    before = len(mocked.prompts)
    hear("never")
    assert len(mocked.prompts) == before, "of a model that was given up, no more is asked"
