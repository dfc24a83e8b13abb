"""The chat completions API: requests and replies between our own words and JSON, and what rejections mean.

Servers say in words, not in codes, what they do not take. The words below are those of OpenAI, Azure, vLLM, SGLang,
llama.cpp, Ollama, LM Studio, Mistral, Groq, DeepSeek, Gemini and Anthropic behind LiteLLM.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, Final

from players.llm.provider import Lack, Message, ProviderReply, Request

_THOUGHTS: Final = ("reasoning_content", "reasoning")
_SEPARATOR: Final = "\n\n"
"""What stands between two messages that are sent as one."""

_MOST_TOKENS: Final = 2**53 - 1
_MOST_DOLLARS: Final = 1e9
_DETAILS: Final = (
    "prompt_tokens_details",
    "input_tokens_details",
    "completion_tokens_details",
    "output_tokens_details",
)
_CACHED: Final = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
_LONGEST: Final = 366 * 86_400.0
_DROPPABLE: Final[tuple[Lack, ...]] = ("top_p", "temperature", "reasoning_effort")
_TELLING_STATUSES: Final = frozenset({400, 404, 405, 415, 422, 500, 501})
"""Statuses whose message may be about something that the server does not take; chat templates fail with 500."""

_NOT_TAKEN: Final = re.compile(
    r"(?i)unsupported|not[ _-]+supported|n.t support|not support|not compatible|incompatible|unrecogni[sz]ed|unknown"
    r"|unexpected|not permitted|forbidden|not allowed|not accepted|only the default|cannot both|can.?t both|deprecated"
    r"|use '?max_|not available|unavailable|not enabled|extra inputs|invalid parameter|no such|input should be"
)
_SYSTEM: Final = re.compile(
    r"(?i)system[ _`'\"]*(?:role|message|prompt|instruction)|role[\w ,:=]*[`'\"]*system|developer instruction"
    r"|only user and assistant roles|roles must alternate|first message must be (?:from )?(?:the )?user"
)
_FORMAT: Final = re.compile(
    r"(?i)response[ _]?format|json_?schema|json_?object|json schema|json mode|json output|structured[ _-]?output|guided"
    r"|grammar|invalid format|the word '?json|\boutput_config\b|\bstrict\b"
)
_LENGTHS: Final = re.compile(r"(?i)\bmax_?length\b")
_KIND_OF_FORMAT: Final = re.compile(r"(?i)response_format|json_schema|json_object|json mode")
_TOO_SMALL: Final = re.compile(r"(?i)max_tokens or model output limit was reached|with higher max_tokens")
GENERATION: Final = frozenset({"json_validate_failed", "json_parse_failed", "tool_use_failed"})
"""Codes with which servers reject what their own model wrote: the next reply may be different."""


class NotAReply(ValueError):  # noqa: N818 - what it is
    """A body that came with a status of success and holds no reply; the text says what it is.

    Attributes:
        error: the error that it holds; None for none.
    """

    def __init__(self, reason: str, error: Any = None) -> None:
        super().__init__(reason)
        self.error = error


def body_of(request: Request) -> bytes:
    """Return the JSON of a request."""
    model, shape = request.model, request.shape
    messages = _messages(request.messages, system=shape.system)
    body: dict[str, Any] = {"model": model.model, "messages": messages}
    if model.endpoint.cache == "marks":
        _mark(messages, request.messages, system=shape.system)
    elif model.endpoint.cache == "key" and request.chain:
        body["prompt_cache_key"] = f"wolfbus-{request.chain[:32]}"
    body |= request.settings
    if shape.tokens is not None:
        body[shape.tokens] = request.max_tokens
    if shape.mode == "schema":
        schema = {"name": request.form.name, "schema": dict(request.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif shape.mode == "object":
        body["response_format"] = {"type": "json_object"}
    body |= model.extra
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        # UTF-8 has no lone surrogates, an escape in JSON has
        return json.dumps(body, separators=(",", ":"), allow_nan=False).encode()


def _mark(sent: Sequence[dict[str, Any]], messages: Sequence[Message], *, system: bool) -> None:
    """Mark the beginnings that later prompts will have in common with this one.

    Args:
        sent: messages as they are sent; changed in place.
        messages: those that they were made of.
        system: whether the system has a message of its own; if not, its text heads the first of the user's.
    """
    offset = 0
    if not system and len(messages) > 1 and messages[0].role == "system":
        offset = len(messages[0].content) + len(_SEPARATOR)
        messages = messages[1:]
    for body, message in zip(sent, messages, strict=False):
        if message.prefix_length:
            text, end = body["content"], offset + message.prefix_length
            parts: list[dict[str, Any]] = [{"type": "text", "text": text[:end], "cache_control": {"type": "ephemeral"}}]
            if end < len(text):
                parts.append({"type": "text", "text": text[end:]})
            body["content"] = parts
        offset = 0


def _messages(messages: Sequence[Message], *, system: bool) -> list[dict[str, Any]]:
    if system:
        return [{"role": message.role, "content": message.content} for message in messages]
    # chat templates without a system role also want turns to alternate
    merged: list[dict[str, Any]] = []
    for message in messages:
        role = "user" if message.role == "system" else message.role
        if merged and merged[-1]["role"] == role:
            merged[-1]["content"] += f"{_SEPARATOR}{message.content}"
        else:
            merged.append({"role": role, "content": message.content})
    return merged


def read_reply(content: bytes) -> ProviderReply:
    """Read the body of a response.

    Raises:
        NotAReply: it is none.
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
        raise NotAReply("the reply holds no choice", body.get("error") or None)
    message = first.get("message")
    if not isinstance(message, dict):
        message = {"content": first.get("text")}
    text, thoughts = _content(message.get("content"))
    thoughts += [value for name in _THOUGHTS if isinstance(value := message.get(name), str)]
    refusal = message.get("refusal")
    finish = first.get("finish_reason")
    return ProviderReply(
        text,
        thought="\n\n".join(dict.fromkeys(thought for thought in thoughts if thought.strip())) or None,
        refusal=refusal if isinstance(refusal, str) and refusal.strip() else None,
        finish=finish[:64] if isinstance(finish, str) else None,
        served=_served(body),
        **usage_of(body),
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


def usage_of(body: Any) -> dict[str, Any]:
    """Return what a body says of tokens and costs, under the names of `ProviderReply`; nothing where it says nothing.

    Some servers count reasoning in the total alone, some have cached tokens beside those of the prompt.
    """
    usage = body.get("usage") if isinstance(body, Mapping) else None
    if not isinstance(usage, Mapping):
        return {}
    parts = [usage, *(part for name in _DETAILS if isinstance(part := usage.get(name), Mapping))]

    def first(*names: str) -> int | None:
        counts = (_count(part.get(name)) for part in parts for name in names)
        return next((count for count in counts if count is not None), None)

    prompt, completion = first("prompt_tokens", "input_tokens"), first("completion_tokens", "output_tokens")
    total, cached = first("total_tokens"), first(*_CACHED)
    if prompt is not None and cached is not None:
        written = first("cache_creation_input_tokens") or 0
        is_beside = cached > prompt or ("cache_read_input_tokens" in usage and "prompt_tokens" not in usage)
        if is_beside and (total is None or total >= prompt + cached + written + (completion or 0)):
            prompt += cached + written
        cached = min(cached, prompt)
    if total is not None:
        if prompt is None and completion is not None:
            prompt = max(0, total - completion)
        elif prompt is not None and total > prompt:
            completion = max(completion or 0, total - prompt)
    reasoning = first("reasoning_tokens")
    if completion is not None and reasoning is not None and reasoning > completion:
        completion += reasoning
    counts = {"prompt_tokens": prompt, "cached_tokens": cached, "completion_tokens": completion}
    counted = {**counts, "billed_usd": _dollars(usage.get("cost"))}
    return {name: value for name, value in counted.items() if value is not None}


def _count(number: Any) -> int | None:
    if isinstance(number, str) and number.isascii() and number.isdecimal():
        number = int(number[:20])
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    whole = isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= _MOST_TOKENS
    return number if whole else None


def _dollars(cost: Any) -> float | None:
    number = _number(str(cost)) if isinstance(cost, int | float | str) and not isinstance(cost, bool) else None
    return number if number is not None and number <= _MOST_DOLLARS else None


def message_of(body: Any) -> tuple[str, list[str]]:
    """Return the message and the codes of an error's body, which comes in many forms; everything of use is in there.

    FastAPI says ``detail``, OpenAI ``error.message`` and ``error.param``, LM Studio ``error`` as a string.
    """
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, str):
        return error, []
    if not isinstance(error, Mapping):
        return ("" if error is None else json.dumps(error, default=str)), []
    text = error.get("message") or error.get("detail") or error.get("msg") or error
    message = text if isinstance(text, str) else json.dumps(text, default=str)
    if (param := error.get("param")) and isinstance(param, str) and param not in message:
        message = f"{message} ({param})"
    return message, [str(error[name]) for name in ("code", "type") if error.get(name)]


def lack_of(request: Request, status: int, message: str) -> Lack | None:
    """Return what of a request its server does not take, as far as a rejection tells.

    Args:
        request: what was rejected.
        status: of HTTP.
        message: the server's words.
    """
    if status not in _TELLING_STATUSES:
        return None
    shape, not_taken = request.shape, _NOT_TAKEN.search(message)
    if (
        not_taken
        and shape.tokens is not None
        and re.search(rf"\b{shape.tokens}\b", message)
        and not _TOO_SMALL.search(message)
    ):
        return "tokens"
    for name in _DROPPABLE:
        if not_taken and name in request.settings and re.search(rf"\b{name}\b", message):
            return name
    if shape.system and _SYSTEM.search(message):
        return "system"
    lengths = _LENGTHS.search(message)
    # a worker that broke down over a grammar may manage the next one
    lasting = status < 500 or not_taken or "invalid" in message.casefold()
    if shape.mode == "text" or not lasting or not (lengths or _FORMAT.search(message)):
        return None
    if shape.mode == "schema" and shape.lengths and (lengths or not _KIND_OF_FORMAT.search(message)):
        # what is wrong with a schema is not always said; it may be these bounds, and the schema is worth more
        return "lengths"
    return "mode" if request.model.structured == "auto" else None


def cut_before_text(status: int, message: str) -> bool:
    """Return whether a server rejected a request because the reply's bound was reached before any text."""
    return status == 400 and _TOO_SMALL.search(message) is not None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to be left alone: ``retry-after-ms``, or Retry-After, seconds or a date.

    None where it does not say, or says what is no time. A date in the past is 0.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return min(milliseconds / 1000, _LONGEST)
    header = headers.get("retry-after")
    if header is None:
        return None
    seconds = _number(header)
    if seconds is None:
        try:
            moment = parsedate_to_datetime(header)
        except (ValueError, OverflowError):
            return None
        seconds = max(0.0, moment.timestamp() - time.time())
    return min(seconds, _LONGEST)


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return number if number >= 0 and math.isfinite(number) else None
