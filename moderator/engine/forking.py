"""Forks: a record up to one of its statements, then another statement or the same in its place, from which the game is
played on.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from moderator.engine.reexecution import SIDE_EVENTS, Verifier
from moderator.engine.referee import Referee
from wolfbus.errors import ConfigError, RecordError
from wolfbus.game.draws import fork_seed
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Label, Speech
from wolfbus.messages.defaults import SILENCED
from wolfbus.messages.events import (
    AnsweredAssessOwn,
    AnsweredSpeak,
    AnyAnswered,
    AnyEvent,
    Asked,
    Asking,
    Fork,
    Opened,
    Seat,
    Statement,
)
from wolfbus.messages.requests import Ask, Private, Public
from wolfbus.record.line import Recorded, seal


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """A statement of a debate, and the game that stood before it.

    Attributes:
        opened: the parent's opening event.
        before: the parent's events up to the request for the statement, without those beside the game.
        answers: what was recorded in the step in which it was made: judgements of the statement before, where these
            are joined with it, and `answer`.
        answer: what its speaker answered.
        event: number of that answer in the parent's record.
        head: hash of that event there.
        time: of that event, in seconds since the opening.
        statement: the statement.
        label: its speaker's own label; None where none counts.
    """

    opened: Opened
    before: tuple[Recorded, ...]
    answers: tuple[AnyAnswered, ...]
    answer: AnsweredSpeak
    event: int
    head: str
    time: float
    statement: Statement
    label: Label | None

    def opening(self, fork: Fork, game: str, seats: tuple[Seat, ...] | None = None) -> Opened:
        """Return the opening event of a fork, whose clock goes on where the parent's stood.

        Args:
            fork: what it is.
            game: its id.
            seats: who plays, if that is told anew; the parent's seats unless given.
        """
        started = round(time.time() - self.time, 3)
        others = {"game": game, "started": started, "fork": fork, "seats": seats or self.opened.seats}
        return self.opened.model_copy(update=others)

    def fork(self, arm: str, k: int, tries: int = 1) -> Fork:
        """Return what a fork at this statement says of itself; see `Fork` for the arguments."""
        opened = self.opened
        return Fork(
            parent=opened.game,
            event=self.event,
            head=self.head,
            statement=self.statement.statement,
            seat=self.statement.speaker,
            round=self.statement.round,
            kind=None if self.label is None else self.label.kind,
            batch=self.answer.batch,
            arm=arm,
            k=k,
            seed=fork_seed(opened.seed, opened.game, self.event, k),
            tries=tries,
        )

    def record(self, opened: Opened, speech: Speech | None) -> list[Recorded]:
        """Return the record of a fork up to the end of the step in which its statement is made.

        Thoughts and raw texts of whoever made the statement are in no fork, whatever its arm: the speaker's context
        holds the words alone.

        Args:
            opened: the fork's opening event.
            speech: what the speaker says; None for silence.

        Raises:
            RecordError: the parent's record is not what the rules give.
        """
        spoken = AnsweredSpeak(batch=self.answer.batch, seat=self.answer.seat, content=speech)
        if speech is None:
            spoken = spoken.model_copy(update={"outcome": "defaulted", "note": SILENCED})
        writer = _RecordWriter()
        writer.add(opened, 0.0)
        for recorded in self.before[1:]:
            writer.add(recorded.event, recorded.time)
        for answer in self.answers:
            writer.add(spoken if answer is self.answer else answer, self.time)
        while (event := writer.verifier.expected) is not None:
            writer.add(event, self.time)
        return writer.record


class _RecordWriter:
    """Numbers, seals and re-executes the events of a new record."""

    def __init__(self) -> None:
        self.verifier = Verifier()
        self.record: list[Recorded] = []

    def add(self, event: AnyEvent, at: float) -> None:
        audience = self.verifier.audiences.audience(event)
        head = self.record[-1].hash if self.record else ""
        recorded, _ = seal(head, Recorded(len(self.record) + 1, at, audience, event))
        self.verifier.feed(recorded)
        self.record.append(recorded)


def find_point(record: Iterable[Recorded], number: int) -> ForkPoint:
    """Return where a record can be forked: at one of its debates' statements.

    Args:
        record: all of the parent's events, in order.
        number: the statement's.

    Raises:
        ConfigError: there is no such statement, it is the reason of a vote, or the record is a fork itself.
        RecordError: the record does not begin with its opening.
    """
    events = list(record)
    opened = events[0].event if events else None
    if not isinstance(opened, Opened):
        raise RecordError("a record begins with an opened event", 1)
    if opened.fork is not None:
        raise ConfigError(f"game {opened.game} is a fork itself; fork its parent, {opened.fork.parent}")
    place = next((i for i, one in enumerate(events) if _is_statement(one.event, number)), None)
    if place is None:
        last = max((one.event.statement for one in events if isinstance(one.event, Statement)), default=0)
        raise ConfigError(f"game {opened.game}: there is no statement {number}; its statements are 1 to {last}")
    statement = events[place].event
    if not isinstance(statement, Statement) or statement.phase != "debate":
        raise ConfigError(
            f"game {opened.game}: statement {number} is the reason of a vote; forks are of statements of a debate"
        )
    spoken = next(one for one in reversed(events[:place]) if isinstance(one.event, AnsweredSpeak))
    answer = spoken.event
    if not isinstance(answer, AnsweredSpeak):
        raise TypeError("a statement follows an answer")
    request = next(
        i for i, one in enumerate(events) if isinstance(one.event, Asked) and one.event.batch == answer.batch
    )
    step = [one.event for one in events[request + 1 : place]]
    labels = (one.event for one in events[place:] if isinstance(one.event, AnsweredAssessOwn))
    label = next((event.content for event in labels if event.about == number), None)
    if opened.config.label == "with" and answer.content is not None:
        label = answer.content.label
    return ForkPoint(
        opened,
        tuple(one for one in events[: request + 1] if one.event.type not in SIDE_EVENTS),
        tuple(event for event in step if event.type == "answered"),
        answer,
        spoken.n,
        spoken.hash,
        spoken.time,
        statement,
        label,
    )


def _is_statement(event: AnyEvent, number: int) -> bool:
    return isinstance(event, Statement) and event.statement == number


@dataclass(frozen=True, slots=True)
class Told:
    """What a seat is told, and what it is asked then.

    Attributes:
        public: facts that everybody learns.
        private: facts that it alone learns.
        ask: the request.
    """

    public: tuple[Public, ...]
    private: tuple[Private, ...]
    ask: Ask


class SpeakerScene:
    """The requests for a statement and for its label, as its speaker would have them in a fork, outside of any game.

    Args:
        point: where the game is forked.
        opened: the opening event of the fork.
    """

    def __init__(self, point: ForkPoint, opened: Opened) -> None:
        self._point = point
        self._speaker: SeatName = point.answer.seat
        self._audiences = AudienceFilter()
        self._referee = Referee(opened)
        self._opened = opened

    def floor(self) -> Told:
        """Return all that the speaker may know before the statement, and the request for it."""
        request = self._point.before[-1].event
        events = [self._opened, *(recorded.event for recorded in self._point.before[1:])]
        if not isinstance(request, Asked):
            raise TypeError("before a statement stands the request for it")
        return self._tell(events, request)

    def label(self, speech: Speech) -> Told:
        """Return what follows for the speaker once it has said something, and the request for its label."""
        answer = self._point.answer
        statement = self._point.statement.model_copy(update={"text": speech.text})
        request = Asked(
            batch=answer.batch + 1,
            round=statement.round,
            phase=statement.phase,
            turn=statement.turn,
            about=statement.statement,
            asks=(Asking(kind="assess_own", seats=(self._speaker,)),),
        )
        spoken = AnsweredSpeak(batch=answer.batch, seat=self._speaker, content=speech)
        return self._tell([spoken, statement], request)

    def _tell(self, events: Sequence[AnyEvent], request: Asked) -> Told:
        public: list[Public] = []
        private: list[Private] = []
        for event in events:
            facts = self._audiences.feed(event)
            public += facts.public
            private += [fact for seat, fact in facts.private if seat == self._speaker]
        question = next(one for one in self._referee.ask(request, set()) if one.seat == self._speaker)
        return Told(tuple(public), tuple(private), question.ask())


def check_parent(fork: Iterable[Recorded], parent: Iterable[Recorded]) -> int:
    """Check that a fork begins as its parent does; returns how many events the two share.

    Args:
        fork: the fork's events, in order.
        parent: the parent's; events beside the game count for neither.

    Raises:
        RecordError: the first is no fork, or not of this parent; or an event differs, with its line in the fork.
    """
    events = list(fork)
    opened = events[0].event if events else None
    if not isinstance(opened, Opened) or opened.fork is None:
        raise RecordError("no fork: its opening names no parent")
    point = find_point(parent, opened.fork.statement)
    if (opened.fork.parent, opened.fork.head) != (point.opened.game, point.head):
        raise RecordError(
            f"it is a fork of game {opened.fork.parent}, event {opened.fork.event} of hash "
            f"{opened.fork.head[:12]}…; this is game {point.opened.game}, {point.head[:12]}…",
            1,
        )
    if opened.fork != point.fork(opened.fork.arm, opened.fork.k, opened.fork.tries):
        raise RecordError("fork: it is not what the parent, its event and k give", 1)
    shared: list[AnyEvent] = [recorded.event for recorded in point.before[1:]]
    shared += [answer for answer in point.answers if answer is not point.answer]
    if opened.config != point.opened.config or opened.seed != point.opened.seed:
        raise RecordError("rules and seed are not the parent's", 1)
    in_game = (recorded for recorded in events if recorded.event.type not in SIDE_EVENTS)
    own_game = [
        one for one in in_game if getattr(one.event, "batch", 0) != point.answer.batch or one.event.type == "asked"
    ]
    for expected, recorded in zip(shared, own_game[1:], strict=False):
        if expected != recorded.event:
            raise RecordError(f"{recorded.event.type}: the parent has another {expected.type} here", recorded.n)
    if len(own_game) <= len(shared):
        raise RecordError("it ends before it parts from its parent")
    if opened.fork.arm == "keep" and not any(one.event == point.statement for one in events):
        raise RecordError("arm keep: it does not have the parent's statement")
    return len(shared) + 1
