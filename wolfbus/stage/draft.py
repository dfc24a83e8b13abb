"""`Draft`: a statement whose judgements are still coming in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from wolfbus.messages.base import SeatName
from wolfbus.messages.events import (
    AnsweredAssessOther,
    AnsweredAssessOwn,
    AnsweredSpeak,
    AnsweredVote,
    Statement,
)
from wolfbus.stage.beats import Moved, ShownClaim, ShownJudgement, ShownLabel
from wolfbus.suspicion import Suspicion
from wolfbus.vocabulary import Kind, Reading

_MOVED = 3


@dataclass(slots=True)
class Draft:
    """A statement whose judgements are still coming in.

    Attributes:
        said: the statement.
        line: its line.
        time: its time.
        speech: the answer that it was made of, for a turn of the debate, if the viewer may know it.
        ballot: the same for the reason of a vote.
        call: line of the model call that made it.
        bids: the bids for its turn.
        claims: what it claims.
        label: the speaker's own label.
        awaited: assessments that are still to come, where the viewer knows who was asked; None where not.
    """

    said: Statement
    line: int
    time: float
    speech: AnsweredSpeak | None
    ballot: AnsweredVote | None
    call: int | None
    bids: dict[SeatName, int]
    claims: list[ShownClaim] = field(default_factory=list)
    label: ShownLabel | None = None
    awaited: set[tuple[Kind, SeatName]] | None = None
    _judged: dict[SeatName, tuple[AnsweredAssessOther, int | None]] = field(default_factory=dict)

    @property
    def thought(self) -> str | None:
        """The speaker's private thought."""
        answer = self.speech or self.ballot
        return answer.thought if answer is not None else None

    @property
    def reading(self) -> Reading | None:
        """How much work it took to read the words; None where the viewer may not know, or it took none."""
        answer = self.speech or self.ballot
        return answer.reading if answer is not None and answer.reading != "clean" else None

    def take(self, event: AnsweredAssessOwn | AnsweredAssessOther, call: int | None) -> None:
        """Take in what became of one request to assess it."""
        if self.awaited is not None:
            self.awaited.discard((event.kind, event.seat))
        if isinstance(event, AnsweredAssessOther):
            self._judged[event.seat] = (event, call)
            return
        given = event.content
        self.label = (
            ShownLabel(event.outcome, thought=event.thought, call=call)
            if given is None
            else ShownLabel(
                event.outcome,
                given.deceptive,
                given.confidence,
                given.kind,
                given.reasoning or None,
                event.thought,
                call,
            )
        )

    def settled(self, me: SeatName | None) -> bool:
        """Return whether no more assessment is to come that the viewer sees.

        Args:
            me: the seat whose eyes they are; it knows only its own request. None for everything.
        """
        if me is None:
            return self.awaited is not None and not self.awaited
        return self.label is not None if me == self.said.speaker else me in self._judged

    def judgements(self, names: Sequence[SeatName], suspicion: Suspicion | None) -> tuple[ShownJudgement, ...]:
        """Return the judgements in seating order, folded into `suspicion` where it is given."""
        shown = []
        for name in names:
            if name not in self._judged:
                continue
            event, call = self._judged[name]
            given = event.content
            if given is None:
                shown.append(ShownJudgement(name, event.outcome, thought=event.thought, call=call))
                continue
            before = after = None
            if suspicion is not None:
                before = suspicion.of(name, self.said.speaker)
                after = suspicion.judge(name, self.said.speaker, given.suspicion)
            shown.append(
                ShownJudgement(
                    name,
                    event.outcome,
                    given.deceptive,
                    given.suspicion,
                    given.confidence,
                    given.kind,
                    given.reasoning or None,
                    event.thought,
                    before,
                    after,
                    call,
                )
            )
        return tuple(shown)

    def moved(self, judgements: Sequence[ShownJudgement]) -> tuple[Moved, ...]:
        """Return the largest changes of smoothed suspicion among the judgements, largest first."""
        steps = [
            Moved(each.seat, self.said.speaker, each.before, each.after)
            for each in judgements
            if each.before is not None and each.after is not None and each.before != each.after
        ]
        return tuple(sorted(steps, key=lambda step: -abs(step.after - step.before))[:_MOVED])
