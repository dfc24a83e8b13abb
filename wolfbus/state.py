"""`GameState`: everything a researcher can know of one game at one point, as a fold over its record.

Seats never see it; what one seat knows is a `SeatView`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from wolfbus.config import GameConfig
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.content import Label
from wolfbus.messages.events import (
    Absent,
    AnsweredAssessOther,
    AnsweredAssessOwn,
    AnyAnswered,
    AnyEvent,
    Asked,
    ClaimTruth,
    Dawn,
    Ended,
    Exile,
    Inspection,
    NightOutcome,
    Opened,
    Rejected,
    Returned,
    Seat,
    Silence,
    Statement,
    Stopped,
    Tally,
)
from wolfbus.suspicion import Suspicion
from wolfbus.usage import Usage
from wolfbus.vocabulary import Fault, Kind, Outcome, Phase, Reading, Role, Verdict


class Waiting:
    """Keeps the open requests of a game: fed what was asked and what became of it."""

    def __init__(self) -> None:
        self._batches: dict[int, dict[Kind, set[SeatName]]] = {}

    def ask(self, event: Asked) -> None:
        """Take in a batch of requests."""
        kinds = self._batches.setdefault(event.batch, {})
        for asking in event.asks:
            kinds.setdefault(asking.kind, set()).update(asking.seats)

    def close(self, event: AnyAnswered) -> None:
        """Take in what became of one request."""
        kinds = self._batches.get(event.batch, {})
        seats = kinds.get(event.kind, set())
        seats.discard(event.seat)
        if not seats:
            kinds.pop(event.kind, None)
        if not kinds:
            self._batches.pop(event.batch, None)

    def clear(self) -> None:
        """Forget all requests: the game is over."""
        self._batches.clear()

    def seats(self, names: Sequence[SeatName]) -> dict[Kind, tuple[SeatName, ...]]:
        """Return who has not answered, by kind of request, each in the order of `names`."""
        waiting: dict[Kind, set[SeatName]] = {}
        for kinds in self._batches.values():
            for kind, seats in kinds.items():
                waiting.setdefault(kind, set()).update(seats)
        return {kind: tuple(name for name in names if name in seats) for kind, seats in waiting.items()}


@dataclass(slots=True)
class Utterance:
    """A statement and what is known of its assessment so far.

    Attributes:
        spoken: the statement.
        label: the speaker's own label, None while or where there is none.
        label_outcome: what became of the request for it, None while it is open.
        judged: usable judgements.
        flagged: how many of them call it deceptive.
        suspicions: sum of their suspicion.
        missing: judgements that were asked for and are not usable.
        verdicts: the moderator's verdicts on its claims.
        awaited: assessments asked for and not yet in the record.
    """

    spoken: Statement
    label: Label | None = None
    label_outcome: Outcome | None = None
    judged: int = 0
    flagged: int = 0
    suspicions: float = 0.0
    missing: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    awaited: int = 0

    @property
    def suspicion(self) -> float | None:
        """Mean suspicion of the usable judgements, in [0, 1]; None without any."""
        return self.suspicions / self.judged if self.judged else None

    @property
    def assessed(self) -> bool:
        """Whether every assessment that was asked for has come in, or is known not to come."""
        return self.awaited == 0 and (self.label_outcome is not None or self.judged + self.missing > 0)


@dataclass(frozen=True, slots=True)
class Departure:
    """How and in which round a player left."""

    how: Literal["night", "exile"]
    round: int


@dataclass(slots=True)
class Night:
    """One night as it goes on.

    Attributes:
        round: its round.
        proposals: last valid proposal per wolf: whom to go for, and the word to the partners ("" for a lone wolf).
        protections: valid choice per doctor.
        inspections: what each seer learned: whom it inspected and the role it saw.
        outcome: what came of it, None until dawn.
    """

    round: int
    proposals: dict[SeatName, tuple[SeatName | None, str]] = field(default_factory=dict)
    protections: dict[SeatName, SeatName | None] = field(default_factory=dict)
    inspections: dict[SeatName, tuple[SeatName, Role]] = field(default_factory=dict)
    outcome: NightOutcome | None = None


Moment: TypeAlias = NightOutcome | Utterance | Silence | Tally | Exile
"""What a transcript is made of."""


@dataclass(slots=True)
class GameState:
    """Folds the events of one game, fed in record order.

    It judges nothing (records are proven by re-execution), so that a view of a broken record still shows what there is:
    an event about a statement it never heard of is counted and otherwise left out.

    Attributes:
        opened: the opening event, None before it.
        seats: seats by name, in seating order.
        left: who left and how, in order.
        round: rounds begun.
        phase: current part of the round, None before the first night.
        turn: latest turn of the debate that was asked about; 0 before it.
        floor: who is asked to speak right now.
        transcript: nights, statements, silences, tallies and exiles, in order.
        statements: statements by number; the same objects as in the transcript.
        bids: latest round of bids, by seat; defaults stand as 0.
        nights: nights by round.
        tallies: opened votes by round.
        exiles: effects of the votes by round.
        suspicion: smoothed suspicion of every pair, at the game's alpha and prior.
        absent: seats that let too many requests in a row time out, in order.
        outcomes: answers by kind and outcome.
        readings: accepted answers by reported reading.
        faults: unusable answers by fault.
        rejected: rejected messages by reason.
        usage: what model calls took.
        ended: the last event of a game that came to its end, None while it goes on.
        stopped: the last event of a game that was broken off, None for any other.
        events: events fed.
    """

    opened: Opened | None = None
    seats: dict[SeatName, Seat] = field(default_factory=dict)
    left: dict[SeatName, Departure] = field(default_factory=dict)
    round: int = 0
    phase: Phase | None = None
    turn: int = 0
    floor: SeatName | None = None
    transcript: list[Moment] = field(default_factory=list)
    statements: dict[int, Utterance] = field(default_factory=dict)
    bids: dict[SeatName, int] = field(default_factory=dict)
    nights: dict[int, Night] = field(default_factory=dict)
    tallies: dict[int, Tally] = field(default_factory=dict)
    exiles: dict[int, Exile] = field(default_factory=dict)
    suspicion: Suspicion = field(default_factory=Suspicion)
    absent: dict[SeatName, None] = field(default_factory=dict)
    outcomes: Counter[tuple[Kind, Outcome]] = field(default_factory=Counter)
    readings: Counter[Reading] = field(default_factory=Counter)
    faults: Counter[Fault] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)
    ended: Ended | None = None
    stopped: Stopped | None = None
    events: int = 0
    _bid_batch: int = 0
    _waiting: Waiting = field(default_factory=Waiting)

    def feed(self, event: AnyEvent) -> None:
        """Take in the next event of the game."""
        self.events += 1
        handler = self._HANDLERS.get(event.type)
        if handler is not None:
            handler(self, event)

    @property
    def config(self) -> GameConfig:
        """The rules; the default ones before the opening."""
        return self.opened.config if self.opened is not None else GameConfig()

    @property
    def living(self) -> tuple[SeatName, ...]:
        """Players still in the game, in seating order."""
        return tuple(name for name in self.seats if name not in self.left)

    @property
    def living_wolves(self) -> int:
        """Number of Werewolves still in the game."""
        return sum(1 for name in self.living if self.seats[name].role == "Werewolf")

    def role(self, name: SeatName) -> Role | None:
        """Return the role of `name`, None for a name that sits at no seat."""
        seat = self.seats.get(name)
        return seat.role if seat is not None else None

    def suspicion_of(self, target: SeatName) -> float | None:
        """Return the mean smoothed suspicion that `target` meets, in [0, 1].

        Over the living who have judged it at least once; over all who have, once it left the game. None without any.
        """
        return self.suspicion.mean(target, self.seats, self.left)

    def waiting_for(self) -> dict[Kind, tuple[SeatName, ...]]:
        """Return the seats whose answers are not in the record yet, by kind of request and in seating order."""
        return self._waiting.seats(tuple(self.seats))

    def _open(self, event: Opened) -> None:
        self.opened = event
        self.seats = {seat.name: seat for seat in event.seats}
        self.suspicion = Suspicion(event.config.alpha, event.config.prior)

    def _enter(self, round_: int, phase: Phase, turn: int = 0) -> None:
        if (round_, phase) != (self.round, self.phase):
            self.turn = 0
        self.round, self.phase = round_, phase
        # judgements of a turn are asked for after the next turn's bids
        self.turn = max(self.turn, turn)

    def _ask(self, event: Asked) -> None:
        self._enter(event.round, event.phase, event.turn)
        self._waiting.ask(event)
        for asking in event.asks:
            if asking.kind == "speak" and asking.seats:
                self.floor = asking.seats[0]
        statement = self.statements.get(event.about or 0)
        if statement is not None:
            statement.awaited += sum(len(asking.seats) for asking in event.asks)

    def _answer(self, event: AnyAnswered) -> None:
        self.outcomes[event.kind, event.outcome] += 1
        if event.outcome == "accepted":
            self.readings[event.reading] += 1
        if event.fault is not None:
            self.faults[event.fault] += 1
        self._waiting.close(event)
        if event.kind == "bid":
            if event.batch != self._bid_batch:
                self.bids, self._bid_batch = {}, event.batch
            self.bids[event.seat] = event.content.bid if event.content is not None else 0
        elif event.kind == "assess_own" or event.kind == "assess_other":
            self._assess(event)
        elif event.content is None:
            return
        elif event.kind == "whisper":
            self._night().proposals[event.seat] = (event.content.target, event.content.word)
        elif event.kind == "kill":
            self._night().proposals[event.seat] = (event.content.target, "")
        elif event.kind == "protect":
            self._night().protections[event.seat] = event.content.target

    def _assess(self, event: AnsweredAssessOwn | AnsweredAssessOther) -> None:
        utterance = self.statements.get(event.about or 0)
        if utterance is None:
            return
        utterance.awaited = max(0, utterance.awaited - 1)
        if event.kind == "assess_own":
            utterance.label_outcome, utterance.label = event.outcome, event.content
        elif event.content is None:
            utterance.missing += 1
        else:
            utterance.judged += 1
            utterance.flagged += event.content.deceptive
            utterance.suspicions += event.content.suspicion
            self.suspicion.judge(event.seat, utterance.spoken.speaker, event.content.suspicion)

    def _night(self, round_: int | None = None) -> Night:
        number = self.round if round_ is None else round_
        return self.nights.setdefault(number, Night(number))

    def _add_statement(self, event: Statement) -> None:
        self._enter(event.round, event.phase, event.turn)
        self.floor = None
        statement = self.statements[event.statement] = Utterance(event)
        self.transcript.append(statement)

    def _add_silence(self, event: Silence) -> None:
        self._enter(event.round, "debate", event.turn)
        self.floor = None
        self.transcript.append(event)

    def _add_verdicts(self, event: ClaimTruth) -> None:
        statement = self.statements.get(event.statement)
        if statement is not None:
            statement.verdicts.update(scored.verdict for scored in event.claims)

    def _add_tally(self, event: Tally) -> None:
        self._enter(event.round, "vote")
        self.tallies[event.round] = event
        self.transcript.append(event)

    def _add_exile(self, event: Exile) -> None:
        self.exiles[event.round] = event
        self.transcript.append(event)
        if event.seat is not None:
            self.left.setdefault(event.seat, Departure("exile", event.round))

    def _add_night_outcome(self, event: NightOutcome) -> None:
        self._enter(event.round, "night")
        self._night(event.round).outcome = event
        self.transcript.append(event)

    def _add_inspection(self, event: Inspection) -> None:
        self._night(event.round).inspections[event.seat] = (event.target, event.role)

    def _add_dawn(self, event: Dawn) -> None:
        if event.died is not None:
            self.left.setdefault(event.died, Departure("night", event.round))

    def _mark_absent(self, event: Absent) -> None:
        self.absent[event.seat] = None

    def _mark_returned(self, event: Returned) -> None:
        self.absent.pop(event.seat, None)

    def _add_rejected(self, event: Rejected) -> None:
        self.rejected[event.reason] += 1

    def _add_call(self, event: ModelCall) -> None:
        self.usage.add(event, len(event.requests), reask=event.reask)

    def _end(self, event: Ended) -> None:
        self.ended = event
        self.floor = None
        self._waiting.clear()

    def _stop(self, event: Stopped) -> None:
        self.stopped = event
        self.floor = None
        self._waiting.clear()

    _HANDLERS: ClassVar[Mapping[str, Callable[[GameState, Any], None]]] = {
        "opened": _open,
        "asked": _ask,
        "answered": _answer,
        "statement": _add_statement,
        "silence": _add_silence,
        "claim_truth": _add_verdicts,
        "tally": _add_tally,
        "exile": _add_exile,
        "night_outcome": _add_night_outcome,
        "dawn": _add_dawn,
        "inspection": _add_inspection,
        "absent": _mark_absent,
        "returned": _mark_returned,
        "rejected": _add_rejected,
        "model_call": _add_call,
        "stopped": _stop,
        "ended": _end,
    }
