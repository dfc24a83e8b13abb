"""Where keys come from, and that they go nowhere but to their server."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from players.llm.gateway import Gateway
from players.llm.provider import Endpoint, Model
from tests.llm.tables import tables
from wolfbus.errors import PlayerError

from .conftest import KEY, Asking, MakeGateway, model_at, question
from .server import ScriptedServer, Step, refuse, reply
from .toy import Parrot

TABLES = tables(__file__)


def test_a_key_is_found_by_its_variable_or_in_dotenv_and_sent_to_its_server_alone(
    make_gateway: MakeGateway, server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = model_at(server, endpoint={"key_env": "MY_KEY"})
    assert make_gateway(environment={"MY_KEY": f" {KEY}\n"}).one(question(named)).text
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY=from-file\nOPENAI_BASE_URL={server.url}/\n")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for environment in (None, {"OPENAI_API_KEY": "from-environment"}):
        assert make_gateway(environment=environment).one(question(Model(model="tiny"))).text
    sent = [headers["Authorization"] for headers in server.headers]
    assert sent == [f"Bearer {KEY}", "Bearer from-file", "Bearer from-environment"]
    assert "OPENAI_API_KEY" not in os.environ


@pytest.mark.parametrize("odd", ["two words", "non-äscii", "tab\tinside"])
def test_what_cannot_be_a_key_is_said_without_showing_it(make_gateway: MakeGateway, odd: str) -> None:
    model = Model(model="m", endpoint=Endpoint(url="http://localhost/v1"))
    with pytest.raises(PlayerError, match="OPENAI_API_KEY holds no key") as error:
        make_gateway(environment={"OPENAI_API_KEY": odd}).gateway.check([model])
    assert odd not in str(error.value)


@pytest.mark.parametrize(("message", "hidden"), TABLES["said"])
def test_whatever_looks_like_a_key_is_taken_out_and_ordinary_words_stay(
    asking: Asking, server: ScriptedServer, message: str, hidden: str
) -> None:
    server.plan(refuse(400, message))
    error = str(asking.one(question(model_at(server))).error).removeprefix(f"{server.url}: 400: ")
    assert ("[key]" in error, error == message) == (bool(hidden), not hidden)
    assert not hidden or hidden not in error


def with_names(body: bytes, name: str) -> bytes:
    return json.dumps(json.loads(body) | {"model": name, "system_fingerprint": name}).encode()


def everything(asking: Asking, came: list[Any], caplog: pytest.LogCaptureFixture) -> str:
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
    came = [asking.one(question(model_at(server, temperature=1.0), seconds=3.0))]
    if status != 200:
        with pytest.raises(PlayerError) as error:
            asking.gateway.probe([model_at(server)])
        came.append(error.value)
    server.close()
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


@pytest.mark.parametrize(("url", "gets_key"), TABLES["urls"])
def test_a_server_that_no_settings_name_a_key_for_gets_none_unless_it_is_openais_or_here(
    make_gateway: MakeGateway, url: str, gets_key: bool
) -> None:
    keys_sent: list[str | None] = []

    def provider(endpoint: Endpoint, keys: Any) -> Parrot:
        keys_sent.append(keys.key(endpoint))
        return Parrot()

    gateway = make_gateway(environment={"OPENAI_API_KEY": KEY, "MINE": "mine"}, providers=provider).gateway
    gateway.check([Model(model="m", endpoint=Endpoint(url=url, key_env=name)) for name in (None, "MINE")])
    assert keys_sent == [KEY if gets_key else None, "mine"]
