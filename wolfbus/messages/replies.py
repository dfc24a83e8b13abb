"""Replies: what a seat's agent sends back, one type per kind of request."""

from __future__ import annotations

from typing import Annotated, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from pydantic import Field

from wolfbus.messages.base import GameId, Part, SeatName, Version
from wolfbus.messages.content import Ballot, Bid, Choice, Content, Judgement, Label, Proposal, Speech
from wolfbus.vocabulary import Fault, Kind, Reading

C = TypeVar("C", bound=Content)


class Reply(Part, Generic[C]):
    """What all replies share. Either `content` is given, or `fault` says why the model's text could not be used."""

    v: Version = 1
    """Version of the protocol."""
    type: Literal["reply"] = "reply"
    game: GameId
    """The game's id."""
    request: str
    """Id of the request that this answers."""
    seat: SeatName
    """Who answers."""
    content: C | None = None
    """The answer; absent where there is a fault."""
    thought: str | None = None
    """Private scratchpad; recorded for researchers, shown to no other seat (paper, section 4.3)."""
    reading: Reading = "clean"
    """How the content was read from model text; reported by the agent."""
    raw: str | None = None
    """The model's text as it came, where it differs from the content."""
    fault: Fault | None = None
    """Why there is no content."""
    note: str | None = None
    """One line on what went wrong, for researchers."""


class BidReply(Reply[Bid]):
    """Answers `bid`."""

    kind: Literal["bid"] = "bid"


class SpeakReply(Reply[Speech]):
    """Answers `speak`."""

    kind: Literal["speak"] = "speak"


class AssessOwnReply(Reply[Label]):
    """Answers `assess_own`."""

    kind: Literal["assess_own"] = "assess_own"


class AssessOtherReply(Reply[Judgement]):
    """Answers `assess_other`."""

    kind: Literal["assess_other"] = "assess_other"


class VoteReply(Reply[Ballot]):
    """Answers `vote`."""

    kind: Literal["vote"] = "vote"


class KillReply(Reply[Choice]):
    """Answers `kill`."""

    kind: Literal["kill"] = "kill"


class ProtectReply(Reply[Choice]):
    """Answers `protect`."""

    kind: Literal["protect"] = "protect"


class InspectReply(Reply[Choice]):
    """Answers `inspect`."""

    kind: Literal["inspect"] = "inspect"


class WhisperReply(Reply[Proposal]):
    """Answers `whisper`."""

    kind: Literal["whisper"] = "whisper"


class LocalReply(NamedTuple):
    """A reply inside the process in which the request was made; elsewhere it is a `Reply`.

    Attributes:
        game: the game's id.
        request: id of the request that this answers.
        seat: who answers.
        kind: what was asked for.
        content: the answer.
        thought: private scratchpad.
        reading: how the content was read.
    """

    game: str
    request: str
    seat: SeatName
    kind: Kind
    content: Content
    thought: str | None
    reading: Reading


AnyReply: TypeAlias = Annotated[
    BidReply
    | SpeakReply
    | AssessOwnReply
    | AssessOtherReply
    | VoteReply
    | KillReply
    | ProtectReply
    | InspectReply
    | WhisperReply,
    Field(discriminator="kind"),
]

REPLY: dict[
    Kind,
    type[
        Reply[Bid] | Reply[Speech] | Reply[Label] | Reply[Judgement] | Reply[Ballot] | Reply[Choice] | Reply[Proposal]
    ],
] = {
    "bid": BidReply,
    "speak": SpeakReply,
    "assess_own": AssessOwnReply,
    "assess_other": AssessOtherReply,
    "vote": VoteReply,
    "kill": KillReply,
    "protect": ProtectReply,
    "inspect": InspectReply,
    "whisper": WhisperReply,
}
"""Reply type per kind of request."""
