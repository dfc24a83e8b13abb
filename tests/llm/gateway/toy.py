"""A provider of somebody else's: all that it takes is this one file, and its name in the settings."""

from __future__ import annotations

from players.llm.provider import Endpoint, Failed, Failure, ProviderReply, Request, Shape


class Parrot:
    """Says what was said to it last; where that is nothing, it fails as a server that turns a request away."""

    url = "toy://parrot"

    def shape(self, _model: str) -> Shape:
        return Shape(mode="text")

    async def ask(self, request: Request, _seconds: float | None) -> ProviderReply:
        text = request.messages[-1].content
        if not text:
            raise Failed(Failure("rejected", f"{self.url}: there is nothing to repeat", again=False))
        return ProviderReply(text[-40:], finish="stop", prompt_tokens=3, completion_tokens=1)

    async def close(self) -> None: ...


def open_provider(_endpoint: Endpoint, _keys: object) -> Parrot:
    return Parrot()
