"""What goes on: a statement whose judgements are still coming in, a vote, a night; and how every seat stands, as far
as one viewer knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from wolfbus.messages.base import SeatName
from wolfbus.messages.content import AccusationClaim, Judgement, ProtectionClaim, ScoredClaim
from wolfbus.messages.events import (
    AnsweredAssessOther,
    AnsweredAssessOwn,
    AnsweredInspect,
    AnsweredKill,
    AnsweredProtect,
    AnsweredSpeak,
    AnsweredVote,
    AnsweredWhisper,
    Dawn,
    Exile,
    Inspection,
    NightOutcome,
    Statement,
    Tally,
)
from wolfbus.messages.requests import Whispered
from wolfbus.roles import team_of
from wolfbus.stage.beats import (
    Bar,
    Exiled,
    Mark,
    Moved,
    NightMove,
    NightShown,
    SeatStatus,
    ShownAssessment,
    ShownBallot,
    ShownClaim,
    Spoken,
    Tallied,
)
from wolfbus.suspicion import Suspicion
from wolfbus.vocabulary import Kind, Role, Team

_MOVED: Final = 3


@dataclass(slots=True)
class StatementDraft:
    """A statement whose judgements are still coming in.

    Attributes:
        event: the statement.
        line: its line.
        time: its time.
        answer: the answer that it was made of, if the viewer may know it.
        call: line of the model call that made it.
        bids: the bids for its turn.
        claims: what it claims.
        label: the speaker's own label.
        awaited: assessments that are still to come, where the viewer knows who was asked; None where not.
        judged: what became of the judgements, with the line of the model call that made each.
    """

    event: Statement
    line: int
    time: float
    answer: AnsweredSpeak | AnsweredVote | None
    call: int | None
    bids: dict[SeatName, int]
    claims: list[ShownClaim] = field(default_factory=list)
    label: ShownAssessment | None = None
    awaited: set[tuple[Kind, SeatName]] | None = None
    judged: dict[SeatName, tuple[AnsweredAssessOther, int | None]] = field(default_factory=dict)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What it puts on the timeline; an accusation stands there only if it is a lie."""
        verdicts = {claim.verdict for claim in self.claims if claim.claim != "accusation" or claim.verdict == "lie"}
        return ("lie",) if "lie" in verdicts else ("claim",) if verdicts else ()

    def claim(self, claims: Iterable[ScoredClaim]) -> None:
        """Take in all claims with their truth."""
        self.claims = list(map(_shown_claim, claims))

    def take(self, event: AnsweredAssessOwn | AnsweredAssessOther, call: int | None) -> None:
        """Take in what became of one request to assess it."""
        if self.awaited is not None:
            self.awaited.discard((event.kind, event.seat))
        if isinstance(event, AnsweredAssessOther):
            self.judged[event.seat] = event, call
        else:
            self.label = _assessment(event, call)

    def settled(self, seat: SeatName | None) -> bool:
        """Return whether no more assessment is to come that the viewer sees.

        Args:
            seat: the viewer; it knows only its own request. None for everything.
        """
        if seat is None:
            return self.awaited is not None and not self.awaited
        return self.label is not None if seat == self.event.speaker else seat in self.judged

    def spoken(
        self, names: Sequence[SeatName], suspicion: Suspicion | None, vote: SeatName | None, took: float | None
    ) -> Spoken:
        """Return the statement with what was made of it so far.

        Args:
            names: all players in seating order.
            suspicion: the smoothed suspicion before it, into which its judgements are folded; None to leave that.
            vote: whom the speaker votes for, for the reason of a vote.
            took: seconds of the model call that made it.
        """
        judgements = tuple(self._judgement(name, suspicion) for name in names if name in self.judged)
        values = [judgement.suspicion for judgement in judgements if judgement.suspicion is not None]
        answer = self.answer
        return Spoken(
            self.event.statement,
            self.event.speaker,
            self.event.text,
            vote,
            answer.thought if answer is not None else None,
            tuple(self.claims),
            self.label,
            judgements,
            len(values),
            sum(judgement.deceptive is True for judgement in judgements),
            sum(values) / len(values) if values else None,
            self._moved(judgements),
            answer.reading if answer is not None and answer.reading != "clean" else None,
            self.call,
            took,
        )

    def _judgement(self, name: SeatName, suspicion: Suspicion | None) -> ShownAssessment:
        event, call = self.judged[name]
        assessment = _assessment(event, call)
        if suspicion is None or assessment.suspicion is None:
            return assessment
        before = suspicion.of(name, self.event.speaker)
        return replace(assessment, before=before, after=suspicion.judge(name, self.event.speaker, assessment.suspicion))

    def _moved(self, judgements: Sequence[ShownAssessment]) -> tuple[Moved, ...]:
        steps = [
            Moved(step.seat, self.event.speaker, step.before, step.after)
            for step in judgements
            if step.seat is not None and step.before is not None and step.after not in {None, step.before}
        ]
        return tuple(sorted(steps, key=lambda step: -abs(step.after - step.before))[:_MOVED])


@dataclass(slots=True)
class VoteDraft:
    """A vote that goes on, as far as the viewer knows.

    Attributes:
        answers: the ballots, each with the line of the model call that made it.
        tally: the opened votes, once they are.
    """

    answers: dict[SeatName, tuple[AnsweredVote, int | None]] = field(default_factory=dict)
    tally: Tally | None = None

    def target(self, voter: SeatName) -> SeatName | None:
        """Return for whom `voter` votes; None where it abstains, or that is not known."""
        return self.tally.votes.get(voter) if self.tally is not None else None

    def tallied(self, event: Tally, names: Sequence[SeatName]) -> Tallied:
        """Take in the opened votes and return them as they are shown.

        Args:
            event: the votes.
            names: all players in seating order.
        """
        self.tally = event
        voters: dict[SeatName | None, list[SeatName]] = {}
        seated = [name for name in names if name in event.votes]
        for voter in seated:
            voters.setdefault(event.votes[voter], []).append(voter)
        bars = sorted(voters.items(), key=lambda bar: (bar[0] is None, -len(bar[1])))
        ballots = tuple(self._ballot(voter, event.votes[voter]) for voter in seated)
        return Tallied(event.needed, tuple(Bar(target, tuple(names)) for target, names in bars), ballots)

    def _ballot(self, voter: SeatName, target: SeatName | None) -> ShownBallot:
        answer, call = self.answers.get(voter, (None, None))
        if answer is None:
            return ShownBallot(voter, target)
        outcome = None if answer.outcome == "accepted" else answer.outcome
        return ShownBallot(voter, target, answer.thought, outcome, call)

    def exiled(self, event: Exile) -> Exiled:
        """Return what the vote came to."""
        votes = self.tally.votes if self.tally is not None else {}
        count = Counter(target for target in votes.values() if target is not None)
        most = count[event.seat] if event.seat is not None else max(count.values(), default=0)
        return Exiled(event.seat, most, self.tally.needed if self.tally is not None else 0, event.role, event.team)


def _assessment(event: AnsweredAssessOwn | AnsweredAssessOther, call: int | None) -> ShownAssessment:
    judge = event.seat if isinstance(event, AnsweredAssessOther) else None
    content = event.content
    if content is None:
        return ShownAssessment(judge, event.outcome, thought=event.thought, call=call)
    return ShownAssessment(
        judge,
        event.outcome,
        content.deceptive,
        content.suspicion if isinstance(content, Judgement) else None,
        content.confidence,
        content.kind,
        content.reasoning or None,
        event.thought,
        call=call,
    )


def _shown_claim(scored: ScoredClaim) -> ShownClaim:
    claim = scored.claim
    if isinstance(claim, AccusationClaim):
        return ShownClaim(claim.claim, claim.target, "Werewolf", None, scored.verdict, scored.extracted)
    if isinstance(claim, ProtectionClaim):
        return ShownClaim(claim.claim, claim.target, None, claim.round, scored.verdict, scored.extracted)
    night = claim.round if claim.claim == "inspection" else None
    return ShownClaim(claim.claim, claim.target, claim.role, night, scored.verdict, scored.extracted)


@dataclass(slots=True)
class NightDraft:
    """A night that goes on, as far as the viewer knows.

    Attributes:
        moves: what was chosen, in order.
        outcome: what the night came to, once that is known.
    """

    moves: list[NightMove] = field(default_factory=list)
    outcome: NightOutcome | None = None

    def take(self, event: AnsweredKill | AnsweredProtect | AnsweredInspect | AnsweredWhisper, call: int | None) -> None:
        """Take in what a seat chose."""
        content = event.content
        self.moves.append(
            NightMove(
                event.seat,
                event.kind,
                content.target if content is not None else None,
                word=event.content.word if isinstance(event, AnsweredWhisper) and event.content is not None else None,
                thought=event.thought,
                outcome=None if event.outcome == "accepted" else event.outcome,
                call=call,
            )
        )

    def add_whisper(self, fact: Whispered) -> None:
        """Take in a partner's proposal."""
        self.moves.append(NightMove(fact.seat, "whisper", fact.target, word=fact.word))

    def inspect(self, event: Inspection) -> None:
        """Take in what an inspection showed."""
        for place, move in enumerate(self.moves):
            if (move.seat, move.target) == (event.seat, event.target):
                self.moves[place] = replace(move, role=event.role)

    def at_dawn(self, event: Dawn) -> NightShown:
        """Return the night as it is shown at dawn."""
        target = self.outcome.target if self.outcome is not None else None
        blocked = None
        if self.outcome is not None and target is not None:
            blocked = target in self.outcome.protected
        return NightShown(event.died, event.role, event.team, target, blocked, tuple(self.moves))


class Seating:
    """How every seat stands, as far as one viewer knows.

    Attributes:
        names: all players in seating order.
        absent: seats that let too many requests time out.
    """

    def __init__(self) -> None:
        self.names: tuple[SeatName, ...] = ()
        self.absent: set[SeatName] = set()
        self._roles: dict[SeatName, Role] = {}
        self._teams: dict[SeatName, Team] = {}
        self._left: dict[SeatName, tuple[Literal["night", "exile"], int]] = {}

    def sit(self, names: Sequence[SeatName]) -> None:
        """Take in who plays, in seating order."""
        self.names = tuple(names)

    def meet(self, *names: SeatName) -> None:
        """Add players that are named; new only to who was not told at the opening who plays."""
        self.names += tuple(name for name in names if name not in self.names)

    def learn(self, name: SeatName, role: Role) -> None:
        """Take in that `name` is the `role`."""
        self._roles[name] = role
        self._teams[name] = team_of(role)

    def leave(
        self, name: SeatName, how: Literal["night", "exile"], round_: int, role: Role | None, team: Team | None
    ) -> None:
        """Take in how `name` left, and what became public with it."""
        self._left.setdefault(name, (how, round_))
        if role is not None:
            self.learn(name, role)
        elif team is not None:
            self._teams[name] = team

    def statuses(self, bids: Mapping[SeatName, int], suspicion: Suspicion) -> tuple[SeatStatus, ...]:
        """Return how every seat stands, in seating order.

        Args:
            bids: bids to show.
            suspicion: smoothed suspicion, as far as the viewer sees it.
        """
        return tuple(self._status(name, bids.get(name), suspicion) for name in self.names)

    def _status(self, name: SeatName, bid: int | None, suspicion: Suspicion) -> SeatStatus:
        how, round_ = self._left.get(name, (None, None))
        return SeatStatus(
            name,
            self._roles.get(name),
            self._teams.get(name),
            how,
            round_,
            bid,
            suspicion.mean(name, self.names, self._left),
            True if name in self.absent else None,
        )

    def matrix(self, suspicion: Suspicion, *, visible: bool) -> tuple[tuple[float | None, ...], ...] | None:
        """Return smoothed suspicion, observers by targets; None for pairs without a judgement, and unless `visible`."""
        if not visible:
            return None
        return tuple(
            tuple(
                suspicion.of(observer, target) if suspicion.judged(observer, target) else None for target in self.names
            )
            for observer in self.names
        )
