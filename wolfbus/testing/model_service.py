"""What the double does with a request: refuse it in OpenAI's words, break it off, or answer it; and what it counts."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from aiohttp import web

from wolfbus.draws import unit
from wolfbus.errors import ConfigError
from wolfbus.testing.model_behaviour import ERRORS, Behaviour, Refusal, drawn_sort, refused, refused_key
from wolfbus.testing.model_reply import ModelReply, PrefixCache, speak

MODEL: Final = "fake-model"
"""The model that is listed where none is named."""

PATIENCE_S: Final = 10.0
"""Seconds in which a double comes up, or to its end."""

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
        host: address to listen on.
        port: port to listen on; 0 takes a free one.

    Attributes:
        port: port it listens on, once it has.
        changed: held while it counts; told of every call that comes or goes.
    """

    def __init__(self, behaviour: Behaviour, host: str, port: int) -> None:
        self.behaviour = behaviour
        self.port = port
        self.changed = threading.Condition()
        self._end = asyncio.Event()
        self._host = host
        self._stats = ModelStats()
        self._http: web.Server
        self._listening: asyncio.Server | None = None
        self._paths: dict[str, tuple[str, Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]]] = {
            "/v1/chat/completions": ("POST", self._completions),
            "/v1/models": ("GET", self._models),
            "/stats": ("GET", self._told_stats),
            "/reset": ("POST", self._reset),
        }
        self._forget()

    @property
    def url(self) -> str:
        """The URL at which clients find it."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)  # noqa: S104 - to show it
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/v1"

    async def run(self, ready: Callable[[str], None]) -> None:
        """Listen, say at which URL, and answer until it is stopped.

        Raises:
            ConfigError: the address cannot be listened on.
        """
        self._end = asyncio.Event()
        # a client that goes away must count as gone at once: its handler is cancelled
        self._http = web.Server(self._handle, handler_cancellation=True, access_log=None)
        try:
            await self.listen()
        except OSError as failure:
            why = failure.strerror or failure
            raise ConfigError(f"fake model: cannot listen on {self._host}:{self.port}: {why}") from None
        try:
            ready(self.url)
            await self._end.wait()
        finally:
            await self.hang_up()
            await self._http.shutdown(PATIENCE_S / 2)

    def stop(self) -> None:
        """End it, from its loop."""
        self._end.set()

    async def listen(self) -> None:
        """Listen (again), on the same port."""
        if self._listening is None:
            loop = asyncio.get_running_loop()
            address = self._host, self.port
            self._listening = await loop.create_server(self._http, *address, backlog=2048, reuse_address=True)
            self.port = self._listening.sockets[0].getsockname()[1]

    async def hang_up(self) -> None:
        """Break all connections and listen no more."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        for connection in self._http.connections:
            if connection.transport is not None:
                connection.transport.abort()
        # what was broken is told to its handlers in the loop's next turn
        await asyncio.sleep(0)

    def stats(self) -> ModelStats:
        """Return what was counted so far; safe from any thread."""
        with self.changed:
            by: dict[str, Any] = {name: dict(getattr(self._stats, name)) for name in ("errors", "ugly", "statuses")}
            return replace(self._stats, **by, cpu_s=time.process_time() - self._began_cpu)

    def _forget(self) -> None:
        """Count anew, with an empty cache; calls under way stay counted as open."""
        with self.changed:
            self._stats = ModelStats(open=self._stats.open, peak=self._stats.open)
            self._began_cpu = time.process_time()
        self._cache = PrefixCache()
        self._came: Counter[str] = Counter()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        method, answer = self._paths.get(request.path, (None, None))
        if answer is None:
            return self._refuse(Refusal(404, "Not Found"))
        return await answer(request) if request.method == method else self._refuse(Refusal(405, "Method Not Allowed"))

    async def _models(self, request: web.BaseRequest) -> web.StreamResponse:
        if refusal := refused_key(self.behaviour, request.headers.get("Authorization", "")):
            return self._refuse(refusal)
        names = self.behaviour.models or (MODEL,)
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "wolfbus"} for name in names]
        return self._json(200, {"object": "list", "data": listed})

    async def _told_stats(self, _request: web.BaseRequest) -> web.StreamResponse:
        return self._json(200, asdict(self.stats()))

    async def _reset(self, _request: web.BaseRequest) -> web.StreamResponse:
        self._forget()
        return self._json(200, {})

    async def _completions(self, request: web.BaseRequest) -> web.StreamResponse:
        with self._counted():
            began = asyncio.get_running_loop().time()
            raw = await request.content.read()
            try:
                body = json.loads(raw)
            except ValueError:
                body = None
            if refusal := refused_key(self.behaviour, request.headers.get("Authorization", "")) or refused(
                self.behaviour, body
            ):
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
            return self._refuse(Refusal(400, "The body of your request holds text that is no valid Unicode."))
        self._count(reply)
        whole = _encoded(_completion(body["model"], digest, reply))
        return self._bytes(200, whole) if error is None else await self._slowly(request, whole, error)

    def _error(self, digest: str) -> str | None:
        """Return the error that this request meets, as drawn for the body and for how often it came; count it."""
        behaviour = self.behaviour
        if not behaviour.errors and not behaviour.hangs:
            return None
        self._came[digest] += 1
        seed, times = f"{behaviour.seed}|{digest}", self._came[digest]
        hangs = unit(seed, "hang", n=times) < behaviour.hangs
        error = "hang" if hangs else drawn_sort(behaviour.errors, ERRORS, unit(seed, "error", n=times))
        if error is not None:
            with self.changed:
                self._stats.errors[error] += 1
        return error

    def _fail(self, error: str, model: str) -> web.Response:
        if error == "502":
            return self._bytes(502, _PAGE, "text/html")
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

    def _count(self, reply: ModelReply) -> None:
        with self.changed:
            if reply.ugly is not None:
                self._stats.ugly[reply.ugly] += 1
            for name in ("prompt_characters", "prompt_tokens", "cached_tokens", "completion_tokens"):
                setattr(self._stats, name, getattr(self._stats, name) + getattr(reply, name))

    def _refuse(self, refusal: Refusal) -> web.Response:
        return self._json(refusal.status, refusal.body())

    def _json(self, status: int, value: Any) -> web.Response:
        return self._bytes(status, _encoded(value))

    def _bytes(self, status: int, body: bytes, kind: str = "application/json") -> web.Response:
        with self.changed:
            self._stats.statuses[str(status)] += 1
        return web.Response(status=status, body=body, content_type=kind)


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
