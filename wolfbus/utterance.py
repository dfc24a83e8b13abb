"""`Utterance`: a statement and what is known of its assessment so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from wolfbus.messages.base import SeatName
from wolfbus.vocabulary import Deception, Outcome, Phase, Verdict


@dataclass(frozen=True, slots=True)
class OwnLabel:
    """A usable self-label: what `Label` says but for its reasoning."""

    deceptive: bool
    confidence: float
    kind: Deception


@dataclass(slots=True)
class Utterance:
    """A statement and what is known of its assessment so far.

    Attributes:
        number: the statement's number, from 1.
        round: its round.
        phase: "debate", or "vote" for the published reason of a vote.
        turn: turn of the debate, or place among the reasons.
        speaker: who made it.
        text: its first characters, as many as the state keeps.
        length: characters of the whole text.
        label: the speaker's own label, None while or where there is none.
        label_outcome: what became of the request for it, None while it is open.
        judged: usable judgements.
        flagged: how many of them call it deceptive.
        suspicions: sum of their suspicion.
        missing: judgements that were asked for and are not usable.
        verdicts: the moderator's verdicts on its claims.
        awaited: assessments asked for and not yet in the record.
    """

    number: int
    round: int
    phase: Phase
    turn: int
    speaker: SeatName
    text: str
    length: int
    label: OwnLabel | None = None
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
