"""`VoteDraft`: a vote that goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from wolfbus.messages.base import SeatName
from wolfbus.messages.events import AnsweredVote, Exile, Tally
from wolfbus.stage.beats import Bar, Exiled, ShownBallot, Tallied


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

    def counted(self, event: Tally, names: Sequence[SeatName]) -> Tallied:
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
