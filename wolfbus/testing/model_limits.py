"""What the double refuses, in OpenAI's words: wrong keys, unknown models, parameters it does not take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from wolfbus.testing.model_behaviour import Behaviour

_TYPES: Final = {429: "requests", 500: "server_error", 503: "server_error"}
_ROLES: Final = frozenset({"system", "developer", "user", "assistant"})


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

    def body(self) -> dict[str, Any]:
        """Return the body that goes with it."""
        kind = _TYPES.get(self.status, "invalid_request_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


def refused_key(behaviour: Behaviour, authorization: str | None) -> Refusal | None:
    """Refuse a request without the right key; the wrong one is echoed in part, as some servers do."""
    if behaviour.key is None or authorization == f"Bearer {behaviour.key}":
        return None
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
    if not isinstance(messages, list) or not messages or not all(map(_is_message, messages)):
        return Refusal(400, "Invalid value for 'messages': expected a list of chat messages.", "messages")
    if body.get("stream"):
        return Refusal(400, "Unsupported value: this model does not stream.", "stream", "unsupported_value")
    return _refused_role(behaviour, messages) or _refused_parameter(behaviour, body) or _refused_format(behaviour, body)


def _is_message(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("content"), str) and message.get("role") in _ROLES


def _refused_role(behaviour: Behaviour, messages: Sequence[Mapping[str, Any]]) -> Refusal | None:
    for number, message in enumerate(() if behaviour.takes_system else messages):
        if message["role"] in {"system", "developer"}:
            where = f"messages[{number}].role"
            what = f"Unsupported value: '{where}' does not support '{message['role']}' with this model."
            return Refusal(400, what, where, "unsupported_value")
    return None


def _refused_parameter(behaviour: Behaviour, body: Mapping[str, Any]) -> Refusal | None:
    if behaviour.needs == "max_tokens" and body.get("max_completion_tokens") is not None:
        return Refusal(400, "Unrecognized request argument supplied: max_completion_tokens")
    wrong = () if behaviour.takes_temperature else ("temperature", "top_p")
    for name in (*wrong, "max_tokens") if behaviour.needs == "max_completion_tokens" else wrong:
        if body.get(name) is not None:
            use = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
            what = f"Unsupported parameter: '{name}' is not supported with this model.{use}"
            return Refusal(400, what, name, "unsupported_parameter")
    return None


def _refused_format(behaviour: Behaviour, body: Mapping[str, Any]) -> Refusal | None:
    given = body.get("response_format")
    kind = given.get("type") if isinstance(given, dict) else None
    if not isinstance(given, dict) or kind == "text":
        return None
    takes = {"json_schema": behaviour.takes_schema, "json_object": behaviour.takes_json_mode}
    if kind not in takes:
        return Refusal(400, f"Invalid value: '{kind}' for 'response_format.type'.", "response_format")
    if not takes[kind]:
        what = f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model."
        return Refusal(400, what, "response_format")
    if kind == "json_schema":
        form = given.get("json_schema")
        if isinstance(form, dict) and isinstance(form.get("schema"), dict) and isinstance(form.get("name"), str):
            return None
        return Refusal(400, "Missing required parameter: 'response_format.json_schema.schema'.", "response_format")
    if any("json" in message["content"].lower() for message in body["messages"]):
        return None
    what = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
    return Refusal(400, what, "messages")
