"""The model double over real HTTP: answers as OpenAI gives them, refusals, ugly replies, errors, and its command."""

import contextlib
import http.client
import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.golden.running import wolfbus
from tests.llm.tables import tables
from tests.waiting import wait_until
from wolfbus.cli import cli
from wolfbus.errors import ConfigError
from wolfbus.game.vocabulary import Kind
from wolfbus.reading import Question, read
from wolfbus.testing.model_server import ModelServer

TABLES: Any = tables(__file__)
TEMPLATES: dict[Kind, str] = TABLES["templates"]
LEGAL = ("Raj", "Bo", "Chioma", None)
BID = {"type": "object", "properties": {"thought": {"type": "string"}, "bid": {"type": "integer", "enum": [0, 1, 2]}}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "bid", "strict": True, "schema": BID}}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


class Client:
    """Asks a double, each time over a connection of its own."""

    def __init__(self, url: str, key: str = "none") -> None:
        self._place = url.split("/")[2]
        self._key = key

    def send(self, body: bytes | None, path: str = "/v1/chat/completions") -> tuple[int, Any]:
        with contextlib.closing(http.client.HTTPConnection(self._place, timeout=60)) as connection:
            way = "GET" if body is None else "POST"
            connection.request(way, path, body, {"Authorization": f"Bearer {self._key}"})
            response = connection.getresponse()
            content = response.read()
        return response.status, json.loads(content) if content.startswith(b"{") else content.decode()

    def ask(self, kind: Kind = "bid", number: int = 0, **more: Any) -> tuple[int, Any]:
        question = f"Question {number}.\nYou are Ada, a Villager.\nLiving players: Ada, Raj, Bo, Chioma.\n"
        asked = "Reply with one JSON object of these members, in this order:"
        prompt = f'[1] Raj: "Hm."\n\n{question}\n{asked}\n{TEMPLATES[kind]}'
        messages = [{"role": "system", "content": "The rules."}, {"role": "user", "content": prompt}]
        return self.send(json.dumps({"model": "m", "messages": messages, **more}).encode())

    def reply(self, kind: Kind = "bid", number: int = 0, **more: Any) -> str:
        status, body = self.ask(kind, number, **more)
        assert status == 200, body
        return body["choices"][0]["message"]["content"] or ""


def test_it_answers_as_openai_does_by_the_seed_and_the_messages_alone() -> None:
    with ModelServer(latency=0.001) as server, ModelServer(seed=4) as other:
        client = Client(server.url)
        status, body = client.ask("bid", response_format=SCHEMA)
        assert (status, body["object"], body["model"]) == (200, "chat.completion", "m")
        (choice,), usage = body["choices"], body["usage"]
        assert choice["finish_reason"] == "stop"
        assert read(choice["message"]["content"], Question("bid")).reading == "clean"
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
        assert server.stats().prompt_tokens == usage["prompt_tokens"]
        replies = [client.reply("speak"), client.reply("speak", temperature=0.1)]
        assert replies[0] == replies[1] not in {client.reply("speak", 1), Client(other.url).reply("speak")}


ODD_NAMES = """
names = ["I", "Ann Marie", "Ann", "a*b(c", "{t}", "100%"]
villagers = 2
debate_turns = 2
max_rounds = 1
bid_max = 1000
models.m.endpoint = "here"
endpoints.here.url = "URL"
"""


def test_it_plays_the_same_game_by_the_words_of_prompts_as_by_their_schemas(tmp_path: Path) -> None:
    results = []
    for number, traits in enumerate(({}, {"takes_schema": False})):
        with ModelServer(**traits) as server:
            (tmp_path / "game.toml").write_text(ODD_NAMES.replace("URL", server.url))
            words = ["--config", "game.toml", "--players", "llm:m", "--seed", "7", "--game", f"g{number}"]
            results.append(json.loads(wolfbus(tmp_path, "play", *words, "--json", "--no-probe").out))
    assert results[0]["digest"] == results[1]["digest"]
    record = [json.loads(line) for line in Path(tmp_path, results[1]["record"]).read_text().splitlines()]
    answers = [event for event in record if event["type"] == "answered"]
    assert len({event["content"]["bid"] for event in answers if event["kind"] == "bid"}) > 3
    # what is usual, a clean reading, is left out
    assert not [event for event in answers if "reading" in event or "outcome" in event]


def test_the_key_is_asked_for_and_a_wrong_one_is_shown_in_part() -> None:
    with ModelServer(key="sk-right-right-right") as server:
        assert Client(server.url, "sk-right-right-right").ask()[0] == 200
        status, body = Client(server.url, "sk-wrong-key-of-somebody").ask()
        assert (status, Client(server.url, "").ask()[0]) == (401, 401)
    assert body["error"]["code"] == "invalid_api_key"
    assert "sk-wrong" in body["error"]["message"]
    assert "body" in body["error"]["message"]
    assert "sk-wrong-key-of-somebody" not in body["error"]["message"]


@pytest.mark.parametrize("body", [*TABLES["senseless"], pytest.param("[" * 100_000, id="nested")])
def test_bodies_that_make_no_sense_are_refused(server: ModelServer, body: str) -> None:
    status, answer = Client(server.url).send(body.encode())
    assert (status, answer["error"]["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize(("traits", "fields", "message", "param"), TABLES["refused"])
def test_what_it_cannot_do_is_refused_in_the_words_of_real_servers(traits, fields, message, param):
    with ModelServer(**traits) as server:
        status, body = Client(server.url).ask(**fields)
    assert (status, body["error"]["param"] or "") == (400, param)
    assert message in body["error"]["message"]


@pytest.mark.parametrize(("sort", "kind", "expected"), TABLES["readings"])
def test_the_reading_ladder_sees_each_sort_of_ugliness_as_what_it_is(server, sort, kind, expected):
    sample = 20
    with ModelServer(ugly={sort: 1.0}) as ugly:
        urls = (server.url, ugly.url)
        good, spoiled = ([Client(url).reply(kind, number) for number in range(sample)] for url in urls)
    reads = [read(text, Question(kind, legal=LEGAL, names=("Ada", "Raj", "Bo", "Chioma"))) for text in spoiled]
    seen = Counter(got.reading or got.fault for got in reads)
    assert set(seen) <= set(expected)
    # abstentions hold no name to spoil
    assert seen["clean"] < sample / 3 or expected == ["clean"]
    if expected != ["clean"]:
        assert sum(one == other for one, other in zip(good, spoiled, strict=True)) == seen["clean"]


def test_mixes_of_ugliness_and_of_errors_keep_to_their_shares_and_hold_every_sort() -> None:
    kinds = list(TEMPLATES)
    with ModelServer(ugly=0.5) as server:
        for number in range(300):
            Client(server.url).ask(kinds[number % len(kinds)], number)
        assert server.stats().ugly.keys() == set(TABLES["ugly"])
        assert 110 < sum(server.stats().ugly.values()) < 170
    fine: Counter[int | None] = Counter()
    with ModelServer(errors=0.4) as server:
        for number in range(200):
            try:
                fine[Client(server.url).ask("bid", number)[0]] += 1
            except (http.client.HTTPException, OSError):
                fine[None] += 1
        met = server.stats().errors
    assert met.keys() == set(TABLES["errors"])
    assert 50 < sum(met.values()) < 110
    assert fine[200] == 200 - sum(met.values())
    assert fine[None] == met["reset"]
    assert {str(status) for status in fine} - {"None", "200"} == {"429", "500"}


def test_calls_under_way_are_counted_until_they_go_and_broken_off_at_its_end() -> None:
    prompt = json.dumps({"model": "m", "messages": [{"role": "user", "content": "?"}]})
    with ModelServer(errors={"hang": 1.0}) as server:
        callers = [http.client.HTTPConnection(server.url.split("/")[2], timeout=60) for _ in range(7)]
        for caller in callers:
            caller.request("POST", "/v1/chat/completions", prompt)
        wait_until(lambda: server.stats().open == 7)
        callers.pop().close()
        # a client that goes away is no longer served
        wait_until(lambda: server.stats().open == 6)
    for caller in callers:
        with pytest.raises((http.client.HTTPException, OSError)):
            caller.getresponse()
    stats = server.stats()
    assert (stats.calls, stats.open, stats.errors) == (7, 0, {"hang": 7})
    with pytest.raises(ConnectionRefusedError):
        Client(server.url).ask()


def test_an_address_that_is_taken_is_one_line(server: ModelServer) -> None:
    port = server.url.split(":")[2].removesuffix("/v1")
    with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}"):
        cli(["fake-model", "--port", port], standalone_mode=False)


def test_the_command_takes_every_switch_tells_its_url_and_ends_with_its_totals(capfd: pytest.CaptureFixture[str]):
    words = ["--no-schema", "--key", "sk-2", "--latency", "0", "--ugly", "fence=1.0", "--errors", "500=0.0"]
    words += ["--seed", "7", "--host", "localhost"]
    results: list[Any] = []

    def client() -> None:
        output = ""
        while "/v1\n" not in output:
            output += capfd.readouterr().out
        caller = Client(output.split()[-1], "sk-2")
        plain = b'{"model": "m", "messages": [{"role": "user", "content": "?"}]}'
        results.extend([output, caller.ask(response_format=SCHEMA)[1]["error"]["message"], caller.send(plain)[0]])
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=client)
    thread.start()
    with pytest.raises(SystemExit, match="0"):
        cli(["fake-model", "--port", "0", *words])
    thread.join()
    output, refused, status = results
    assert output.startswith("fake model: listening at http://localhost:")
    assert "'json_schema' is not supported" in refused
    assert status == 200
    ended = capfd.readouterr()
    assert ended.out.startswith("fake model: 2 calls; 0 met errors, 0 replies were ugly; 1 prompt ")
    assert ended.err == ""
