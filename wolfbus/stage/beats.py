"""Beats: what a game is shown in. A beat is a sentence or an outcome, with all that its viewer may know of it.

A field that is None is not known to the viewer, or does not apply; JSON leaves it out.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, TypeAlias

from wolfbus.game.vocabulary import Deception, Ending, Fault, Kind, Outcome, Phase, Reading, Role, Team, Verdict, Winner
from wolfbus.messages.base import SeatName

BeatKind: TypeAlias = Literal["opened", "night", "statement", "silence", "tally", "exile", "news", "ended", "stopped"]
Mark: TypeAlias = Literal["death", "exile", "claim", "lie", "blocked"]
Listener: TypeAlias = Literal["finds_out", "accused", "knew"]
"""What a listener could make of a statement: it knew whether the speaker is a Werewolf (`GameFacts.informed`), was
called a Werewolf in these very words, or had to find out."""


@dataclass(frozen=True, slots=True)
class SeatStatus:
    """How one seat stands after a beat.

    Attributes:
        name: the seat.
        role: its role, as far as the viewer knows it.
        team: its side, as far as the viewer knows it.
        left: how it left the game, one of `wolfbus.knowledge.departure.WAYS`; None while it is in it.
        left_round: the round in which it left.
        bid: its bid for the turn that the beat is about; None without one.
        suspected: mean smoothed suspicion that it meets, in [0, 1], over the observers that the viewer sees; for who
            sees everything, over those who had to find out as they last judged it.
        absent: whether it let too many requests time out.
    """

    name: SeatName
    role: Role | None
    team: Team | None
    left: str | None
    left_round: int | None
    bid: int | None
    suspected: float | None
    absent: bool | None


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """A claim of a statement and its truth.

    Attributes:
        claim: its kind, one of `wolfbus.claims.KINDS`.
        target: whom it is about.
        role: the role that its target has if it is true; None where it leaves that open.
        round: the night it names.
        verdict: what it turns out to be.
        found: whether it was found in the words rather than given by the speaker.
        says: what it says, in words that go on after the speaker's name; without the night.
    """

    claim: str
    target: SeatName
    role: Role | None
    round: int | None
    verdict: Verdict
    found: bool
    says: str


@dataclass(frozen=True, slots=True)
class ShownAssessment:
    """A listener's judgement of a statement, or the speaker's own label; its values are None where that is missing.

    Attributes:
        seat: the listener; None for a label.
        outcome: what became of the request.
        deceptive: whether it flags the statement.
        suspicion: s in [0, 1].
        confidence: c in [0, 1].
        kind: which kind of deception.
        reasoning: why, in its words.
        thought: its private thought.
        before: its smoothed suspicion of the speaker before this judgement.
        after: and after it.
        call: line of the model call that made it.
        listener: what it could make of the statement; None for a label, and for viewers that do not see everything.
    """

    seat: SeatName | None
    outcome: Outcome
    deceptive: bool | None = None
    suspicion: float | None = None
    confidence: float | None = None
    kind: Deception | None = None
    reasoning: str | None = None
    thought: str | None = None
    before: float | None = None
    after: float | None = None
    call: int | None = None
    listener: Listener | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """A change of smoothed suspicion of `target` by `observer`."""

    observer: SeatName
    target: SeatName
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Spoken:
    """A statement and what was made of it.

    Attributes:
        statement: its number in the game, from 1.
        speaker: who makes it.
        text: the words.
        vote: for the reason of a vote, whom the speaker votes for; None abstains.
        thought: the speaker's private thought.
        claims: what it claims and whether that is true.
        label: the speaker's own label.
        judgements: the listeners' judgements, in seating order.
        judged: usable ones among them, by listeners who had to find out; by all where that is not known.
        flagged: how many of these call it deceptive.
        mean: their mean suspicion, in [0, 1].
        moved: the largest changes of smoothed suspicion by it, largest first, at most three.
        reading: how much work it took to read the words.
        call: line of the model call that made it.
        took_s: seconds that call took.
        intended: where a label was asked with the words and again afterwards, the first.
    """

    statement: int
    speaker: SeatName
    text: str
    vote: SeatName | None = None
    thought: str | None = None
    claims: tuple[ShownClaim, ...] = ()
    label: ShownAssessment | None = None
    judgements: tuple[ShownAssessment, ...] = ()
    judged: int = 0
    flagged: int = 0
    mean: float | None = None
    moved: tuple[Moved, ...] = ()
    reading: Reading | None = None
    call: int | None = None
    took_s: float | None = None
    intended: ShownAssessment | None = None


@dataclass(frozen=True, slots=True)
class Unsaid:
    """The seat with the floor says nothing: on purpose, or because of a fault."""

    seat: SeatName
    thought: str | None = None
    outcome: Outcome | None = None
    fault: Fault | None = None
    call: int | None = None


@dataclass(frozen=True, slots=True)
class NightMove:
    """What one seat chose, at night or, where its role does, by day.

    Attributes:
        seat: who.
        kind: ``kill`` and ``whisper`` (a wolf's proposal), ``protect``, ``inspect``, or what another role is asked.
        target: whom; None for nobody.
        word: what it told its partners.
        role: for an inspection, what it saw.
        thought: its private thought.
        outcome: what became of the request, where it was not accepted.
        call: line of the model call that made it.
    """

    seat: SeatName
    kind: Kind
    target: SeatName | None = None
    word: str | None = None
    role: Role | None = None
    thought: str | None = None
    outcome: Outcome | None = None
    call: int | None = None


@dataclass(frozen=True, slots=True)
class NightShown:
    """A night, from dusk to what everybody learns at dawn.

    Attributes:
        died: who died; None if nobody did.
        role: its role, where that becomes public.
        team: its side, where that becomes public.
        target: whom the wolves went for.
        blocked: whether a doctor was with their target.
        moves: what was chosen, in order.
    """

    died: SeatName | None
    role: Role | None = None
    team: Team | None = None
    target: SeatName | None = None
    blocked: bool | None = None
    moves: tuple[NightMove, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownBallot:
    """One vote; `target` None abstains."""

    seat: SeatName
    target: SeatName | None = None
    thought: str | None = None
    outcome: Outcome | None = None
    call: int | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """All votes for one player; `target` None collects who abstained."""

    target: SeatName | None
    voters: tuple[SeatName, ...]


@dataclass(frozen=True, slots=True)
class Tallied:
    """The votes are opened: the bars with most votes first, who abstained last; and how many votes exile, 0 where
    that is not known.
    """

    needed: int
    bars: tuple[Bar, ...]
    ballots: tuple[ShownBallot, ...]


@dataclass(frozen=True, slots=True)
class Exiled:
    """The vote takes effect; `seat` None means that nobody had a majority."""

    seat: SeatName | None
    votes: int
    needed: int
    role: Role | None = None
    team: Team | None = None


@dataclass(frozen=True, slots=True)
class Over:
    """The game came to its end, or was broken off (`stopped` says why)."""

    winner: Winner = None
    reason: Ending | None = None
    rounds: int | None = None
    stopped: str | None = None


@dataclass(frozen=True, slots=True)
class Beat:
    """One beat. Exactly one of `spoken`, `unsaid`, `night`, `tally`, `exile`, `news`, `over` is given, none for the
    opening.

    Attributes:
        n: its place in the game, from 0; the same for all viewers.
        kind: what it is.
        at: line of the record that it is about.
        line: line of the record with which it was complete, and shown.
        time: seconds from the opening to `at`.
        round: rounds begun.
        phase: part of the round; None for the opening.
        turn: turn of the debate; None outside it.
        seats: how every seat stands after it, in seating order.
        suspicion: smoothed suspicion after it: a row per observer, a column per target, in seating order; None for
            a pair without a judgement, and for the row of an observer without any. None as a whole for viewers that see
            no judgements.
        gap: mean smoothed suspicion of the living Werewolves minus that of the other living players, by those of the
            living who could not know which of them they are, in [-1, 1]; a pair without a judgement stands at the
            prior. None for viewers that do not see everything, and where there is nobody to compare.
        marks: what it puts on the timeline.
        news: what everybody is told, in plain words, of an event that has no part of its own.
        moves: what seats chose by day since the beat before.
        complete: False for a statement whose judgements are still coming in; never False in a list of beats.
    """

    n: int
    kind: BeatKind
    at: int
    line: int
    time: float
    round: int
    phase: Phase | None
    turn: int | None
    seats: tuple[SeatStatus, ...]
    suspicion: tuple[tuple[float | None, ...] | None, ...] | None
    gap: float | None = None
    marks: tuple[Mark, ...] = ()
    spoken: Spoken | None = None
    unsaid: Unsaid | None = None
    night: NightShown | None = None
    tally: Tallied | None = None
    exile: Exiled | None = None
    news: str | None = None
    over: Over | None = None
    moves: tuple[NightMove, ...] = ()
    complete: bool = True

    def role_of(self, name: SeatName) -> Role | None:
        """Return a player's role, as far as the viewer knows it."""
        return next((seat.role for seat in self.seats if seat.name == name), None)


_DECIMALS = 4


def as_json(value: Any) -> Any:
    """Return a beat, or a part of one, as plain values; fields that are None are left out, and tuples that are
    empty but for the seats, which a spectator learns as they speak; numbers have 4 decimals.
    """
    if is_dataclass(value):
        return {
            field.name: as_json(inner)
            for field in fields(value)
            if (inner := getattr(value, field.name)) is not None and (inner != () or field.name == "seats")
        }
    if isinstance(value, tuple):
        return [as_json(inner) for inner in value]
    return round(value, _DECIMALS) if isinstance(value, float) else value
