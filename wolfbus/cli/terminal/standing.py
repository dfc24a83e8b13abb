"""`Following`: one game as the terminal follows it, for researchers: its beats, and sums of what no beat tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import Fault, Kind, Outcome, Phase, Reading
from wolfbus.knowledge.suspicion import Suspicion
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import AnyEvent, Opened
from wolfbus.record.line import Recorded
from wolfbus.record.usage import Usage
from wolfbus.stage.beats import Beat, NightShown, Over, SeatStatus
from wolfbus.stage.fold import BeatFold, given_claims
from wolfbus.stage.viewers import EVERYTHING


@dataclass(slots=True)
class AnswerSums:
    """What became of a game's requests, messages and model calls.

    Attributes:
        events: events of its record.
        outcomes: answers by outcome.
        readings: accepted answers by reported reading.
        faults: unusable answers by fault.
        rejected: rejected messages by reason.
        usage: what model calls took.
    """

    events: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    readings: Counter[Reading] = field(default_factory=Counter)
    faults: Counter[Fault] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)

    def add(self, event: AnyEvent) -> None:
        """Count the next event of the game."""
        self.events += 1
        if event.type == "answered":
            self.outcomes[event.outcome] += 1
            if event.outcome == "accepted":
                self.readings[event.reading] += 1
            if event.fault is not None:
                self.faults[event.fault] += 1
        elif event.type == "rejected":
            self.rejected[event.reason] += 1
        elif event.type == "model_call":
            self.usage.add(event, len(event.requests), reask=event.reask)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a game stands at one point.

    Attributes:
        opened: its opening, None before it.
        seats: how every seat stands, by name and in seating order; a bid is its latest.
        suspicion: smoothed suspicion of every pair.
        round: rounds begun.
        phase: part of the round; None before the first night and when the game is over.
        turn: latest turn of the debate that was asked about; 0 outside it.
        waiting: who has not answered, by kind of request.
        beats: all that happened: its beats, and behind them the statements that are still being judged.
        night: the night that goes on, None where nothing is known of one.
        over: how it ended or was broken off, None while it goes on.
        sums: what became of its requests.
    """

    opened: Opened | None
    seats: Mapping[SeatName, SeatStatus]
    suspicion: Suspicion
    round: int
    phase: Phase | None
    turn: int
    waiting: Mapping[Kind, Sequence[SeatName]]
    beats: Sequence[Beat]
    night: NightShown | None
    over: Over | None
    sums: AnswerSums

    @property
    def config(self) -> GameConfig:
        """The rules; the default ones before the opening."""
        return self.opened.config if self.opened is not None else GameConfig()

    @property
    def floor(self) -> SeatName | None:
        """Who is asked to speak."""
        return next(iter(self.waiting.get("speak", ())), None)

    @property
    def living(self) -> list[SeatStatus]:
        """Players still in the game, in seating order."""
        return [seat for seat in self.seats.values() if seat.left is None]

    @property
    def absent(self) -> list[SeatName]:
        """Players who have stopped answering, in seating order."""
        return [seat.name for seat in self.seats.values() if seat.absent]

    @property
    def brains(self) -> Mapping[SeatName, str]:
        """What plays each seat."""
        return {seat.name: seat.brain for seat in self.opened.seats} if self.opened is not None else {}


class Following:
    """Follows one game from its first event on.

    Attributes:
        opened: its opening, None before it.
        sums: what became of its requests so far.
    """

    def __init__(self) -> None:
        self.opened: Opened | None = None
        self.sums = AnswerSums()
        # what is found in the words is told where a game has ended
        self._fold = BeatFold(EVERYTHING, given_claims)

    @property
    def config(self) -> GameConfig:
        """The rules; the default ones before the opening."""
        return self.opened.config if self.opened is not None else GameConfig()

    def feed(self, recorded: Recorded) -> list[Beat]:
        """Follow the next event of the game; returns the beats that are complete with it."""
        event = recorded.event
        if event.type == "opened":
            self.opened = event
        self.sums.add(event)
        return self._fold.feed(recorded.n, recorded.time, (event,))

    def pending(self) -> list[Beat]:
        """Return the statements that are still being judged, in order."""
        return self._fold.pending()

    def standing(self) -> Standing:
        """Return how the game stands now."""
        fold = self._fold
        place, beats = fold.place(), fold.beats
        return Standing(
            self.opened,
            {seat.name: seat for seat in fold.present()},
            fold.suspicion(),
            place["round"],
            place["phase"],
            place["turn"] or 0,
            fold.waiting.seats(fold.seating.names),
            (*beats, *fold.pending()),
            fold.night(),
            beats[-1].over if beats and fold.over else None,
            self.sums,
        )
