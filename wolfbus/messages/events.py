"""Events: what a record is made of. The record is the truth; state, views, suspicion and metrics are folds over it."""

from __future__ import annotations

from typing import Annotated, Generic, Literal, TypeAlias, TypeVar

from pydantic import Field

from wolfbus.config import GameConfig
from wolfbus.messages.base import GameId, Part, SeatName, Whole
from wolfbus.messages.claims import ScoredClaim
from wolfbus.messages.content import (
    Ballot,
    Bid,
    Choice,
    Content,
    Judgement,
    Label,
    Proposal,
    Speech,
    StatementNumber,
)
from wolfbus.vocabulary import Ending, Fault, Kind, Outcome, Phase, Reading, Role, Team, Winner

C = TypeVar("C", bound=Content)


class Seat(Part):
    """One player of a game, in seating order."""

    name: SeatName
    role: Role
    agent: str
    """The process that answers for this seat; no part of the digest."""
    brain: str
    """What answers, as it was asked for: ``scripted``, ``random``, ``module:Class``, …"""
    in_house: bool = True
    """Whether the agent is run by the moderator's own operator, and so gets a seed for its brain."""
    declines: tuple[Kind, ...] = ()
    """Kinds of request this seat's agent does not answer."""


class Opened(Part):
    """A game begins."""

    type: Literal["opened"] = "opened"
    game: GameId
    version: str
    """The wolfbus that moderates; no part of the digest."""
    seed: str
    config: GameConfig
    seats: tuple[Seat, ...]


class Asking(Part):
    """The same question to some seats, with the same legal answers."""

    kind: Kind
    seats: tuple[SeatName, ...]
    legal: tuple[SeatName | None, ...] | None = None
    """Names that may be answered, None among them where "nobody" or abstaining is legal; absent for free answers."""


class Asked(Part):
    """A batch of requests goes out."""

    type: Literal["asked"] = "asked"
    batch: Whole
    """Batches count from 1 within a game."""
    round: Whole
    phase: Phase
    turn: Whole
    about: StatementNumber | None = None
    """The statement to assess."""
    asks: tuple[Asking, ...]


class Answered(Part, Generic[C]):
    """What became of one request; this *is* the bid, label, judgement, vote or night action."""

    type: Literal["answered"] = "answered"
    batch: Whole
    seat: SeatName
    about: StatementNumber | None = None
    outcome: Outcome
    content: C | None = None
    """The accepted content; absent where the conservative default stands in."""
    reading: Reading | None = None
    """As reported by the agent; absent where nothing usable came."""
    fault: Fault | None = None
    thought: str | None = None
    raw: str | None = None
    note: str | None = None


class AnsweredBid(Answered[Bid]):
    """A bid; its default is 0."""

    kind: Literal["bid"] = "bid"


class AnsweredSpeak(Answered[Speech]):
    """What the seat that has the floor says; its default is silence."""

    kind: Literal["speak"] = "speak"


class AnsweredAssessOwn(Answered[Label]):
    """A self-label; it has no default, it is missing."""

    kind: Literal["assess_own"] = "assess_own"


class AnsweredAssessOther(Answered[Judgement]):
    """A judgement; it has no default, it is missing."""

    kind: Literal["assess_other"] = "assess_other"


class AnsweredVote(Answered[Ballot]):
    """A vote; its default abstains."""

    kind: Literal["vote"] = "vote"


class AnsweredKill(Answered[Choice]):
    """The lone wolf's choice; its default is no proposal."""

    kind: Literal["kill"] = "kill"


class AnsweredProtect(Answered[Choice]):
    """The doctor's choice; its default protects nobody."""

    kind: Literal["protect"] = "protect"


class AnsweredInspect(Answered[Choice]):
    """The seer's choice; its default inspects nobody."""

    kind: Literal["inspect"] = "inspect"


class AnsweredWhisper(Answered[Proposal]):
    """A wolf's proposal to its partners; its default is no proposal."""

    kind: Literal["whisper"] = "whisper"


AnyAnswered: TypeAlias = Annotated[
    AnsweredBid
    | AnsweredSpeak
    | AnsweredAssessOwn
    | AnsweredAssessOther
    | AnsweredVote
    | AnsweredKill
    | AnsweredProtect
    | AnsweredInspect
    | AnsweredWhisper,
    Field(discriminator="kind"),
]

ANSWERED: dict[Kind, type[AnyAnswered]] = {
    "bid": AnsweredBid,
    "speak": AnsweredSpeak,
    "assess_own": AnsweredAssessOwn,
    "assess_other": AnsweredAssessOther,
    "vote": AnsweredVote,
    "kill": AnsweredKill,
    "protect": AnsweredProtect,
    "inspect": AnsweredInspect,
    "whisper": AnsweredWhisper,
}
"""Event type per kind of request."""


class Statement(Part):
    """A public utterance: a debate turn, or the published reason of a vote."""

    type: Literal["statement"] = "statement"
    statement: StatementNumber
    round: Whole
    phase: Phase
    turn: Whole
    """Turn of the debate from 1; for a vote, the speaker's place among the seats that gave a reason, from 1."""
    speaker: SeatName
    text: str


class Silence(Part):
    """The seat that had the floor said nothing: no statement, nobody is judged."""

    type: Literal["silence"] = "silence"
    round: Whole
    turn: Whole
    seat: SeatName


class ClaimTruth(Part):
    """The moderator's verdicts on what a statement claims."""

    type: Literal["claim_truth"] = "claim_truth"
    statement: StatementNumber
    claims: tuple[ScoredClaim, ...]


class Tally(Part):
    """The sealed votes are opened."""

    type: Literal["tally"] = "tally"
    round: Whole
    votes: dict[SeatName, SeatName | None]
    """Voter to target; None abstained."""
    needed: Whole
    """Votes that exile: a strict majority of the living."""


class Exile(Part):
    """The vote takes effect."""

    type: Literal["exile"] = "exile"
    round: Whole
    seat: SeatName | None = None
    """Who leaves; None where nobody had a majority."""
    role: Role | None = None
    """Revealed under `reveal_on_death` = "role"."""
    team: Team | None = None
    """Revealed under `reveal_on_death` = "team"."""


class NightOutcome(Part):
    """What really happened in a night, for researchers."""

    type: Literal["night_outcome"] = "night_outcome"
    round: Whole
    target: SeatName | None = None
    """Whom the wolves went for; None without a valid proposal."""
    protected: tuple[SeatName, ...]
    """Whom the doctors protected, in seating order of the doctors."""
    died: SeatName | None = None


class Dawn(Part):
    """What everybody learns of a night: who died, if anybody did."""

    type: Literal["dawn"] = "dawn"
    round: Whole
    died: SeatName | None = None
    role: Role | None = None
    """Revealed under `reveal_on_death` = "role"."""
    team: Team | None = None
    """Revealed under `reveal_on_death` = "team"."""


class Inspection(Part):
    """What a seer learns at dawn."""

    type: Literal["inspection"] = "inspection"
    round: Whole
    seat: SeatName
    target: SeatName
    role: Role


class Absent(Part):
    """A seat let `strikes` requests in a row time out; batches now wait for it only `absent_grace` seconds."""

    type: Literal["absent"] = "absent"
    seat: SeatName


class Returned(Part):
    """An absent seat answered again."""

    type: Literal["returned"] = "returned"
    seat: SeatName


class Rejected(Part):
    """A message that closed no request: wrong sender or version, unknown or closed id, too big, or no message."""

    type: Literal["rejected"] = "rejected"
    sender: str
    reason: Literal["sender", "unknown", "closed", "version", "oversize", "unreadable"]
    request: str | None = None
    size: Whole
    """Bytes of the message."""
    note: str


class Ended(Part):
    """The game is over."""

    type: Literal["ended"] = "ended"
    winner: Winner = None
    reason: Ending
    rounds: Whole
    """Rounds begun."""


AnyEvent: TypeAlias = Annotated[
    Opened
    | Asked
    | AnyAnswered
    | Statement
    | Silence
    | ClaimTruth
    | Tally
    | Exile
    | NightOutcome
    | Dawn
    | Inspection
    | Absent
    | Returned
    | Rejected
    | Ended,
    Field(discriminator="type"),
]
"""Any event of a record, without its number, time, audience and hash."""
