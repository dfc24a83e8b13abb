"""What the double does with a request: refuse it in OpenAI's words, break it off, or answer it; and what it counts."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any, Final

from aiohttp import web

from wolfbus.draws import unit
from wolfbus.errors import ConfigError
from wolfbus.testing.model_behaviour import ERRORS, Behaviour, drawn_sort
from wolfbus.testing.model_reply import ModelReply, PrefixCache, speak

LOOPBACK: Final = "127.0.0.1"

PATIENCE_S: Final = 10.0
"""Seconds in which a double comes up, or to its end."""

_TYPES: Final = {429: "requests", 500: "server_error", 503: "server_error"}
_SYSTEM: Final = frozenset({"system", "developer"})
_ROLES: Final = _SYSTEM | {"user", "assistant"}
_PIECES: Final = 10
_PAGE: Final = (
    b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n"
    b"<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
)
_FAILURES: Final = {
    "429": "Rate limit reached for {model} on requests per min (RPM). Please try again in {wait:g}s.",
    "500": "The server had an error while processing your request. Sorry about that!",
    "503": "The engine is currently overloaded, please try again later.",
    "408": "Request timed out.",
}


@dataclass(slots=True)
class ModelStats:
    """What a double counted since its start or its last reset.

    Attributes:
        calls: chat completions asked for, refused ones and errors included.
        open: how many are under way now.
        peak: how many were under way at once, at most.
        errors: calls by the error they met, hangs included.
        ugly: replies by the sort of their ugliness.
        prompt_characters: characters of all prompts answered.
        prompt_tokens: as reported with the answers; so with the others.
        cached_tokens: prompt tokens that were found in the prefix cache.
        completion_tokens: tokens of replies, reasoning included.
        cpu_s: processor seconds of the whole process that runs the double.
    """

    calls: int = 0
    open: int = 0
    peak: int = 0
    errors: dict[str, int] = field(default_factory=Counter)
    ugly: dict[str, int] = field(default_factory=Counter)
    prompt_characters: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cpu_s: float = 0.0


class ModelService:
    """Answers requests; lives on one event loop.

    Its answers are a pure function of its seed and a request's messages, so the same game is answered alike.

    Args:
        behaviour: how it behaves.
        host: address to listen on.
        port: port to listen on; 0 takes a free one.
    """

    def __init__(self, behaviour: Behaviour, host: str, port: int) -> None:
        self._behaviour = behaviour
        self._host = host
        self._port = port
        self._end = asyncio.Event()
        self._lock = threading.Lock()
        self._stats = ModelStats()
        self._paths: dict[str, tuple[str, Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]]] = {
            "/v1/chat/completions": ("POST", self._completions),
            "/stats": ("GET", self._send_stats),
            "/reset": ("POST", self._reset),
        }
        self._clear()

    @property
    def url(self) -> str:
        """The URL at which clients find it."""
        host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(self._host, self._host)  # noqa: S104 - to show it
        return f"http://{f'[{host}]' if ':' in host else host}:{self._port}/v1"

    async def run(self, ready: Callable[[str], None]) -> None:
        """Listen, say at which URL, and answer until it is stopped.

        Raises:
            ConfigError: the address cannot be listened on.
        """
        # a client that goes away must count as gone at once: its handler is cancelled
        http = web.Server(self._handle, handler_cancellation=True, access_log=None)
        address = self._host, self._port
        try:
            listening = await asyncio.get_running_loop().create_server(http, *address, backlog=2048, reuse_address=True)
        except OSError as failure:
            why = failure.strerror or failure
            raise ConfigError(f"fake model: cannot listen on {self._host}:{self._port}: {why}") from None
        self._port = listening.sockets[0].getsockname()[1]
        try:
            ready(self.url)
            await self._end.wait()
        finally:
            listening.close()
            for connection in http.connections:
                if connection.transport is not None:
                    connection.transport.abort()
            # the handlers of broken connections are cancelled in the loop's next turn
            await asyncio.sleep(0)
            await http.shutdown(PATIENCE_S / 2)

    def stop(self) -> None:
        """End it, from its loop."""
        self._end.set()

    def stats(self) -> ModelStats:
        """Return what was counted so far; safe from any thread."""
        with self._lock:
            by: dict[str, Any] = {name: dict(getattr(self._stats, name)) for name in ("errors", "ugly")}
            return replace(self._stats, **by, cpu_s=time.process_time() - self._began_cpu)

    def _clear(self) -> None:
        """Count anew, with an empty cache; calls under way stay counted as open."""
        with self._lock:
            self._stats = ModelStats(open=self._stats.open, peak=self._stats.open)
            self._began_cpu = time.process_time()
        self._cache = PrefixCache()
        self._repeats: Counter[str] = Counter()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        method, answer = self._paths.get(request.path, (None, None))
        if answer is None:
            return _refuse(Refusal(404, "Not Found"))
        return await answer(request) if request.method == method else _refuse(Refusal(405, "Method Not Allowed"))

    async def _send_stats(self, _request: web.BaseRequest) -> web.StreamResponse:
        return _response(200, _encoded(asdict(self.stats())))

    async def _reset(self, _request: web.BaseRequest) -> web.StreamResponse:
        self._clear()
        return _response(200, _encoded({}))

    async def _completions(self, request: web.BaseRequest) -> web.StreamResponse:
        with self._counted():
            began = asyncio.get_running_loop().time()
            raw = await request.content.read()
            try:
                body = json.loads(raw)
            except ValueError:
                body = None
            if refusal := _refused_key(self._behaviour, request.headers.get("Authorization", "")) or _refused(
                self._behaviour, body
            ):
                return _refuse(refusal)
            return await self._answer(request, body, hashlib.sha256(raw).hexdigest(), began)

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a call while it is under way."""
        with self._lock:
            self._stats.calls += 1
            self._stats.open += 1
            self._stats.peak = max(self._stats.peak, self._stats.open)
        try:
            yield
        finally:
            with self._lock:
                self._stats.open -= 1

    async def _answer(
        self, request: web.BaseRequest, body: dict[str, Any], digest: str, began: float
    ) -> web.StreamResponse:
        behaviour = self._behaviour
        error = self._error(digest)
        if error == "hang":
            await asyncio.Event().wait()
        if error not in {"429", "503"}:
            jitter = behaviour.jitter and behaviour.jitter * unit(f"{behaviour.seed}|{digest}", "jitter")
            await asyncio.sleep(max(began + behaviour.latency + jitter - asyncio.get_running_loop().time(), 0))
        if error == "reset":
            await _break(request)
        if error is not None and error.isdigit():
            return self._fail(error, body["model"])
        try:
            reply = speak(behaviour, self._cache, body, digest)
        except UnicodeEncodeError:
            return _refuse(Refusal(400, "The body of your request holds text that is no valid Unicode."))
        self._count(reply)
        whole = _encoded(_completion(body["model"], digest, reply))
        return _response(200, whole) if error is None else await self._send_slowly(request, whole, error)

    def _error(self, digest: str) -> str | None:
        """Return the error that this request meets, as drawn for the body and for how often it came; count it."""
        behaviour = self._behaviour
        if not behaviour.errors and not behaviour.hangs:
            return None
        self._repeats[digest] += 1
        seed, times = f"{behaviour.seed}|{digest}", self._repeats[digest]
        hangs = unit(seed, "hang", n=times) < behaviour.hangs
        error = "hang" if hangs else drawn_sort(behaviour.errors, ERRORS, unit(seed, "error", n=times))
        if error is not None:
            with self._lock:
                self._stats.errors[error] += 1
        return error

    def _fail(self, error: str, model: str) -> web.Response:
        if error == "502":
            return web.Response(status=502, body=_PAGE, content_type="text/html")
        wait = self._behaviour.retry_after
        code = "rate_limit_exceeded" if error == "429" else None
        response = _refuse(Refusal(int(error), _FAILURES[error].format(model=model, wait=wait), code=code))
        if error == "429":
            response.headers["Retry-After"] = f"{wait:g}"
        return response

    async def _send_slowly(self, request: web.BaseRequest, whole: bytes, error: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(whole))})
        await response.prepare(request)
        if error == "half":
            await response.write(whole[: len(whole) // 2])
            await _break(request)
        size = -(-len(whole) // _PIECES)
        for begin in range(0, len(whole), size):
            await asyncio.sleep(self._behaviour.trickle / _PIECES)
            await response.write(whole[begin : begin + size])
        await response.write_eof()
        return response

    def _count(self, reply: ModelReply) -> None:
        with self._lock:
            if reply.ugly is not None:
                self._stats.ugly[reply.ugly] += 1
            for name in ("prompt_characters", "prompt_tokens", "cached_tokens", "completion_tokens"):
                setattr(self._stats, name, getattr(self._stats, name) + getattr(reply, name))


def _refuse(refusal: Refusal) -> web.Response:
    return _response(refusal.status, _encoded(refusal.body()))


def _response(status: int, body: bytes) -> web.Response:
    return web.Response(status=status, body=body, content_type="application/json")


def _encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode(errors="replace")


async def _break(request: web.BaseRequest) -> None:
    """Break the connection; does not return, for that cancels the handler."""
    if request.transport is not None:
        request.transport.abort()
    await asyncio.Event().wait()


def _completion(model: str, digest: str, reply: ModelReply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}],
        "usage": reply.usage(),
    }


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


def _refused_key(behaviour: Behaviour, authorization: str) -> Refusal | None:
    """Refuse a request without the right key; the wrong one is echoed in part, as some servers do."""
    if behaviour.key is None or authorization == f"Bearer {behaviour.key}":
        return None
    key = authorization.removeprefix("Bearer").strip()
    if not key:
        return Refusal(401, "You didn't provide an API key; send it as a bearer token in the Authorization header.")
    masked = f"{key[:8]}{'*' * max(4, len(key) - 12)}{key[-4:]}" if len(key) > 12 else "*" * len(key)
    return Refusal(401, f"Incorrect API key provided: {masked}.", code="invalid_api_key")


def _refused(behaviour: Behaviour, body: Any) -> Refusal | None:
    """Refuse what the double does not take, None if it takes all of it."""
    return next(chain(_malformed(behaviour, body), _unsupported(behaviour, body), _bad_format(behaviour, body)), None)


def _malformed(behaviour: Behaviour, body: Any) -> Iterator[Refusal]:
    if not isinstance(body, dict):
        yield Refusal(400, "We could not parse the JSON body of your request.")
    model, messages = body.get("model"), body.get("messages")
    if not isinstance(model, str) or not model:
        yield Refusal(400, "you must provide a model parameter")
    if behaviour.models and model not in behaviour.models:
        missing = f"The model `{model}` does not exist or you do not have access to it."
        yield Refusal(404, missing, code="model_not_found")
    if not isinstance(messages, list) or not messages or not all(map(_is_message, messages)):
        yield Refusal(400, "Invalid value for 'messages': expected a list of chat messages.", "messages")


def _is_message(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("content"), str) and message.get("role") in _ROLES


def _unsupported(behaviour: Behaviour, body: Mapping[str, Any]) -> Iterator[Refusal]:
    if body.get("stream"):
        yield Refusal(400, "Unsupported value: this model does not stream.", "stream", "unsupported_value")
    for number, message in enumerate(() if behaviour.takes_system else body["messages"]):
        if message["role"] in _SYSTEM:
            param = f"messages[{number}].role"
            text = f"Unsupported value: '{param}' does not support '{message['role']}' with this model."
            yield Refusal(400, text, param, "unsupported_value")
    if behaviour.needs == "max_tokens" and body.get("max_completion_tokens") is not None:
        yield Refusal(400, "Unrecognized request argument supplied: max_completion_tokens")
    wrong = () if behaviour.takes_temperature else ("temperature", "top_p")
    for name in (*wrong, "max_tokens") if behaviour.needs == "max_completion_tokens" else wrong:
        if body.get(name) is not None:
            use = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
            text = f"Unsupported parameter: '{name}' is not supported with this model.{use}"
            yield Refusal(400, text, name, "unsupported_parameter")


def _bad_format(behaviour: Behaviour, body: Mapping[str, Any]) -> Iterator[Refusal]:
    response_format = body.get("response_format")
    kind = response_format.get("type") if isinstance(response_format, dict) else "text"
    takes = {"json_schema": behaviour.takes_schema, "json_object": behaviour.takes_json_mode, "text": True}
    if kind not in takes:
        yield Refusal(400, f"Invalid value: '{kind}' for 'response_format.type'.", "response_format")
    elif not takes[kind]:
        text = f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model."
        yield Refusal(400, text, "response_format")
    if isinstance(response_format, dict) and kind == "json_schema":
        form = response_format.get("json_schema")
        if not (isinstance(form, dict) and isinstance(form.get("schema"), dict) and isinstance(form.get("name"), str)):
            yield Refusal(400, "Missing required parameter: 'response_format.json_schema.schema'.", "response_format")
    if kind == "json_object" and not any("json" in message["content"].lower() for message in body["messages"]):
        text = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        yield Refusal(400, text, "messages")
