"""A model double: a real HTTP server that speaks OpenAI's protocol, plays plausibly, and misbehaves on request: it
refuses a request in OpenAI's words, breaks it off, or answers it, and counts what it did.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Self

from aiohttp import web
from pydantic_core import from_json

from wolfbus.actors.closable import Closable
from wolfbus.bus.url import host_in_url
from wolfbus.errors import ConfigError
from wolfbus.game.draws import unit
from wolfbus.testing.model_reply import ERRORS, Behaviour, ModelReply, drawn_sort, speak

LOOPBACK: Final = "127.0.0.1"

PATIENCE_S: Final = 10.0
"""Seconds in which a double comes up, or to its end."""

RETRY_AFTER_S: Final = 0.2
"""Seconds that a 429 asks to wait."""


@dataclass(slots=True)
class ModelStats:
    """What a double counted since its start.

    Attributes:
        calls: chat completions asked for, refused ones and errors included.
        open: how many are under way now.
        peak: how many were under way at once, at most.
        abandoned: whose client went away before the reply.
        errors: calls by the error they met.
        ugly: replies by the sort of their ugliness.
        prompt_tokens: tokens of all prompts answered.
        completion_tokens: tokens of replies.
    """

    calls: int = 0
    open: int = 0
    peak: int = 0
    abandoned: int = 0
    errors: dict[str, int] = field(default_factory=Counter)
    ugly: dict[str, int] = field(default_factory=Counter)
    prompt_tokens: int = 0
    completion_tokens: int = 0


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
        self._repeats: Counter[str] = Counter()

    @property
    def url(self) -> str:
        """The URL at which clients find it."""
        host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(self._host, self._host)  # noqa: S104 - to show it
        return f"http://{host_in_url(host)}:{self._port}/v1"

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
        except (OSError, UnicodeError) as failure:
            # of a name that is none a part is empty or too long
            why = failure.strerror or failure if isinstance(failure, OSError) else "that is no name of a machine"
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
            return replace(self._stats, **by)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if (request.method, request.path) == ("GET", "/stats"):
            return _response(200, asdict(self.stats()))
        if (request.method, request.path) != ("POST", "/v1/chat/completions"):
            return _refuse(404, "Not Found")
        with self._lock:
            self._stats.calls += 1
            self._stats.open += 1
            self._stats.peak = max(self._stats.peak, self._stats.open)
        try:
            return await self._complete(request)
        except asyncio.CancelledError:
            with self._lock:
                self._stats.abandoned += 1
            raise
        finally:
            with self._lock:
                self._stats.open -= 1

    async def _complete(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request for a chat completion."""
        due = asyncio.get_running_loop().time() + self._behaviour.latency
        raw = await request.content.read()
        try:
            # it refuses lone surrogates and what is nested too deeply
            body = from_json(raw)
        except ValueError:
            body = None
        refusal = self._refused_key(request.headers.get("Authorization", "")) or self._refused(body)
        if refusal is not None:
            return refusal
        digest = hashlib.sha256(raw).hexdigest()
        error = self._error(digest)
        if error == "hang":
            await asyncio.Event().wait()
        if error != "429":
            await asyncio.sleep(max(due - asyncio.get_running_loop().time(), 0))
        if error is not None:
            return await _fail(request, error)
        reply = speak(self._behaviour, body, digest)
        self._count(reply)
        return _response(200, _completion(body["model"], digest, reply))

    def _error(self, digest: str) -> str | None:
        """Return the error that this request meets, as drawn for the body and for how often it came; count it."""
        if not self._behaviour.errors:
            return None
        self._repeats[digest] += 1
        point = unit(f"{self._behaviour.seed}|{digest}", "error", n=self._repeats[digest])
        error = drawn_sort(self._behaviour.errors, [sort for sort in ERRORS if sort != "hang"], point)
        if error is not None:
            with self._lock:
                self._stats.errors[error] += 1
        return error

    def _count(self, reply: ModelReply) -> None:
        with self._lock:
            if reply.ugly is not None:
                self._stats.ugly[reply.ugly] += 1
            self._stats.prompt_tokens += reply.prompt_tokens
            self._stats.completion_tokens += reply.completion_tokens

    def _refused_key(self, authorization: str) -> web.Response | None:
        """Refuse a request without the right key; the wrong one is echoed in part, as some servers do."""
        if self._behaviour.key is None or authorization == f"Bearer {self._behaviour.key}":
            return None
        key = authorization.removeprefix("Bearer").strip()
        masked = f"{key[:8]}{'*' * max(4, len(key) - 12)}{key[-4:]}" if len(key) > 12 else "*" * len(key)
        return _refuse(401, f"Incorrect API key provided: {masked}.", code="invalid_api_key")

    def _refused(self, body: Any) -> web.Response | None:
        """Refuse what makes no sense, and what the double does not take; None if it takes all of it."""
        if not isinstance(body, dict) or not isinstance(body.get("model"), str):
            return _refuse(400, "We could not parse the JSON body of your request.")
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages or not all(map(_is_message, messages)):
            return _refuse(400, "Invalid value for 'messages': expected a list of chat messages.", "messages")
        response_format = body.get("response_format") or {"type": "text"}
        if not isinstance(response_format, dict):
            return _refuse(400, "Invalid type for 'response_format': expected an object.", "response_format")
        kind = response_format.get("type")
        if kind != "text" and not (self._behaviour.takes_schema and kind in {"json_schema", "json_object"}):
            text = f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model."
            return _refuse(400, text, "response_format")
        schema = response_format.get("json_schema")
        if kind == "json_schema" and not (isinstance(schema, dict) and isinstance(schema.get("schema"), dict)):
            return _refuse(400, "Missing required parameter: 'response_format.json_schema.schema'.", "response_format")
        return None


def _is_message(message: Any) -> bool:
    return isinstance(message, dict) and all(isinstance(message.get(member), str) for member in ("role", "content"))


async def _fail(request: web.BaseRequest, error: str) -> web.StreamResponse:
    if error == "reset":
        if request.transport is not None:
            request.transport.abort()
        # that cancels this handler
        await asyncio.Event().wait()
    if error == "500":
        return _refuse(500, "The server had an error while processing your request. Sorry about that!")
    response = _refuse(429, f"Rate limit reached. Please try again in {RETRY_AFTER_S:g}s.", code="rate_limit_exceeded")
    response.headers["Retry-After"] = f"{RETRY_AFTER_S:g}"
    return response


def _refuse(status: int, message: str, param: str | None = None, code: str | None = None) -> web.Response:
    kind = "server_error" if status == 500 else "requests" if status == 429 else "invalid_request_error"
    return _response(status, {"error": {"message": message, "type": kind, "param": param, "code": code}})


def _response(status: int, value: Mapping[str, Any]) -> web.Response:
    body = json.dumps(value, ensure_ascii=False).encode(errors="replace")
    return web.Response(status=status, body=body, content_type="application/json")


def _completion(model: str, digest: str, reply: ModelReply) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}],
        "usage": {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        },
    }


class ModelServer(ModelService, Closable):
    """A double in a thread of its own; a context manager.

    Args:
        traits: how it behaves, by the fields of `Behaviour`.
    """

    def __init__(self, **traits: Any) -> None:
        super().__init__(Behaviour(**traits), LOOPBACK, 0)
        self._loop = asyncio.new_event_loop()
        self._started: Future[str] = Future()
        self._thread = threading.Thread(target=self._main, name="model-double", daemon=True)

    def __enter__(self) -> Self:
        """Start it; returns when it listens."""
        self._thread.start()
        self._started.result()
        return self

    def close(self) -> None:
        """Break all connections and end."""
        with contextlib.suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self.stop)
        self._thread.join()

    def _main(self) -> None:
        try:
            self._loop.run_until_complete(self.run(self._started.set_result))
        except ConfigError as error:
            self._started.set_exception(error)
        finally:
            self._loop.close()


def serve(behaviour: Behaviour, host: str, port: int, ready: Callable[[str], None]) -> ModelStats:
    """Run a double in this thread, the main one, until SIGINT or SIGTERM comes.

    Args:
        behaviour: how it behaves.
        host: address to listen on.
        port: port to listen on; 0 takes a free one.
        ready: called with the base URL when it listens.

    Returns:
        What it counted.

    Raises:
        ConfigError: the address cannot be listened on.
    """
    service = ModelService(behaviour, host, port)

    async def main() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            # where a loop takes no signals, as on Windows, Ctrl-C comes as an exception instead
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(number, service.stop)
        await service.run(ready)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
    return service.stats()
