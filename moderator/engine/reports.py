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
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from moderator.engine.questions import LostSteps, Questions
from wolfbus.errors import MessageError
from wolfbus.files.canonical import canonical
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import Call, ChainAddition, ModelCall, PromptAddition, PromptText, segment_hash
from wolfbus.messages.codec import CALLED, SEGMENTS, pack, plain, validate
from wolfbus.messages.events import Answered, AnyAnswered, AnyEvent, Asked, Opened, Rejected
from wolfbus.record.prompts import RequestNames, style_of


@dataclass(frozen=True, slots=True)
class ReportedText:
    """A piece of prompt text that was reported, and that no record has yet.

    Attributes:
        name: what names it in reports; see `segment_hash`.
        piece: the piece.
        source: id of the message that brought it, on its sender's stream.
    """

    name: str
    piece: PromptText
    source: str | None


@dataclass(frozen=True, slots=True)
class ReportedCall:
    """A model call that was reported, and that no record has yet.

    Attributes:
        call: what was reported.
        source: id of the message that reported it, on its sender's stream.
    """

    call: Call
    source: str | None


Reported: TypeAlias = Rejected | ReportedText | ReportedCall
"""What will stand in a record beside the game."""

SideEvent: TypeAlias = Rejected | PromptAddition | ModelCall
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
        elif isinstance(event, PromptAddition):
            before = len(self._names)
            for chain in event.chains:
                after = None if chain.after is None else self._names[chain.after]
                for text in chain.texts:
                    words = self._texts[text] if isinstance(text, int) else text
                    after = segment_hash(after, chain.role, words)
                    self._names.append(after)
                    self._texts.append(words)
                    self._number(after, words)
            return self._names[before:]
        return []

    def shorten(
        self, reported: Sequence[Reported], step: Sequence[AnyEvent], unjoined: Iterable[Mapping[str, AnyAnswered]]
    ) -> tuple[list[SideEvent], list[Reported]]:
        """Return what is written of a step's reports, and what waits for a later step.

        Args:
            reported: what was reported, in order of arrival.
            step: events of the step, which follow it in the record.
            unjoined: answers that came, and that no step has joined: by batch, those of each seat. A call waits for its
                own, but for the end.
        """
        if not reported:
            self._note_requests(step)
            return [], []
        self._names, self._texts = [], []
        waiting: set[str | None] = set()
        if step[-1].type not in {"ended", "stopped"}:
            waiting = {self._requests.of(answer) for answers in unjoined for answer in answers.values()}
        answers = {self._requests.of(event): event for event in step if isinstance(event, Answered)}
        written: list[SideEvent] = []
        later: list[Reported] = []
        texts: list[ReportedText] = []
        for report in reported:
            if isinstance(report, ReportedText):
                if texts and _incarnation(texts[-1]) != _incarnation(report):
                    written.append(self._addition(texts))
                    texts = []
                texts.append(report)
            elif isinstance(report, ReportedCall) and not waiting.isdisjoint(report.call.requests):
                later.append(report)
            else:
                if texts:
                    written.append(self._addition(texts))
                    texts = []
                written.append(self._shortened(report, answers) if isinstance(report, ReportedCall) else report)
        if texts:
            written.append(self._addition(texts))
        self._note_requests(step)
        return written, later

    def _note_requests(self, step: Sequence[AnyEvent]) -> None:
        for event in step:
            if event.type == "asked":
                self._requests.ask(event)

    def _addition(self, reported: Sequence[ReportedText]) -> PromptAddition:
        chains: list[tuple[PromptText, list[str | int]]] = []
        last = ""
        for report in reported:
            piece = report.piece
            if not chains or piece.after != last or piece.role != chains[-1][0].role:
                chains.append((piece, []))
            first = self._first_with.get(_digest(piece.text)) if len(piece.text) > _SHORT else None
            chains[-1][1].append(piece.text if first is None else first)
            self._number(report.name, piece.text)
            last = report.name
        return PromptAddition(
            chains=tuple(
                ChainAddition(
                    after=None if first.after is None else self._numbers[first.after],
                    role=first.role,
                    texts=tuple(texts),
                )
                for first, texts in chains
            ),
            source=reported[-1].source,
        )

    def _shortened(self, report: ReportedCall, answers: Mapping[str | None, AnyAnswered]) -> ModelCall:
        self._calls += 1
        call = report.call
        changes: dict[str, Any] = {"prompt": tuple(self._numbers[name] for name in call.prompt)}
        like = self._settings.setdefault(_settings_of(call), self._calls)
        if like < self._calls:
            changes |= {"like": like, "url": None, "parameters": {}, "served": None}
        answer = answers.get(call.requests[0]) if len(call.requests) == 1 and not call.labels else None
        if answer is not None and call.reply is not None and call.reply_length is None:
            style = style_of(call.reply, answer)
            if style is not None:
                changes |= {"answered_as": style, "reply": None, "reply_length": len(call.reply)}
        return ModelCall(**{**dict(call), **changes}, source=report.source)

    def _number(self, name: str, text: str) -> None:
        self._first_with.setdefault(_digest(text), self._count)
        self._numbers.setdefault(name, self._count)
        self._count += 1


def _settings_of(call: Call) -> bytes:
    return canonical([call.url, dict(call.parameters), call.served])


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _incarnation(report: ReportedText | PromptAddition | ModelCall) -> str:
    """Return which process of which agent sent a report, as far as its source tells."""
    return (report.source or "").partition("-")[0]


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
        if event.type == "prompt_text":
            self._unclaimed[_incarnation(event)] += len(pack(plain(event)))
        elif event.type == "model_call":
            unclaimed = self._unclaimed.pop(_incarnation(event), 0)
            self._bytes[self._agents.get(event.seat, "")] += len(pack(plain(event))) + unclaimed

    def receive(self, agent: str, value: dict[str, Any], size: int, source: str | None) -> list[Reported]:
        """Return what a report brings: new pieces of prompt text, or a call; or why it is rejected.

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

    def _read(self, agent: str, value: dict[str, Any], size: int, source: str | None) -> list[Reported]:
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
            return [ReportedCall(called.call, source)]
        new: list[Reported] = []
        for place, piece in enumerate(report.texts):
            if piece.after is not None and piece.after not in self._segments:
                # what came before it stands: others may refer to it already
                note = f"texts.{place}: it follows segment {piece.after[:12]}…, which was never sent"
                return [*new, Rejected(sender=agent, reason="unreadable", size=size, note=note, source=source)]
            name = segment_hash(piece.after, piece.role, piece.text)
            if name not in self._segments:
                self._segments.add(name)
                new.append(ReportedText(name, piece, source))
        return new

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
