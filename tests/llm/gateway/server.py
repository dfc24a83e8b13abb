"""A real HTTP server that answers chat completions by a script, one step per request."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web
from multidict import CIMultiDictProxy


def reply(text: Any = '{"bid": 1}', *, finish: str = "stop", usage: Any = None, **message: Any) -> bytes:
    """The body of a chat completion."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
        ],
    }
    if usage is not None:
        body["usage"] = usage
    return json.dumps(body).encode()


def usage(prompt: int = 100, completion: int = 20, cached: int | None = None) -> dict[str, Any]:
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion, **details}


def error(message: str, **members: Any) -> bytes:
    """The body of an error in OpenAI's form."""
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", **members}}).encode()


@dataclass(frozen=True)
class Step:
    """What happens to one request."""

    body: bytes = field(default_factory=reply)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: bool = False
    reset: bool = False
    raw: bytes = b""


OK = Step()
HANG = Step(hang=True)
RESET = Step(reset=True)


def refuse(status: int, message: str = "no", headers: Mapping[str, str] | None = None, **members: Any) -> Step:
    return Step(error(message, **members), status, headers or {})


class ScriptedServer:
    """Plays its script, then `default`; keeps what it was asked. As a proxy it answers in the place of who is asked.
    With a `key`, it takes no other.

    Args:
        tls: its certificate and key; None for plain HTTP.
    """

    def __init__(self, tls: tuple[Path, Path] | None = None) -> None:
        self._tls = tls
        self.script: list[Step] = []
        self.default = OK
        self.key: str | None = None
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[CIMultiDictProxy[str]] = []
        self.paths: list[str] = []
        self.queries: list[str] = []
        self.times: list[float] = []
        self.cancelled = 0
        self._end = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        listens: Future[str] = Future()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(listens),), daemon=True)
        self._thread.start()
        self.url = listens.result(60)

    def plan(self, *steps: Step, default: Step = OK) -> None:
        self.script, self.default = list(steps), default

    def questions(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.bodies]

    def close(self) -> None:
        """Stop listening and break all connections."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join(60)
            self._loop.close()

    async def _serve(self, listens: Future[str]) -> None:
        server = web.Server(self._handle, handler_cancellation=True, access_log=None)
        context = None
        if self._tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self._tls)
        listening = await self._loop.create_server(server, "127.0.0.1", 0, backlog=1024, ssl=context)
        scheme = "http" if context is None else "https"
        listens.set_result(f"{scheme}://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1")
        await self._end.wait()
        listening.close()
        await server.shutdown(0.01)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        body = json.loads(await request.read() or b"null")
        step = self.script.pop(0) if self.script else self.default
        if self.key is not None and request.headers.get("Authorization") != f"Bearer {self.key}":
            step = refuse(401)
        self.bodies.append(body)
        self.headers.append(request.headers)
        self.paths.append(request.path)
        self.queries.append(request.query_string)
        self.times.append(self._loop.time())
        try:
            if step.hang:
                await asyncio.Event().wait()
        finally:
            self.cancelled += step.hang
        if request.transport is not None and (step.raw or step.reset):
            request.transport.write(step.raw)
            request.transport.abort() if step.reset else request.transport.close()
        return web.Response(body=step.body, status=step.status, headers=step.headers, content_type="application/json")


def roles(body: Mapping[str, Any]) -> Sequence[str]:
    return [message["role"] for message in body["messages"]]
