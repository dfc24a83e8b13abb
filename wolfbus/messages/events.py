"""Events: what a record is made of. The record is the truth; state, views, suspicion and metrics are folds over it."""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Annotated,
    ClassVar,
    Final,
    Generic,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
)

from pydantic import AfterValidator, Field

from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import KINDS, Deception, Ending, Fault, Kind, Outcome, Phase, Reading, Role, Team, Winner
from wolfbus.messages.base import FrozenDict, GameId, Part, SeatName, Source, Whole
from wolfbus.messages.calls import ModelCall, PromptAddition
from wolfbus.messages.content import (
    Ballot,
    Bid,
    Choice,
    Consent,
    Content,
    Judgement,
    Label,
    Proposal,
    ScoredClaim,
    Speech,
    StatementNumber,
    model_for,
)

C = TypeVar("C", bound=Content)


class Seat(Part):
    """One player of a game, in seating order."""

    name: SeatName
    """The player's name; it is the seat's id everywhere."""
    role: Role
    """The role it was dealt."""
    agent: str
    """The process that answers for this seat; no part of the digest."""
    brain: str
    """What answers, as it was asked for: ``scripted``, ``random``, ``module:Class``, …"""
    model: Annotated[str, Field(max_length=512)] | None = None
    """The language model that answers, as its server is told, where `brain` may be an alias; no part of the digest."""
    in_house: bool = True
    """Whether the agent is run by the moderator's own operator, and so gets a seed for its brain."""
    declines: tuple[Kind, ...] = ()
    """Kinds of request this seat's agent does not answer."""


class Fork(Part):
    """Where a game parted from another, its parent: up to a statement it is the parent's, as recorded; then it was
    played anew.
    """

    parent: GameId
    """The parent's game id."""
    event: Whole
    """Number of the parent's event that holds what the speaker answered; nothing from there on is shared but what other
    seats answered in the same step."""
    head: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Hash of that event in the parent's record, which seals all before it."""
    statement: StatementNumber
    """The parent's statement that was made then."""
    seat: SeatName
    """Who made it."""
    round: Whole
    """The round in which it was made, from 1."""
    kind: Deception | None = None
    """The kind of deception that its speaker's own label gave it there, or "none"; absent where no label counts."""
    batch: Whole
    """The batch that gave its speaker the floor. Once it is joined, every draw of the rules follows from `seed`."""
    arm: Annotated[str, Field(max_length=1024)]
    """What stands in the statement's place: ``keep`` (itself), ``silence``, ``say`` (given words), ``redraw`` (drawn
    anew of its speaker), ``honest`` (so, until it was honest) or ``by:AGENT`` (drawn of another agent)."""
    k: Whole
    """Which fork of this arm, from 1. Forks of one statement with the same `k` share their draws, whatever the arm."""
    seed: str
    """What every draw after the fork follows from: SHA-256 of the parent, its event and `k` (`wolfbus.game.draws`)."""
    tries: Whole = 1
    """How many statements were drawn, the last of which was taken; 1 where none was drawn."""


class Opened(Part):
    """A game begins."""

    type: Literal["opened"] = "opened"
    game: GameId
    """The game's id, fresh for each run; no part of the digest, and no draw depends on it."""
    version: str
    """The wolfbus that moderates; no part of the digest."""
    title: Annotated[str, Field(max_length=200)] | None = None
    """What people call the game; no part of the digest."""
    started: float
    """Unix time of the opening, in seconds; the times of all events count from here. No part of the digest."""
    seed: str
    """What every draw of the game follows from."""
    config: GameConfig
    """The rules."""
    seats: tuple[Seat, ...]
    """The players, in seating order."""
    fork: Fork | None = None
    """Where this game parted from another; absent from a game that was played from its beginning. No part of the
    digest."""


class Asking(Part):
    """The same question to some seats, with the same legal answers."""

    kind: Kind
    """What is asked for."""
    seats: tuple[SeatName, ...]
    """Who is asked, in seating order."""
    legal: tuple[SeatName | None, ...] | None = None
    """Names that may be answered, None among them where "nobody" or abstaining is legal; absent for free answers."""


class Asked(Part):
    """A batch of requests goes out."""

    type: Literal["asked"] = "asked"
    batch: Whole
    """Batches count from 1 within a game."""
    round: Whole
    """Rounds count from 1: night, then day."""
    phase: Phase
    """The part of the round."""
    turn: Whole
    """Counts from 1: turns of the debate, of the whispering at night, statements of a vote."""
    about: StatementNumber | None = None
    """The statement to assess."""
    asks: tuple[Asking, ...]
    """The questions, by kind."""


class Answered(Part, Generic[C]):
    """What became of one request; this *is* the bid, label, judgement, vote or night action.

    An accepted, clean answer says no more of itself than its content: `outcome` and `reading` stand on a line only
    where they differ.
    """

    type: Literal["answered"] = "answered"
    batch: Whole
    """The batch that the request went out with."""
    seat: SeatName
    """Who was asked."""
    about: StatementNumber | None = None
    """The statement assessed."""
    outcome: Outcome = Field(default="accepted", exclude_if=lambda outcome: outcome == "accepted")
    """What became of the request: "accepted" unless it says otherwise."""
    content: C | None = None
    """The accepted content; absent where the conservative default stands in."""
    reading: Reading = Field(default="clean", exclude_if=lambda reading: reading == "clean")
    """How an accepted answer was read, as reported by the agent: "clean" unless it says otherwise."""
    fault: Fault | None = None
    """Why what was answered could not be used."""
    thought: str | None = None
    """The seat's private scratchpad; it alone and researchers see it."""
    raw: str | None = None
    """The model's text as it came, where it differs from the content; for researchers."""
    note: str | None = None
    """One line on what went wrong, for researchers."""
    consent: Consent | None = None
    """What the person here agreed to, until an answer of theirs was accepted."""


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

ANSWERED: Final[dict[Kind, type[AnyAnswered]]] = {
    model.model_fields["kind"].default: model for model in get_args(get_args(AnyAnswered)[0])
}
"""Event type per kind of request."""
for _kind in (kind for kind in KINDS if kind not in ANSWERED):
    ANSWERED[_kind] = model_for(_kind, Answered, "Answered{}", "A choice at night; its default chooses nobody.")
if not TYPE_CHECKING:
    AnyAnswered = Annotated[Union[tuple(ANSWERED.values())], Field(discriminator="kind")]  # noqa: UP007 - not known before


class Statement(Part):
    """A public utterance: a debate turn, or the published reason of a vote."""

    type: Literal["statement"] = "statement"
    statement: StatementNumber
    """Its number within the game, from 1."""
    round: Whole
    """Rounds count from 1: night, then day."""
    phase: Phase
    """`debate` for a turn of the debate, `vote` for a vote's reason."""
    turn: Whole
    """Turn of the debate from 1; for a vote, the speaker's place among the seats that gave a reason, from 1."""
    speaker: SeatName
    """Who says it."""
    text: str
    """What everybody hears."""


class Silence(Part):
    """The seat that had the floor said nothing: no statement, nobody is judged."""

    type: Literal["silence"] = "silence"
    round: Whole
    """Rounds count from 1: night, then day."""
    turn: Whole
    """Turn of the debate, from 1."""
    seat: SeatName
    """Who had the floor."""


class ClaimTruth(Part):
    """The moderator's verdicts on what a statement claims."""

    type: Literal["claim_truth"] = "claim_truth"
    statement: StatementNumber
    """The statement's number."""
    claims: tuple[ScoredClaim, ...]
    """Its claims, given or found, each with its verdict."""


class Tally(Part):
    """The sealed votes are opened."""

    type: Literal["tally"] = "tally"
    round: Whole
    """Rounds count from 1: night, then day."""
    votes: Annotated[dict[SeatName, SeatName | None], AfterValidator(FrozenDict)]
    """Voter to target; None abstained."""
    needed: Whole
    """Votes that exile: a strict majority of the living."""


class Way(NamedTuple):
    """How seats leave the game by one type of event, and the words for it."""

    how: str
    """Its name in views, rows, pages and the line protocol."""
    verb: str
    """What befalls the seat, as in "Ada is killed"."""
    seat: str = "seat"
    """The field of the event that names who leaves; where that is None, nobody does."""
    span: Literal["night", "day", "round"] = "round"
    """What the event's `round` counts, as in "killed in night 2"."""

    @property
    def fate(self) -> str:
        """What became of a seat, where it is not said when: "killed at night", "exiled"."""
        return f"{self.verb} at night" if self.span == "night" else self.verb

    def fate_in(self, round_: int) -> str:
        """Return what became of a seat, and when: "killed in night 2", "exiled on day 2", "shot in round 2"."""
        return f"{self.verb} {'on' if self.span == 'day' else 'in'} {self.span} {round_}"


class Departing(Part):
    """An event by which a seat leaves the game, or nobody does. Everybody may know it.

    `wolfbus.knowledge.departure` makes of it who leaves and how, for whoever needs to know who lives. Where several
    leave at once, each leaves by an event of its own.
    """

    way: ClassVar[Way]
    """How seats leave by it."""
    if TYPE_CHECKING:
        # every such event has these beside the field that its `way` names; each declares them itself, in its own order
        type: str
        round: Whole
        role: Role | None
        team: Team | None


class NightOutcome(Part):
    """What really happened in a night, for researchers."""

    type: Literal["night_outcome"] = "night_outcome"
    round: Whole
    """Rounds count from 1: night, then day."""
    target: SeatName | None = None
    """Whom the wolves went for; None without a valid proposal."""
    protected: tuple[SeatName, ...]
    """Whom the doctors protected, in seating order of the doctors."""
    died: SeatName | None = None
    """Who dies of it; None if nobody does."""


class Dawn(Departing):
    """What everybody learns of a night: who died, if anybody did."""

    way: ClassVar = Way("night", "killed", seat="died", span="night")
    type: Literal["dawn"] = "dawn"
    round: Whole
    """Rounds count from 1: night, then day."""
    died: SeatName | None = None
    """Who died; None if nobody did."""
    role: Role | None = None
    """Revealed under `reveal_on_death` = "role"."""
    team: Team | None = None
    """Revealed under `reveal_on_death` = "team"."""


class Exile(Departing):
    """The vote takes effect."""

    way: ClassVar = Way("exile", "exiled", span="day")
    type: Literal["exile"] = "exile"
    round: Whole
    """Rounds count from 1: night, then day."""
    seat: SeatName | None = None
    """Who leaves; None where nobody had a majority."""
    role: Role | None = None
    """Revealed under `reveal_on_death` = "role"."""
    team: Team | None = None
    """Revealed under `reveal_on_death` = "team"."""


class Inspection(Part):
    """What a seer learns at dawn."""

    type: Literal["inspection"] = "inspection"
    round: Whole
    """Rounds count from 1: night, then day."""
    seat: SeatName
    """The seer that learns it."""
    target: SeatName
    """Whom it inspected."""
    role: Role
    """What that player is."""


class Absent(Part):
    """A seat let `strikes` requests in a row time out; batches now wait for it only `absent_grace` seconds."""

    type: Literal["absent"] = "absent"
    seat: SeatName
    """Who is absent."""


class Returned(Part):
    """An absent seat answered again."""

    type: Literal["returned"] = "returned"
    seat: SeatName
    """Who is back."""


class Rejected(Part):
    """A message that closed no request: wrong sender or version, unknown or closed id, too big, or no message."""

    type: Literal["rejected"] = "rejected"
    sender: str
    """Who sent it."""
    reason: Literal["sender", "unknown", "closed", "version", "oversize", "unreadable"]
    """Why it closed nothing."""
    request: str | None = None
    """The request it names, if it could be read."""
    size: Whole
    """Bytes of the message."""
    note: str
    """What was wrong with it, in one line."""
    source: Source | None = None
    """Id of the message on its sender's stream."""


class Stopped(Part):
    """The game was broken off: nothing follows. No part of the digest."""

    type: Literal["stopped"] = "stopped"
    reason: str
    """Why, in one line."""


class Ended(Part):
    """The game is over."""

    type: Literal["ended"] = "ended"
    winner: Winner = None
    """The side that won; None if neither did."""
    reason: Ending
    """Why it is over."""
    rounds: Whole
    """Rounds begun."""
    spoilt: tuple[SeatName, ...] = Field(default=(), exclude_if=lambda spoilt: not spoilt)
    """Seats of whose answers more are defaults for want of a reply than the rules allow; absent where there is none."""


PublicEvent: TypeAlias = Statement | Silence | Tally | Exile | Dawn | Ended
"""What everybody may know."""

PrivateEvent: TypeAlias = Inspection
"""What one seat alone may know, its `seat`; so it may what became of its own requests. All else is for researchers."""

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
    | PromptAddition
    | ModelCall
    | Stopped
    | Ended,
    Field(discriminator="type"),
]
"""Any event of a record, without its number, time, audience and hash."""
