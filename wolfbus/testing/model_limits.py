"""What the double refuses, in the words of real servers: wrong keys, unknown models, parameters it does not take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from wolfbus.testing.model_behaviour import Behaviour

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_DEEPEST: Final = 24


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that refuses a request.

    Attributes:
        status: of HTTP.
        message: why.
        param: the parameter at fault.
        code: OpenAI's word for the reason.
    """

    status: int
    message: str
    param: str | None = None
    code: str | None = None

    def body(self, worded: str) -> dict[str, Any]:
        """Return the body that goes with it, in the form of OpenAI's servers or of vLLM's."""
        if worded == "vllm":
            kind = {401: "AuthenticationError", 404: "NotFoundError"}.get(self.status, "BadRequestError")
            return {"object": "error", "message": self.message, "type": kind, "param": None, "code": self.status}
        kind = {429: "requests", 500: "server_error", 503: "server_error"}.get(self.status, "invalid_request_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


def refused_key(behaviour: Behaviour, authorization: str | None) -> Refusal | None:
    """Refuse a request without the right key; the wrong one is echoed in part, as some servers do."""
    if behaviour.key is None or authorization == f"Bearer {behaviour.key}":
        return None
    if behaviour.worded == "vllm":
        return Refusal(401, "Unauthorized")
    given = (authorization or "").removeprefix("Bearer").strip()
    if not given:
        return Refusal(401, "You didn't provide an API key; send it as a bearer token in the Authorization header.")
    shown = f"{given[:8]}{'*' * max(4, len(given) - 12)}{given[-4:]}" if len(given) > 12 else "*" * len(given)
    return Refusal(401, f"Incorrect API key provided: {shown}.", code="invalid_api_key")


def refused(behaviour: Behaviour, body: Mapping[str, Any]) -> Refusal | None:
    """Refuse what the double does not take, None if it takes all of it."""
    model, messages = body.get("model"), body.get("messages")
    if not isinstance(model, str) or not model:
        return Refusal(400, "you must provide a model parameter")
    if behaviour.models and model not in behaviour.models:
        missing = f"The model `{model}` does not exist or you do not have access to it."
        return Refusal(404, missing, code="model_not_found")
    if not isinstance(messages, list) or not messages or not all(_is_message(message) for message in messages):
        return Refusal(400, "Invalid value for 'messages': expected a list of chat messages.", "messages")
    return _refused_role(behaviour, messages) or _refused_parameter(behaviour, body) or _refused_format(behaviour, body)


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("content"), str):
        return False
    return message.get("role") in {"system", "developer", "user", "assistant"}


def _refused_role(behaviour: Behaviour, messages: Sequence[Mapping[str, Any]]) -> Refusal | None:
    if behaviour.takes_system:
        return None
    for number, message in enumerate(messages):
        if message["role"] in {"system", "developer"}:
            if behaviour.worded == "vllm":
                return Refusal(400, "System role not supported")
            where = f"messages[{number}].role"
            what = f"Unsupported value: '{where}' does not support '{message['role']}' with this model."
            return Refusal(400, what, where, "unsupported_value")
    return None


def _refused_parameter(behaviour: Behaviour, body: Mapping[str, Any]) -> Refusal | None:
    if behaviour.needs is not None:
        other = "max_tokens" if behaviour.needs == "max_completion_tokens" else "max_completion_tokens"
        if body.get(other) is not None:
            return _unsupported(behaviour, other, behaviour.needs)
    if not behaviour.takes_temperature:
        for name in ("temperature", "top_p"):
            if body.get(name) is not None:
                return _unsupported(behaviour, name)
    return None


def _unsupported(behaviour: Behaviour, name: str, instead: str | None = None) -> Refusal:
    if behaviour.worded == "vllm":
        what = f"[{{'type': 'extra_forbidden', 'loc': ('body', '{name}'), 'msg': 'Extra inputs are not permitted'}}]"
        return Refusal(400, what)
    if name == "max_completion_tokens":
        return Refusal(400, f"Unrecognized request argument supplied: {name}")
    use = f" Use '{instead}' instead." if instead else ""
    what = f"Unsupported parameter: '{name}' is not supported with this model.{use}"
    return Refusal(400, what, name, "unsupported_parameter")


def _refused_format(behaviour: Behaviour, body: Mapping[str, Any]) -> Refusal | None:
    given = body.get("response_format")
    kind = given.get("type") if isinstance(given, dict) else None
    if given is None or kind == "text":
        return None
    takes = {"json_schema": behaviour.takes_schema, "json_object": behaviour.takes_json_mode}
    if kind not in takes:
        return Refusal(400, f"Invalid value: '{kind}' for 'response_format.type'.", "response_format")
    if not takes[kind]:
        if behaviour.worded == "vllm":
            return Refusal(400, f"'response_format.type' must not be '{kind}'")
        what = f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model."
        return Refusal(400, what, "response_format")
    if kind == "json_object":
        if any("json" in message["content"].lower() for message in body["messages"]):
            return None
        what = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        return Refusal(400, what, "messages")
    return _refused_schema(given.get("json_schema"))


def _refused_schema(form: Any) -> Refusal | None:
    if not isinstance(form, dict) or not isinstance(form.get("schema"), dict):
        return Refusal(400, "Missing required parameter: 'response_format.json_schema.schema'.", "response_format")
    name = form.get("name")
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        what = "Invalid 'response_format.json_schema.name': letters, digits, underscores and dashes, at most 64."
        return Refusal(400, what, "response_format.json_schema.name", "invalid_value")
    if not form.get("strict"):
        return None
    fault = strict_fault(form["schema"])
    if fault is None:
        return None
    what = f"Invalid schema for response_format '{name}': {fault}."
    return Refusal(400, what, "response_format", "invalid_json_schema")


def strict_fault(schema: Mapping[str, Any], place: str = "()", depth: int = 0) -> str | None:
    """Return what is wrong with a schema that is to be followed strictly, None if nothing is.

    Strict mode wants objects all of whose members are required and that take no others.
    """
    if depth > _DEEPEST:
        return f"In context={place}, the schema goes too deep"
    if depth == 0 and schema.get("type") != "object":
        return "schema must be of 'type: \"object\"'"
    inner: list[tuple[str, Any]] = [(name, each) for name, each in schema.get("$defs", {}).items()]
    if schema.get("type") == "object":
        members = schema.get("properties", {})
        if schema.get("additionalProperties") is not False:
            return f"In context={place}, 'additionalProperties' is required to be supplied and to be false"
        if missing := next((name for name in members if name not in schema.get("required", ())), None):
            return f"In context={place}, 'required' must hold every key in properties. Missing '{missing}'"
        inner += members.items()
    inner += [("anyOf", each) for each in schema.get("anyOf", ())]
    if "items" in schema:
        inner.append(("items", schema["items"]))
    faults = (strict_fault(each, f"{place}.{name}", depth + 1) for name, each in inner)
    return next((fault for fault in faults if fault), None)
