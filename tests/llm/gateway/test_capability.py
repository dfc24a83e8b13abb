"""What a server does not take is found out from its words, once, and remembered."""

from __future__ import annotations

import dataclasses
import json
import logging
from typing import Any

import pytest

from players.llm.provider import Message
from tests.llm.tables import tables

from .conftest import Asking, model_at, question
from .server import ScriptedServer, Step, refuse, roles

TABLES = tables(__file__)

# after the wording of each server; which of them says it stands beside
NO_SCHEMA = TABLES["no_schema"]  # fmt: skip
NO_MAX_TOKENS = [
    (400, {"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                                "'max_completion_tokens' instead.", "param": "max_tokens",
                     "code": "unsupported_parameter"}}),
]  # fmt: skip
NO_TEMPERATURE = TABLES["no_temperature"]  # fmt: skip
NO_SYSTEM = TABLES["no_system"]  # fmt: skip


def step(status: int, body: Any) -> Step:
    return Step(body.encode() if isinstance(body, str) else json.dumps(body).encode(), status)


def formats(server: ScriptedServer) -> list[str | None]:
    return [body.get("response_format", {}).get("type") for body in server.bodies]


@pytest.mark.parametrize("said", NO_SCHEMA)
def test_json_mode_comes_after_json_schema(asking: Asking, server: ScriptedServer, said: tuple[int, Any]) -> None:
    server.plan(step(*said))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.attempts, came.parameters["structured"]) == ('{"bid": 1}', 2, "object")
    asking.one(question(model_at(server)))
    assert formats(server) == ["json_schema", "json_object", "json_object"]


@pytest.mark.parametrize("said", NO_MAX_TOKENS)
def test_the_bound_on_tokens_has_two_names(asking: Asking, server: ScriptedServer, said: tuple[int, Any]) -> None:
    server.plan(step(*said))
    came = asking.one(question(model_at(server, max_tokens=99)))
    assert (came.attempts, came.parameters["max_completion_tokens"]) == (2, 99)
    assert ("max_tokens" in server.bodies[0], "max_tokens" in server.bodies[1]) == (True, False)


def test_a_server_that_takes_neither_name_gets_none(asking: Asking, server: ScriptedServer) -> None:
    forbidden = [{"type": "extra_forbidden", "loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not"}]
    server.plan(step(*NO_MAX_TOKENS[0]), step(422, {"detail": forbidden, "msg": "not permitted"}))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.attempts, came.parameters) == ('{"bid": 1}', 3, {"structured": "schema"})


@pytest.mark.parametrize("said", NO_TEMPERATURE)
def test_a_setting_that_is_rejected_is_dropped_and_that_is_said_once(
    asking: Asking, server: ScriptedServer, said: tuple[int, Any], caplog: pytest.LogCaptureFixture
) -> None:
    server.plan(step(*said))
    model = model_at(server, temperature=0.5, extra={"seed": 3, "min_p": 0.1})
    for _ in range(3):
        came = asking.one(question(model))
        assert came.text
        assert "temperature" not in came.parameters
    assert ["temperature" in body for body in server.bodies] == [True, False, False, False]
    assert all((body["seed"], body["min_p"]) == (3, 0.1) for body in server.bodies)
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert warnings == [f"tiny at {server.url} does not take temperature = 0.5: it is not sent"]


@pytest.mark.parametrize("said", NO_SYSTEM)
def test_without_a_system_role_its_text_heads_the_users(
    asking: Asking, server: ScriptedServer, said: tuple[int, Any]
) -> None:
    server.plan(step(*said))
    came = asking.one(question(model_at(server), "And you?"))
    assert came.text
    assert [roles(body) for body in server.bodies] == [["system", "user"], ["user"]]
    assert server.questions()[-1] == "You play a game.\n\nAnd you?"


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        "'max_tokens' is too large: 5000. This model supports at most 4096 completion tokens.",
        "The prompt was filtered.",
    ],
)
def test_rejections_of_another_kind_change_nothing(asking: Asking, server: ScriptedServer, words: str) -> None:
    server.plan(refuse(400, words))
    assert asking.one(question(model_at(server))).attempts == 1
    assert formats(server) == ["json_schema"]
    asking.one(question(model_at(server)))
    assert formats(server)[-1] == "json_schema"


def test_a_server_that_rejects_everything_is_left_in_the_end(asking: Asking, server: ScriptedServer) -> None:
    words = "unsupported: response_format, max_tokens, max_completion_tokens, temperature, system role"
    server.plan(default=refuse(400, words))
    came = asking.one(question(model_at(server, temperature=0.1)))
    assert came.attempts < 10
    assert str(came.error).count(": 400: ") == 1, came.error


@pytest.mark.parametrize(("mode", "sent"), [("schema", "json_schema"), ("object", "json_object"), ("text", None)])
def test_a_mode_that_is_set_is_kept(asking: Asking, server: ScriptedServer, mode: str, sent: str | None) -> None:
    asking.one(question(model_at(server, structured=mode)))
    server.plan(step(*NO_SCHEMA[0]))
    came = asking.one(question(model_at(server, structured=mode)))
    assert formats(server) == [sent, sent]
    assert came.attempts == 1
    assert came.error


CHAIN = (Message("system", "You play a game.", kept=16), Message("user", "It is day. What now?", kept=10))


@pytest.mark.parametrize("system", [True, False], ids=["system", "no system role"])
def test_a_server_that_wants_marks_gets_them_where_the_next_prompt_goes_on(
    asking: Asking, server: ScriptedServer, system: bool
) -> None:
    if not system:
        server.plan(refuse(400, "system role not supported"))
    model = model_at(server, endpoint={"cache": "marks"})
    asking.one(dataclasses.replace(question(model), messages=CHAIN))
    told = [part for message in server.bodies[-1]["messages"] for part in message["content"]]
    marked = [part["text"] for part in told if part.get("cache_control") == {"type": "ephemeral"}]
    assert marked == (["You play a game.", "It is day."] if system else ["You play a game.\n\nIt is day."])
    assert "".join(part["text"] for part in told) == "You play a game." + "\n\n" * (not system) + "It is day. What now?"


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
