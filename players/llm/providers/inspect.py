"""A provider that asks Inspect's models: its providers, limits, retries, caches and logs serve, and every call stands
in the transcript of its sample.

Whoever plays a game inside a sample sets `SAMPLE` in the thread that opens the game's models.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.util import LimitExceededError

from players.llm.keys import Keys, redacted
from players.llm.provider import Failed, Failure, Message, ProviderReply, Request, Shape
from players.llm.settings import Endpoint
from wolfbus.errors import BudgetSpent, PlayerError


@dataclass(slots=True)
class Sample:
    """The sample of Inspect's in which a game is played.

    Attributes:
        loop: Inspect's event loop.
        context: the context of the sample's task, by which Inspect knows whose call is whose.
        roles: the model role of each model that plays, by the model's name; None for the one that is evaluated.
        limit: the limit of Inspect's that ended the game; None as long as there was none.
        over: whether Inspect has ended the sample, be it that its time is up or that somebody broke it off.
    """

    loop: asyncio.AbstractEventLoop
    context: contextvars.Context
    roles: Mapping[str, str | None]
    limit: LimitExceededError | None = field(default=None)
    over: bool = field(default=False)
    _under_way: set[concurrent.futures.Future[ModelOutput]] = field(default_factory=set)

    def end(self) -> None:
        """Break off the calls under way, and make no other; called in Inspect's loop."""
        self.over = True
        for begun in tuple(self._under_way):
            begun.cancel()

    async def run(self, work: Coroutine[Any, Any, ModelOutput]) -> ModelOutput:
        """Run a coroutine in Inspect's loop, as part of the sample, and return its result."""
        # cancelled, as when the call's time is over, it is broken off there as well
        begun = self.context.copy().run(asyncio.run_coroutine_threadsafe, work, self.loop)
        self._under_way.add(begun)
        begun.add_done_callback(self._under_way.discard)
        if self.over:
            begun.cancel()
        try:
            return await asyncio.wrap_future(begun)
        except asyncio.CancelledError:
            if not self.over:
                raise
            raise BudgetSpent("the evaluation has ended the sample: its time is up, or it was broken off") from None


SAMPLE: Final[contextvars.ContextVar[Sample]] = contextvars.ContextVar("wolfbus_inspect_sample")


class InspectProvider:
    """Asks the models of an evaluation.

    Attributes:
        url: stands for an address.
    """

    def __init__(self, sample: Sample) -> None:
        self.url = "inspect://eval"
        self._sample = sample

    def shape(self, _model: str) -> Shape:
        """Return that the prompt's words alone hold a reply to its form: not every provider of Inspect's takes more."""
        return Shape(mode="text")

    async def ask(self, request: Request, _seconds: float | None) -> ProviderReply:
        """Make one request; see `Provider.ask`."""
        role = self._sample.roles.get(request.model.model)
        settings: dict[str, Any] = {"max_tokens": request.max_tokens, **request.settings}
        messages = [_message(message) for message in request.messages]
        try:
            output = await self._sample.run(_generate(role, messages, GenerateConfig(**settings)))
        except LimitExceededError as error:
            self._sample.limit = error
            raise BudgetSpent(f"a limit of the evaluation is reached: {error}") from error
        except BudgetSpent:
            raise
        except Exception as error:
            line = redacted(f"{type(error).__name__}: {error}", None)
            # Inspect has tried again already
            raise Failed(Failure("server", line, again=False)) from error
        if output.error:
            raise Failed(Failure("server", redacted(output.error, None), again=False))
        usage = output.usage
        return ProviderReply(
            output.completion,
            finish={"max_tokens": "length"}.get(output.stop_reason, output.stop_reason),
            prompt_tokens=_prompt_tokens(usage) if usage is not None else None,
            cached_tokens=usage.input_tokens_cache_read if usage is not None else None,
            completion_tokens=usage.output_tokens if usage is not None else None,
            served=output.model,
        )

    async def close(self) -> None:
        """Close nothing: the models are Inspect's."""


async def _generate(role: str | None, messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
    # which models there are is known inside the sample alone
    model = get_model() if role is None else get_model(role=role)
    return await model.generate(messages, config=config)


def _prompt_tokens(usage: ModelUsage) -> int:
    # Inspect counts those that a cache had, and those that were put into it, beside the others
    return usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)


def _message(message: Message) -> ChatMessage:
    if message.role == "system":
        return ChatMessageSystem(content=message.content)
    if message.role == "assistant":
        return ChatMessageAssistant(content=message.content)
    return ChatMessageUser(content=message.content)


def open_provider(_endpoint: Endpoint, _keys: Keys) -> InspectProvider:
    """Return the provider of the sample in which this is called; see `players.llm.provider`."""
    try:
        return InspectProvider(SAMPLE.get())
    except LookupError:
        raise PlayerError(
            'provider "inspect": it has models in an evaluation only: inspect eval wolfbus/wolf'
        ) from None
