"""`Details`: what an export tells of a game beyond the rows that metrics rest on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.events import (
    AnsweredAssessOther,
    AnsweredAssessOwn,
    AnsweredBid,
    AnsweredSpeak,
    AnsweredVote,
    AnyEvent,
    Asked,
    Dawn,
    Ended,
    Exile,
    NightOutcome,
    Opened,
    Silence,
    Statement,
    Tally,
)
from wolfbus.record.line import Recorded
from wolfbus.record.prompts import WholeCalls

E = TypeVar("E", bound=AnyEvent)

Step: TypeAlias = NightOutcome | Dawn | Statement | Silence | Tally | Exile | Ended
"""What moves a game on."""


@dataclass(frozen=True, slots=True)
class Noted(Generic[E]):
    """An event and where it stands.

    Attributes:
        line: its line in the record, from 1.
        time: seconds since the opening.
        event: the event.
    """

    line: int
    time: float
    event: E


@dataclass(slots=True)
class Details:
    """One game's answers, with their words and places; empty for a log of the paper's code.

    Attributes:
        opened: the opening; None in a foreign log.
        statements: statements by number.
        speeches: what was said in the debate, by round and turn.
        floor: who had the floor, by round and turn.
        labels: self-labels by statement.
        judgements: judgements by statement and observer.
        ballots: votes by round and voter.
        bids: bids by round, turn and bidder.
        calls: model calls, in order.
        course: what moved the game on, in order.
    """

    opened: Opened | None = None
    statements: dict[int, Noted[Statement]] = field(default_factory=dict)
    speeches: dict[tuple[int, int], Noted[AnsweredSpeak]] = field(default_factory=dict)
    floor: dict[tuple[int, int], SeatName] = field(default_factory=dict)
    labels: dict[int, Noted[AnsweredAssessOwn]] = field(default_factory=dict)
    judgements: dict[tuple[int, SeatName], Noted[AnsweredAssessOther]] = field(default_factory=dict)
    ballots: dict[tuple[int, SeatName], Noted[AnsweredVote]] = field(default_factory=dict)
    bids: dict[tuple[int, int, SeatName], Noted[AnsweredBid]] = field(default_factory=dict)
    calls: list[Noted[ModelCall]] = field(default_factory=list)
    course: list[Noted[Step]] = field(default_factory=list)


class DetailFold:
    """Folds one game's record into `Details`; feed it every line in order.

    Attributes:
        details: what was found so far.
    """

    def __init__(self) -> None:
        self._calls = WholeCalls()
        self.details = Details()
        self._places: dict[int, tuple[int, int]] = {}
        """Round and turn of each batch."""

    def feed(self, recorded: Recorded) -> None:
        """Take in the next line."""
        handler = self._HANDLERS.get(type(recorded.event))
        if handler is not None:
            handler(self, Noted(recorded.n, recorded.time, recorded.event))

    def _open(self, noted: Noted[Opened]) -> None:
        self.details.opened = noted.event

    def _ask(self, noted: Noted[Asked]) -> None:
        asked = noted.event
        self._places[asked.batch] = asked.round, asked.turn
        for asking in asked.asks:
            if asking.kind == "speak":
                self.details.floor[asked.round, asked.turn] = asking.seats[0]

    def _state(self, noted: Noted[Statement]) -> None:
        self.details.statements[noted.event.statement] = noted
        self._step(noted)

    def _step(self, noted: Noted[Any]) -> None:
        self.details.course.append(noted)

    def _speak(self, noted: Noted[AnsweredSpeak]) -> None:
        place = self._places.get(noted.event.batch)
        if place is not None:
            self.details.speeches[place] = noted

    def _label(self, noted: Noted[AnsweredAssessOwn]) -> None:
        if noted.event.about is not None:
            self.details.labels[noted.event.about] = noted

    def _judge(self, noted: Noted[AnsweredAssessOther]) -> None:
        if noted.event.about is not None:
            self.details.judgements[noted.event.about, noted.event.seat] = noted

    def _vote(self, noted: Noted[AnsweredVote]) -> None:
        place = self._places.get(noted.event.batch)
        if place is not None:
            self.details.ballots[place[0], noted.event.seat] = noted

    def _bid(self, noted: Noted[AnsweredBid]) -> None:
        place = self._places.get(noted.event.batch)
        if place is not None:
            self.details.bids[(*place, noted.event.seat)] = noted

    def _call(self, noted: Noted[ModelCall]) -> None:
        self._calls.feed(noted.event, noted.line)
        self.details.calls.append(Noted(noted.line, noted.time, self._calls.whole(noted.event, noted.line)))

    # of the class, not of each fold: bound methods would be a ring with their fold, which only the collector undoes
    _HANDLERS: ClassVar[dict[type[Any], Callable[[DetailFold, Any], None]]] = {
        Opened: _open,
        Asked: _ask,
        Statement: _state,
        AnsweredSpeak: _speak,
        AnsweredAssessOwn: _label,
        AnsweredAssessOther: _judge,
        AnsweredVote: _vote,
        AnsweredBid: _bid,
        ModelCall: _call,
        **dict.fromkeys((NightOutcome, Dawn, Silence, Tally, Exile, Ended), _step),
    }
