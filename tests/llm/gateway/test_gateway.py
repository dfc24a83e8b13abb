"""The gateway as a whole: probe, fatal ends, cassettes, budgets, closing."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from players.llm.budget import Budget
from players.llm.cassette import Cassette
from players.llm.gateway import Gateway
from players.llm.keys import Keys
from players.llm.loop import Loop
from players.llm.provider import Failed, Request, Shape
from players.llm.providers.openai import OpenAIProvider
from players.llm.settings import Endpoint, Model, Price
from wolfbus.errors import BudgetSpent, CassetteError, PlayerError, WolfError

from .conftest import Asking, MakeGateway, model_at, question
from .server import HANG, RESET, ScriptedServer, Step, error, refuse, reply, usage


def test_a_probe_asks_each_model_once_and_finds_out_what_its_server_takes(
    asking: Asking, server: ScriptedServer
) -> None:
    kept = Step(reply('{"mark": "kept"}'))
    server.plan(Step(error("response_format of type json_schema is not supported"), 400), default=kept)
    small, large = model_at(server, "small"), model_at(server, "large")
    asking.gateway.probe([small, small.model_copy(update={"temperature": 1.0}), large])
    assert sorted(body["model"] for body in server.bodies) in (["large", "large", "small"], ["large", "small", "small"])
    assert all(body["max_tokens"] <= 256 for body in server.bodies)
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


def test_in_a_container_a_dead_endpoint_on_its_own_loopback_says_where_to_look(
    asking: Asking, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("container", "docker")
    server.shut()
    with pytest.raises(PlayerError, match=r"connection refused; .*host\.docker\.internal"):
        asking.gateway.probe([model_at(server)])


def test_a_probe_of_a_dead_endpoint_is_over_soon(asking: Asking, server: ScriptedServer) -> None:
    server.shut()
    with pytest.raises(PlayerError) as error:
        asking.gateway.probe([model_at(server), model_at(server, "other")])
    why = f"{server.url}: connection refused (3 attempts)"
    assert str(error.value) == f"tiny does not answer: {why}; and other: {why}"


def test_a_probe_of_a_busy_endpoint_is_over_soon(asking: Asking, server: ScriptedServer) -> None:
    server.plan(default=refuse(429, "queue"))
    with pytest.raises(PlayerError, match=r"429: queue \(3 attempts\)$"):
        asking.gateway.probe([model_at(server)])


def test_a_check_finds_keys_that_are_missing_or_malformed_without_a_network(
    make_gateway: MakeGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own, there = Endpoint(key_env="MINE"), Endpoint(url="http://host.invalid/v1", key_env="THERE")
    models = [Model(model="a"), Model(model="b"), Model(model="c", endpoint=own), Model(model="d", endpoint=there)]
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


def test_a_check_asks_for_no_key_that_a_server_here_can_do_without(make_gateway: MakeGateway, tmp_path: Path) -> None:
    here = Endpoint(url="http://127.0.0.1:9/v1", key_env="NOT_SET_ANYWHERE")
    make_gateway(environment={}).gateway.check([Model(model="tiny", endpoint=here)])


def test_a_tokens_limit_below_what_one_call_may_take_is_refused(make_gateway: MakeGateway) -> None:
    few = Endpoint(url="http://127.0.0.1:9/v1", tokens_per_minute=1000)
    gateway = make_gateway().gateway
    line = (
        "tiny: tokens_per_minute = 1000 of http://127.0.0.1:9/v1 is less than one call may take: "
        "max_tokens = 900 and a prompt of at least 256"
    )
    for look in (gateway.check, gateway.probe):
        with pytest.raises(PlayerError) as error:
            look([Model(model="tiny", endpoint=few, max_tokens=900)])
        assert str(error.value) == line
    gateway.check([Model(model="tiny", endpoint=few, max_tokens=700)])


def test_a_cassette_that_plays_needs_no_key(make_gateway: MakeGateway, server: ScriptedServer, tmp_path: Path) -> None:
    with Cassette.record(tmp_path) as cassette:
        make_gateway(cassette=cassette).one(question(model_at(server)))
    make_gateway(environment={}, cassette=Cassette.play(tmp_path)).gateway.check([Model(model="gpt-4o-mini")])


@pytest.mark.parametrize("text", ["", "Hello!", None])
def test_a_probe_takes_any_answer(asking: Asking, server: ScriptedServer, text: str | None) -> None:
    server.plan(default=Step(reply(text, finish="length")))
    asking.gateway.probe([model_at(server)])
    assert len(server.bodies) == 1


def modes(server: ScriptedServer) -> list[str | None]:
    return [body.get("response_format", {}).get("type") for body in server.bodies]


OPEN = Step(reply('{"thought": "ready", "target": null, "bid": 1, "mark": "open"}'))
PROSE = Step(reply("Ready."))


@pytest.mark.parametrize(
    ("steps", "asked", "structured"),
    [
        ([Step(reply('{"mark": "kept"}'))], ["json_schema"], "schema"),
        ([Step(reply('<think>Hm.</think>{"mark": "kept"}'))], ["json_schema"], "schema"),
        ([OPEN, OPEN], ["json_schema", "json_object"], "object"),
        ([PROSE, PROSE], ["json_schema", "json_object", None], "text"),
        ([OPEN, refuse(400, "json_object is not supported")], ["json_schema", "json_object", None], "text"),
        ([Step(reply("", finish="length"))], ["json_schema"], "schema"),
        ([Step(reply('{"thought": "rea', finish="length"))], ["json_schema"], "schema"),
        ([Step(reply(None, refusal="No."))], ["json_schema"], "schema"),
    ],
)
def test_a_probe_finds_out_whether_a_server_keeps_to_what_it_takes(
    asking: Asking, server: ScriptedServer, steps: list[Step], asked: list[str | None], structured: str
) -> None:
    server.plan(*steps)
    asking.gateway.probe([model_at(server)])
    assert modes(server) == asked
    prompts = {message["content"] for body in server.bodies for message in body["messages"]}
    assert not any("kept" in prompt for prompt in prompts)
    assert asking.one(question(model_at(server))).parameters["structured"] == structured


def test_a_schema_that_the_settings_insist_on_is_kept_to_though_the_server_ignores_it(
    asking: Asking, server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.plan(default=OPEN)
    model = model_at(server, structured="schema")
    asking.gateway.probe([model])
    assert modes(server) == ["json_schema"]
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        f'tiny at {server.url} takes a JSON Schema, as structured = "schema" asks, but does not keep to it'
    ]
    assert asking.one(question(model)).parameters["structured"] == "schema"


def test_another_process_is_told_what_a_probe_found_out(asking: Asking, server: ScriptedServer) -> None:
    model, schema = model_at(server), model_at(server, "other", structured="schema")
    assert asking.gateway.settled(model) == model
    server.plan(default=OPEN)
    asking.gateway.probe([model, schema])
    assert asking.gateway.settled(model) == model.model_copy(update={"structured": "object"})
    assert asking.gateway.settled(schema) == schema


def test_a_recorded_game_plays_without_a_server(
    make_gateway: MakeGateway, server: ScriptedServer, tmp_path: Path
) -> None:
    model = model_at(server, price=Price(input=1, output=1))
    server.plan(Step(reply('{"bid": 9}', usage=usage())))
    with Cassette.record(tmp_path) as cassette:
        asking = make_gateway(cassette=cassette)
        recorded = asking.one(question(model))
        again = asking.one(question(model))
    assert (recorded.text, again.text, len(server.bodies)) == ('{"bid": 9}', '{"bid": 9}', 1)
    assert (recorded.url, recorded.served, recorded.cassette, recorded.attempts) == (server.url, "tiny", False, 1)
    assert recorded.cost_usd == pytest.approx(120e-6)
    assert again == replace(recorded, cassette=True, attempts=0, cost_usd=None, url=None)
    total = asking.gateway.accounts.summary()["total"]
    assert (total["calls"], total["attempts"], total["from_cassette"]) == (2, 1, 1)
    assert total["cost_usd"] == recorded.cost_usd
    server.shut()
    ends: list[WolfError] = []
    asking = make_gateway(cassette=Cassette.play(tmp_path), fatal=ends.append, environment={})
    asking.gateway.probe([model])
    assert asking.one(question(model)) == again
    came = asking.all(*(question(model, "Something else?") for _ in range(3)))
    assert all(each.error and "Ann" in each.error for each in came)
    assert [type(end) for end in ends] == [CassetteError] * 3
    assert len(set(map(str, ends))) == 1


def test_a_spent_budget_ends_all_games_those_that_begin_later_too(
    make_gateway: MakeGateway, server: ScriptedServer
) -> None:
    ends: list[WolfError] = []
    budget = Budget(tokens=10_000)
    asking = make_gateway(budget=budget, fatal=ends.append)
    server.plan(default=Step(reply(usage=usage(1000, 500))))
    model = model_at(server, max_tokens=500)
    came = [asking.one(question(model)) for _ in range(12)]
    assert came[0].text
    assert "the budget ends here" in str(came[-1].error)
    assert {type(end) for end in ends} == {BudgetSpent}
    assert len(ends) == sum(each.error is not None for each in came) > 1
    assert len(set(map(str, ends))) == 1
    assert 1500 <= budget.spent.tokens <= 10_000
    assert budget.spent.tokens == 1500 * len(server.bodies)


def test_all_that_was_set_aside_comes_back(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    budget = Budget(tokens=1_000_000)
    asking = make_gateway(budget=budget)
    server.plan(refuse(500), refuse(429), Step(reply(usage=usage(10, 10))), refuse(401), Step(reply(usage=usage(5, 5))))
    for _ in range(3):
        asking.one(question(model_at(server)))
    server.shut()
    asking.one(question(model_at(server)))
    # neither refusals nor connections that never stood cost anything
    assert budget.spent.tokens == 30
    server.open()
    server.plan(default=HANG)
    [future] = asking.begin(question(model_at(server)))
    server.wait_for(6)
    asking.jobs[-1].cancel()
    with pytest.raises(asyncio.CancelledError):
        future.result(10)
    # it may have been charged as much as it could cost
    assert budget.spent.tokens > 1000
    assert budget.held.tokens == 0


def test_closing_ends_calls_in_flight_at_once(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    server.plan(default=HANG)
    asking = make_gateway()
    futures = asking.begin(*(question(model_at(server, endpoint={"at_once": 10})) for _ in range(30)))
    server.wait_for(10)
    began = time.monotonic()
    asking.gateway.close()
    assert time.monotonic() - began < 3
    assert all(future.done() for future in futures)
    assert all(job.done() for job in asking.jobs)
    assert not [thread for thread in threading.enumerate() if thread.name == "model-gateway" and thread.is_alive()]
    server.wait_gone(10)
    asking.gateway.close()
    assert asking.begin(question(model_at(server)))[0].done() is False
    with pytest.raises(RuntimeError, match="closed"):
        asking.gateway.probe([model_at(server)])


def test_closing_from_a_job_does_not_hang(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    asking = make_gateway(budget=Budget(tokens=1))
    closed = threading.Event()

    def end(_: WolfError) -> None:
        asking.gateway.close()
        closed.set()

    asking.gateway._fatal = end
    asking.begin(question(model_at(server)))
    assert closed.wait(10)


def test_a_gateway_without_a_job_has_no_thread() -> None:
    before = threading.active_count()
    gateway = Gateway(environment={})
    assert threading.active_count() == before
    gateway.close()


def test_jobs_can_be_cancelled_before_they_begin_and_after_they_end() -> None:
    loop, began, go_on = Loop("test"), threading.Event(), threading.Event()

    async def wait() -> None:
        began.set()
        go_on.wait(10)

    async def never() -> None:
        raise AssertionError

    async def close() -> None: ...

    [first] = loop.start([wait()])
    assert began.wait(10)
    [second] = loop.start([never()])
    second.cancel()
    go_on.set()
    loop.close(close())
    assert first.done()
    assert second.done()
    first.cancel()
    second.cancel()


def test_a_job_that_fails_says_so_and_harms_no_other(asking: Asking, caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    done = threading.Event()

    async def work() -> None:
        done.set()

    asking.gateway.start([fail(), work()])
    assert done.wait(10)
    asking.gateway.close()
    assert "a job of model calls failed" in caplog.text


def test_a_fault_inside_a_call_is_an_error_of_that_call(asking: Asking, server: ScriptedServer, caplog: Any) -> None:
    broken = model_at(server).model_copy(update={"max_tokens": "many"})
    came = asking.one(question(broken))
    assert str(came.error).startswith("the gateway failed: ")
    assert asking.one(question(model_at(server))).text


@pytest.mark.parametrize("aiohttp", [True, False])
def test_both_transports_of_the_library_tell_the_same(server: ScriptedServer, aiohttp: bool) -> None:
    model = model_at(server)
    asked = question(model)

    async def ask(seconds: float | None = None) -> Any:
        try:
            return await provider.ask(Request(model, asked.messages, asked.form, Shape(), 100), seconds)
        except Failed as failed:
            return failed.failure

    loop = Loop("test")
    provider = OpenAIProvider(model.endpoint, Keys({}), aiohttp=aiohttp)
    server.plan(Step(), RESET, HANG, refuse(503, "later"), Step(b""))
    assert loop.run(ask()).text == '{"bid": 1}'
    broke, hung, refused, empty = (loop.run(ask(seconds)) for seconds in (None, 0.1, None, None))
    assert (broke.trouble, broke.charged, hung.trouble, refused.trouble) == ("connection", True, "timeout", "server")
    assert (empty.trouble, refused.line) == ("garbage", f"{server.url}: 503: later")
    server.shut()
    gone = loop.run(ask())
    assert (gone.trouble, gone.charged, gone.line) == ("connection", False, f"{server.url}: connection refused")
    loop.close(provider.close())
