"""Where keys come from, and that they go nowhere but to their server."""

from __future__ import annotations

import json
import logging
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from players.llm.gateway import Gateway
from players.llm.provider import Endpoint, Model
from tests.llm.tables import tables
from wolfbus.errors import PlayerError

from .conftest import KEY, Asking, MakeGateway, model_at, question
from .server import OK, ScriptedServer, Step, refuse, reply
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


def test_headers_and_query_come_from_the_environment_and_no_key_is_made_up_beside_them(
    make_gateway: MakeGateway, server: ScriptedServer
) -> None:
    added = {"headers": {"api-key": "AZURE", "X-Team": "TEAM"}, "query": {"api-version": "2024-10-21", "code": "CODE"}}
    model = model_at(server, endpoint=added)
    assert make_gateway(environment={"AZURE": KEY, "TEAM": "a b", "CODE": "c&d+e"}).one(question(model)).text
    (headers,) = server.headers
    assert (headers["api-key"], headers["X-Team"], headers.get("Authorization")) == (KEY, "a b", None)
    assert server.queries == ["api-version=2024-10-21&code=c%26d%2Be"]
    basic = model_at(server, endpoint={"headers": {"authorization": "BASIC"}})
    assert make_gateway(environment={"OPENAI_API_KEY": KEY, "BASIC": "Basic x"}).one(question(basic)).text
    assert server.headers[1].getall("Authorization") == ["Basic x"]
    with pytest.raises(PlayerError, match=f"^{server.url}: set the environment variable AZURE, or put it into .env"):
        make_gateway(environment={}).gateway.check([model])


def printed(folder: Path, *keys: str) -> str:
    """A command that prints one key after another, and then fails."""
    for number, key in enumerate(keys):
        (folder / f"key{number}").write_text(f"{key}\n")
    script = "import pathlib; path = min(pathlib.Path('.').glob('key*')); print(path.read_text()); path.unlink()"
    return shlex.join([sys.executable, "-c", script])


def test_a_key_of_a_command_is_kept_until_it_is_not_accepted_and_then_read_anew_once(
    make_gateway: MakeGateway, server: ScriptedServer, tmp_path: Path
) -> None:
    model = model_at(server, endpoint={"key_command": printed(tmp_path, "first-key", "second-key", "second-key")})
    asking = make_gateway()
    asking.gateway.check([model])
    server.plan(OK, refuse(401), Step(reply('{"bid": 2}')), default=refuse(401, "no: second-key, before first-key"))
    assert [asking.one(question(model)).text for _ in range(2)] == ['{"bid": 1}', '{"bid": 2}']
    assert [headers["Authorization"][7:] for headers in server.headers] == ["first-key"] * 2 + ["second-key"]
    error = str(asking.one(question(model)).error)
    assert "401: the key in the output of key_command is not accepted: no: [key], before [key]" in error
    assert len(server.bodies) == 4, "the same key is not tried again"


def test_a_key_that_a_file_has_anew_is_read_there_by_all_calls_that_were_turned_away(
    make_gateway: MakeGateway, server: ScriptedServer, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("first-key\n")
    model, asking = model_at(server, endpoint={"key_file": str(tmp_path / "token")}), make_gateway()
    asking.gateway.check([model])
    (tmp_path / "token").write_text("second-key\n")
    server.key = "second-key"
    assert [future.result(60).text for future in asking.begin(*[question(model)] * 5)] == ['{"bid": 1}'] * 5
    sent = [headers["Authorization"][7:] for headers in server.headers]
    assert (sent[0], sent.count("second-key"), len(sent) <= 10) == ("first-key", 5, True)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ({"key_command": "false --key x"}, "key_command false: exit status 1: "),
        ({"key_command": "no-such-program"}, "key_command no-such-program: no such file or directory"),
        ({"key_command": "true"}, "no key for URL: the output of key_command is empty"),
        ({"key_file": "no-such-file"}, "key_file: no-such-file: "),
    ],
)
def test_a_key_that_cannot_be_read_is_said_before_anything_is_asked(
    make_gateway: MakeGateway, server: ScriptedServer, source: dict[str, str], why: str
) -> None:
    with pytest.raises(PlayerError, match=f"^{why.replace('URL', server.url)}"):
        make_gateway().gateway.check([model_at(server, endpoint=source)])


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
    secrets = {"OPENAI_API_KEY": KEY, "SUBSCRIPTION": "Basic planted/word+1", "CODE": "planted/code+2"}
    endpoint = {"headers": {"X-Subscription": "SUBSCRIPTION"}, "query": {"code": "CODE"}}
    asking = make_gateway(environment=secrets)
    echo = f"Your request with Authorization: Bearer {KEY} and key {KEY} (unsupported: temperature)"
    echo += " code=planted%2Fcode%2B2 planted/code%2B2 planted/code+2 Basic planted/word+1 planted/word+1"
    server.plan(
        default=Step(with_names(reply(echo, reasoning=echo, refusal=echo), echo))
        if status == 200
        else refuse(status, echo)
    )
    model = model_at(server, temperature=1.0, endpoint=endpoint)
    came = [asking.one(question(model, seconds=3.0))]
    if status != 200:
        with pytest.raises(PlayerError) as error:
            asking.gateway.probe([model])
        came.append(error.value)
    server.close()
    came.append(asking.one(question(model)))
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert server.headers[0]["X-Subscription"] == secrets["SUBSCRIPTION"]
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
