"""`TextBrain`: any function from text to text takes a seat; spec ``text:module:callable``.

What is asked is put as it is put to language models, and what comes back is read by the same ladder. Labels of its own
statements and judgements of others' are declined: an agent that was made for another table has no word for them, and a
default in its place would be nobody's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from players.llm.prompts.writer import PromptWriter
from wolfbus.agent import Agent, Answer
from wolfbus.agent.answer import answer_in_text
from wolfbus.files.printable import with_article
from wolfbus.game.vocabulary import Kind
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.requests import Ask
from wolfbus.reading import Question, read

DECLINED: Final[tuple[Kind, ...]] = ("assess_own", "assess_other")
"""Kinds of request that such an agent is not asked."""

_RAW_KEPT: Final = 4_096
"""Characters of a reply that are kept beside an answer."""


class TextReader:
    """One seat's requests as text, each at the cost of what is new, and what texts answer."""

    def __init__(self) -> None:
        self._writer = PromptWriter()

    def write(self, ask: Ask, view: SeatView) -> str:
        """Return a request as a language model is asked it."""
        return "\n\n".join(message.content for message in self._writer.write((ask,), view).messages)

    def read(self, text: str, ask: Ask, view: SeatView) -> Answer:
        """Return what a text answers; one that cannot be used becomes an answer without content that says why."""
        part = read(text, Question(ask.kind, ask.legal, view.names, view.config.bid_max, view.config.max_statement))
        return answer_in_text(text, part, _RAW_KEPT)


class TextBrain(Agent):
    """Hands every request to a function, as text.

    Args:
        act: takes what is asked and returns the answer: TextArena's agents are such callables.
    """

    def __init__(self, act: Callable[[str], object]) -> None:
        self._act = act
        self._reader = TextReader()

    def answer(self, ask: Ask, view: SeatView, /) -> Answer:
        """Ask, and read what comes back."""
        text = self._act(self._reader.write(ask, view))
        if isinstance(text, str):
            return self._reader.read(text, ask, view)
        note = f"it returned {with_article(type(text).__name__)}, which is no text"
        return Answer(None, fault="unparseable", note=note)

    @classmethod
    def declines(cls) -> tuple[Kind, ...]:
        """Return the kinds of request that it is not asked."""
        return DECLINED
