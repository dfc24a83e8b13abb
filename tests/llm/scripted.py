"""A provider that answers in this process by a function, and keeps what it was asked."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from players.llm.provider import Failed, Failure, ProviderReply, Request, Shape

Answer: TypeAlias = Callable[[Request], Awaitable[ProviderReply | Failure]]
"""What comes of a request, in its own time."""

URL = "scripted://here"


class ScriptedProvider:
    """Answers requests by a function.

    Attributes:
        requests: what it was asked, in order.
        times: when, by the loop's clock.
        open: requests under way.
        peak: how many were under way at once, at most.
    """

    url = URL

    def __init__(self, answer: Answer) -> None:
        self.requests: list[Request] = []
        self.times: list[float] = []
        self.open = self.peak = 0
        self.answer = answer

    def shape(self, _model: str) -> Shape:
        return Shape()

    async def ask(self, request: Request, seconds: float | None) -> ProviderReply:
        self.requests.append(request)
        self.times.append(asyncio.get_running_loop().time())
        self.open += 1
        self.peak = max(self.peak, self.open)
        try:
            async with asyncio.timeout(seconds):
                answer = await self.answer(request)
        except TimeoutError:
            line = f"{self.url}: no reply within {seconds:.3g} s"
            raise Failed(Failure("timeout", line, again=True, charged=True)) from None
        finally:
            self.open -= 1
        if isinstance(answer, Failure):
            raise Failed(answer)
        return answer

    async def close(self) -> None: ...
