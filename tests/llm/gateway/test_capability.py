"""What a server does not take is found out from its words, once, and remembered."""

from __future__ import annotations

import dataclasses
import json
import logging
from typing import Any

import pytest

from players.llm.provider import Message

from .conftest import Asking, model_at, question
from .server import ScriptedServer, Step, error, refuse, roles

# after the wording of each server; which of them says it stands beside
NO_SCHEMA = [
    (400, {"error": {"message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with "
                                "this model.", "param": None, "code": None}}),  # OpenAI
    (400, {"error": {"message": "This response_format type is unavailable now", "code": "invalid_request_error"}}),
    (422, "Failed to deserialize: response_format.type `json_schema` is unavailable now at line 1"),  # DeepSeek
    (400, {"error": {"message": "'response_format' : one of the following must be satisfied[('response_format.type' : "
                                "value is not one of the allowed values ['text'])]"}}),  # Groq
    (400, {"error": {"message": "invalid schema for response format: minItems is not supported"}}),
    (400, {"object": "error", "message": "The provided JSON schema contains features not supported by xgrammar.",
           "type": "BadRequestError", "param": None, "code": 400}),  # vLLM
    (500, {"error": "invalid JSON schema in format"}),  # Ollama
    (400, {"error": {"code": 400, "message": "Failed to parse grammar", "type": "invalid_request_error"}}),  # llama.cpp
    (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "response_format", "json_schema"],
                       "msg": "Extra inputs are not permitted"}]}),  # FastAPI
]  # fmt: skip
NO_OBJECT = [
    (400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}),  # LM Studio
    (400, {"error": {"message": "'messages' must contain the word 'json' in some form, to use 'response_format' of "
                                "type 'json_object'.", "param": "messages"}}),
]  # fmt: skip
NO_MAX_TOKENS = [
    (400, {"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                                "'max_completion_tokens' instead.", "param": "max_tokens",
                     "code": "unsupported_parameter"}}),
]  # fmt: skip
NO_TEMPERATURE = [
    (400, {"error": {"message": "Unsupported value: 'temperature' does not support 0.5 with this model. Only the "
                                "default (1) value is supported.", "param": "temperature",
                     "code": "unsupported_value"}}),
    (400, {"error": {"message": "Unsupported parameter: 'temperature' is not supported with this model.",
                     "param": "temperature"}}),
    (422, {"object": "error", "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "temperature"],
                                                      "msg": "Extra inputs are not permitted"}]}}),  # Mistral
]  # fmt: skip
NO_SYSTEM = [
    (400, {"object": "error", "message": "System role not supported", "type": "BadRequestError", "code": 400}),  # vLLM
    (500, "jinja2.exceptions.TemplateError: System role not supported"),  # SGLang
    (400, {"message": "Conversation roles must alternate user/assistant/user/assistant/..."}),  # older templates
    (400, {"error": {"code": 400, "message": "Developer instruction is not enabled for models/gemma-3-27b-it"}}),
    (400, {"error": {"message": "Only user and assistant roles are supported!"}}),
]  # fmt: skip


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


@pytest.mark.parametrize("said", NO_OBJECT)
def test_plain_text_comes_last(asking: Asking, server: ScriptedServer, said: tuple[int, Any]) -> None:
    server.plan(step(*NO_SCHEMA[0]), step(*said))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.attempts, came.parameters["structured"]) == ('{"bid": 1}', 3, "text")
    asking.one(question(model_at(server)))
    assert formats(server) == ["json_schema", "json_object", None, None]


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


def test_of_two_settings_that_exclude_each_other_temperature_stays(asking: Asking, server: ScriptedServer) -> None:
    server.plan(refuse(400, "`temperature` and `top_p` cannot both be specified for this model."))
    came = asking.one(question(model_at(server, temperature=0.5, top_p=0.9)))
    assert (came.parameters["temperature"], "top_p" in came.parameters) == (0.5, False)


def test_a_reasoning_effort_that_is_not_known_is_dropped(asking: Asking, server: ScriptedServer) -> None:
    server.plan(refuse(400, "Unrecognized request argument supplied: reasoning_effort"))
    came = asking.one(question(model_at(server, reasoning_effort="low")))
    assert came.text
    assert ["reasoning_effort" in body for body in server.bodies] == [True, False]


def test_a_value_out_of_range_is_not_dropped_in_silence(asking: Asking, server: ScriptedServer) -> None:
    server.plan(default=refuse(400, "temperature: range: 0..1"))
    came = asking.one(question(model_at(server, temperature=1.7)))
    assert came.attempts == 1
    assert "temperature: range: 0..1" in str(came.error)


@pytest.mark.parametrize("said", NO_SYSTEM)
def test_without_a_system_role_its_text_heads_the_users(
    asking: Asking, server: ScriptedServer, said: tuple[int, Any]
) -> None:
    server.plan(step(*said))
    came = asking.one(question(model_at(server), "And you?"))
    assert came.text
    assert [roles(body) for body in server.bodies] == [["system", "user"], ["user"]]
    assert server.questions()[-1] == "You play a game.\n\nAnd you?"


def test_a_member_of_extra_is_never_dropped(asking: Asking, server: ScriptedServer) -> None:
    server.plan(default=refuse(400, "Unrecognized request argument supplied: min_p"))
    came = asking.one(question(model_at(server, extra={"min_p": 0.1})))
    assert came.attempts == 1
    assert "min_p" in str(came.error)


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


def test_many_calls_at_the_same_rejection_learn_one_thing(asking: Asking, server: ScriptedServer) -> None:
    rejected = server.latch()
    no_schema = Step(error("response_format of type json_schema is not supported"), 400, after=rejected)
    server.plan(*[no_schema] * 50)
    futures = asking.begin(*(question(model_at(server)) for _ in range(50)))
    server.wait_for(50)
    rejected.set()
    came = [future.result(30) for future in futures]
    assert {each.parameters["structured"] for each in came} == {"object"}
    assert {each.attempts for each in came} == {2}


def test_finding_out_uses_up_no_attempt(asking: Asking, server: ScriptedServer) -> None:
    server.plan(step(*NO_SCHEMA[0]), step(*NO_OBJECT[0]), step(*NO_MAX_TOKENS[0]), refuse(500))
    came = asking.one(question(model_at(server, endpoint={"attempts": 2})))
    assert (came.text, came.attempts) == ('{"bid": 1}', 5)


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


def test_what_is_known_of_one_model_says_nothing_of_another(asking: Asking, server: ScriptedServer) -> None:
    server.plan(step(*NO_SCHEMA[0]))
    asking.one(question(model_at(server, "old")))
    asking.one(question(model_at(server, "new")))
    assert formats(server) == ["json_schema", "json_object", "json_schema"]


def test_a_worker_that_broke_down_over_a_grammar_changes_nothing_for_later_calls(
    asking: Asking, server: ScriptedServer
) -> None:
    server.plan(step(500, {"error": {"message": "internal error: grammar worker crashed"}}))
    came = asking.one(question(model_at(server)))
    assert (came.attempts, came.parameters["structured"]) == (2, "schema")


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
