"""Games of other tables, as the events that pages and rows are made of.

They are never written: no record has them, and nothing seals them. Roles of other tables stand in them where a role of
ours does, and None where the log does not tell how an answer was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from wolfbus.foreign.log import (
    Assessment,
    Departed,
    ForeignLog,
    GameEnd,
    LogBallot,
    LogSeat,
    Night,
    Said,
    Silent,
    Voted,
)
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import Role, Team
from wolfbus.messages.base import Part, SeatName, unchecked
from wolfbus.messages.content import Ballot, Choice, Judgement, Label, Speech
from wolfbus.messages.events import (
    AnsweredAssessOther,
    AnsweredAssessOwn,
    AnsweredInspect,
    AnsweredProtect,
    AnsweredSpeak,
    AnsweredVote,
    AnyEvent,
    Asked,
    Dawn,
    Departing,
    Ended,
    Exile,
    Inspection,
    NightOutcome,
    Opened,
    Seat,
    Silence,
    Statement,
    Tally,
    Way,
)
from wolfbus.record.line import Recorded


class LeftOtherwise(Departing):
    """A seat leaves in a way that only other tables have; it stands in no record."""

    way: ClassVar = Way("other", "out of the game")
    type: str = "left_otherwise"
    round: int
    seat: SeatName
    role: Role | None = None
    team: Team | None = None


_BY_MAJORITY: Final = frozenset({"wolf", "arena"})
"""Kinds whose code exiles whom a strict majority names; of others it is not known how many votes do, which is 0."""


def recorded_of(log: ForeignLog) -> tuple[Recorded, ...]:
    """Return a game as the lines that a record of it would have, without seals and times."""
    events = _Events(log)
    return tuple(Recorded(number, 0.0, "everybody", event) for number, event in enumerate(events.all(), 1))


def _free(kind: type[Any], /, **values: Any) -> Any:
    """Return a message that holds what logs have and records may not: roles of other tables, missing numbers."""
    defaults = {name: field.get_default() for name, field in kind.model_fields.items()}
    return unchecked(kind, {**defaults, **values})


class _Events:
    """Yields the events of a log."""

    def __init__(self, log: ForeignLog) -> None:
        self._log = log
        self._living = len(log.head.seats)
        self._turns: Counter[tuple[int, str]] = Counter()
        self._open_vote: int | None = None
        """The round of a vote of which nothing has come yet."""

    def all(self) -> Iterator[AnyEvent]:
        """Yield all of them."""
        yield self._opened()
        for line in self._log.lines:
            if self._open_vote is not None and not isinstance(line, Departed) and not _is_reason(line):
                yield Exile(round=self._open_vote)
                self._open_vote = None
            yield from self._events_of(line)
        if self._open_vote is not None:
            yield Exile(round=self._open_vote)

    def _opened(self) -> AnyEvent:
        head = self._log.head
        config = GameConfig(
            reveal_on_death=head.reveal,
            assess="live" if self._log.assessed else "none",
            label="both" if self._log.label_asked == "both" else None,
        )
        opened: AnyEvent = _free(
            Opened,
            game=head.game,
            version="",
            started=0.0,
            seed="",
            config=config,
            seats=tuple(map(self._seat, head.seats)),
        )
        return opened

    def _seat(self, seat: LogSeat) -> Any:
        process = self._log.head.kind
        return _free(Seat, name=seat.name, role=seat.as_role, agent=process, brain=seat.agent, in_house=None)

    def _events_of(self, line: Part) -> Iterator[AnyEvent]:
        if isinstance(line, Said):
            yield from self._statement(line)
        elif isinstance(line, Silent):
            yield Silence(round=line.round, turn=self._turn(line.round, "debate"), seat=line.seat)
        elif isinstance(line, Night):
            yield from self._night(line)
        elif isinstance(line, Voted):
            self._open_vote = line.round
            yield from map(_ballot, filter(_is_told, line.ballots))
            votes = {ballot.voter: ballot.target for ballot in line.ballots}
            needed = self._living // 2 + 1 if self._log.head.kind in _BY_MAJORITY else 0
            yield Tally(round=line.round, votes=votes, needed=needed)
        elif isinstance(line, Departed):
            self._living -= 1
            yield from self._departure(line)
        elif isinstance(line, GameEnd):
            yield _free(Ended, winner=line.winner, reason=None, rounds=self._log.rounds)

    def _turn(self, round_: int, phase: str) -> int:
        self._turns[round_, phase] += 1
        return self._turns[round_, phase]

    def _statement(self, line: Said) -> Iterator[AnyEvent]:
        if line.thought is not None or self._log.label_asked == "both":
            label = None if line.intended is None else _free(Label, deceptive=line.intended, confidence=None)
            words = _free(Speech, text=line.text, label=label)
            yield _free(AnsweredSpeak, batch=0, seat=line.speaker, content=words, reading=None, thought=line.thought)
        yield Statement(
            statement=line.statement,
            round=line.round,
            phase=line.phase,
            turn=self._turn(line.round, line.phase),
            speaker=line.speaker,
            text=line.text,
        )
        for kind, content, assessment in (
            *((AnsweredAssessOwn, Label, label) for label in (line.label,) if label is not None),
            *((AnsweredAssessOther, Judgement, judgement) for judgement in line.judgements),
        ):
            yield _free(
                kind,
                batch=0,
                seat=assessment.seat,
                about=line.statement,
                outcome=assessment.outcome,
                reading=assessment.reading,
                fault=assessment.fault,
                content=_content(content, assessment),
            )

    def _night(self, night: Night) -> Iterator[AnyEvent]:
        # what seats do at night bears no round
        yield Asked(batch=0, round=night.round, phase="night", turn=1, asks=())
        for kind, acts in ((AnsweredProtect, night.protections), (AnsweredInspect, night.inspections)):
            for act in acts:
                yield _free(kind, batch=0, seat=act.seat, content=Choice(target=act.target), reading=None)
        if night.attack is not None:
            protected = tuple(act.target for act in night.protections)
            yield NightOutcome(round=night.round, target=night.attack or None, protected=protected, died=night.died)
        for act in night.inspections:
            yield _free(Inspection, round=night.round, seat=act.seat, target=act.target, role=act.as_result)
        self._living -= night.died is not None
        yield Dawn(round=night.round, died=night.died, role=self._revealed(night.died))

    def _departure(self, line: Departed) -> Iterator[AnyEvent]:
        role = self._revealed(line.seat)
        if line.how == "exile":
            self._open_vote = None
            yield _free(Exile, round=line.round, seat=line.seat, role=role)
        else:
            yield _free(LeftOtherwise, round=line.round, seat=line.seat, role=role)

    def _revealed(self, name: SeatName | None) -> Role | None:
        if self._log.head.reveal != "role":
            return None
        return next((seat.as_role for seat in self._log.head.seats if seat.name == name), None)


def _is_reason(line: Part) -> bool:
    return isinstance(line, Said) and line.phase == "vote"


def _is_told(ballot: LogBallot) -> bool:
    """Return whether a log tells what became of the request for a vote."""
    return ballot.outcome is not None


def _ballot(ballot: LogBallot) -> Any:
    return _free(
        AnsweredVote,
        batch=0,
        seat=ballot.voter,
        outcome=ballot.outcome,
        content=_free(Ballot, target=ballot.target) if ballot.outcome == "accepted" else None,
        reading=ballot.reading,
        fault=ballot.fault,
    )


def _content(kind: type[Any], assessment: Assessment) -> Any:
    """Return an answer's content as a log has it; None where there is none."""
    if assessment.outcome != "accepted":
        return None
    return _free(kind, **{name: getattr(assessment, name) for name in kind.model_fields})
