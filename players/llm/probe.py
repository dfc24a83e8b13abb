"""Asks each model something small before the first night: whether it answers, and what its server takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from players.llm.call import Completion, Form, Message, Question
from players.llm.settings import Endpoint, Model
from wolfbus.errors import PlayerError

PROBE_ATTEMPTS: Final = 3
"""Tries of a probe: somebody sits and waits for the game to begin."""

_TOKENS: Final = 256
_SECONDS: Final = 30.0

FORM: Final = Form(
    "probe",
    {
        "type": "object",
        "properties": {
            "thought": {"type": "string", "description": "a few words"},
            "target": {"type": ["string", "null"], "enum": ["Ann", "Bob", None]},
            "bid": {"type": "integer", "enum": [0, 1, 2]},
            "sure": {"type": "boolean"},
            "weight": {"type": "number"},
            "word": {"type": ["string", "null"]},
        },
        "required": ["thought", "target", "bid", "sure", "weight", "word"],
        "additionalProperties": False,
    },
)
"""Has what the forms of a game have, so that a server that does not take it says so now."""

_MESSAGES: Final = (
    Message("system", "You answer with one JSON object and nothing else."),
    Message(
        "user",
        "This is a test of the connection. Reply with this JSON object:\n"
        '{"thought": "ready", "target": null, "bid": 1, "sure": true, "weight": 0.5, "word": null}',
    ),
)


async def probe(models: Iterable[Model], ask: Callable[[Question], Awaitable[Completion]]) -> None:
    """Ask each distinct model on its endpoint, all at once.

    Args:
        models: whom to ask.
        ask: puts a question.

    Raises:
        PlayerError: one does not answer; the line says which and why.
    """
    distinct: dict[tuple[Endpoint, str], Model] = {}
    for model in models:
        distinct.setdefault((model.endpoint, model.model), model)
    outcomes = await asyncio.gather(*(_ask(model, ask) for model in distinct.values()), return_exceptions=True)
    errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if not errors:
        return
    if len(errors) > 1 and isinstance(errors[0], PlayerError):
        raise PlayerError(f"{errors[0]} (and {len(errors) - 1} more)") from None
    raise errors[0]


async def _ask(model: Model, ask: Callable[[Question], Awaitable[Completion]]) -> None:
    deadline = time.monotonic() + (model.timeouts.probe or _SECONDS)
    small = model.model_copy(update={"max_tokens": min(model.max_tokens, _TOKENS)})
    completion = await ask(Question(small, "probe", "probe", _MESSAGES, FORM, deadline))
    # a refusal or an empty reply is an answer, too
    if completion.error is not None:
        raise PlayerError(f"{model.model} does not answer: {completion.error}")
