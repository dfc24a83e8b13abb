"""Where a server redirects to: no prompt and no key goes to another origin unless the settings name it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from wolfbus.cli import cli
from wolfbus.errors import PlayerError

from .conftest import KEY, Asking, MakeGateway, model_at, question
from .server import ScriptedServer, Step, reply


def origin(server: ScriptedServer) -> str:
    return server.url.removesuffix("/v1")


def to(url: str, status: int = 307) -> Step:
    return Step(b"", status, {"Location": url})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_origin_is_refused_in_one_line_that_names_both_and_the_setting(
    asking: Asking, server: ScriptedServer, elsewhere: ScriptedServer, status: int
) -> None:
    server.plan(default=to(f"{elsewhere.url}/chat/completions", status))
    came = asking.one(question(model_at(server)))
    target = origin(elsewhere)
    assert came.error == (
        f"{server.url}: {status}: {origin(server)} redirects to another origin, {target}, and nothing was sent there; "
        f'to let prompts go there, write follow_redirects = "{target}" into the [endpoints] table'
    )
    assert (came.attempts, len(server.bodies)) == (1, 1)
    assert elsewhere.paths == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_within_the_servers_own_origin_is_followed_with_prompt_and_key(
    asking: Asking, server: ScriptedServer, status: int
) -> None:
    server.plan(to("/v2/chat/completions", status), Step(reply('{"bid": 4}')))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.attempts) == ('{"bid": 4}', 1)
    assert server.paths == ["/v1/chat/completions", "/v2/chat/completions"]
    assert server.bodies[0] == server.bodies[1]
    assert server.headers[1]["Authorization"] == f"Bearer {KEY}"


def test_an_origin_that_the_settings_name_gets_the_prompts_and_never_the_key(
    make_gateway: MakeGateway, server: ScriptedServer, other: ScriptedServer
) -> None:
    server.plan(default=to(f"{other.url}/chat/completions"))
    added = {"headers": {"api-key": "MORE"}, "query": {"code": "MORE"}}
    model = model_at(server, endpoint={"follow_redirects": origin(other), **added})
    came = make_gateway(environment={"OPENAI_API_KEY": KEY, "MORE": f"{KEY}2"}).one(question(model, "What now?"))
    assert came.text == '{"bid": 1}'
    assert other.questions() == ["What now?"]
    assert KEY in server.queries[0]
    assert KEY not in f"{other.headers} {other.queries}"
    assert "Authorization" not in other.headers[0]


def test_only_the_origin_that_is_named_may_be_redirected_to(
    asking: Asking, server: ScriptedServer, other: ScriptedServer, elsewhere: ScriptedServer
) -> None:
    server.plan(default=to(f"{other.url}/chat/completions"))
    other.plan(default=to(f"{elsewhere.url}/chat/completions"))
    came = asking.one(question(model_at(server, endpoint={"follow_redirects": origin(other)})))
    assert f"redirects to another origin, {origin(elsewhere)}, " in str(came.error)
    assert elsewhere.paths == []


def test_a_game_whose_model_server_redirects_is_not_begun(
    server: ScriptedServer, elsewhere: ScriptedServer, tmp_path: Path
) -> None:
    server.plan(default=to(f"{elsewhere.url}/chat/completions"))
    arguments = ["play", "--players", f"llm:tiny@{server.url}*8", "--out", str(tmp_path), "--quiet"]
    came = CliRunner().invoke(cli, arguments)
    assert isinstance(came.exception, PlayerError)
    assert f'follow_redirects = "{origin(elsewhere)}"' in str(came.exception)
    assert (elsewhere.paths, list(tmp_path.iterdir())) == ([], [])
