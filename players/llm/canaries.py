"""Asks a model the canary questions of a study (`wolfbus.study.canaries`), through the gateway of its games."""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import wait
from functools import lru_cache
from typing import Final

from players.llm.gateway import Gateway
from players.llm.loop import loop_time
from players.llm.prompts.forms import Member, worded
from players.llm.provider import Completion, Message, ModelQuestion
from players.llm.settings import Model
from wolfbus.files.package_data import PackageData, read_data
from wolfbus.reading.objects import find_objects
from wolfbus.reading.text import without_thinking
from wolfbus.study.canaries import CanaryRound

PATIENCE_S: Final = 600.0
"""A reply is waited for so long."""

_FORM: Final = worded(
    "canary",
    [Member("answer", {"type": "string", "maxLength": 80}, "string of at most 80 characters, the answer")],
)
_WORD: Final = re.compile(r"\w+")
_KEPT: Final = 80


class _Questions(PackageData):
    version: int
    system: str
    questions: tuple[str, ...]


@lru_cache(maxsize=1)
def _questions() -> _Questions:
    return read_data("players.llm", "canaries", _Questions)


def ask_canaries(models: Mapping[str, Model], gateway: Gateway, at: str) -> list[CanaryRound]:
    """Ask each model all questions once, at a temperature of 0 where its server takes that. Not from a job.

    Args:
        models: whom to ask, by what they are called.
        gateway: the way to them.
        at: when, in UTC.
    """
    completions: dict[tuple[str, int], Completion] = {}

    async def ask(name: str, model: Model, place: int, text: str) -> None:
        system = Message("system", _questions().system)
        messages = (system, Message("user", f"{text}\n\n{_FORM.words}"))
        deadline = loop_time() + PATIENCE_S
        question = ModelQuestion(model, "canary", f"canary-{place}", messages, _FORM.form, deadline=deadline)
        completions[name, place] = await gateway.complete(question)

    jobs = gateway.start(
        [
            ask(name, model.model_copy(update={"temperature": 0.0}), place, text)
            for name, model in models.items()
            for place, text in enumerate(_questions().questions)
        ]
    )
    wait(jobs)
    for job in jobs:
        job.result()
    rounds = []
    for name, model in models.items():
        replies = [completions[name, place] for place in range(len(_questions().questions))]
        served = next((reply.served for reply in replies if reply.served), None)
        where = next((reply.url for reply in replies if reply.url), None) or model.endpoint.url
        rounds.append(
            CanaryRound(
                at=at,
                model=model.model if where is None else f"{model.model} at {where}",
                version=_questions().version,
                served=served,
                answers=tuple(map(_answer, replies)),
            )
        )
    return rounds


def _answer(completion: Completion) -> str | None:
    """Return what was answered, in lower case without punctuation; None for nothing."""
    text = without_thinking(completion.text or "").text
    answers = (parsed.value.get("answer") for parsed in find_objects(text).objects)
    answer = next((str(answer) for answer in answers if answer is not None), text)
    return " ".join(_WORD.findall(answer.casefold()))[:_KEPT] or None
