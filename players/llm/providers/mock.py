"""A provider without a server: it answers in this process as the model double does, at once."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from players.llm.keys import Keys
from players.llm.provider import ProviderReply, Request, Shape
from players.llm.settings import Endpoint
from wolfbus.testing.model_reply import CHARACTERS, Behaviour, speak

_BEHAVIOUR: Final = Behaviour()

_SERVED: Final = "model-double"
"""What answers, whichever model was asked for: so games and reports tell that it was none."""

BLOCK_TOKENS: Final = 128
"""Tokens are cached by blocks of so many."""

_BLOCK: Final = BLOCK_TOKENS * CHARACTERS
_MOST_BLOCKS: Final = 500_000


class PrefixCache:
    """Remembers the prompts of each model by blocks, as servers do, each block together with all that goes before it.

    So the cost of a game that this provider rehearses is what it will be where prompts are cached. The oldest blocks
    are forgotten beyond half a million, about 250 MB of prompts.
    """

    def __init__(self) -> None:
        self._blocks: dict[int, None] = {}

    def add(self, model: str, prompt: str) -> int:
        """Remember a prompt and return how many tokens it shares from its start with earlier ones, in whole blocks."""
        chain = hash(model)
        cached = 0
        unbroken = True
        for begin in range(0, len(prompt) - _BLOCK + 1, _BLOCK):
            chain = hash((chain, prompt[begin : begin + _BLOCK]))
            unbroken = unbroken and chain in self._blocks
            cached += BLOCK_TOKENS * unbroken
            self._blocks.setdefault(chain)
        while len(self._blocks) > _MOST_BLOCKS:
            del self._blocks[next(iter(self._blocks))]
        return cached


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
        schema = {"name": request.form.name, "schema": request.schema}
        body: dict[str, Any] = {
            "model": request.model.model,
            "messages": messages,
            "max_tokens": request.max_tokens,
            "response_format": {"type": "json_schema", "json_schema": schema},
        }
        reply = speak(_BEHAVIOUR, body, hashlib.sha256(repr(messages).encode()).hexdigest())
        return ProviderReply(
            reply.text,
            finish=reply.finish,
            prompt_tokens=reply.prompt_tokens,
            cached_tokens=self._cache.add(request.model.model, "".join(message["content"] for message in messages)),
            completion_tokens=reply.completion_tokens,
            served=_SERVED,
        )

    async def close(self) -> None:
        """There is nothing to close."""


def open_provider(_endpoint: Endpoint, _keys: Keys) -> MockProvider:
    """Return a provider that answers as the double does; see `players.llm.provider`."""
    return MockProvider()
