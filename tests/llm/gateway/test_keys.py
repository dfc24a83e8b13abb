"""Where keys come from, and that they go nowhere but to their server."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from players.llm.gateway import Gateway
from players.llm.keys import Keys, redacted
from players.llm.settings import Endpoint, Model
from tests.llm.tables import tables
from wolfbus.errors import PlayerError

from .conftest import KEY, MakeGateway, model_at, question
from .server import ScriptedServer, Step, refuse, reply

TABLES = tables(__file__)


def test_the_key_is_sent_to_its_server(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    assert (
        make_gateway(environment={"MY_KEY": f" {KEY}\n"})
        .one(question(model_at(server, endpoint={"key_env": "MY_KEY"})))
        .text
    )
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_a_key_in_dotenv_is_found_and_stays_out_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=from-file\nOPENAI_BASE_URL=http://localhost:9/v1/\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    keys = Keys()
    assert (keys.key(Endpoint()), keys.url(Endpoint())) == ("from-file", "http://localhost:9/v1")
    assert "OPENAI_API_KEY" not in os.environ
    assert Keys({"OPENAI_API_KEY": "from-environment"}).key(Endpoint()) == "from-environment"


def test_openais_own_server_needs_a_key(make_gateway: MakeGateway, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    asking = make_gateway(environment={})
    model = Model(model="gpt-4o-mini")
    came = asking.one(question(model))
    assert "OPENAI_API_KEY" in str(came.error)
    assert came.attempts == 0
    with pytest.raises(PlayerError, match=r"set the environment variable OPENAI_API_KEY, or put it into \.env"):
        asking.gateway.probe([model])


@pytest.mark.parametrize("odd", ["two words", "non-äscii", "tab\tinside"])
def test_what_cannot_be_a_key_is_said_without_showing_it(odd: str) -> None:
    with pytest.raises(PlayerError, match="OPENAI_API_KEY holds no key") as error:
        Keys({"OPENAI_API_KEY": odd}).key(Endpoint(url="http://localhost/v1"))
    assert odd not in str(error.value)


@pytest.mark.parametrize(
    ("said", "hidden"),
    [
        ("Incorrect API key provided: sk-ab***cd. You can find", "sk-ab"),
        ("Incorrect API key provided: plan***********cdef.", "plan"),
        (f"bad key {KEY}", KEY),
        ("Authorization: Bearer abc.def-ghi", "abc.def"),
        ("key starts with planted-Secret", "planted-Secret"),
        ("key ends in 89abcdef", "89abcdef"),
        ("sk-proj-AbCdEfGh123456 is revoked", "AbCd"),
        ("gsk_abcd1234efgh is revoked", "abcd1234"),
        ("token 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567", "0a1b2c"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "e89b"),
        ("AIzaSyD-1234567890", "SyD"),
    ],
)
def test_whatever_looks_like_a_key_is_taken_out(said: str, hidden: str) -> None:
    clean = redacted(said, KEY)
    assert hidden not in clean
    assert "[key]" in clean


@pytest.mark.parametrize(
    "said",
    [
        "The model `meta-llama/Llama-3.1-8B-Instruct` does not exist.",
        "Rate limit reached for gpt-4o-mini-2024-07-18 on tokens per min (TPM): Limit 200000, Used 199000.",
        "Unsupported parameter: 'max_completion_tokens' is not supported with this model.",
    ],
)
def test_ordinary_words_of_servers_stay(said: str) -> None:
    assert redacted(said, KEY) == said


def with_names(body: bytes, name: str) -> bytes:
    return json.dumps(json.loads(body) | {"model": name, "system_fingerprint": name}).encode()


def everything(asking: Any, came: list[Any], caplog: pytest.LogCaptureFixture) -> str:
    gateway: Gateway = asking.gateway
    logs = [record.getMessage() + repr(record.args) + str(record.exc_info) for record in caplog.records]
    servers = list(gateway._servers.values())
    objects = [gateway, *servers, *(server.provider for server in servers), gateway._keys]
    return "\n".join([*logs, *map(repr, came), *map(repr, objects), json.dumps(gateway.accounts.summary())])


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 429, 500])
def test_the_key_is_in_nothing_that_is_written(
    make_gateway: MakeGateway, server: ScriptedServer, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("openai").setLevel(logging.DEBUG)
    logging.getLogger("httpcore2").setLevel(logging.DEBUG)
    asking = make_gateway()
    echo = f"Your request with Authorization: Bearer {KEY} and key {KEY} (unsupported: temperature)"
    server.plan(
        default=Step(with_names(reply(echo, reasoning=echo, refusal=echo), echo))
        if status == 200
        else refuse(status, echo)
    )
    came = [asking.one(question(model_at(server, temperature=1.0), seconds=0.5))]
    if status != 200:
        with pytest.raises(PlayerError) as error:
            asking.gateway.probe([model_at(server)])
        came.append(error.value)
    server.shut()
    came.append(asking.one(question(model_at(server))))
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    written = everything(asking, came, caplog)
    assert KEY not in written
    assert "planted" not in written


def test_a_key_that_is_not_accepted_is_named_by_its_variable(make_gateway: MakeGateway, server: ScriptedServer) -> None:
    server.plan(default=refuse(401, "Incorrect API key provided: sk-ab***"))
    asking = make_gateway()
    assert "401: the key in OPENAI_API_KEY is not accepted" in str(asking.one(question(model_at(server))).error)
    asking = make_gateway(environment={})
    assert "no key is in OPENAI_API_KEY" in str(asking.one(question(model_at(server))).error)


def test_organisations_of_the_environment_go_to_openai_alone(
    make_gateway: MakeGateway, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    make_gateway().one(question(model_at(server)))
    assert not [value for value in server.headers[0].values() if "mine" in value]


@pytest.mark.parametrize(
    ("url", "told"),
    TABLES["a_server_that_no_settings_name_a_key_for_gets_none_unless_it_is_openais_or_here"],
)
def test_a_server_that_no_settings_name_a_key_for_gets_none_unless_it_is_openais_or_here(url: str, told: bool) -> None:
    keys = Keys({"OPENAI_API_KEY": KEY, "MINE": "mine"})
    assert keys.key(Endpoint(url=url)) == (KEY if told else None)
    assert keys.key(Endpoint(url=url, key_env="MINE")) == "mine"
