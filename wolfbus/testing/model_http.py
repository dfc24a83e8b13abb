"""The double's HTTP: an OpenAI-compatible server, and what can go wrong on the way. Only this module needs aiohttp."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, Final

from aiohttp import web

from wolfbus.draws import unit
from wolfbus.testing.model_behaviour import ERRORS, Behaviour, drawn_sort
from wolfbus.testing.model_cache import PrefixCache
from wolfbus.testing.model_ledger import Ledger
from wolfbus.testing.model_limits import Refusal, refused, refused_key
from wolfbus.testing.model_reply import Spoken, speak

MODEL: Final = "fake-model"
"""The model that is listed where none is named."""

_AT_ONCE: Final = frozenset({"429", "503"})
_PIECES: Final = 10
_CHUNK: Final = 24
_REMEMBERED: Final = 1_000_000
_CLOSING_S: Final = 5.0

_PAGE: Final = (
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n"
    "<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
)


class ModelService:
    """Answers requests; lives on one event loop.

    Args:
        behaviour: how it behaves; may be replaced while it runs.
        ledger: where it counts.
    """

    def __init__(self, behaviour: Behaviour, ledger: Ledger) -> None:
        self.behaviour = behaviour
        self._ledger = ledger
        self._cache = PrefixCache()
        self._came: Counter[str] = Counter()
        self._http: web.Server | None = None
        self._listening: asyncio.Server | None = None
        self._address = ("", 0)
        self._paths: dict[tuple[str, str], Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]] = {
            ("POST", "/v1/chat/completions"): self._completions,
            ("GET", "/v1/models"): self._models,
            ("GET", "/stats"): self._stats,
            ("POST", "/reset"): self._reset,
        }

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
            await self._http.shutdown(_CLOSING_S)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        answer = self._paths.get((request.method, request.path))
        if answer is not None:
            return await answer(request)
        known = request.path in {path for _, path in self._paths}
        return self._refuse(Refusal(405, "Method Not Allowed") if known else Refusal(404, "Not Found"))

    async def _models(self, request: web.BaseRequest) -> web.StreamResponse:
        refusal = refused_key(self.behaviour, request.headers.get("Authorization"))
        if refusal is not None:
            return self._refuse(refusal)
        names = self.behaviour.models or (MODEL,)
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "wolfbus"} for name in names]
        return self._json(200, {"object": "list", "data": listed})

    async def _stats(self, _request: web.BaseRequest) -> web.StreamResponse:
        return self._json(200, asdict(self._ledger.stats()))

    async def _reset(self, _request: web.BaseRequest) -> web.StreamResponse:
        self.forget()
        return self._json(200, {})

    def forget(self) -> None:
        """Count anew, with an empty cache."""
        self._ledger.reset()
        self._cache.clear()
        self._came.clear()

    async def _completions(self, request: web.BaseRequest) -> web.StreamResponse:
        with self._ledger.call():
            began = asyncio.get_running_loop().time()
            raw = await request.content.read()
            refusal = refused_key(self.behaviour, request.headers.get("Authorization"))
            if refusal is not None:
                return self._refuse(refusal)
            try:
                body = json.loads(raw)
            except ValueError:
                body = None
            if not isinstance(body, dict):
                return self._refuse(Refusal(400, "We could not parse the JSON body of your request."))
            self._ledger.keep(request.headers, body)
            refusal = refused(self.behaviour, body)
            if refusal is not None:
                return self._refuse(refusal)
            self._ledger.count("models", body["model"])
            return await self._answer(request, body, hashlib.sha256(raw).hexdigest(), began)

    async def _answer(
        self, request: web.BaseRequest, body: dict[str, Any], digest: str, began: float
    ) -> web.StreamResponse:
        behaviour = self.behaviour
        error = self._error(digest)
        if error is not None:
            self._ledger.count("errors", error)
        if error == "hang":
            await asyncio.Event().wait()
        if error not in _AT_ONCE:
            await self._wait(digest, began)
        if error == "reset":
            await _break(request)
        if error in {"429", "500", "503", "408", "502"}:
            return self._fail(error, body["model"])
        try:
            spoken = speak(behaviour, self._cache, body, digest)
        except UnicodeEncodeError:
            return self._refuse(Refusal(400, "The body of your request holds text that is no valid Unicode."))
        except ValueError as fault:
            return self._refuse(Refusal(400, f"Invalid schema for response_format: {fault}.", "response_format"))
        self._count(spoken)
        if body.get("stream"):
            self._ledger.add(streamed=1)
            return await self._stream(request, body, spoken, error)
        whole = json.dumps(_completion(body["model"], spoken), ensure_ascii=False).encode(errors="replace")
        if error is None:
            return self._bytes(200, whole)
        return await self._slowly(request, whole, error)

    def _error(self, digest: str) -> str | None:
        """Return the error that this request meets, as drawn for the body and for how often it came."""
        behaviour = self.behaviour
        if not behaviour.errors and not behaviour.hangs:
            return None
        if len(self._came) > _REMEMBERED:
            self._came.clear()
        self._came[digest] += 1
        seed, times = f"{behaviour.seed}|{digest}", self._came[digest]
        if unit(seed, "hang", n=times) < behaviour.hangs:
            return "hang"
        return drawn_sort(behaviour.errors, ERRORS, unit(seed, "error", n=times))

    async def _wait(self, digest: str, began: float) -> None:
        behaviour = self.behaviour
        due = began + behaviour.latency
        if behaviour.jitter:
            due += behaviour.jitter * unit(f"{behaviour.seed}|{digest}", "jitter")
        left = due - asyncio.get_running_loop().time()
        if left > 0:
            await asyncio.sleep(left)

    def _fail(self, error: str, model: str) -> web.Response:
        if error == "502":
            self._ledger.count("statuses", "502")
            return web.Response(status=502, text=_PAGE, content_type="text/html")
        if error == "429":
            wait = self.behaviour.retry_after
            what = f"Rate limit reached for {model} on requests per min (RPM). Please try again in {wait:g}s."
            response = self._refuse(Refusal(429, what, code="rate_limit_exceeded"))
            response.headers["Retry-After"] = f"{wait:g}"
            return response
        what = {
            "500": "The server had an error while processing your request. Sorry about that!",
            "503": "The engine is currently overloaded, please try again later.",
            "408": "Request timed out.",
        }[error]
        return self._refuse(Refusal(int(error), what))

    async def _stream(
        self, request: web.BaseRequest, body: dict[str, Any], spoken: Spoken, error: str | None
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        self._ledger.count("statuses", "200")
        await response.prepare(request)
        events = _events(body, spoken)
        for number, event in enumerate(events):
            if error == "half" and number >= len(events) // 2:
                await _break(request)
            if error == "trickle":
                await asyncio.sleep(self.behaviour.trickle / len(events))
            await response.write(event)
        await response.write_eof()
        return response

    async def _slowly(self, request: web.BaseRequest, whole: bytes, error: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(whole))})
        self._ledger.count("statuses", "200")
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

    def _count(self, spoken: Spoken) -> None:
        ledger = self._ledger
        ledger.count("kinds", spoken.kind)
        if spoken.reply.ugly is not None:
            ledger.count("ugly", spoken.reply.ugly)
        ledger.add(
            prompt_characters=spoken.prompt_characters,
            completion_characters=len(spoken.reply.text or ""),
            prompt_tokens=spoken.prompt_tokens,
            cached_tokens=spoken.cached_tokens,
            completion_tokens=spoken.completion_tokens,
        )

    def _refuse(self, refusal: Refusal) -> web.Response:
        return self._json(refusal.status, refusal.body(self.behaviour.worded))

    def _json(self, status: int, value: Any) -> web.Response:
        return self._bytes(status, json.dumps(value, ensure_ascii=False).encode(errors="replace"))

    def _bytes(self, status: int, body: bytes) -> web.Response:
        self._ledger.count("statuses", str(status))
        return web.Response(status=status, body=body, content_type="application/json")


async def _break(request: web.BaseRequest) -> None:
    """Break the connection; does not return, for that cancels the handler."""
    if request.transport is not None:
        request.transport.abort()
    await asyncio.Event().wait()


def _completion(model: str, spoken: Spoken) -> dict[str, Any]:
    reply = spoken.reply
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    return {
        "id": f"chatcmpl-{spoken.id}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}],
        "usage": spoken.usage(),
    }


def _events(body: dict[str, Any], spoken: Spoken) -> list[bytes]:
    """Return the completion as server-sent events."""
    reply = spoken.reply
    size = max(_CHUNK, len(reply.text or "") // 200)
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if reply.reasoning is not None:
        deltas.append({"reasoning_content": reply.reasoning})
    if reply.refusal is not None:
        deltas.append({"refusal": reply.refusal})
    text = reply.text or ""
    deltas += [{"content": text[begin : begin + size]} for begin in range(0, len(text), size)]
    frame: dict[str, Any] = {
        "id": f"chatcmpl-{spoken.id}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": body["model"],
    }
    chunks = [{**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish}]})
    options = body.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        chunks.append({**frame, "choices": [], "usage": spoken.usage()})
    data = [json.dumps(chunk, ensure_ascii=False).encode(errors="replace") for chunk in chunks]
    return [b"data: " + each + b"\n\n" for each in [*data, b"[DONE]"]]
