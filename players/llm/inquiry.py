"""Questions that are put to models after a game: each asked once more where the reply cannot be read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeVar

from players.llm.decisions import why_no_text
from players.llm.gateway import Gateway
from players.llm.loop import loop_time
from players.llm.prompts.quoting import reply_shown
from players.llm.provider import Message, ModelQuestion
from wolfbus.reading.objects import find_objects
from wolfbus.reading.text import Members, without_thinking

PATIENCE_S: Final = 600.0
"""Longest time that an answer may take, waiting under the limits included."""
_AT_ONCE: Final = 64

T = TypeVar("T")
Item = TypeVar("Item")


class Reply(NamedTuple):
    """What became of a question.

    Attributes:
        content: what the reply says; None where nothing could be read.
        served: what the server calls the model.
        why: why nothing could be read.
    """

    content: Any
    served: str = ""
    why: str = ""


Read = Callable[[dict[str, Any]], tuple[Any, str]]
"""Takes an object of a reply, and returns what it says, or None and why it cannot be used."""


async def inquire(gateway: Gateway, question: ModelQuestion, read: Read) -> Reply:
    """Ask, and once more if the reply cannot be read.

    Args:
        gateway: the way to the model.
        question: what is asked; its deadline is set here.
        read: reads an object of the reply.
    """
    messages = question.messages
    reply = Reply(None)
    for _ in range(2):
        asked_now = replace(question, messages=messages, deadline=loop_time() + PATIENCE_S)
        completion = await gateway.complete(asked_now)
        if completion.error is not None or completion.timed_out:
            return Reply(None, why=completion.error or "no reply in time")
        reason = why_no_text(completion)
        content, why = _content(completion.text or "", read) if reason is None else (None, reason.line)
        gateway.note_reading(asked_now, completion, None if content is not None else why)
        reply = Reply(content, completion.served or question.model.model, why)
        if content is not None:
            break
        again = f"This could not be read: {why}. Reply with one JSON object in the form that ends the question."
        messages = (
            *question.messages,
            Message("assistant", reply_shown(completion.text or completion.refusal or "") or "…"),
            Message("user", again),
        )
    return reply


def _content(text: str, read: Read) -> tuple[Any, str]:
    why = "there is no JSON object in it"
    contents = []
    for parsed in find_objects(without_thinking(text).text).objects:
        if any(isinstance(value, Members) and value.repeated for value in (parsed.value, *parsed.value.values())):
            return None, "a member is given twice, and differently"
        content, why = read(parsed.value)
        if content is not None:
            contents.append(content)
    if any(content != contents[0] for content in contents):
        return None, "it holds several JSON objects that answer differently"
    return (contents[0], "") if contents else (None, why)


def start_all(
    gateway: Gateway,
    at_once: int,
    items: Iterator[Item],
    answer: Callable[[Item], Awaitable[T]],
    done: Callable[[Item, T], None],
    stopped: Callable[[], bool],
) -> list[Any]:
    """Begin to have items answered, and return the jobs.

    Args:
        gateway: in whose thread that happens.
        at_once: how many at a time.
        items: taken one by one.
        answer: asks about one.
        done: called with each and its answer.
        stopped: whether to take no more.
    """

    async def work() -> None:
        for item in items:
            if stopped():
                return
            done(item, await answer(item))

    return gateway.start([work() for _ in range(min(_AT_ONCE, at_once))])
