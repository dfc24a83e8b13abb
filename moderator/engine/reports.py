"""`Reports`: what agents report of their model calls, checked, shortened and turned into events of the record.

A report changes nothing in the game: it closes no request, and no seat is told of it. In the record everything is said
once: prompt text is numbered, and a text that stands there already is named by its number. A call names the call before
with which it shares its server's address and settings, and leaves out a reply that its answer, in the same step, gives
again character for character.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from moderator.engine.questions import LostSteps, Questions
from wolfbus.errors import MessageError
from wolfbus.files.canonical import canonical
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import Call, ChainAddition, ModelCall, PromptAddition, Segment, segment_hash
from wolfbus.messages.codec import CALLED, SEGMENTS, pack, plain, validate
from wolfbus.messages.events import Answered, AnyAnswered, AnyEvent, Asked, Opened, Rejected
from wolfbus.record.prompts import RequestNames, style_of

SideEvent: TypeAlias = Rejected | Segment | PromptAddition | ModelCall
"""An event that stands in a record beside the game."""

_SHORT = 8
"""Characters up to which a text is no longer than a number that stands for it."""

BYTES_PER_AGENT: Final = 256 * 1024 * 1024
"""Reports that a record keeps of one agent; a flood must not fill the disk."""

REPORTS: Final = frozenset({"segments", "called"})
"""Message types that are reports."""


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
        """Process the next event of the record that the game goes on from.

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
        self, side_events: Sequence[SideEvent], step: Sequence[AnyEvent], unjoined: Iterable[Mapping[str, AnyAnswered]]
    ) -> tuple[list[SideEvent], list[SideEvent]]:
        """Return what is written of a step's reports, and what waits for a later step.

        Args:
            side_events: what was reported, in order of arrival.
            step: events of the step, which follow it in the record.
            unjoined: answers that came, and that no step has joined: by batch, those of each seat. A call waits for its
                own, but for the end.
        """
        if not side_events:
            self._note_requests(step)
            return [], []
        self._names, self._texts = [], []
        waiting: set[str | None] = set()
        if step[-1].type not in {"ended", "stopped"}:
            waiting = {self._requests.of(answer) for answers in unjoined for answer in answers.values()}
        answers = {self._requests.of(event): event for event in step if isinstance(event, Answered)}
        written: list[SideEvent] = []
        later: list[SideEvent] = []
        segments: list[Segment] = []
        for event in side_events:
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
        written = [self._shorten_call(event, answers) if isinstance(event, ModelCall) else event for event in written]
        self._note_requests(step)
        return written, later

    def _note_requests(self, step: Sequence[AnyEvent]) -> None:
        for event in step:
            if event.type == "asked":
                self._requests.ask(event)

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

    def _shorten_call(self, call: ModelCall, answers: Mapping[str | None, AnyAnswered]) -> ModelCall:
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


def _incarnation(event: Segment | PromptAddition | ModelCall) -> str:
    """Return which process of which agent sent a report, as far as its source tells."""
    return (event.source or "").partition("-")[0]


class Reports:
    """Takes in the reports of one game.

    Args:
        opened: seats and their agents.
        questions: what the game has asked so far; the game's referee adds to it.
        lost: what may have been asked in steps that are lost.

    Attributes:
        shortener: says how the events that they make are written.
    """

    def __init__(self, opened: Opened, questions: Questions, lost: LostSteps) -> None:
        self._questions = questions
        self._lost = lost
        self._game = opened.game
        self._agents = {seat.name: seat.agent for seat in opened.seats}
        self.shortener = ReportShortener()
        self._segments: set[str] = set()
        self._bytes: Counter[str] = Counter()
        self._unclaimed: Counter[str] = Counter()

    def recall(self, event: AnyEvent) -> None:
        """Process an event of the record that the game goes on from.

        Who sent prompt text, which does not say, is whoever reports the next call from the same incarnation.
        """
        self._segments.update(self.shortener.recall(event))
        if event.type == "segment" or event.type == "prompt_text":
            self._unclaimed[_incarnation(event)] += len(pack(plain(event)))
        elif event.type == "model_call":
            unclaimed = self._unclaimed.pop(_incarnation(event), 0)
            self._bytes[self._agents.get(event.seat, "")] += len(pack(plain(event))) + unclaimed

    def receive(
        self, agent: str, value: dict[str, Any], size: int, source: str | None
    ) -> list[Segment | ModelCall | Rejected]:
        """Return the events that a report makes: new segments, or a call; or why it is rejected.

        Args:
            agent: whose stream it stood on.
            value: the message, of a type in `REPORTS`.
            size: its bytes.
            source: its id on that stream.
        """
        try:
            return self._read(agent, value, size, source)
        except MessageError as error:
            return [Rejected(sender=agent, reason="unreadable", size=size, note=str(error)[:300], source=source)]

    def _read(
        self, agent: str, value: dict[str, Any], size: int, source: str | None
    ) -> list[Segment | ModelCall | Rejected]:
        if value["type"] == "segments":
            report = validate(SEGMENTS, value)
            seat, game = report.seat, report.game
        else:
            called = validate(CALLED, value)
            seat, game = called.call.seat, called.game
        if (refusal := self._refusal(agent, seat, game, size)) is not None:
            return [refusal.model_copy(update={"source": source})]
        if value["type"] == "called":
            if self._is_of_lost_steps(agent, called.call):
                return []
            self._check_requests(called.call)
            if unknown := next((name for name in called.call.prompt if name not in self._segments), None):
                raise MessageError(f"call.prompt: segment {unknown[:12]}… was never sent")
            return [ModelCall(**dict(called.call), source=source)]
        events: list[Segment | ModelCall | Rejected] = []
        for place, piece in enumerate(report.texts):
            if piece.after is not None and piece.after not in self._segments:
                # what came before it stands: others may refer to it already
                note = f"texts.{place}: it follows segment {piece.after[:12]}…, which was never sent"
                return [*events, Rejected(sender=agent, reason="unreadable", size=size, note=note, source=source)]
            name = segment_hash(piece.after, piece.role, piece.text)
            if name not in self._segments:
                self._segments.add(name)
                events.append(Segment(segment=name, **plain(piece), source=source))
        return events

    def _is_of_lost_steps(self, agent: str, call: Call) -> bool:
        """Return whether a call answered nothing but what may have been asked in steps that are lost."""
        ids = [f"{self._game}/{request}" for request in call.requests]
        return all(self._questions.seat_asked(id_) is None and self._lost.may_have_asked(agent, id_) for id_ in ids)

    def _check_requests(self, call: Call) -> None:
        """Raise MessageError unless the call answers requests that were made to its seat, first one of its kind."""
        for place, request in enumerate(call.requests):
            if self._questions.seat_asked(f"{self._game}/{request}") != call.seat:
                raise MessageError(f"call.requests.{place}: {call.seat!r:.60} was never asked {request!r:.120}")
        if call.requests[0].split("/")[3] != call.kind:
            raise MessageError(f"call.kind: {call.kind} is not the kind of {call.requests[0]!r:.120}")

    def _refusal(self, agent: str, seat: SeatName, game: str, size: int) -> Rejected | None:
        if self._agents.get(seat) != agent or game != self._game:
            note = f"a report for {seat!r:.60} in game {game!r:.80}, which this agent does not play"
            return Rejected(sender=agent, reason="sender", size=size, note=note)
        self._bytes[agent] += size
        if self._bytes[agent] > BYTES_PER_AGENT:
            note = f"more than {BYTES_PER_AGENT} bytes of reports from one agent"
            return Rejected(sender=agent, reason="oversize", size=size, note=note)
        return None
