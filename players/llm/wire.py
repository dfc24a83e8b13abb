"""Requests and replies of the chat completions API, between our own words and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from players.llm.call import Message, Question
from players.llm.capability import Shape
from wolfbus.messages.calls import Scalar

_SETTINGS: Final = ("temperature", "top_p", "reasoning_effort")
_THOUGHTS: Final = ("reasoning_content", "reasoning")
_MOST_TOKENS: Final = 2**53 - 1


class NotAReply(ValueError):  # noqa: N818 - what it is
    """A body that holds no reply; the text says what it is."""


class ErrorInside(Exception):  # noqa: N818 - what it is
    """A body that came with a status of success and holds an error.

    Attributes:
        error: what it says.
    """

    def __init__(self, error: Any) -> None:
        super().__init__(error)
        self.error = error


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote.

    Attributes:
        text: its text; None if there is none.
        thought: reasoning beside it.
        refusal: its words, if it refused in the way that some servers mark.
        finish: why it stopped.
        prompt_tokens: as counted by the server; None if it did not; so with the others.
        cached_tokens: how many of those it had in its cache.
        completion_tokens: tokens of the reply.
        served: what the server says of the model: its name, and its fingerprint behind a blank.
    """

    text: str | None
    thought: str | None = None
    refusal: str | None = None
    finish: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    served: str | None = None

    @property
    def cut(self) -> bool:
        """Whether the bound on its length was reached before there was anything to use."""
        return self.finish == "length" and not self.refusal and not _holds_object(self.text or "")

    def mapped(self, change: Callable[[str], str]) -> Reply:
        """Return the reply with all its words changed."""

        def changed(words: str | None) -> str | None:
            return None if words is None else change(words)

        return replace(
            self,
            text=changed(self.text),
            thought=changed(self.thought),
            refusal=changed(self.refusal),
            finish=changed(self.finish),
            served=changed(self.served),
        )


def parameters_of(question: Question, shape: Shape, max_tokens: int) -> dict[str, Scalar]:
    """Return what is sent beside the messages, for the record."""
    model = question.model
    parameters: dict[str, Scalar] = {
        name: getattr(model, name)
        for name in _SETTINGS
        if getattr(model, name) is not None and name not in shape.dropped
    }
    if shape.tokens is not None:
        parameters[shape.tokens] = max_tokens
    parameters["structured"] = shape.mode
    if not shape.system:
        parameters["system"] = "in the user's message"
    return parameters | model.extra


def body_of(question: Question, shape: Shape, max_tokens: int) -> bytes:
    """Return the JSON of a request."""
    model = question.model
    body: dict[str, Any] = {"model": model.model, "messages": _messages(question.messages, system=shape.system)}
    for name in _SETTINGS:
        value = getattr(model, name)
        if value is not None and name not in shape.dropped:
            body[name] = value
    if shape.tokens is not None:
        body[shape.tokens] = max_tokens
    if shape.mode == "schema":
        form = question.form
        schema = {"name": form.name, "schema": dict(form.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif shape.mode == "object":
        body["response_format"] = {"type": "json_object"}
    body |= model.extra
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        # UTF-8 has no lone surrogates, an escape in JSON has
        return json.dumps(body, separators=(",", ":"), allow_nan=False).encode()


def _messages(messages: Sequence[Message], *, system: bool) -> list[dict[str, str]]:
    if system:
        return [{"role": message.role, "content": message.content} for message in messages]
    # chat templates without a system role also want turns to alternate
    merged: list[dict[str, str]] = []
    for message in messages:
        role = "user" if message.role == "system" else message.role
        if merged and merged[-1]["role"] == role:
            merged[-1]["content"] += f"\n\n{message.content}"
        else:
            merged.append({"role": role, "content": message.content})
    return merged


def estimated_tokens(question: Question, max_tokens: int) -> int:
    """Return how many tokens a request and its reply may take: four characters a token, and the reply's bound."""
    return sum(len(message.content) for message in question.messages) // 4 + max_tokens


def read_reply(content: bytes) -> Reply:
    """Read the body of a response.

    Raises:
        NotAReply: it is none.
        ErrorInside: it is an error, in spite of its status.
    """
    if not content.strip():
        raise NotAReply("the reply's body is empty")
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        kind = "a page of HTML" if content.lstrip()[:1] == b"<" else "no JSON"
        raise NotAReply(f"the reply's body is {kind}") from None
    if not isinstance(body, dict):
        raise NotAReply("the reply's body is no JSON object")
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict):
        if body.get("error"):
            raise ErrorInside(body["error"])
        raise NotAReply("the reply holds no choice")
    message = first.get("message")
    if not isinstance(message, dict):
        message = {"content": first.get("text")}
    text, thoughts = _content(message.get("content"))
    thoughts += [value for name in _THOUGHTS if isinstance(value := message.get(name), str)]
    refusal = message.get("refusal")
    finish = first.get("finish_reason")
    return Reply(
        text,
        thought="\n\n".join(dict.fromkeys(thought for thought in thoughts if thought.strip())) or None,
        refusal=refusal if isinstance(refusal, str) and refusal.strip() else None,
        finish=finish[:64] if isinstance(finish, str) else None,
        served=_served(body),
        **_usage(body.get("usage")),
    )


def _served(body: Mapping[str, Any]) -> str | None:
    words = [body.get(name) for name in ("model", "system_fingerprint")]
    return " ".join(word.strip() for word in words if isinstance(word, str) and word.strip()) or None


def _content(content: Any) -> tuple[str | None, list[str]]:
    """Return text and thoughts of a message, which may be cut into typed parts."""
    if isinstance(content, str):
        return content, []
    if not isinstance(content, list):
        return None, []
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            if isinstance(part.get("text"), str):
                texts.append(part["text"])
            elif "thinking" in part:
                inner, _ = _content(part["thinking"])
                thoughts += [inner] if inner else []
    return "".join(texts) if texts else None, thoughts


def _usage(usage: Any) -> dict[str, int | None]:
    if not isinstance(usage, dict):
        return {}
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return {
        "prompt_tokens": _count(usage.get("prompt_tokens")),
        "cached_tokens": _count(usage.get("prompt_cache_hit_tokens") if cached is None else cached),
        "completion_tokens": _count(usage.get("completion_tokens")),
    }


def _count(number: Any) -> int | None:
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    whole = isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= _MOST_TOKENS
    return number if whole else None


def message_of(body: Any) -> tuple[str, str]:
    """Return the message and the code of an error's body, which comes in many forms; everything of use is in there.

    FastAPI says ``detail``, OpenAI ``error.message`` and ``error.param``, LM Studio ``error`` as a string.
    """
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, str):
        return error, ""
    if not isinstance(error, Mapping):
        return ("" if error is None else json.dumps(error, default=str)), ""
    said = error.get("message") or error.get("detail") or error.get("msg") or error
    message = said if isinstance(said, str) else json.dumps(said, default=str)
    if (param := error.get("param")) and isinstance(param, str) and param not in message:
        message = f"{message} ({param})"
    codes = [str(error[name]) for name in ("code", "type") if error.get(name)]
    return message, next((code for code in codes if not code.isdigit()), "")


def _holds_object(text: str) -> bool:
    """Return whether a text holds a JSON object from its opening brace to its closing one."""
    start = text.find("{")
    if start < 0:
        return False
    depth, quoted, escaped = 0, False, False
    for character in text[start:]:
        if quoted:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                quoted = False
        elif character == '"':
            quoted = True
        elif character in "{}":
            depth += 1 if character == "{" else -1
            if depth == 0:
                return True
    return False
