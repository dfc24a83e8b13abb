"""Gateways: over a provider in this process by a clock of its own, and over a server that plays a script."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import importlib
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from players.llm.gateway import Backoff, Gateway, Job, Tempo
from players.llm.provider import (
    Completion,
    Endpoint,
    Failure,
    Form,
    Message,
    Model,
    ModelQuestion,
    ProviderReply,
    Request,
)
from tests.llm.scripted import URL, ScriptedProvider

from .server import ScriptedServer

KEY = "planted-Secret-0123456789abcdef"
BID = {"type": "object", "properties": {"bid": {"type": "integer"}}, "required": ["bid"], "additionalProperties": False}
OK = ProviderReply('{"bid": 1}', finish="stop")
HANG = 1e9
"""Seconds after which nobody waits any more."""

PATIENT = Tempo(failures=10_000)
IMPATIENT = Tempo(failures=10_000, backoff=Backoff(first=0.002, longest=0.01))

Step: TypeAlias = ProviderReply | Failure | float | tuple[float, ProviderReply | Failure]


def model_of(settings: dict[str, Any], **endpoint: Any) -> Model:
    """A model by its settings, of which `endpoint` is a dict of that one's."""
    return Model(**{"model": "tiny", **settings, "endpoint": Endpoint(**settings.get("endpoint", {}), **endpoint)})


def question(model: Model, text: str = "What do you bid?", *, now: float | None = None, **fields: Any) -> ModelQuestion:
    """A question that may take 30 seconds, unless told otherwise."""
    deadline = (time.monotonic() if now is None else now) + fields.pop("seconds", 30.0)
    usual: dict[str, Any] = {
        "purpose": "bid",
        "label": "g/1/debate/1/bid/Ann",
        "messages": (Message("system", "You play a game."), Message("user", text)),
        "form": Form("bid", BID),
    }
    return ModelQuestion(model, deadline=deadline, **(usual | fields))


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
        select = self._selector.select

        def pass_time(timeout: float | None = None) -> Any:
            assert timeout is not None, "nothing is left to wait for"
            self.now += timeout
            return select(0)

        self._selector.select = pass_time

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
        self.provider = ScriptedProvider(self._answer)
        self.gateway = Gateway(providers=lambda _endpoint, _keys: self.provider, **{"tempo": PATIENT} | arguments)

    async def _answer(self, _request: Request) -> ProviderReply | Failure:
        step = self.script.pop(0) if self.script else self.default
        if isinstance(step, ProviderReply | Failure):
            return step
        seconds, answer = step if isinstance(step, tuple) else (step, OK)
        await asyncio.sleep(seconds)
        return answer

    def question(self, text: str = "?", **settings: Any) -> ModelQuestion:
        """A question; what is no field of it is a setting of its model."""
        fields = {field.name for field in dataclasses.fields(ModelQuestion)} - {"model"} | {"seconds"}
        chosen = {name: settings.pop(name) for name in fields & settings.keys()}
        return question(model_of(settings), text, now=self.clock.now, **chosen)

    def run(self, *questions: ModelQuestion) -> list[Completion]:
        """Put questions all at once, and return what came of them."""

        async def ask() -> list[Completion]:
            return list(await asyncio.gather(*map(self.gateway.complete, questions)))

        return self.during(ask())

    def one(self, text: str = "?", **settings: Any) -> Completion:
        return self.run(self.question(text, **settings))[0]

    def during(self, steps: Coroutine[Any, Any, Any]) -> Any:
        return self.clock.run_until_complete(steps)

    @property
    def total(self) -> dict[str, Any]:
        return self.gateway.accounts.summary()["total"]

    @property
    def prompts(self) -> list[str]:
        return [request.messages[-1].content for request in self.provider.requests]


class Asking:
    """Puts questions through a gateway to servers, and waits for what comes of them."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.jobs: list[Job] = []

    def begin(self, *questions: ModelQuestion) -> list[concurrent.futures.Future[Completion]]:
        futures: list[concurrent.futures.Future[Completion]] = [concurrent.futures.Future() for _ in questions]
        self.jobs += self.gateway.start([self._ask(*pair) for pair in zip(questions, futures, strict=True)])
        return futures

    def one(self, question: ModelQuestion) -> Completion:
        return self.begin(question)[0].result(60)

    async def _ask(self, question: ModelQuestion, future: concurrent.futures.Future[Completion]) -> None:
        try:
            future.set_result(await self.gateway.complete(question))
        except BaseException as error:
            future.set_exception(error)
            raise


MakeGateway: TypeAlias = Callable[..., Asking]


def scripted() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    yield server
    server.close()


server, other, elsewhere = (pytest.fixture(scripted, name=name) for name in ("server", "other", "elsewhere"))


@pytest.fixture(scope="session", autouse=True)
def loaded() -> None:
    """Load the client of servers, which takes seconds on a busy machine, before any deadline runs."""
    importlib.import_module("openai")
    importlib.import_module("aiohttp")


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    yield clock
    clock.close()


@pytest.fixture
def make_gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeGateway]:
    """Makes gateways that fail and recover fast, far from any .env."""
    monkeypatch.chdir(tmp_path)
    gateways: list[Gateway] = []

    def make(**arguments: Any) -> Asking:
        gateways.append(Gateway(tempo=IMPATIENT, **({"environment": {"OPENAI_API_KEY": KEY}} | arguments)))
        return Asking(gateways[-1])

    yield make
    for gateway in gateways:
        gateway.close()


@pytest.fixture
def asking(make_gateway: MakeGateway) -> Asking:
    return make_gateway()


def model_at(server: ScriptedServer, name: str = "tiny", **settings: Any) -> Model:
    return model_of({"model": name, **settings}, url=server.url)
