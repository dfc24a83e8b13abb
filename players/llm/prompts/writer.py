"""`PromptWriter`: writes one seat's prompts, each at the cost of what is new since the one before.

A prompt's text follows from the view and the requests alone; what a writer remembers only saves time. In the record a
prompt is three chains of segments: the seat's `Story`, which begins with the system message; the question; the form.
Consecutive segments of one role make one message. Questions that are put to a seat at once have their story in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from players.llm.call import Message
from players.llm.prompts.forms import FORM_LINE, LABEL, FormPart, Shaped, form_in_words, shaped
from players.llm.prompts.prompt import Prompt
from players.llm.prompts.questions import question_text
from players.llm.prompts.quoting import one_line, reply_shown
from players.llm.prompts.story import Story
from wolfbus.messages.calls import PromptText, segment_hash
from wolfbus.messages.requests import Ask
from wolfbus.view import SeatView
from wolfbus.vocabulary import Kind

_EMPTY_REPLY: Final = "(no text)"
"""What stands for a reply without any; servers refuse empty messages."""

_NOTE_KEPT: Final = 1_000
_TARGETS: Final[frozenset[Kind]] = frozenset({"vote", "kill", "protect", "inspect", "whisper"})
_SPOKEN: Final[frozenset[Kind]] = frozenset({"speak", "vote"})


class PromptWriter:
    """Writes the prompts of one seat in one game."""

    def __init__(self) -> None:
        self._story = Story()
        self._asked: set[str] = set()

    def write(self, asks: Sequence[Ask], view: SeatView, *, with_label: bool = False) -> Prompt:
        """Write the prompt for one call.

        Args:
            asks: one request is the paper's protocol, a question a call. Several (compact protocol) are a bid and
                assessments, at most one of the own statement; the reply then has a member per part.
            view: everything the seat may know.
            with_label: whether the reply is also to label the statement it makes, or the reason of its vote.

        Raises:
            ValueError: these requests cannot go together, or there is none.
        """
        asks = _ordered(asks, with_label=with_label)
        story = self._story
        fresh = story.grow(view)
        form = _form(asks, view, with_label=with_label)
        # what is of this moment, and the form, which all questions of a kind share
        texts = (question_text(asks, view, with_label=with_label), form_in_words(form.template))
        heads = [self._once(PromptText(role="user", text=text), fresh) for text in texts]
        return Prompt(
            messages=(
                Message("system", story.system, kept=len(story.system)),
                Message("user", f"{story.text}{''.join(texts)}", kept=len(story.text)),
            ),
            heads=(story.head, *heads),
            fresh=tuple(fresh),
            form=form.form,
            chain=story.chain,
        )

    def reask(self, prompt: Prompt, reply: str, note: str) -> Prompt:
        """Write the prompt that asks again after a reply that could not be used; from any thread.

        Args:
            prompt: what was replied to.
            reply: the model's text.
            note: what is wrong with it.
        """
        before = prompt.messages[-1].content
        form = before[before.rindex(f"\n{FORM_LINE}\n") + 1 :]
        fault = one_line(note)[:_NOTE_KEPT].rstrip(". ") or "it cannot be read"
        again = f"Your reply could not be used: {fault}.\nAnswer the same question once more.\n\n{form}"
        texts = (
            PromptText(role="assistant", text=reply_shown(reply) or _EMPTY_REPLY),
            PromptText(role="user", text=again),
        )
        fresh: list[PromptText] = []
        heads = tuple(self._once(text, fresh) for text in texts)
        return Prompt(
            messages=(*prompt.messages, *(Message(text.role, text.text) for text in texts)),
            heads=(*prompt.heads, *heads),
            fresh=tuple(fresh),
            form=prompt.form,
            chain=prompt.chain,
        )

    def _once(self, text: PromptText, fresh: list[PromptText]) -> str:
        """Return the name of a chain of one segment, and add it to `fresh` if no earlier prompt held it."""
        name = segment_hash(None, text.role, text.text)
        if name not in self._asked:
            self._asked.add(name)
            fresh.append(text)
        return name


def _ordered(asks: Sequence[Ask], *, with_label: bool) -> list[Ask]:
    """Return the requests in the order of the form: a bid comes after the judgements that it should rest on.

    Raises:
        ValueError: they cannot go together.
    """
    kinds = [ask.kind for ask in asks]
    if not kinds:
        raise ValueError("a prompt needs a request")
    if len(asks) > 1 and (kinds.count("bid") > 1 or not set(kinds) <= {"bid", "assess_own", "assess_other"}):
        raise ValueError(f"one call cannot ask for {', '.join(kinds)}: only for a bid and assessments")
    if with_label and (len(asks) > 1 or kinds[0] not in _SPOKEN):
        raise ValueError(f"no {LABEL} goes with {', '.join(kinds)}: only with one statement or vote")
    return sorted(asks, key=lambda ask: ask.kind == "bid")


def _form(asks: Sequence[Ask], view: SeatView, *, with_label: bool) -> Shaped:
    parts = [FormPart(ask.kind, ask.about, _legal(ask, view)) for ask in asks]
    if with_label:
        parts.append(FormPart("assess_own"))
    together = len(parts) > 1
    if not together:
        # the form does not depend on the number of the statement: one for all
        parts = [parts[0]._replace(about=None)]
    return shaped(tuple(parts), bid_max=view.config.bid_max, reasons=view.config.vote_reasons, together=together)


def _legal(ask: Ask, view: SeatView) -> tuple[str | None, ...] | None:
    if ask.kind not in _TARGETS:
        return None
    return ask.legal or (*view.others, None)
