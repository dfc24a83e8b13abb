"""A provider without a server: it answers in this process, by a function, or as the model double does."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from players.llm.keys import Keys
from players.llm.provider import Failed, Failure, ProviderReply, Request, Shape
from players.llm.settings import Endpoint
from wolfbus.testing.model_behaviour import Behaviour
from wolfbus.testing.model_reply import PrefixCache, speak

Answer: TypeAlias = Callable[[Request], Awaitable[ProviderReply | Failure]]
"""What comes of a request, in its own time."""

URL: Final = "mock://here"


class MockProvider:
    """Answers requests by itself.

    Args:
        answer: says what comes of a request; as the double does, at once, unless given.

    Attributes:
        url: stands for an address.
        requests: what it was asked, in order.
        times: when, by the loop's clock.
        open: requests under way.
        peak: how many were under way at once, at most.
    """

    def __init__(self, answer: Answer | None = None) -> None:
        self.url = URL
        self.requests: list[Request] = []
        self.times: list[float] = []
        self.open = self.peak = 0
        self._answer = answer or self._speak
        self._cache = PrefixCache()

    def shape(self, _model: str) -> Shape:
        """Return that it takes everything."""
        return Shape()

    async def ask(self, request: Request, seconds: float | None) -> ProviderReply:
        """Answer one request; see `Provider.ask`."""
        self.requests.append(request)
        self.times.append(asyncio.get_running_loop().time())
        self.open += 1
        self.peak = max(self.peak, self.open)
        try:
            async with asyncio.timeout(seconds):
                answer = await self._answer(request)
        except TimeoutError:
            line = f"{self.url}: no reply within {seconds:.3g} s"
            raise Failed(Failure("timeout", line, again=True, charged=True)) from None
        finally:
            self.open -= 1
        if isinstance(answer, Failure):
            raise Failed(answer)
        return answer

    async def close(self) -> None:
        """There is nothing to close."""

    async def _speak(self, request: Request) -> ProviderReply:
        """Return what the model double says: plausible, and a function of the prompt."""
        messages = [{"role": each.role, "content": each.content} for each in request.messages]
        schema = {"name": request.form.name, "schema": request.form.schema}
        body: dict[str, Any] = {
            "model": request.model.model,
            "messages": messages,
            "max_tokens": request.max_tokens,
            "response_format": {"type": "json_schema", "json_schema": schema},
        }
        said = speak(Behaviour(), self._cache, body, hashlib.sha256(repr(messages).encode()).hexdigest())
        return ProviderReply(
            said.text,
            finish=said.finish,
            prompt_tokens=said.prompt_tokens,
            cached_tokens=said.cached_tokens,
            completion_tokens=said.completion_tokens,
            served=request.model.model,
        )


def open_provider(_endpoint: Endpoint, _keys: Keys) -> MockProvider:
    """Return a provider that answers as the double does; see `players.llm.provider`."""
    return MockProvider()
