"""A gateway over a provider in this process, on a loop whose time passes only where it would wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeAlias

from players.llm.gateway import Gateway, Tempo
from players.llm.provider import Completion, Failure, Form, Message, ModelQuestion, ProviderReply, Purpose, Request
from players.llm.providers.mock import URL, MockProvider
from players.llm.settings import Endpoint, Model

FORM = Form("bid", {"type": "object", "properties": {"bid": {"type": "integer"}}})
OK = ProviderReply('{"bid": 1}', finish="stop")
HANG = 1e9
"""Seconds after which nobody waits any more."""

Step: TypeAlias = ProviderReply | Failure | float | tuple[float, ProviderReply | Failure]


def busy(wait: float | None = None, line: str = "429: queue") -> Failure:
    return Failure("busy", f"{URL}: {line}", again=True, wait=wait)


def broken(line: str = "500: broken", wait: float | None = None) -> Failure:
    return Failure("server", f"{URL}: {line}", again=True, wait=wait)


def rejected(line: str = "400: no", **lacks: Any) -> Failure:
    return Failure("rejected", f"{URL}: {line}", again=False, **lacks)


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time passes only where it would wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.faults: list[dict[str, Any]] = []
        select = self._selector.select

        def pass_time(timeout: float | None = None) -> Any:
            assert timeout is not None, "nothing is left to wait for"
            self.now += timeout
            return select(0)

        self._selector.select = pass_time
        self.set_exception_handler(lambda _, context: self.faults.append(context))

    def time(self) -> float:
        return self.now


class Mocked:
    """A gateway whose provider plays a script, a step a request, and then its default.

    A step is a reply, a failure, either with the seconds that pass before, or seconds alone before a good reply.
    """

    def __init__(self, clock: Clock, *script: Step, **arguments: Any) -> None:
        self.clock = clock
        self.script = list(script)
        self.default: Step = OK
        self.provider = MockProvider(self._answer)
        tempo = arguments.pop("tempo", Tempo(failures=10_000))
        self.gateway = Gateway(providers=lambda _endpoint, _keys: self.provider, tempo=tempo, **arguments)

    async def _answer(self, _request: Request) -> ProviderReply | Failure:
        step = self.script.pop(0) if self.script else self.default
        if isinstance(step, ProviderReply | Failure):
            return step
        seconds, answer = step if isinstance(step, tuple) else (step, OK)
        await asyncio.sleep(seconds)
        return answer

    def question(
        self,
        text: str = "?",
        *,
        purpose: Purpose = "bid",
        seconds: float = 30.0,
        hurried: bool = False,
        **settings: Any,
    ) -> ModelQuestion:
        """A question; `endpoint` is a dict of that, other settings are the model's."""
        endpoint = Endpoint(**settings.pop("endpoint", {}))
        model = Model(**{"model": "tiny", "endpoint": endpoint, **settings})
        deadline = self.clock.now + seconds
        return ModelQuestion(model, purpose, "g/1/debate/1/bid/Ann", (Message("user", text),), FORM, deadline, hurried)

    def run(self, *questions: ModelQuestion) -> list[Completion]:
        """Put questions all at once, and return what came of them."""

        async def ask() -> list[Completion]:
            return list(await asyncio.gather(*map(self.gateway.complete, questions)))

        return self.clock.run_until_complete(ask())

    def one(self, text: str = "?", **settings: Any) -> Completion:
        return self.run(self.question(text, **settings))[0]

    def during(self, steps: Coroutine[Any, Any, Any]) -> Any:
        return self.clock.run_until_complete(steps)

    @property
    def asked(self) -> list[str]:
        return [request.messages[-1].content for request in self.provider.requests]
