"""`Turn`: one call to a model as its seat sees it: what it answers, how its reply is read, what is reported of it."""

from __future__ import annotations

from dataclasses import dataclass

from players.llm.call import Completion
from players.llm.prompts.forms import part_name
from players.llm.prompts.prompt import Prompt
from players.llm.settings import Model
from wolfbus.agent.answer import Answer
from wolfbus.messages.calls import REPLY_KEPT, Call
from wolfbus.messages.requests import Ask
from wolfbus.reading import Question, Read, read, read_parts

_RAW_KEPT = 200_000


@dataclass(frozen=True, slots=True)
class Turn:
    """What one call is to answer, and what of the view is needed to read its reply.

    Attributes:
        asks: the requests; one but for the compact protocol.
        labels: whether the reply also labels the statement, or the vote's reason, that it makes.
        prompt: what is sent.
        seat: who is asked.
        names: all players.
        bid_max: the highest bid.
        deadline: monotonic time by which the reply must be there.
        hurried: whether that is sooner than usual.
    """

    asks: tuple[Ask, ...]
    labels: bool
    prompt: Prompt
    seat: str
    names: tuple[str, ...]
    bid_max: int
    deadline: float
    hurried: bool = False

    @property
    def parts(self) -> int:
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
            return dict.fromkeys(names, Answer(None, fault="failed", note=completion.error[:300]))
        if completion.refusal is not None and not (completion.text or "").strip():
            refused = Answer(None, raw=completion.refusal, fault="refused", note="the model refused")
            return dict.fromkeys(names, refused)
        text = completion.text or ""
        return {name: _answer(part, text) for name, part in self._parts(text).items()}

    def _parts(self, text: str) -> dict[str, Read]:
        questions = {
            part_name(ask.kind, ask.about): Question(ask.kind, ask.legal, self.names, self.bid_max) for ask in self.asks
        }
        if self.labels:
            questions["label"] = Question("assess_own", None, self.names, self.bid_max)
        elif len(self.asks) == 1:
            return {name: read(text, question) for name, question in questions.items()}
        return read_parts(text, questions)


def _answer(part: Read, text: str) -> Answer:
    if part.content is None:
        return Answer(None, part.thought, raw=text[:_RAW_KEPT], fault=part.fault, note=part.note)
    reading = part.reading or "clean"
    # the call's own report has the text, too; it stands beside the answer where reading it took liberties
    return Answer(part.content, part.thought, reading, raw=None if reading == "clean" else text[:_RAW_KEPT])


def report(turn: Turn, model: Model, prompt: Prompt, completion: Completion, *, reask: bool) -> Call:
    """Return what the record is told of a call."""
    text = completion.text or completion.refusal
    cut = text is not None and len(text) > REPLY_KEPT
    return Call(
        requests=tuple(ask.id.split("/", 1)[1] for ask in turn.asks),
        seat=turn.seat,
        kind=turn.asks[0].kind,
        reask=reask,
        labels=turn.labels,
        model=model.model,
        url=completion.url,
        served=completion.served,
        cassette=completion.cassette,
        failures=completion.failures[-32:],
        charged=completion.charged,
        parameters=dict(completion.parameters),
        prompt=prompt.heads,
        attempts=completion.attempts,
        queue_s=round(completion.queue_s, 3),
        latency_s=round(completion.latency_s, 3),
        prompt_tokens=completion.prompt_tokens,
        cached_tokens=completion.cached_tokens,
        completion_tokens=completion.completion_tokens,
        cost_usd=completion.cost_usd,
        finish=completion.finish,
        error=completion.error,
        reasoning=completion.thought[:REPLY_KEPT] if completion.thought is not None else None,
        reply=None if text is None else text[:REPLY_KEPT],
        reply_length=len(text) if text is not None and cut else None,
    )
