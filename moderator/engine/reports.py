"""`Reports`: what agents report of their model calls, checked and turned into events of the record.

A report changes nothing in the game: it closes no request, and no seat is told of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from moderator.engine.lost_steps import LostSteps
from moderator.engine.questions import Questions
from moderator.engine.shortening import Aside, ReportShortener
from wolfbus.errors import MessageError
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import Call, ModelCall, Segment, segment_hash
from wolfbus.messages.codec import CALLED, SEGMENTS, pack, plain, validate
from wolfbus.messages.events import AnyAnswered, AnyEvent, Opened, Rejected

BYTES_PER_AGENT: Final = 256 * 1024 * 1024
"""Reports that a record keeps of one agent; a flood must not fill the disk."""

REPORTS: Final = frozenset({"segments", "called"})
"""Message types that are reports."""


class Reports:
    """Takes in the reports of one game.

    Args:
        opened: seats and their agents.
        questions: what the game has asked so far; the game's referee adds to it.
        lost: what may have been asked in steps that are lost.
    """

    def __init__(self, opened: Opened, questions: Questions, lost: LostSteps) -> None:
        self._questions = questions
        self._lost = lost
        self._game = opened.game
        self._agents = {seat.name: seat.agent for seat in opened.seats}
        self._shortener = ReportShortener()
        self._known: set[str] = set()
        self._bytes: Counter[str] = Counter()
        self._unclaimed: Counter[str] = Counter()

    def recall(self, event: AnyEvent) -> None:
        """Take in an event of the record that the game goes on from.

        Who sent prompt text, which does not say, is whoever reports the next call from the same incarnation.
        """
        self._known.update(self._shortener.recall(event))
        if event.type == "segment" or event.type == "prompt_text":
            self._unclaimed[(event.source or "").partition("-")[0]] += len(pack(plain(event)))
        elif event.type == "model_call":
            unclaimed = self._unclaimed.pop((event.source or "").partition("-")[0], 0)
            self._bytes[self._agents.get(event.seat, "")] += len(pack(plain(event))) + unclaimed

    def write(
        self, aside: Sequence[Aside], step: Sequence[AnyEvent], kept: Iterable[Mapping[SeatName, AnyAnswered]]
    ) -> tuple[list[Aside], list[Aside]]:
        """Return what is written of a step's reports, and what waits; see `ReportShortener.shorten`."""
        return self._shortener.shorten(aside, step, kept)

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
            return self._take(agent, value, size, source)
        except MessageError as error:
            return [Rejected(sender=agent, reason="unreadable", size=size, note=str(error)[:300], source=source)]

    def _take(
        self, agent: str, value: dict[str, Any], size: int, source: str | None
    ) -> list[Segment | ModelCall | Rejected]:
        if value["type"] == "segments":
            told = validate(SEGMENTS, value)
            seat, game = told.seat, told.game
        else:
            called = validate(CALLED, value)
            seat, game = called.call.seat, called.game
        if (refusal := self._refusal(agent, seat, game, size)) is not None:
            return [refusal.model_copy(update={"source": source})]
        if value["type"] == "called":
            if self._is_of_lost_steps(agent, called.call):
                return []
            self._check_requests(called.call)
            if unknown := next((name for name in called.call.prompt if name not in self._known), None):
                raise MessageError(f"call.prompt: segment {unknown[:12]}… was never sent")
            return [ModelCall(**dict(called.call), source=source)]
        events: list[Segment | ModelCall | Rejected] = []
        for place, piece in enumerate(told.texts):
            if piece.after is not None and piece.after not in self._known:
                # what came before it stands: others may refer to it already
                note = f"texts.{place}: it follows segment {piece.after[:12]}…, which was never sent"
                return [*events, Rejected(sender=agent, reason="unreadable", size=size, note=note, source=source)]
            name = segment_hash(piece.after, piece.role, piece.text)
            if name not in self._known:
                self._known.add(name)
                events.append(Segment(segment=name, **plain(piece), source=source))
        return events

    def _is_of_lost_steps(self, agent: str, call: Call) -> bool:
        """Return whether a call answered nothing but what may have been asked in steps that are lost."""
        names = [f"{self._game}/{request}" for request in call.requests]
        return all(self._questions.seat_asked(name) is None and self._lost.may_hold(agent, name) for name in names)

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
