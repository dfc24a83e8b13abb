"""A provider without a server: it answers in this process as the model double does, at once."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from players.llm.keys import Keys
from players.llm.provider import ProviderReply, Request, Shape
from players.llm.settings import Endpoint
from wolfbus.testing.model_behaviour import Behaviour
from wolfbus.testing.model_reply import PrefixCache, speak

_BEHAVIOUR: Final = Behaviour()


class MockProvider:
    """Answers plausibly, and as a function of the prompt.

    Attributes:
        url: stands for an address.
    """

    def __init__(self) -> None:
        self.url = "mock://here"
        self._cache = PrefixCache()

    def shape(self, _model: str) -> Shape:
        """Return that it takes everything."""
        return Shape()

    async def ask(self, request: Request, _seconds: float | None) -> ProviderReply:
        """Answer one request; see `Provider.ask`."""
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        schema = {"name": request.form.name, "schema": request.form.schema}
        body: dict[str, Any] = {
            "model": request.model.model,
            "messages": messages,
            "max_tokens": request.max_tokens,
            "response_format": {"type": "json_schema", "json_schema": schema},
        }
        reply = speak(_BEHAVIOUR, self._cache, body, hashlib.sha256(repr(messages).encode()).hexdigest())
        return ProviderReply(
            reply.text,
            finish=reply.finish,
            prompt_tokens=reply.prompt_tokens,
            cached_tokens=reply.cached_tokens,
            completion_tokens=reply.completion_tokens,
            served=request.model.model,
        )

    async def close(self) -> None:
        """There is nothing to close."""


def open_provider(_endpoint: Endpoint, _keys: Keys) -> MockProvider:
    """Return a provider that answers as the double does; see `players.llm.provider`."""
    return MockProvider()
