"""`PromptWriter`: writes one seat's prompts, each at the cost of what is new since the one before.

A prompt's text follows from the view and the requests alone; what a writer remembers only saves time. In the record a
prompt is three chains of segments: the seat's `Story`, which begins with the system message; the question; the form.
Consecutive segments of one role make one message. Questions that are put to a seat at once have their story in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from players.llm.prompts.forms import FORM_LINE, LABEL, Bounds, FormPart, WordedForm, part_name, worded_form
from players.llm.prompts.quoting import one_line, reply_shown, unmarked
from players.llm.prompts.story import Story
from players.llm.prompts.style import STANDARD, Skin, Style, Wording
from players.llm.provider import Form, Message
from wolfbus.game.roles import ACTS
from wolfbus.game.vocabulary import Kind
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import PromptText, segment_hash
from wolfbus.messages.requests import Ask


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt.

    Attributes:
        messages: the chat: a system message that is the same for every seat of a game, and a user message that begins
            with all that this seat knows, in the order in which it learned it, and ends with the question.
        heads: what names it in the record: the last segment of each chain, in the order of the text.
        fresh: segments that this seat's prompts did not hold before, each behind the one that it follows.
        form: what shape the reply should have.
        skin: the words in which it is said, and in which it is answered.
        chain: what all prompts of this seat have in common, as a name: the segment of its role.
    """

    messages: tuple[Message, ...]
    heads: tuple[str, ...]
    fresh: tuple[PromptText, ...]
    form: Form
    skin: Skin
    chain: str


# not where a statement is judged: the smoothing already carries the past, and should not be fed its own result
_TARGETS: Final[frozenset[Kind]] = frozenset({"vote", *ACTS})


def question_text(
    asks: Sequence[Ask], view: SeatView, *, with_label: bool = False, words: Wording = STANDARD.words
) -> str:
    """Return what stands before the form at the end of a prompt.

    Args:
        asks: what is asked, in the order of the form.
        view: what the seat knows.
        with_label: whether the statement that the reply makes is to be labelled in it, too.
        words: how it is said.
    """
    together = with_label or len(asks) > 1
    phase = "night" if asks[0].phase == "night" else "day"
    lines = ["", f"QUESTION to {view.me}, {phase} {asks[0].round}"]
    if view.config.feeds_back and not _TARGETS.isdisjoint(ask.kind for ask in asks):
        lines.append(words.suspicion.format(levels=", ".join(_level(view, name) for name in view.others)))
    if view.config.assess == "after" and asks[0].about is not None:
        lines.append(f"The game stopped here. Members of the form below:\n{words.assessing}")
    if together:
        lines.append(words.together)
    lines += (_named(ask, view, words) if together else _task(ask, view, words) for ask in asks)
    if with_label:
        lines.append(f"{LABEL}: {words.speak_label if asks[0].kind == 'speak' else words.reason_label}")
    return "\n".join([*lines, ""])


def _level(view: SeatView, name: SeatName) -> str:
    unknown = "" if view.suspicion.judged(view.me, name) else " (not judged yet)"
    return f"{name} {view.suspicion.of(view.me, name):.2f}{unknown}"


def _named(ask: Ask, view: SeatView, words: Wording) -> str:
    return f"{part_name(ask.kind, ask.about)}: {_task(ask, view, words)}"


def _task(ask: Ask, view: SeatView, words: Wording) -> str:
    when = words.turn.format(turn=ask.turn, turns=view.config.debate_turns)
    if ask.kind == "bid":
        return words.bid.format(when=when, most=view.config.bid_max)
    if ask.kind == "speak":
        return words.speak.format(when=when, me=view.me)
    if ask.kind == "assess_own":
        return words.assess_own.format(statement=_statement(ask, view))
    if ask.kind == "assess_other":
        return words.assess_other.format(statement=_statement(ask, view))
    if ask.kind == "vote":
        reason = words.vote_reason if view.config.vote_reasons else ""
        return f"{words.vote.format(needed=len(view.living) // 2 + 1)}{reason}"
    return _choice(ask, view)


def _choice(ask: Ask, view: SeatView) -> str:
    nobody = ask.legal is None or None in ask.legal
    question = ACTS[ask.kind].question.format(null=", or null for nobody" if nobody else "")
    if ask.kind == "whisper":
        turn = f"This is proposal {ask.turn} of {view.config.whispers} tonight."
        return f"{turn}{_proposed(view)} {question}, with a word to {_partners(view)}."
    return question


def _statement(ask: Ask, view: SeatView) -> str:
    """Return the number of the statement to assess, and whose it is; its text stands above."""
    if ask.about is None:
        raise ValueError(f"{ask.id}: a request to assess a statement names none")
    statement = view.statements[ask.about]
    by = "" if statement.speaker == view.me else f" by {statement.speaker}"
    if statement.phase == "debate":
        return f"[{ask.about}]{by}."
    target = view.tallies.get(statement.round, {}).get(statement.speaker)
    vote = "abstaining" if target is None else f"a vote for {target}"
    return f"[{ask.about}]{by}, the reason for {vote}."


def _proposed(view: SeatView) -> str:
    proposals = view.proposals()
    if not proposals:
        return ""
    latest = ", ".join(
        f"{'you' if wolf == view.me else wolf} for {proposal.target or 'nobody'}"
        for wolf, proposal in sorted(proposals.items())
    )
    return f" Latest proposals: {latest}."


def _partners(view: SeatView) -> str:
    return ", ".join(name for name in view.partners if name not in view.dead) or "your partners"


_EMPTY_REPLY: Final = "(no text)"
"""What stands for a reply without any; servers refuse empty messages."""

_NOTE_KEPT: Final = 1_000
_SPOKEN: Final[frozenset[Kind]] = frozenset({"speak", "vote"})


class PromptWriter:
    """Writes the prompts of one seat in one game.

    Args:
        style: how.
    """

    def __init__(self, style: Style = STANDARD) -> None:
        self._style = style
        self._story = Story(style)
        self._reported: set[str] = set()

    def anew(self) -> PromptWriter:
        """Return a writer that begins the story anew, for another view, and reports no segment that this one did."""
        writer = PromptWriter(self._style)
        writer._reported = self._reported
        writer._story = Story(self._style, self._story.reported)
        return writer

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
        fresh = story.update(view)
        form = _form(asks, view, with_label=with_label)
        skin = self._style.skin(view.names)
        question = question_text(asks, view, with_label=with_label, words=self._style.words)
        # what is of this moment, and the form, which all questions of a kind share
        texts = (skin.to_theme(question), form.words)
        heads = [self._once(PromptText(role="user", text=text), fresh) for text in texts]
        return Prompt(
            messages=(
                Message("system", story.system, prefix_length=len(story.system)),
                Message("user", f"{story.text}{''.join(texts)}", prefix_length=len(story.text)),
            ),
            heads=(story.head, *heads),
            fresh=tuple(fresh),
            form=form.form,
            skin=skin,
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
        fault = unmarked(one_line(note))[:_NOTE_KEPT].rstrip(". ") or "it cannot be read"
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
            skin=prompt.skin,
            chain=prompt.chain,
        )

    def _once(self, text: PromptText, fresh: list[PromptText]) -> str:
        """Return the name of a chain of one segment, and add it to `fresh` if no earlier prompt held it."""
        name = segment_hash(None, text.role, text.text)
        if name not in self._reported:
            self._reported.add(name)
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


def _form(asks: Sequence[Ask], view: SeatView, *, with_label: bool) -> WordedForm:
    parts = [FormPart(ask.kind, ask.about, _legal(ask, view)) for ask in asks]
    if with_label:
        parts.append(FormPart("assess_own"))
    together = len(parts) > 1
    if not together:
        # the form does not depend on the number of the statement: one for all
        parts = [parts[0]._replace(about=None)]
    rules = view.config
    bounds = Bounds(rules.bid_max, rules.max_statement)
    return worded_form(tuple(parts), bounds, reasons=rules.vote_reasons, together=together)


def _legal(ask: Ask, view: SeatView) -> tuple[str | None, ...] | None:
    if ask.kind not in _TARGETS:
        return None
    return ask.legal or (*view.others, None)
