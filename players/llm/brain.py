"""`ModelBrain`: a language model in a seat. Prompt, call, reading ladder, one re-ask, then the conservative default."""

from __future__ import annotations

import logging
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from players.llm.decisions import why_no_text
from players.llm.gateway import Gateway, Job
from players.llm.prompts.forms import descriptions, part_name
from players.llm.prompts.style import style_of
from players.llm.prompts.writer import Prompt, PromptWriter
from players.llm.provider import COUNTED, Completion, ModelQuestion
from players.llm.settings import Model
from wolfbus.agent import NO_ANSWER, Agent, Answer
from wolfbus.agent.answer import answer_in_text, labelled
from wolfbus.agent.outbox import Replies
from wolfbus.files.printable import error_in_words
from wolfbus.game.config import GameConfig, rules_text
from wolfbus.game.vocabulary import Fault, Kind
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.calls import REPLY_KEPT, Call
from wolfbus.messages.content import published_words
from wolfbus.messages.requests import Ask
from wolfbus.reading import Question, Read, read, read_parts
from wolfbus.reading.copies import is_copied
from wolfbus.reading.ladder import is_error_message
from wolfbus.reading.text import without_thinking

_RAW_KEPT = 200_000
_REPORTED: Final = (
    "url",
    "served",
    "cassette",
    "charged",
    "attempts",
    "cost_usd",
    "finish",
    "error",
    *COUNTED,
)
"""Fields of a completion that the record holds as they stand."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one call is to answer, and what of the view is needed to read its reply.

    Attributes:
        asks: the requests; one but for the compact protocol.
        labels: whether the reply also labels the statement, or the vote's reason, that it makes.
        prompt: what is sent.
        seat: who is asked.
        names: all players.
        config: the rules.
        deadline: monotonic time by which the reply must be there.
        hurried: whether that is sooner than usual.
        draw: the seed of its seat: games of other seeds, and forks, draw their replies anew.
    """

    asks: tuple[Ask, ...]
    labels: bool
    prompt: Prompt
    seat: str
    names: tuple[str, ...]
    config: GameConfig
    deadline: float
    hurried: bool = False
    draw: str = ""

    @property
    def answer_count(self) -> int:
        """How many answers the reply holds."""
        return len(self.asks) + self.labels

    def read(self, completion: Completion) -> dict[str, Answer]:
        """Return the answer to each request, and the label if there is one, by the names of `part_name`.

        Nothing is returned for a call whose time ran out under way: the moderator sees that by itself. Time spent
        waiting for one's own limits is no sign of a silent model.
        """
        names = [part_name(ask.kind, ask.about) for ask in self.asks]
        if completion.timed_out and (completion.attempts or completion.cassette):
            return {}
        if completion.error is not None:
            return dict.fromkeys(names, Answer(None, fault=completion.fault, note=completion.error[:300]))
        text = completion.text or ""
        # read and recorded in the game's words; the record of the call has the model's own
        plain_text = self.prompt.skin.from_theme(text)
        if (reason := why_no_text(completion)) is not None:
            thought = "\n\n".join(without_thinking(plain_text).thoughts) or None
            raw = (text or completion.refusal or "")[:_RAW_KEPT] or None
            return dict.fromkeys(names, Answer(None, thought, raw=raw, fault=reason.fault, note=reason.line))
        # the record of the call has the text, too
        parts = self._read_parts(plain_text)
        answers = {name: answer_in_text(text, part, _RAW_KEPT) for name, part in parts.items()}
        return {name: self._marked_if_copied(answer) for name, answer in answers.items()}

    def _marked_if_copied(self, answer: Answer) -> Answer:
        """Return an answer, marked where all that it says to others was taken from the prompt."""
        words = self.prompt.skin.to_theme(published_words(answer.content))
        if not words or not is_copied(words, "\n".join(message.content for message in self.prompt.messages)):
            return answer
        return replace(answer, reading="copied")

    def _read_parts(self, text: str) -> dict[str, Read]:
        questions = {part_name(ask.kind, ask.about): self._question(ask.kind, ask.legal) for ask in self.asks}
        if self.labels:
            questions["label"] = self._question("assess_own", None)
        elif len(self.asks) == 1:
            return {name: read(text, question) for name, question in questions.items()}
        return read_parts(text, questions)

    def _question(self, kind: Kind, legal: tuple[str | None, ...] | None) -> Question:
        rules = self.config
        return Question(kind, legal, self.names, rules.bid_max, rules.max_statement, descriptions(rules.max_statement))


def read_files() -> None:
    """Have read what prompts and readings of replies take from files of ours.

    A file that cannot be opened later, as where this process may open no more, would cost replies that are paid.
    """
    rules_text(GameConfig(), technical=False)
    is_error_message("")


def call_record(turn: Turn, model: Model, prompt: Prompt, completion: Completion, *, reask: bool) -> Call:
    """Return what the record holds of a call."""
    text = completion.text or completion.refusal
    cut = text is not None and len(text) > REPLY_KEPT
    return Call(
        requests=tuple(ask.id.split("/", 1)[1] for ask in turn.asks),
        seat=turn.seat,
        kind=turn.asks[0].kind,
        reask=reask,
        labels=turn.labels,
        model=model.model,
        failures=completion.failures,
        parameters=dict(completion.parameters),
        prompt=prompt.heads,
        queue_s=round(completion.queue_s, 3),
        latency_s=round(completion.latency_s, 3),
        reasoning=completion.thought[:REPLY_KEPT] if completion.thought is not None else None,
        reply=None if text is None else text[:REPLY_KEPT],
        reply_length=len(text) if text is not None and cut else None,
        **{name: getattr(completion, name) for name in _REPORTED},
    )


logger = logging.getLogger(__name__)

_COPIED: Final = "the words of the statement stand in the prompt already; say something of your own"

MARGIN_S: Final = 0.25
"""A call is given up so long before its request's deadline (or a twentieth of the time, if that is less): its report
should reach the record before the moderator goes on."""

_MOST_PARTS: Final = 8
"""So many times the bound on a reply's length are allowed for a reply with as many parts, or more."""

_FINAL: Final[frozenset[Fault | None]] = frozenset({"refused", "cut"})
"""Faults of which nobody is asked again: a refusal is a result, and what was cut off had twice the room already."""

_TOGETHER: Final[frozenset[Kind]] = frozenset({"bid", "assess_other"})
"""Kinds that the compact protocol asks for in one call."""


class ModelBrain(Agent):
    """Answers for one seat with a language model.

    The requests of one delivery go out in their order, all at once, each with a prompt that is written before `start`
    returns. What cannot be read is asked for once more, with the fault named.

    Args:
        model: whom to ask, and how.
        gateway: the process's way to models.
    """

    def __init__(self, model: Model, gateway: Gateway) -> None:
        self._model = model
        self._gateway = gateway
        self._writer = PromptWriter(style_of(model))
        self._jobs: list[Job] = []
        self._labels: dict[str, Answer] = {}
        self._late_until = 0.0

    def start(self, asks: tuple[Ask, ...], view: SeatView, outlet: Replies, /) -> None:
        """Write the prompts and send them off."""
        compact = view.config.protocol == "compact"
        calls: list[Coroutine[Any, Any, None]] = []
        for group in _groups(asks, compact=compact):
            if (label := self._pop_label(group[0], view)) is not None:
                outlet.answer(group[0], label)
            elif (turn := self._turn(group, view, outlet)) is not None:
                calls.append(self._answer(turn, outlet))
        self._jobs = [job for job in self._jobs if not job.done()]
        if calls:
            self._jobs += self._gateway.start(calls)

    def close(self) -> None:
        """Cancel every call under way."""
        for job in self._jobs:
            job.cancel()

    def _turn(self, group: tuple[Ask, ...], view: SeatView, outlet: Replies) -> Turn | None:
        """Write the prompt of one call; None if that failed, and its requests are answered so."""
        labels = view.config.label_asked != "after" and (
            group[0].kind == "speak" or (group[0].kind == "vote" and view.config.vote_reasons)
        )
        if view.config.assess == "after" and group[0].about is not None:
            # what it knew then is no beginning of what it knows now
            self._writer = self._writer.anew()
        if labels:
            # a statement is labelled before the next one is made: what is left belongs to one that came too late
            self._labels.clear()
        try:
            prompt = self._writer.write(group, view, with_label=labels)
        except Exception as error:
            logger.exception("%s: a prompt could not be written", view.me)
            # a new one writes, and reports, from the beginning
            self._writer = PromptWriter(style_of(self._model))
            for ask in group:
                outlet.answer(ask, Answer(None, fault="failed", note=f"no prompt: {error_in_words(error)}"[:300]))
            return None
        outlet.segments(prompt.fresh)
        deadline, hurried = self._deadline(group, view)
        return Turn(group, labels, prompt, view.me, view.names, view.config, deadline, hurried, view.brain_seed)

    def _deadline(self, group: Sequence[Ask], view: SeatView) -> tuple[float, bool]:
        """Return until when a reply is worth waiting for, in monotonic time, and whether that is less than usual."""
        now = time.monotonic()
        seconds = min(ask.deadline_s for ask in group)
        usual = min(view.config.deadlines.of(ask.kind) for ask in group)
        if seconds < usual and now >= self._late_until:
            # an absent seat has only a grace. One call at a time may take as long as ever: its answer comes too late,
            # and tells the moderator that the seat is alive
            seconds = usual
            self._late_until = now + usual
        return now + seconds - min(MARGIN_S, seconds / 20), seconds < usual

    def _pop_label(self, ask: Ask, view: SeatView) -> Answer | None:
        """Return the label that came with a statement under the compact protocol, if there is one."""
        if ask.kind != "assess_own" or ask.about is None or not self._labels:
            return None
        return self._labels.pop(view.statements[ask.about].text.strip(), None)

    async def _answer(self, turn: Turn, outlet: Replies) -> None:
        try:
            await self._ask_and_reask(turn, outlet)
        except Exception as error:
            logger.exception("%s: a call failed inside the brain", turn.seat)
            note = f"the brain failed: {type(error).__name__}"
            for ask in turn.asks:
                outlet.answer(ask, Answer(None, fault="failed", note=note))

    async def _ask_and_reask(self, turn: Turn, outlet: Replies) -> None:
        completion, answers = await self._ask(turn, turn.prompt, outlet)
        if self._gateway.has_ended(completion):
            self._drop(turn, outlet)
            return
        unread = self._submit(turn, answers, outlet)
        if not unread:
            return
        faults = {answers[name].fault for name in unread}
        final = faults <= _FINAL and not completion.repeats
        if completion.error is None and not final and time.monotonic() < turn.deadline:
            reply = completion.text or completion.refusal or ""
            note = "; ".join(dict.fromkeys(_wrong_with(answers[name]) for name in unread))
            if completion.repeats:
                note = f"it repeats itself until it is cut off; be brief; {note}"
            prompt = self._writer.reask(turn.prompt, reply, note)
            outlet.segments(prompt.fresh)
            completion, second = await self._ask(turn, prompt, outlet, reask=True)
            if self._gateway.has_ended(completion):
                self._drop(turn, outlet)
                return
            if completion.error is None and not completion.timed_out:
                answers = _after_reask(answers, second, unread)
        self._submit(turn, answers, outlet, unread)

    @staticmethod
    def _drop(turn: Turn, outlet: Replies) -> None:
        """Leave requests open: the game is broken off, and whoever goes on with it asks again."""
        for ask in turn.asks:
            outlet.drop(ask.id)

    async def _ask(
        self, turn: Turn, prompt: Prompt, outlet: Replies, *, reask: bool = False
    ) -> tuple[Completion, dict[str, Answer]]:
        """Make one call; returns what came of it, and what that was read as."""
        first = turn.asks[0]
        model = self._model
        if turn.answer_count > 1:
            # the bound is meant for one answer
            model = model.model_copy(update={"max_tokens": model.max_tokens * min(turn.answer_count, _MOST_PARTS)})
        question = ModelQuestion(
            model,
            first.kind,
            first.id,
            prompt.messages,
            prompt.form,
            turn.deadline,
            turn.hurried,
            chain=prompt.chain,
            draw=turn.draw,
        )
        completion = await self._gateway.complete(question)
        if completion.attempts or not self._gateway.has_ended(completion):
            outlet.called(call_record(turn, self._model, prompt, completion, reask=reask))
        answers = turn.read(completion)
        if completion.attempts or completion.cassette or not completion.timed_out:
            # one that only waited for our own limits says nothing of the model
            self._gateway.note_reading(question, completion, _why_unread(completion, answers))
        return completion, answers

    def _submit(
        self, turn: Turn, answers: Mapping[str, Answer], outlet: Replies, last: Sequence[str] = ()
    ) -> list[str]:
        """Submit the answers that could be read, and those in `last` even if they could not; returns the unread parts.

        At first all parts are looked at; with `last`, only those.
        """
        unread = []
        for ask in turn.asks:
            name = part_name(ask.kind, ask.about)
            if last and name not in last:
                continue
            answer = answers.get(name)
            if answer is None:
                continue
            if not last and (answer.content is None or answer.reading == "copied"):
                unread.append(name)
                continue
            if turn.labels and turn.config.labels_words:
                answer = labelled(answer, answers.get("label", NO_ANSWER))
            elif turn.labels:
                self._keep_label(answer, answers.get("label"))
            outlet.answer(ask, answer)
        return unread

    def _keep_label(self, answer: Answer, label: Answer | None) -> None:
        """Keep the label of a statement until it is asked for; one that cannot be read is asked for anew."""
        text = published_words(answer.content)
        if label is not None and label.content is not None and text:
            self._labels[text.strip()] = label


def _wrong_with(answer: Answer) -> str:
    """Return why an answer is asked for again."""
    return _COPIED if answer.reading == "copied" else answer.note or "unusable"


def _after_reask(first: Mapping[str, Answer], second: Mapping[str, Answer], unread: Sequence[str]) -> dict[str, Answer]:
    """Return the answers that count: of the parts that were asked for again the second, but for a statement that was
    copied where none came in its place.
    """
    better = {
        name: answer
        for name, answer in second.items()
        if name in unread and (answer.content is not None or first[name].content is None)
    }
    chosen = {**first, **better}
    if better:
        # a label goes with the words that it came with
        chosen.pop("label", None)
        better |= {name: answer for name, answer in second.items() if name == "label"}
    for name, answer in better.items():
        is_own = answer.content is not None and answer.reading != "copied"
        chosen[name] = replace(answer, reading="reasked") if is_own else answer
    return chosen


def _why_unread(completion: Completion, answers: Mapping[str, Answer]) -> str | None:
    """Return why nothing of a reply can be used; None if something can, or if that is a result."""
    if completion.fault == "filtered" or any(
        answer.content is not None or answer.fault == "refused" for answer in answers.values()
    ):
        # refusals and filters are results: the model is there
        return None
    notes = (answer.note for answer in answers.values())
    return completion.error or next((note for note in notes if note), "no reply in time")


def _groups(asks: tuple[Ask, ...], *, compact: bool) -> list[tuple[Ask, ...]]:
    """Return the requests that go into one call each, in order."""
    if not compact:
        return [(ask,) for ask in asks]
    together = tuple(ask for ask in asks if ask.kind in _TOGETHER)
    alone: list[tuple[Ask, ...]] = [(ask,) for ask in asks if ask.kind not in _TOGETHER]
    return [together, *alone] if together else alone
