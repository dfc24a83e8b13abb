"""`Prompt`: what a model is sent for a request, as chains of segments: shared by all seats, the seat's own, the
question.
"""

from __future__ import annotations

from dataclasses import dataclass

from players.llm.call import Form, Message
from wolfbus.messages.calls import PromptText


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt.

    Attributes:
        messages: the chat: a system message that is the same for every seat of a game, and a user message that begins
            with all that is public, goes on with what this seat alone knows, and ends with the question.
        heads: what names it in the record: the last segment of each chain, in the order of the text.
        fresh: segments that this seat's prompts did not hold before, each behind the one that it follows.
        shared: characters from the start of the prompt that all seats of the game share.
        form: what shape the reply should have.
    """

    messages: tuple[Message, ...]
    heads: tuple[str, ...]
    fresh: tuple[PromptText, ...]
    shared: int
    form: Form
