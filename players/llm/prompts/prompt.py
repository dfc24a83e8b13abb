"""`Prompt`: what a model is sent for a request: the seat's story, a chain that only grows, and the question."""

from __future__ import annotations

from dataclasses import dataclass

from players.llm.call import Form, Message
from wolfbus.messages.calls import PromptText


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt.

    Attributes:
        messages: the chat: a system message that is the same for every seat of a game, and a user message that begins
            with all that this seat knows, in the order in which it learned it, and ends with the question.
        heads: what names it in the record: the last segment of each chain, in the order of the text.
        fresh: segments that this seat's prompts did not hold before, each behind the one that it follows.
        form: what shape the reply should have.
        chain: what all prompts of this seat have in common, as a name: the segment of its role.
    """

    messages: tuple[Message, ...]
    heads: tuple[str, ...]
    fresh: tuple[PromptText, ...]
    form: Form
    chain: str
