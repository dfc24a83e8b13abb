"""`ReportShortener`: writes what agents reported of their model calls so that a record says everything once.

Prompt text is numbered, and a text that stands there already is named by its number. A call names the call before with
which it shares its server's address and settings, and leaves out a reply that its answer, in the same step, gives again
character for character.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from wolfbus.canonical import canonical
from wolfbus.messages.calls import ChainAddition, ModelCall, PromptAddition, Segment, segment_hash
from wolfbus.messages.events import Answered, AnyAnswered, AnyEvent, Asked, Rejected
from wolfbus.record.prompts import RequestNames, style_of

Aside: TypeAlias = Rejected | Segment | PromptAddition | ModelCall
"""What stands in a record beside the game."""

_SHORT = 8
"""Characters up to which a text is no longer than a number that stands for it."""


class ReportShortener:
    """Keeps what one record says already, as far as later reports may refer to it."""

    def __init__(self) -> None:
        self._requests = RequestNames()
        self._numbers: dict[str, int] = {}
        self._first_with: dict[bytes, int] = {}
        self._count = 0
        self._settings: dict[bytes, int] = {}
        self._calls = 0
        # of a record that the game goes on from: names and texts by number, until the game goes on
        self._names: list[str] = []
        self._texts: list[str] = []

    def recall(self, event: AnyEvent) -> list[str]:
        """Take in the next event of the record that the game goes on from.

        Returns:
            Hashes of the segments that it adds.
        """
        if isinstance(event, Asked):
            self._requests.ask(event)
        elif isinstance(event, ModelCall):
            self._calls += 1
            if event.like is None:
                self._settings.setdefault(_settings_of(event), self._calls)
        elif isinstance(event, Segment):
            return [event.segment]
        elif isinstance(event, PromptAddition):
            before = len(self._names)
            for chain in event.chains:
                after = self._names[chain.after] if isinstance(chain.after, int) else chain.after
                for text in chain.texts:
                    words = self._texts[text] if isinstance(text, int) else text
                    after = segment_hash(after, chain.role, words)
                    self._names.append(after)
                    self._texts.append(words)
                    self._number(after, words)
            return self._names[before:]
        return []

    def shorten(
        self, aside: Sequence[Aside], step: Sequence[AnyEvent], kept: Iterable[Mapping[str, AnyAnswered]]
    ) -> tuple[list[Aside], list[Aside]]:
        """Return what is written of a step's reports, and what waits for a later step.

        Args:
            aside: what was reported, in order of arrival.
            step: events of the step, which follow it in the record.
            kept: answers that came, and that no step has joined: by batch, those of each seat. A call waits for its
                own, but for the end.
        """
        self._names, self._texts = [], []
        waiting: set[str | None] = set()
        if step[-1].type not in {"ended", "stopped"}:
            waiting = {self._requests.of(answer) for answers in kept for answer in answers.values()}
        answers = {self._requests.of(event): event for event in step if isinstance(event, Answered)}
        written: list[Aside] = []
        later: list[Aside] = []
        segments: list[Segment] = []
        for event in aside:
            if isinstance(event, Segment):
                if segments and _incarnation(segments[-1]) != _incarnation(event):
                    written.append(self._addition(segments))
                    segments = []
                segments.append(event)
            elif isinstance(event, ModelCall) and not waiting.isdisjoint(event.requests):
                later.append(event)
            else:
                if segments:
                    written.append(self._addition(segments))
                    segments = []
                written.append(event)
        if segments:
            written.append(self._addition(segments))
        written = [self._call(event, answers) if isinstance(event, ModelCall) else event for event in written]
        for asked in step:
            if isinstance(asked, Asked):
                self._requests.ask(asked)
        return written, later

    def _addition(self, segments: Sequence[Segment]) -> PromptAddition:
        chains: list[tuple[Segment, list[str | int]]] = []
        last = ""
        for segment in segments:
            if not chains or segment.after != last or segment.role != chains[-1][0].role:
                chains.append((segment, []))
            first = self._first_with.get(_digest(segment.text)) if len(segment.text) > _SHORT else None
            chains[-1][1].append(segment.text if first is None else first)
            self._number(segment.segment, segment.text)
            last = segment.segment
        return PromptAddition(
            chains=tuple(
                ChainAddition(after=self._name(first.after), role=first.role, texts=tuple(texts))
                for first, texts in chains
            ),
            source=segments[-1].source,
        )

    def _call(self, call: ModelCall, answers: Mapping[str | None, AnyAnswered]) -> ModelCall:
        self._calls += 1
        changes: dict[str, object] = {"prompt": tuple(self._numbers.get(str(name), name) for name in call.prompt)}
        like = self._settings.setdefault(_settings_of(call), self._calls)
        if like < self._calls:
            changes |= {"like": like, "url": None, "parameters": {}, "served": None}
        answer = answers.get(call.requests[0]) if len(call.requests) == 1 and not call.labels else None
        if answer is not None and call.reply is not None and call.reply_length is None:
            style = style_of(call.reply, answer)
            if style is not None:
                changes |= {"answered_as": style, "reply": None, "reply_length": len(call.reply)}
        return call.model_copy(update=changes)

    def _number(self, name: str, text: str) -> None:
        self._first_with.setdefault(_digest(text), self._count)
        self._numbers.setdefault(name, self._count)
        self._count += 1

    def _name(self, after: str | None) -> str | int | None:
        return None if after is None else self._numbers.get(after, after)


def _settings_of(call: ModelCall) -> bytes:
    return canonical([call.url, dict(call.parameters), call.served])


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _incarnation(event: Segment) -> str:
    """Return which process of which agent sent a segment, as far as its source tells."""
    return (event.source or "").partition("-")[0]
