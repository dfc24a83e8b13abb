"""The chat completions API: requests and replies between our own words and JSON, and what rejections mean.

Servers say in words, not in codes, what they do not take. The words below are those of OpenAI, Azure, vLLM, SGLang,
llama.cpp, Ollama, LM Studio, Mistral, Groq, DeepSeek, Gemini and Anthropic behind LiteLLM.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from players.llm.provider import Lack, Message, ProviderReply, Request, Speed

_THOUGHTS: Final = ("reasoning_content", "reasoning")
_THINKING_PARTS: Final = frozenset({"reasoning", "thinking", "thought"})
"""Types of the parts of a message that are thoughts, whatever member holds them."""
_SEPARATOR: Final = "\n\n"
"""What stands between two messages that are sent as one."""

HTML: Final = "a page of HTML"
_TEXT_KEPT: Final = 4096
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
_MOST_REPLY: Final = re.compile(r"(?i)at most (\d{1,9}) (?:completion|output) tokens")
_CONTEXT_IS: Final = re.compile(
    r"(?i)(?:(?:maximum )?context (?:length|size|window|limit)|maximum[\w ]{0,30}|n_ctx)\D{0,20}(\d{2,9})"
)
_PROMPT_TAKES: Final = re.compile(
    r"(?i)(\d{1,9}) (?:input |prompt )?(?:tokens )?(?:in|of|from) (?:the|your) (?:messages|prompt|input)"
    r"|(?:messages resulted in|(?:prompt|request|input) (?:has|contains)(?: at least)?) (\d{1,9})"
)
_SPARE_TOKENS: Final = 8
_TRY_AGAIN: Final = re.compile(
    r"(?i)(?:try again|retry|wait|reset\w*)(?: your request)?(?: after| in| for)\W{0,2}"
    r"((?:\d+(?:\.\d+)? ?(?:ms|milliseconds?|h(?:ours?)?|m(?:in(?:utes?)?)?|s(?:ec(?:onds?)?)?|d(?:ays?)?)\b ?)+"
    r"|(?:\d+(?:\.\d+)?(?:ms|[hmsd]))+)"
)
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?) ?([a-zA-Z]+)")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_SINCE_1970: Final = 1e9
"""Seconds beyond which a number is a point in time."""
_DELAYS: Final = frozenset({"retryDelay", "retry_after", "retry_after_seconds"})
_CODES: Final = frozenset({"code", "type", "status", "reason", "quotaId", "error_code"})
_LONGEST_CODE: Final = 100
_DEEPEST: Final = 6


class NotAReply(ValueError):  # noqa: N818 - what it is
    """A body that came with a status of success and holds no reply; the text says what it is.

    Attributes:
        error: the error that it holds; None for none.
        chosen: whether that stands in the choice's place, where the model's work may be charged all the same.
    """

    def __init__(self, reason: str, error: Any = None, *, chosen: bool = False) -> None:
        super().__init__(reason)
        self.error = error
        self.chosen = chosen


def body_of(request: Request) -> bytes:
    """Return the JSON of a request."""
    model, shape = request.model, request.shape
    messages = _messages(request.messages, system=shape.system)
    body: dict[str, Any] = {"model": model.model, "messages": messages}
    if model.endpoint.cache == "marks":
        _mark(messages, request.messages, system=shape.system)
    elif model.endpoint.cache == "key" and request.chain:
        body["prompt_cache_key"] = f"wolfbus-{request.chain[:32]}"
    # some servers stream unless this is said
    body |= {"stream": False, **request.settings}
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


def body_in(content: bytes) -> Any:
    """Return what the bytes of a response hold: JSON; the body that a stream makes; else their beginning as a text."""
    # invalid bytes stand in one text, and the rest of it may be an answer
    written = content.decode(json.detect_encoding(content), "replace")
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        streamed = _streamed(written)
    if streamed is not None:
        return streamed
    text = written[:_TEXT_KEPT].strip()
    return HTML if text.startswith("<") else text


def read_reply(body: Any) -> ProviderReply:
    """Read the body of a response, as `body_in` returns it.

    Raises:
        NotAReply: it is none.
    """
    if not isinstance(body, dict):
        kind = "empty" if body == "" else HTML if body == HTML else "no JSON object"
        raise NotAReply(f"the reply's body is {kind}")
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict):
        raise NotAReply("the reply holds no choice", body.get("error") or None)
    message = first.get("message")
    if not isinstance(message, dict):
        message = {"content": first.get("text")}
    if failed := first.get("error"):
        raise NotAReply("the choice holds an error", failed, chosen=True)
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
        calls_tool=bool(message.get("tool_calls") or message.get("function_call")),
        speed=_speed(body),
        **usage_of(body),
    )


def _speed(body: Mapping[str, Any]) -> Speed | None:
    """Return how fast the server says that it was, as llama.cpp's does."""
    timings = body.get("timings")
    if not isinstance(timings, Mapping):
        return None
    rates = [timings.get("prompt_per_second"), timings.get("predicted_per_second")]
    numbers = [float(rate) for rate in rates if isinstance(rate, int | float) and 0 < rate < _MOST_TOKENS]
    return Speed(*numbers) if len(numbers) == len(rates) else None


def _streamed(text: str) -> Any:
    """Return the body that the events of a stream make together, which some servers send whatever they are asked.

    None if there is none. Comments (``: …``), as gateways send them while they wait, may also go before a body.
    """
    # what else Python takes for the end of a line, such as U+2028, may stand in words of JSON
    lines = [line for line in re.split(r"\r\n?|\n", text) if not line.startswith((":", "event:", "id:", "retry:"))]
    try:
        return json.loads("\n".join(lines))
    except (ValueError, RecursionError):
        chunks = [chunk for line in lines if isinstance(chunk := _event_data(line), dict)]
    if not chunks:
        return None
    body: dict[str, Any] = {}
    first: dict[str, Any] = {}
    message: dict[str, Any] = {}
    for chunk in chunks:
        body |= {name: value for name, value in chunk.items() if value is not None}
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        first |= {name: value for name, value in choice.items() if value is not None}
        delta = choice.get("delta") or choice.get("message") or {"content": choice.get("text")}
        for name, value in delta.items() if isinstance(delta, dict) else ():
            earlier = message.get(name)
            message[name] = (
                earlier + value if earlier and type(earlier) is type(value) is not dict else value or earlier
            )
    # an error may break off a reply that has begun
    return body | {"choices": [{"error": body.get("error"), **first, "message": message}]} if first else body


def _event_data(line: str) -> Any:
    try:
        return json.loads(line.removeprefix("data:"))
    except (ValueError, RecursionError):
        return None


def _served(body: Mapping[str, Any]) -> str | None:
    words = [body.get(name) for name in ("model", "system_fingerprint")]
    return " ".join(word.strip() for word in words if isinstance(word, str) and word.strip()) or None


def _content(content: Any) -> tuple[str | None, list[str]]:
    """Return text and thoughts of a message, which may be cut into typed parts, or be the answer as an object."""
    if isinstance(content, str):
        return content, []
    if isinstance(content, dict) and content:
        return _content([content]) if "text" in content and "type" in content else (json.dumps(content), [])
    if not isinstance(content, list):
        return None, []
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            if isinstance(part.get("text"), str):
                thinks = part.get("type") in _THINKING_PARTS or part.get("thought") is True
                (thoughts if thinks else texts).append(part["text"])
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
    try:
        number = float(cost) if isinstance(cost, int | float | str) and not isinstance(cost, bool) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= _MOST_DOLLARS else None


def message_of(body: Any) -> tuple[str, list[str]]:
    """Return the message and the codes of an error's body, which comes in many forms; everything of use is in there.

    FastAPI says ``detail``, OpenAI ``error.message`` and ``error.param``, LM Studio ``error`` as a string, Gemini a
    list.
    """
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, str):
        return error, []
    if not isinstance(error, Mapping):
        return ("" if error is None else json.dumps(error, default=str)), []
    text = error.get("message") or error.get("detail") or error.get("msg") or error
    message = text if isinstance(text, str) else json.dumps(text, default=str)
    if (param := error.get("param")) and isinstance(param, str) and param not in message:
        message = f"{message} ({param})"
    return message, [word[:_LONGEST_CODE] for _, word in _members(error, _CODES)]


def _members(value: Any, names: Collection[str], depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the members of those names, at any of the outer levels of an error: codes stand in details as well."""
    if isinstance(value, list) and depth < _DEEPEST:
        for item in value[:_DEEPEST]:
            yield from _members(item, names, depth + 1)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            if name in names and isinstance(item, str | int) and item:
                yield name, str(item)
            elif depth < _DEEPEST:
                yield from _members(item, names, depth + 1)


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
    if not_taken and shape.tokens is not None and re.search(rf"\b{shape.tokens}\b", message):
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


def room_in(message: str) -> int | None:
    """Return how many tokens a context leaves for the reply, as far as the words of a server say; at least 0.

    None if they do not say both how much there is and how much the prompt takes, or what a reply may have at most.
    """
    most, prompt = _MOST_REPLY.search(message), _PROMPT_TAKES.search(message)
    if most is not None:
        return int(most[1])
    context = _CONTEXT_IS.search(message)
    if context is None or prompt is None:
        return None
    return max(0, int(context[1]) - int(prompt[1] or prompt[2]) - _SPARE_TOKENS)


def retry_after(headers: Mapping[str, str], body: Any = None, message: str = "") -> float | None:
    """Return the seconds that a server asks to be left alone, from where it says so most plainly.

    That is ``retry-after-ms``, Retry-After (seconds or a date), words ("try again in 7.66s"), Google's RetryInfo in the
    body, or the reset of a limit of which nothing remains: seconds, "1m30s", a date, seconds or milliseconds since
    1970. None where it does not say, or says what is no time. A time in the past is 0.
    """
    match = _TRY_AGAIN.search(message)
    delays = [delay for _, delay in _members(body, _DELAYS)]
    candidates = (
        _seconds(headers.get("retry-after-ms"), unit="ms"),
        _seconds(headers.get("retry-after")),
        _seconds(match[1]) if match is not None else None,
        *map(_seconds, delays),
        max(_resets(headers), default=None),
    )
    return next((min(seconds, _LONGEST) for seconds in candidates if seconds is not None), None)


def _resets(headers: Mapping[str, str]) -> Iterator[float]:
    """Yield when limits are renewed of which nothing remains, or of which it is not said what remains."""
    for name, value in headers.items():
        if "ratelimit" in name.lower().replace("-", "") and "reset" in name.lower():
            remains = headers.get(name.lower().replace("reset", "remaining"), "0").strip()
            seconds = _seconds(value)
            if seconds is not None and remains in {"0", "0.0"}:
                yield seconds


def _seconds(text: str | None, unit: str = "s") -> float | None:
    """Return a time from now in seconds, in whatever form it is written."""
    if text is None:
        return None
    text = text.strip()
    try:
        number = float(text) * _UNITS[unit]
    except ValueError:
        parts = _DURATION.findall(text.lower())
        if (
            parts
            and "".join(map("".join, parts)) == text.lower().replace(" ", "")
            and all(_unit(name) in _UNITS for _, name in parts)
        ):
            return sum(float(count) * _UNITS[_unit(name)] for count, name in parts)
        return _until(text)
    if not (number >= 0 and math.isfinite(number)):
        return None
    if number > _SINCE_1970:
        # milliseconds have three digits more
        return max(0.0, (number / 1000 if number > 1000 * _SINCE_1970 else number) - time.time())
    return number


def _unit(name: str) -> str:
    return "ms" if name.startswith(("ms", "milli")) else name[0]


def _until(date: str) -> float | None:
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            at = read(date)
            # one without a zone is UTC, as all dates of HTTP are
            return max(0.0, (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - time.time())
        except (ValueError, OverflowError):
            continue
    return None
