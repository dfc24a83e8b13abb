"""Rows: what one game leaves for measurement, whoever wrote its log. Every metric is a function over these.

`d`, `s`, `c` and `kind` are the quantities of the paper (section 4.2): flag, suspicion, confidence,
mechanism. A row whose `d` is None does not count: its answer was defaulted, timed out, declined, or is not
there yet. Where fillers were asked for (`include_defaulted`) such rows carry the paper code's "truthful,
suspicion 0.5, confidence 0" and their true `outcome`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from analytics.calls import CallKey
from wolfbus.messages.base import SeatName
from wolfbus.messages.claims import ScoredClaim
from wolfbus.usage import Usage
from wolfbus.vocabulary import Deception, Ending, Fault, Kind, Outcome, Phase, Protocol, Reading, Role, Winner

Pair: TypeAlias = tuple[SeatName, SeatName]
"""Observer and target, never the same."""

ReplyKey: TypeAlias = tuple[str, Kind, Outcome, Reading | None, Fault | None]
"""A sort of reply: the brain that gave it, its kind, what became of it, how it was read if it was accepted, and what
was wrong with it."""

Departure: TypeAlias = Literal["night", "exile"]
"""How a player left the game."""

FILLER_SUSPICION = 0.5
"""s of a filler, as in the paper's code."""
FILLER_CONFIDENCE = 0.0
"""c of a filler, as in the paper's code."""


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One player, in seating order.

    Attributes:
        name: the player's name.
        role: what it was dealt.
        agent: the process that answered for it.
        brain: what answered, as it was asked for.
    """

    name: SeatName
    role: Role
    agent: str
    brain: str


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One public statement with its speaker's own label.

    Attributes:
        game: the game's id.
        number: statements count from 1 within a game.
        round: from 1.
        phase: "debate", or "vote" for a published reason.
        turn: place within the phase, from 1.
        speaker: who said it.
        role: the speaker's role.
        agent: the process that answered for the speaker.
        brain: what answered for the speaker.
        d: the speaker calls it deceptive; None if there is no label that counts.
        c: the speaker's confidence in [0, 1]; None without a label.
        kind: the mechanism the speaker admits; None without a label.
        outcome: what became of the request for the label; None if it is not joined.
        reading: how the label was read; None if nothing usable came.
        text: the words, where the fold was asked to keep them.
        claims: scored claims: those that the speaker attached, then those found in the words (`extracted`).
    """

    game: str
    number: int
    round: int
    phase: Phase
    turn: int
    speaker: SeatName
    role: Role
    agent: str
    brain: str
    d: bool | None = None
    c: float | None = None
    kind: Deception | None = None
    outcome: Outcome | None = None
    reading: Reading | None = None
    text: str | None = None
    claims: tuple[ScoredClaim, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether the label counts."""
        return self.d is not None


# not frozen, though nobody changes one: there are more of these than of all else, and frozen ones take thrice as long
@dataclass(slots=True)
class JudgementRow:
    """One observer's judgement of one statement.

    Attributes:
        game: the game's id.
        statement: number of the statement.
        round: the statement's round.
        phase: the statement's phase.
        observer: who judges.
        observer_role: its role.
        target: who spoke.
        target_role: its role.
        d: the observer flags the statement; None if the judgement does not count.
        s: suspicion in [0, 1]; None if the judgement does not count, or in a foreign log that has flags only.
        c: the observer's confidence in [0, 1], if given.
        kind: the mechanism the observer suspects, if given.
        outcome: what became of the request.
        reading: how the reply was read; None if nothing usable came.
        before: D(observer, target) before this judgement, a prediction made without it.
        after: D(observer, target) with it; equal to `before` where it does not move the score.
    """

    game: str
    statement: int
    round: int
    phase: Phase
    observer: SeatName
    observer_role: Role
    target: SeatName
    target_role: Role
    d: bool | None
    s: float | None
    c: float | None
    kind: Deception | None
    outcome: Outcome
    reading: Reading | None
    before: float
    after: float

    @property
    def usable(self) -> bool:
        """Whether the judgement counts."""
        return self.d is not None


@dataclass(frozen=True, slots=True)
class VoteRow:
    """One ballot.

    Attributes:
        game: the game's id.
        round: from 1.
        voter: who voted.
        voter_role: its role.
        target: whom to exile; None abstained.
        target_role: the target's role; None for an abstention.
        outcome: what became of the request; None where the log does not say.
    """

    game: str
    round: int
    voter: SeatName
    voter_role: Role
    target: SeatName | None
    target_role: Role | None
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class NightRow:
    """What a night really did.

    Attributes:
        round: from 1.
        target: whom the wolves went for; None without an attempt.
        protected: whom the doctors protected.
        died: who died, if anybody did.
    """

    round: int
    target: SeatName | None
    protected: tuple[SeatName, ...]
    died: SeatName | None


@dataclass(frozen=True, slots=True)
class DeathRow:
    """A player left.

    Attributes:
        round: from 1.
        seat: who.
        role: what it was.
        how: killed in the "night" or voted into "exile".
    """

    round: int
    seat: SeatName
    role: Role
    how: Departure


@dataclass(frozen=True, slots=True)
class GameRows:
    """All rows of one game, finished or not.

    Attributes:
        game: the game's id.
        seats: players by name, in seating order.
        alpha: weight of a new judgement in D.
        prior: D before any judgement.
        include_defaulted: whether missing labels and judgements were filled in.
        statements: in order of their numbers.
        judgements: in the order they were joined.
        votes: by round.
        nights: the nights' true outcomes, where the log has them.
        deaths: in order.
        suspicion: D of every pair with a judgement, as it stands: frozen once either has left, final when
            the game is over.
        by_round: D of pairs alive when the round's last judgement was joined, with a judgement so far; only
            rounds in which a judgement moved a score.
        rounds: rounds begun.
        night_count: nights played.
        debate_turns: turns of debate, silent ones included.
        voting_rounds: votes held.
        finished: whether the game came to its end.
        winner: who won; None if nobody did, or while it runs.
        reason: why it is over; None where the log does not say.
        protocol: how model players were asked.
        replies: answers to requests of every kind, counted by sort.
        calls: model calls by seat, model and kind.
        critical_path: model calls of the longest chain that had to wait for one another; see `CallBook`.
        seconds: from the opening to the latest event; None where the log does not say.
        seed: what every draw of the game follows from; "" where the log does not say.
    """

    game: str
    seats: Mapping[SeatName, SeatRow]
    alpha: float
    prior: float
    include_defaulted: bool = False
    statements: tuple[StatementRow, ...] = ()
    judgements: tuple[JudgementRow, ...] = ()
    votes: tuple[VoteRow, ...] = ()
    nights: tuple[NightRow, ...] = ()
    deaths: tuple[DeathRow, ...] = ()
    suspicion: Mapping[Pair, float] = field(default_factory=dict)
    by_round: Mapping[int, Mapping[Pair, float]] = field(default_factory=dict)
    rounds: int = 0
    night_count: int = 0
    debate_turns: int = 0
    voting_rounds: int = 0
    finished: bool = False
    winner: Winner = None
    reason: Ending | None = None
    protocol: Protocol = "paper"
    replies: Mapping[ReplyKey, int] = field(default_factory=dict)
    calls: Mapping[CallKey, Usage] = field(default_factory=dict)
    critical_path: int = 0
    seconds: float | None = None
    seed: str = ""
