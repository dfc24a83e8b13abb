"""Questions and completions that the tests of accounts, budgets and cassettes are about."""

from __future__ import annotations

from typing import Any

from players.llm.provider import Completion, Form, Message, ModelQuestion
from players.llm.settings import Endpoint, Model, Price

PRICE = Price(input=0.15, cached=0.075, output=0.6)
FORM = Form("bid", {"type": "object", "properties": {"bid": {"type": "integer"}}})


def model(name: str = "tiny", *, attempts: int = 1, max_tokens: int = 100, **settings: Any) -> Model:
    return Model(model=name, endpoint=Endpoint(attempts=attempts), max_tokens=max_tokens, **settings)


def question(text: str = "How much do you want to speak?", asked: Model | None = None, **fields: Any) -> ModelQuestion:
    given: dict[str, Any] = {
        "model": asked or model(),
        "purpose": "bid",
        "label": "1/debate/1/bid/Ann",
        "messages": (Message("system", "You play a game."), Message("user", text)),
        "form": FORM,
        "deadline": 60.0,
    }
    return ModelQuestion(**(given | fields))


def reply(
    prompt: int | None = 1000, completion: int | None = 100, cached: int | None = None, **fields: Any
) -> Completion:
    given: dict[str, Any] = {
        "text": '{"bid": 2}',
        "finish": "stop",
        "attempts": 1,
        "latency_s": 0.8,
        "prompt_tokens": prompt,
        "cached_tokens": cached,
        "completion_tokens": completion,
    }
    return Completion(**(given | fields))
