"""Rows: what one game leaves for measurement, whoever wrote its log. Every metric is a function over these.

`d`, `s`, `c` and `kind` are the quantities of the paper (section 4.2): flag, suspicion, confidence, mechanism. A row
whose `d` is None does not count: its answer was defaulted, timed out, declined, or is not there yet. Where fillers were
asked for (`include_defaulted`) such rows carry the paper code's "truthful, suspicion 0.5, confidence 0" and their true
`outcome`.

What a field means, and how it is exported and kept as a number, stands in its annotation; see `analytics.rows.fields`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Annotated, ClassVar, TypeAlias

from analytics.rows.annotation import AnnotationRow
from analytics.rows.belief import BeliefRow
from analytics.rows.course import (
    CallRow,
    DeathRow,
    InspectionRow,
    NightRow,
    ProtectionRow,
    SeatRow,
    Step,
    TimedEvent,
    VotingRow,
    WhisperRow,
    pair_of,
)
from analytics.rows.fields import DECIMALS, FOREIGN, Column, Derived, seat_id
from analytics.rows.fork import ForkRow
from analytics.rows.knowledge import FactRow, KnowableRow
from analytics.rows.talk import BidRow, ClaimRow, JudgementRow, StatementRow, SuspicionRow, VoteRow
from analytics.rows.talk import truth_of as truth_of  # named so in what reports say of it
from wolfbus.game.roles import team_of
from wolfbus.game.vocabulary import (
    AssessmentTime,
    Ending,
    Fault,
    Kind,
    LabelTime,
    Outcome,
    Protocol,
    Reading,
    Role,
    Team,
)
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import Opened
from wolfbus.record.usage import Usage

Pair: TypeAlias = tuple[SeatName, SeatName]
"""Observer and target, never the same."""

CallKey: TypeAlias = tuple[SeatName, str, str]
"""Seat, model, and what the call answers: a kind of request, or several as `sort_of` names them."""

ReplyKey: TypeAlias = tuple[str, Kind, Outcome, Reading | None, Fault | None]
"""A sort of reply: the agent that gave it, its kind, what became of it, how it was read if it was accepted, and what
was wrong with it."""


@dataclass(frozen=True, slots=True)
class GameRows:
    """All rows of one game, finished or not.

    Attributes:
        game: the game's id.
        seats: players by name, in seating order.
        statements: in order of their numbers.
        judgements: in the order they were joined.
        votes: every ballot, by round.
        votings: every vote, by round.
        knowable: what the living could know of each other at every vote.
        facts: what thoughts and statements tell of the game that everybody, or who thinks it, knows.
        nights: the nights' true outcomes, where the log has them.
        inspections: what Seers learned, in order.
        protections: whom Doctors protected, in order.
        deaths: in order.
        suspicion: D of every pair with a judgement, as it stands: frozen once either has left, final when
            the game is over.
        by_round: D of pairs alive when the round's last judgement was joined, with a judgement so far; only
            rounds in which a judgement moved a score.
        replies: answers to requests of every kind, counted by sort.
        calls: model calls by seat, model and kind.
        opened: the opening; None in a foreign log.
        bids: in order; kept with the words only.
        whispers: what Werewolves propose at night, in order; kept with the words only.
        call_rows: model calls one by one; kept with the words only.
        course: what moved the game on, in order; kept with the words only.
        served: what servers say of the models that answered, by the one that was asked.
        dropped: prompts, at least, whose beginnings their server did not read, by agent.
        seals: by statement, a hash over it and all before it: of its line of the record, of a published log over the
            words.
        annotations: what is said of the statements afterwards.
        beliefs: what seats believed, asked outright afterwards.
    """

    game: str
    seats: Mapping[SeatName, SeatRow]
    wolfbus: ClassVar[Derived[str | None]] = Derived(
        lambda rows: None if rows.opened is None else rows.opened.version,
        Column("version of the wolfbus that moderated", FOREIGN, category=True),
    )
    started: ClassVar[Derived[float | None]] = Derived(
        lambda rows: None if rows.opened is None else rows.opened.started,
        Column("when it was opened", FOREIGN, unit="seconds since 1970-01-01 UTC"),
    )
    seed: Annotated[str, Column("what every draw of the game follows from", FOREIGN)] = ""
    protocol: Annotated[Protocol, Column("how model players were asked")] = "paper"
    label: Annotated[
        LabelTime,
        Column(
            "when speakers were to label their words: after them, with them, or both; nobody did if `assess` is none"
        ),
    ] = "after"
    assess: Annotated[
        AssessmentTime, Column("when labels and judgements were asked for: live, after the game, or never")
    ] = "live"
    feedback: Annotated[
        bool, Column("whether a seat's own labels, judgements and suspicion were part of what it knew afterwards")
    ] = True
    alpha: Annotated[float, Column("weight of a new judgement in smoothed suspicion, as exported", unit="share")] = 0.7
    prior: Annotated[float, Column("smoothed suspicion before any judgement, as exported", unit="share")] = 0.5
    include_defaulted: Annotated[
        bool,
        Column(
            'whether missing labels and judgements were filled in as the paper\'s code did: "truthful", suspicion 0.5'
        ),
    ] = False
    finished: Annotated[bool, Column("whether it came to its end")] = False
    winner: Annotated[
        Team | None,
        Column("who won", "nobody, or it is unfinished", values=("villagers", "werewolves")),
    ] = None
    reason: Annotated[
        Ending | None,
        Column("why it is over", "it is unfinished, or a log that does not say"),
    ] = None
    spoilt: Annotated[bool, Column("whether too many answers of a seat are defaults for want of a reply")] = False
    rounds: Annotated[int, Column("rounds begun")] = 0
    night_count: Annotated[int, Column("nights played", name="nights")] = 0
    debate_turns: Annotated[int, Column("turns of debate, silent ones included")] = 0
    voting_rounds: Annotated[int, Column("votes held")] = 0
    seat_count: ClassVar[Derived[int]] = Derived(lambda rows: len(rows.seats), Column("players", name="seats"))
    statement_count: ClassVar[Derived[int]] = Derived(
        lambda rows: len(rows.statements), Column("statements made: its rows in that table", name="statements")
    )
    judgement_count: ClassVar[Derived[int]] = Derived(
        lambda rows: len(rows.judgements),
        Column("judgements asked for and joined: its rows in that table", name="judgements"),
    )
    call_count: ClassVar[Derived[int]] = Derived(
        lambda rows: len(rows.call_rows), Column("model calls: its rows in that table", name="calls")
    )
    critical_path: Annotated[int, Column("model calls of the longest chain that had to wait for one another")] = 0
    seconds: Annotated[float | None, Column("from the opening to the latest event", FOREIGN, unit="seconds")] = None
    statements: tuple[StatementRow, ...] = ()
    judgements: tuple[JudgementRow, ...] = ()
    votes: tuple[VoteRow, ...] = ()
    votings: tuple[VotingRow, ...] = ()
    knowable: tuple[KnowableRow, ...] = ()
    facts: tuple[FactRow, ...] = ()
    nights: tuple[NightRow, ...] = ()
    inspections: tuple[InspectionRow, ...] = ()
    protections: tuple[ProtectionRow, ...] = ()
    deaths: tuple[DeathRow, ...] = ()
    suspicion: Mapping[Pair, float] = field(default_factory=dict)
    by_round: Mapping[int, Mapping[Pair, float]] = field(default_factory=dict)
    replies: Mapping[ReplyKey, int] = field(default_factory=dict)
    calls: Mapping[CallKey, Usage] = field(default_factory=dict)
    opened: Opened | None = None
    bids: tuple[BidRow, ...] = ()
    whispers: tuple[WhisperRow, ...] = ()
    call_rows: tuple[CallRow, ...] = ()
    course: tuple[TimedEvent[Step], ...] = ()
    served: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    seals: Mapping[int, str] = field(default_factory=dict)
    annotations: tuple[AnnotationRow, ...] = ()
    beliefs: tuple[BeliefRow, ...] = ()

    def claims(self) -> Iterator[ClaimRow]:
        """Yield every claim of every statement."""
        for row in self.statements:
            for place, scored in enumerate((*row.claims, *row.unheard), 1):
                claim = scored.claim
                role: Role | None = getattr(claim, "role", None)
                yield ClaimRow(
                    game=self.game,
                    statement=row.number,
                    place=place,
                    # a speaker may name somebody who does not play
                    target_id=seat_id(self.game, claim.target) if claim.target in self.seats else None,
                    claim=claim.claim,
                    target=claim.target,
                    role=role,
                    denied=getattr(claim, "denied", False),
                    side=getattr(claim, "side", None),
                    strength=getattr(claim, "strength", None),
                    round=getattr(claim, "round", None),
                    verdict=scored.verdict,
                    extracted=scored.extracted,
                    borne_out=place <= len(row.claims),
                )

    def forks(self) -> Iterator[ForkRow]:
        """Yield what came of it, if it is a fork; nothing of any other game."""
        fork = None if self.opened is None else self.opened.fork
        if fork is None:
            return
        seat = self.seats[fork.seat]
        # behind a silence the number goes to whatever is said next, by the same speaker perhaps
        at_place = (row for row in self.statements if row.number == fork.statement and fork.arm != "silence")
        statement = next(at_place, None)
        judged = (row for row in self.judgements if statement is not None and row.statement == fork.statement)
        at_dusk = (row for row in self.suspicion_by_round() if row.round == fork.round and row.target == fork.seat)
        ballots = [row.target == fork.seat for row in self.votes if row.round == fork.round and row.voter != fork.seat]
        exile = (fork.seat, "exile", fork.round) in {(death.seat, death.how, death.round) for death in self.deaths}
        yield ForkRow(
            game=self.game,
            parent=fork.parent,
            number=fork.statement,
            round=fork.round,
            speaker=fork.seat,
            role=seat.role,
            agent=seat.agent,
            kind=fork.kind,
            arm=fork.arm,
            k=fork.k,
            tries=fork.tries,
            label=None if statement is None else statement.d,
            suspicion=_mean([row.s for row in judged if row.s is not None and not row.informed]),
            dusk=_mean([row.d for row in at_dusk if not row.informed]),
            votes=_mean(ballots),
            exiled=exile if ballots else None,
            won=self.winner == team_of(seat.role) if self.finished else None,
        )

    def suspicion_by_round(self) -> Iterator[SuspicionRow]:
        """Yield D at the end of every round, of pairs alive then."""
        moved: dict[int, list[JudgementRow]] = {}
        for row in self._moving():
            moved.setdefault(row.round, []).append(row)
        so_far: dict[Pair, tuple[int, bool]] = {}
        for round_ in sorted({*moved, *self.by_round}):
            _count(so_far, moved.get(round_, ()))
            for pair, value in self.by_round.get(round_, {}).items():
                yield self._suspicion(pair, value, round_, *so_far.get(pair, (0, False)))

    def final_suspicion(self) -> Iterator[SuspicionRow]:
        """Yield D of every pair as it stands."""
        so_far: dict[Pair, tuple[int, bool]] = {}
        _count(so_far, self._moving())
        for pair, value in self.suspicion.items():
            yield self._suspicion(pair, value, None, *so_far.get(pair, (0, False)))

    def _moving(self) -> Iterator[JudgementRow]:
        # fillers have an outcome other than accepted, and move nothing
        return (row for row in self.judgements if row.s is not None and row.outcome == "accepted")

    def _suspicion(self, pair: Pair, value: float, round_: int | None, judgements: int, informed: bool) -> SuspicionRow:
        return SuspicionRow(
            game=self.game,
            moment="final" if round_ is None else "round",
            round=round_,
            **pair_of(self.seats[pair[0]], self.seats[pair[1]]),
            informed=informed,
            d=round(value, DECIMALS),
            judgements=judgements,
        )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _count(so_far: dict[Pair, tuple[int, bool]], judgements: Iterable[JudgementRow]) -> None:
    """Count judgements by pair, and take over whether the last one was informed."""
    for row in judgements:
        pair = row.observer, row.target
        so_far[pair] = so_far.get(pair, (0, False))[0] + 1, row.informed
