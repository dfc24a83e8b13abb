"""Rows: what one game leaves for measurement, whoever wrote its log. Every metric is a function over these.

`d`, `s`, `c` and `kind` are the quantities of the paper (section 4.2): flag, suspicion, confidence, mechanism. A row
whose `d` is None does not count: its answer was defaulted, timed out, declined, or is not there yet. Where fillers were
asked for (`include_defaulted`) such rows carry the paper code's "truthful, suspicion 0.5, confidence 0" and their true
`outcome`.

What a field means, and how it is exported and kept as a number, stands in its annotation; see `analytics.rows.fields`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Final, TypeAlias

from analytics.rows.course import (
    NIGHTS,
    CallRow,
    DeathRow,
    Departure,
    InspectionRow,
    NightRow,
    ProtectionRow,
    SeatRow,
    Step,
    TimedEvent,
    VotingRow,
    WhisperRow,
    call_row,
)
from analytics.rows.fields import FOREIGN, HOW, PHASES, Column, Derived, Stored, coded, seat_id
from analytics.rows.talk import (
    CLAIMS,
    TRUTHS,
    VERDICTS,
    BidRow,
    ClaimRow,
    JudgementRow,
    StatementRow,
    SuspicionRow,
    Truth,
    VoteRow,
    truth_of,
)
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import Opened
from wolfbus.usage import Usage
from wolfbus.vocabulary import Ending, Fault, Kind, Outcome, Protocol, Reading, Team, Winner

Pair: TypeAlias = tuple[SeatName, SeatName]
"""Observer and target, never the same."""

CallKey: TypeAlias = tuple[SeatName, str, str]
"""Seat, model, and what the call answers: a kind of request, or several as `sort_of` names them."""

ReplyKey: TypeAlias = tuple[str, Kind, Outcome, Reading | None, Fault | None]
"""A sort of reply: the agent that gave it, its kind, what became of it, how it was read if it was accepted, and what
was wrong with it."""

WINNERS: Final[tuple[Winner, ...]] = (None, "villagers", "werewolves")
ENDINGS: Final[tuple[Ending, ...]] = ("no_wolves_left", "wolves_reach_parity", "max_rounds")
PROTOCOLS: Final[tuple[Protocol, ...]] = ("paper", "compact")

_WINNER: Final = Stored("i1", {winner: place for place, winner in enumerate(WINNERS)})
_COUNT: Final = Stored("i2")


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
    """

    game: str
    seats: Mapping[SeatName, SeatRow]
    wolfbus: ClassVar[
        Derived[Annotated[str | None, Column("version of the wolfbus that moderated", FOREIGN, category=True)]]
    ] = Derived(lambda rows: None if rows.opened is None else rows.opened.version)
    started: ClassVar[
        Derived[Annotated[float | None, Column("when it was opened", FOREIGN, unit="seconds since 1970-01-01 UTC")]]
    ] = Derived(lambda rows: None if rows.opened is None else rows.opened.started)
    seed: Annotated[str, Column("what every draw of the game follows from", FOREIGN)] = ""
    protocol: Annotated[Protocol, Column("how model players were asked"), coded(PROTOCOLS)] = "paper"
    alpha: Annotated[float, Column("weight of a new judgement in smoothed suspicion, as exported", unit="share")] = 0.7
    prior: Annotated[float, Column("smoothed suspicion before any judgement, as exported", unit="share")] = 0.5
    include_defaulted: Annotated[
        bool,
        Column(
            'whether missing labels and judgements were filled in as the paper\'s code did: "truthful", suspicion 0.5'
        ),
    ] = False
    finished: Annotated[bool, Column("whether it came to its end"), Stored("?")] = False
    winner: Annotated[
        Team | None,
        Column("who won", "nobody, or it is unfinished", values=("villagers", "werewolves")),
        _WINNER,
    ] = None
    reason: Annotated[
        Ending | None,
        Column("why it is over", "it is unfinished, or a log that does not say"),
        coded(ENDINGS, "ending"),
    ] = None
    rounds: Annotated[int, Column("rounds begun"), _COUNT] = 0
    night_count: Annotated[int, Column("nights played", name="nights"), Stored("i2", name="nights")] = 0
    debate_turns: Annotated[int, Column("turns of debate, silent ones included"), Stored("i2", name="turns")] = 0
    voting_rounds: Annotated[int, Column("votes held"), Stored("i2", name="votings")] = 0
    seat_count: ClassVar[Derived[Annotated[int, Column("players", name="seats"), Stored("i1", name="seats")]]] = (
        Derived(lambda rows: len(rows.seats))
    )
    statement_count: ClassVar[
        Derived[Annotated[int, Column("statements made: its rows in that table", name="statements")]]
    ] = Derived(lambda rows: len(rows.statements))
    judgement_count: ClassVar[
        Derived[Annotated[int, Column("judgements asked for and joined: its rows in that table", name="judgements")]]
    ] = Derived(lambda rows: len(rows.judgements))
    call_count: ClassVar[Derived[Annotated[int, Column("model calls: its rows in that table", name="calls")]]] = (
        Derived(lambda rows: len(rows.call_rows))
    )
    critical_path: Annotated[int, Column("model calls of the longest chain that had to wait for one another")] = 0
    seconds: Annotated[float | None, Column("from the opening to the latest event", FOREIGN, unit="seconds")] = None
    statements: tuple[StatementRow, ...] = ()
    judgements: tuple[JudgementRow, ...] = ()
    votes: tuple[VoteRow, ...] = ()
    votings: tuple[VotingRow, ...] = ()
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

    def claims(self) -> Iterator[ClaimRow]:
        """Yield every claim of every statement."""
        for row in self.statements:
            for place, scored in enumerate((*row.claims, *row.unheard), 1):
                claim = scored.claim
                role = claim.role if claim.claim == "role" or claim.claim == "inspection" else None
                yield ClaimRow(
                    game=self.game,
                    statement=row.number,
                    place=place,
                    # a speaker may name somebody who does not play
                    target_id=seat_id(self.game, claim.target) if claim.target in self.seats else None,
                    claim=claim.claim,
                    target=claim.target,
                    role=role,
                    round=claim.round if claim.claim == "inspection" or claim.claim == "protection" else None,
                    verdict=scored.verdict,
                    extracted=scored.extracted,
                    borne_out=place <= len(row.claims),
                    seer_reveal=row.role == claim.role == "Seer" and claim.target == row.speaker
                    if claim.claim == "role"
                    else False,
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
        observer, target = self.seats[pair[0]], self.seats[pair[1]]
        return SuspicionRow(
            game=self.game,
            moment="final" if round_ is None else "round",
            round=round_,
            observer=observer.name,
            observer_role=observer.role,
            observer_agent=observer.agent,
            target=target.name,
            target_role=target.role,
            target_agent=target.agent,
            informed=informed,
            d=value,
            judgements=judgements,
        )


def _count(so_far: dict[Pair, tuple[int, bool]], judgements: Iterable[JudgementRow]) -> None:
    """Count judgements by pair, and take over whether the last one was informed."""
    for row in judgements:
        pair = row.observer, row.target
        so_far[pair] = so_far.get(pair, (0, False))[0] + 1, row.informed


FILLER_SUSPICION: Final = 0.5
"""s of a filler, as in the paper's code."""
FILLER_CONFIDENCE: Final = 0.0
"""c of a filler, as in the paper's code."""

__all__ = [
    "CLAIMS",
    "ENDINGS",
    "FILLER_CONFIDENCE",
    "FILLER_SUSPICION",
    "HOW",
    "NIGHTS",
    "PHASES",
    "PROTOCOLS",
    "TRUTHS",
    "VERDICTS",
    "WINNERS",
    "BidRow",
    "CallKey",
    "CallRow",
    "ClaimRow",
    "DeathRow",
    "Departure",
    "GameRows",
    "InspectionRow",
    "JudgementRow",
    "NightRow",
    "Pair",
    "ProtectionRow",
    "ReplyKey",
    "SeatRow",
    "StatementRow",
    "Step",
    "SuspicionRow",
    "TimedEvent",
    "Truth",
    "VoteRow",
    "VotingRow",
    "WhisperRow",
    "call_row",
    "truth_of",
]
