"""A server, and gateways that fail and recover fast."""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from players.llm.gateway import Gateway, Job, Tempo
from players.llm.provider import Completion, Form, Message, ModelQuestion, Purpose
from players.llm.settings import Endpoint, Model
from players.llm.tempo import Backoff

from .mocked import Clock
from .server import ScriptedServer

KEY = "planted-Secret-0123456789abcdef"
FORM = Form(
    "bid",
    {
        "type": "object",
        "properties": {"bid": {"type": "integer"}},
        "required": ["bid"],
        "additionalProperties": False,
    },
)
FAST = Tempo(backoff=Backoff(first=0.002, longest=0.01), failures=10_000)


class Asking:
    """Puts questions through a gateway and waits for what comes of them."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.jobs: list[Job] = []

    def begin(self, *questions: ModelQuestion) -> list[concurrent.futures.Future[Completion]]:
        futures: list[concurrent.futures.Future[Completion]] = [concurrent.futures.Future() for _ in questions]
        jobs = self.gateway.start([self._ask(*each) for each in zip(questions, futures, strict=True)])
        self.jobs += jobs
        return futures

    def all(self, *questions: ModelQuestion) -> list[Completion]:
        return [future.result(60) for future in self.begin(*questions)]

    def one(self, question: ModelQuestion) -> Completion:
        return self.all(question)[0]

    async def _ask(self, question: ModelQuestion, future: concurrent.futures.Future[Completion]) -> None:
        try:
            future.set_result(await self.gateway.complete(question))
        except BaseException as error:
            future.set_exception(error)
            raise


class MakeGateway(Protocol):
    def __call__(self, tempo: Tempo = FAST, **arguments: Any) -> Asking: ...


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    yield server
    server.close()


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    yield clock
    clock.close()


@pytest.fixture
def make_gateway() -> Iterator[MakeGateway]:
    made: list[Gateway] = []

    def make(tempo: Tempo = FAST, **arguments: Any) -> Asking:
        gateway = Gateway(tempo=tempo, **({"environment": {"OPENAI_API_KEY": KEY}} | arguments))
        made.append(gateway)
        return Asking(gateway)

    yield make
    for gateway in made:
        gateway.close()


@pytest.fixture
def asking(make_gateway: MakeGateway) -> Asking:
    return make_gateway()


def model_at(
    server: ScriptedServer, name: str = "tiny", *, endpoint: dict[str, Any] | None = None, **settings: Any
) -> Model:
    return Model(model=name, endpoint=Endpoint(url=server.url, **(endpoint or {})), **settings)


def question(
    model: Model, text: str = "What do you bid?", *, purpose: Purpose = "bid", seconds: float = 30.0
) -> ModelQuestion:
    messages = (Message("system", "You play a game."), Message("user", text))
    return ModelQuestion(model, purpose, f"1/debate/1/{purpose}/Ann", messages, FORM, time.monotonic() + seconds)
