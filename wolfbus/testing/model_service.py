"""What the double does with a request: refuse it in OpenAI's words, break it off, or answer it; and what it counts."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from aiohttp import web

from wolfbus.draws import unit
from wolfbus.testing.model_behaviour import ERRORS, Behaviour, drawn_sort
from wolfbus.testing.model_reply import CountedReply, PrefixCache, speak

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


MODEL: Final = "fake-model"
"""The model that is listed where none is named."""

PATIENCE_S: Final = 10.0
"""Seconds in which a double comes up, or to its end."""

_PIECES: Final = 10
_PAGE: Final = (
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n"
    "<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
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
        statuses: responses of all paths by HTTP status, "200" and so on; a connection broken before has none.
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
    statuses: dict[str, int] = field(default_factory=Counter)
    prompt_characters: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cpu_s: float = 0.0


class ModelService:
    """Answers requests; lives on one event loop.

    Args:
        behaviour: how it behaves; may be replaced while it runs.

    Attributes:
        changed: held while it counts; told of every call that comes or goes.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.changed = threading.Condition()
        self._stats = ModelStats()
        self._http: web.Server | None = None
        self._listening: asyncio.Server | None = None
        self._address = ("", 0)
        self._paths: dict[str, tuple[str, Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]]] = {
            "/v1/chat/completions": ("POST", self._completions),
            "/v1/models": ("GET", self._models),
            "/stats": ("GET", self._told_stats),
            "/reset": ("POST", self._reset),
        }
        self.forget()

    async def open(self, host: str, port: int) -> int:
        """Listen, and return the port: a free one for 0.

        Raises:
            OSError: the address cannot be listened on.
        """
        # a client that goes away must count as gone at once: its handler is cancelled
        self._http = web.Server(self._handle, handler_cancellation=True, access_log=None)
        self._address = (host, port)
        await self.up()
        return self._address[1]

    async def up(self) -> None:
        """Listen (again), on the same port."""
        if self._listening is None and self._http is not None:
            loop = asyncio.get_running_loop()
            self._listening = await loop.create_server(self._http, *self._address, backlog=2048, reuse_address=True)
            self._address = (self._address[0], self._listening.sockets[0].getsockname()[1])

    async def down(self) -> None:
        """Break all connections and listen no more."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        for connection in self._http.connections if self._http is not None else ():
            if connection.transport is not None:
                connection.transport.abort()
        # what was broken is told to its handlers in the loop's next turn
        await asyncio.sleep(0)

    async def close(self) -> None:
        """End."""
        await self.down()
        if self._http is not None:
            await self._http.shutdown(PATIENCE_S / 2)

    def forget(self) -> None:
        """Count anew, with an empty cache; calls under way stay counted as open."""
        with self.changed:
            self._stats = ModelStats(open=self._stats.open, peak=self._stats.open)
            self._began_cpu = time.process_time()
        self._cache = PrefixCache()
        self._came: Counter[str] = Counter()

    def stats(self) -> ModelStats:
        """Return what was counted so far; safe from any thread."""
        with self.changed:
            by: dict[str, Any] = {name: dict(getattr(self._stats, name)) for name in ("errors", "ugly", "statuses")}
            return replace(self._stats, **by, cpu_s=time.process_time() - self._began_cpu)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        method, answer = self._paths.get(request.path, (None, None))
        if answer is None:
            return self._refuse(Refusal(404, "Not Found"))
        return await answer(request) if request.method == method else self._refuse(Refusal(405, "Method Not Allowed"))

    async def _models(self, request: web.BaseRequest) -> web.StreamResponse:
        if refusal := refused_key(self.behaviour, request.headers.get("Authorization")):
            return self._refuse(refusal)
        names = self.behaviour.models or (MODEL,)
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "wolfbus"} for name in names]
        return self._json(200, {"object": "list", "data": listed})

    async def _told_stats(self, _request: web.BaseRequest) -> web.StreamResponse:
        return self._json(200, asdict(self.stats()))

    async def _reset(self, _request: web.BaseRequest) -> web.StreamResponse:
        self.forget()
        return self._json(200, {})

    async def _completions(self, request: web.BaseRequest) -> web.StreamResponse:
        with self._counted():
            began = asyncio.get_running_loop().time()
            raw = await request.content.read()
            if refusal := refused_key(self.behaviour, request.headers.get("Authorization")):
                return self._refuse(refusal)
            try:
                body = json.loads(raw)
            except ValueError:
                body = None
            if not isinstance(body, dict):
                return self._refuse(Refusal(400, "We could not parse the JSON body of your request."))
            if refusal := refused(self.behaviour, body):
                return self._refuse(refusal)
            return await self._answer(request, body, hashlib.sha256(raw).hexdigest(), began)

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a call while it is under way."""
        with self.changed:
            self._stats.calls += 1
            self._stats.open += 1
            self._stats.peak = max(self._stats.peak, self._stats.open)
            self.changed.notify_all()
        try:
            yield
        finally:
            with self.changed:
                self._stats.open -= 1
                self.changed.notify_all()

    async def _answer(
        self, request: web.BaseRequest, body: dict[str, Any], digest: str, began: float
    ) -> web.StreamResponse:
        behaviour = self.behaviour
        error = self._error(digest)
        if error is not None:
            with self.changed:
                self._stats.errors[error] += 1
        if error == "hang":
            await asyncio.Event().wait()
        if error not in {"429", "503"}:
            jitter = behaviour.jitter and behaviour.jitter * unit(f"{behaviour.seed}|{digest}", "jitter")
            await asyncio.sleep(max(began + behaviour.latency + jitter - asyncio.get_running_loop().time(), 0))
        if error == "reset":
            await _break(request)
        if error in {"429", "500", "503", "408", "502"}:
            return self._fail(error, body["model"])
        try:
            spoken = speak(behaviour, self._cache, body, digest)
        except UnicodeEncodeError:
            return self._refuse(Refusal(400, "The body of your request holds text that is no valid Unicode."))
        self._count(spoken)
        whole = json.dumps(_completion(body["model"], digest, spoken), ensure_ascii=False).encode(errors="replace")
        return self._bytes(200, whole) if error is None else await self._slowly(request, whole, error)

    def _error(self, digest: str) -> str | None:
        """Return the error that this request meets, as drawn for the body and for how often it came."""
        behaviour = self.behaviour
        if not behaviour.errors and not behaviour.hangs:
            return None
        self._came[digest] += 1
        seed, times = f"{behaviour.seed}|{digest}", self._came[digest]
        if unit(seed, "hang", n=times) < behaviour.hangs:
            return "hang"
        return drawn_sort(behaviour.errors, ERRORS, unit(seed, "error", n=times))

    def _fail(self, error: str, model: str) -> web.Response:
        if error == "502":
            return self._bytes(502, _PAGE.encode(), "text/html")
        wait = self.behaviour.retry_after
        code = "rate_limit_exceeded" if error == "429" else None
        response = self._refuse(Refusal(int(error), _FAILURES[error].format(model=model, wait=wait), code=code))
        if error == "429":
            response.headers["Retry-After"] = f"{wait:g}"
        return response

    async def _slowly(self, request: web.BaseRequest, whole: bytes, error: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(whole))})
        with self.changed:
            self._stats.statuses["200"] += 1
        await response.prepare(request)
        if error == "half":
            await response.write(whole[: len(whole) // 2])
            await _break(request)
        size = -(-len(whole) // _PIECES)
        for begin in range(0, len(whole), size):
            await asyncio.sleep(self.behaviour.trickle / _PIECES)
            await response.write(whole[begin : begin + size])
        await response.write_eof()
        return response

    def _count(self, spoken: CountedReply) -> None:
        with self.changed:
            if spoken.reply.ugly is not None:
                self._stats.ugly[spoken.reply.ugly] += 1
            for name in ("prompt_characters", "prompt_tokens", "cached_tokens", "completion_tokens"):
                setattr(self._stats, name, getattr(self._stats, name) + getattr(spoken, name))

    def _refuse(self, refusal: Refusal) -> web.Response:
        return self._json(refusal.status, refusal.body())

    def _json(self, status: int, value: Any) -> web.Response:
        return self._bytes(status, json.dumps(value, ensure_ascii=False).encode(errors="replace"))

    def _bytes(self, status: int, body: bytes, kind: str = "application/json") -> web.Response:
        with self.changed:
            self._stats.statuses[str(status)] += 1
        return web.Response(status=status, body=body, content_type=kind)


async def _break(request: web.BaseRequest) -> None:
    """Break the connection; does not return, for that cancels the handler."""
    if request.transport is not None:
        request.transport.abort()
    await asyncio.Event().wait()


def _completion(model: str, digest: str, spoken: CountedReply) -> dict[str, Any]:
    reply = spoken.reply
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}],
        "usage": spoken.usage(),
    }
