"""What goes on: requests without an answer, a statement whose judgements are still coming in, a vote, a night; and how
every seat stands, as far as one viewer knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from wolfbus.claims import kind_named, kind_of
from wolfbus.game.roles import team_of
from wolfbus.game.vocabulary import Kind, Outcome, Role, Team
from wolfbus.knowledge.departure import Departure
from wolfbus.knowledge.suspicion import Suspicion
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Judgement, Label, ScoredClaim
from wolfbus.messages.events import (
    AnsweredAssessOther,
    AnsweredAssessOwn,
    AnsweredInspect,
    AnsweredKill,
    AnsweredProtect,
    AnsweredSpeak,
    AnsweredVote,
    AnsweredWhisper,
    AnyAnswered,
    Asked,
    Dawn,
    Exile,
    Inspection,
    NightOutcome,
    Statement,
    Tally,
)
from wolfbus.messages.requests import Whispered
from wolfbus.stage.beats import (
    Bar,
    Exiled,
    Listener,
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

_MOVED: Final = 3
_WOLVES: Final[Team] = "werewolves"

AnsweredAct: TypeAlias = AnsweredKill | AnsweredProtect | AnsweredInspect | AnsweredWhisper
"""What a single role chose."""


class Waiting:
    """The open requests of a game: what was asked and is not answered yet."""

    def __init__(self) -> None:
        self._batches: dict[int, dict[Kind, set[SeatName]]] = {}

    def ask(self, event: Asked) -> None:
        """Add the requests of a batch."""
        kinds = self._batches.setdefault(event.batch, {})
        for asking in event.asks:
            kinds.setdefault(asking.kind, set()).update(asking.seats)

    def close(self, event: AnyAnswered) -> None:
        """Remove the request that an answer closes."""
        kinds = self._batches.get(event.batch, {})
        seats = kinds.get(event.kind, set())
        seats.discard(event.seat)
        if not seats:
            kinds.pop(event.kind, None)
        if not kinds:
            self._batches.pop(event.batch, None)

    def clear(self) -> None:
        """Remove all requests: the game is over."""
        self._batches.clear()

    def seats(self, names: Sequence[SeatName]) -> dict[Kind, tuple[SeatName, ...]]:
        """Return who has not answered, by kind of request, each in the order of `names`."""
        waiting: dict[Kind, set[SeatName]] = {}
        for kinds in self._batches.values():
            for kind, seats in kinds.items():
                waiting.setdefault(kind, set()).update(seats)
        return {kind: tuple(name for name in names if name in seats) for kind, seats in waiting.items()}


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
        intended: the first of two, which came with the words.
        awaited: assessments that are still to come, where the viewer knows who was asked; None where not.
        judged: what became of the judgements, with the line of the model call that made each.
        informed: of each listener, whether it knew whether the speaker is a Werewolf; without those of whom the viewer
            cannot tell.
    """

    event: Statement
    line: int
    time: float
    answer: AnsweredSpeak | AnsweredVote | None
    call: int | None
    bids: dict[SeatName, int]
    claims: list[ShownClaim] = field(default_factory=list)
    label: ShownAssessment | None = None
    intended: ShownAssessment | None = None
    awaited: set[tuple[Kind, SeatName]] | None = None
    judged: dict[SeatName, tuple[AnsweredAssessOther, int | None]] = field(default_factory=dict)
    informed: dict[SeatName, bool] = field(default_factory=dict)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What it puts on the timeline: claims of some kinds stand there only if they are lies."""
        verdicts = {claim.verdict for claim in self.claims if claim.verdict == "lie" or kind_named(claim.claim).marked}
        return ("lie",) if "lie" in verdicts else ("claim",) if verdicts else ()

    def claim(self, claims: Iterable[ScoredClaim]) -> None:
        """Set all its claims, with their truth."""
        self.claims = [_shown_claim(scored, self.event.speaker) for scored in claims]

    def take(self, event: AnsweredAssessOwn | AnsweredAssessOther, call: int | None) -> None:
        """Add what became of one request to assess it."""
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

    def judge(self, suspicion: Suspicion) -> None:
        """Fold its judgements so far into the smoothed suspicion."""
        for event, _ in self.judged.values():
            # a log of another table may have a flag without a suspicion
            if event.content is not None and event.content.suspicion is not None:
                self._fold(suspicion, event.seat, event.content.suspicion)

    def _fold(self, suspicion: Suspicion, observer: SeatName, stated: float) -> float:
        return suspicion.judge(observer, self.event.speaker, stated, informed=self.informed.get(observer, False))

    def _listener(self, name: SeatName) -> Listener | None:
        if name not in self.informed:
            return None
        if self.informed[name]:
            return "knew"
        called = {claim.target for claim in self.claims if claim.role is not None and team_of(claim.role) == _WOLVES}
        return "accused" if name in called else "finds_out"

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
        counted = [judgement for judgement in judgements if judgement.listener in {None, "finds_out"}]
        values = [judgement.suspicion for judgement in counted if judgement.suspicion is not None]
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
            # a flag of a log of another table may have no suspicion, and counts all the same
            sum(judgement.deceptive is not None for judgement in counted),
            sum(judgement.deceptive is True for judgement in counted),
            sum(values) / len(values) if values else None,
            self._moved(judgements),
            answer.reading if answer is not None and answer.reading != "clean" else None,
            self.call,
            took,
            self.intended,
        )

    def _judgement(self, name: SeatName, suspicion: Suspicion | None) -> ShownAssessment:
        event, call = self.judged[name]
        assessment = replace(_assessment(event, call), listener=self._listener(name))
        if suspicion is None or assessment.suspicion is None:
            return assessment
        before = suspicion.of(name, self.event.speaker)
        return replace(assessment, before=before, after=self._fold(suspicion, name, assessment.suspicion))

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
        """Open the votes, and return them as they are shown.

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


def label_along(event: AnsweredSpeak | AnsweredVote | None, call: int | None) -> ShownAssessment | None:
    """Return the label that came in the reply that holds the words, if one did."""
    label = event.content.label if event is not None and event.content is not None else None
    return None if label is None else _assessed(None, "accepted", label, None, call)


def _assessment(event: AnsweredAssessOwn | AnsweredAssessOther, call: int | None) -> ShownAssessment:
    judge = event.seat if isinstance(event, AnsweredAssessOther) else None
    content = event.content
    if content is None:
        return ShownAssessment(judge, event.outcome, thought=event.thought, call=call)
    return _assessed(judge, event.outcome, content, event.thought, call)


def _assessed(
    judge: SeatName | None, outcome: Outcome, content: Label | Judgement, thought: str | None, call: int | None
) -> ShownAssessment:
    return ShownAssessment(
        judge,
        outcome,
        content.deceptive,
        content.suspicion if isinstance(content, Judgement) else None,
        content.confidence,
        content.kind,
        content.reasoning or None,
        thought,
        call=call,
    )


def _shown_claim(scored: ScoredClaim, speaker: SeatName) -> ShownClaim:
    claim = scored.claim
    kind = kind_of(claim)
    return ShownClaim(
        claim.claim,
        claim.target,
        kind.role_told(claim),
        getattr(claim, "round", None),
        scored.verdict,
        scored.extracted,
        kind.says(claim, speaker),
    )


@dataclass(slots=True)
class NightDraft:
    """A night that goes on, as far as the viewer knows.

    Attributes:
        moves: what was chosen, in order.
        outcome: what the night came to, once that is known.
    """

    moves: list[NightMove] = field(default_factory=list)
    outcome: NightOutcome | None = None

    def add_whisper(self, fact: Whispered) -> None:
        """Add a partner's proposal."""
        self.moves.append(NightMove(fact.seat, "whisper", fact.target, word=fact.word))

    def inspect(self, event: Inspection) -> None:
        """Add what an inspection showed to the choice of whom to inspect."""
        for place, move in enumerate(self.moves):
            if (move.seat, move.target) == (event.seat, event.target):
                self.moves[place] = replace(move, role=event.role)

    def so_far(self, dawn: Dawn | None = None) -> NightShown:
        """Return the night as it is shown at dawn; before it, as far as it has come."""
        outcome = self.outcome
        target = outcome.target if outcome is not None else None
        blocked = target in outcome.protected if outcome is not None and target is not None else None
        moves = tuple(self.moves)
        if dawn is None:
            return NightShown(outcome.died if outcome is not None else None, None, None, target, blocked, moves)
        return NightShown(dawn.died, dawn.role, dawn.team, target, blocked, moves)


def chosen(event: AnsweredAct, call: int | None) -> NightMove:
    """Return what a seat chose, as it is shown.

    Args:
        event: its answer.
        call: line of the model call that made it.
    """
    content = event.content
    return NightMove(
        event.seat,
        event.kind,
        content.target if content is not None else None,
        word=event.content.word if isinstance(event, AnsweredWhisper) and event.content is not None else None,
        thought=event.thought,
        outcome=None if event.outcome == "accepted" else event.outcome,
        call=call,
    )


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
        self._left: dict[SeatName, Departure] = {}

    def sit(self, names: Sequence[SeatName]) -> None:
        """Seat the players, in seating order."""
        self.names = tuple(names)

    def meet(self, *names: SeatName) -> None:
        """Add players that are named; new only to who was not told at the opening who plays."""
        self.names += tuple(name for name in names if name not in self.names)

    def learn(self, name: SeatName, role: Role) -> None:
        """Note that `name` is the `role`."""
        self._roles[name] = role
        self._teams[name] = team_of(role)

    def leave(self, departed: Departure) -> None:
        """Note who left and how, and what became public with it."""
        self.meet(departed.seat)
        self._left.setdefault(departed.seat, departed)
        if departed.role is not None:
            self.learn(departed.seat, departed.role)
        elif departed.team is not None:
            self._teams[departed.seat] = departed.team

    def statuses(self, bids: Mapping[SeatName, int], suspicion: Suspicion) -> tuple[SeatStatus, ...]:
        """Return how every seat stands, in seating order.

        Args:
            bids: bids to show.
            suspicion: smoothed suspicion, as far as the viewer sees it.
        """
        return tuple(self._status(name, bids.get(name), suspicion) for name in self.names)

    def _status(self, name: SeatName, bid: int | None, suspicion: Suspicion) -> SeatStatus:
        departed = self._left.get(name)
        return SeatStatus(
            name,
            self._roles.get(name),
            self._teams.get(name),
            departed.how if departed is not None else None,
            departed.round if departed is not None else None,
            bid,
            suspicion.mean(name, self.names, self._left),
            True if name in self.absent else None,
        )

    def matrix(self, suspicion: Suspicion, *, visible: bool) -> tuple[tuple[float | None, ...] | None, ...] | None:
        """Return smoothed suspicion, observers by targets; None for pairs without a judgement, for observers without
        any, and unless `visible`.
        """
        return tuple(self._row(suspicion, observer) for observer in self.names) if visible else None

    def _row(self, suspicion: Suspicion, observer: SeatName) -> tuple[float | None, ...] | None:
        judged = [suspicion.judged(observer, target) for target in self.names]
        if not any(judged):
            return None
        return tuple(
            suspicion.of(observer, target) if has_judged else None
            for target, has_judged in zip(self.names, judged, strict=True)
        )
