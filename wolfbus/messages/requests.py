"""Deliveries and replies: new facts and open questions for the seats that an agent plays, and what they send back.

What several seats of one agent may know travels once, in the shared body. Facts are numbered, public ones per game and
private ones per seat, so that repeats are harmless; the numbers say nothing of what others received. There is one type
of reply per kind of request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, Literal, TypeAlias, TypeVar, Union

from pydantic import AfterValidator, Field

from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import KINDS, Fault, Kind, Phase, Reading, Role
from wolfbus.messages.base import FrozenDict, GameId, Part, SeatName, Whole, WireMessage
from wolfbus.messages.content import Consent, Content, StatementNumber, model_for
from wolfbus.messages.events import AnyAnswered, PrivateEvent, PublicEvent

C = TypeVar("C", bound=Content)


class Seated(Part):
    """A seat's first private fact: who it is and what it knows from the start."""

    type: Literal["seated"] = "seated"
    game: GameId
    """The game's id."""
    seat: SeatName
    """The name of the seat that is told."""
    role: Role
    """The role it was dealt."""
    partners: tuple[SeatName, ...] = ()
    """The other Werewolves, for a Werewolf."""
    names: tuple[SeatName, ...]
    """All players in seating order."""
    config: GameConfig
    """The rules; who is what is left out."""
    brain: str
    """What this seat was asked to be played by."""
    brain_seed: str | None = None
    """Given to in-house brains only; tells nothing of the game's seed."""


class Whispered(Part):
    """A partner's proposal, as the other Werewolves hear it."""

    type: Literal["whispered"] = "whispered"
    round: Whole
    """The night it was said in."""
    turn: Whole
    """Which of the night's proposals it is, from 1."""
    seat: SeatName
    """The Werewolf that proposes."""
    target: SeatName | None = None
    """Whom it would kill; None for nobody."""
    word: str
    """What it says beside the name."""


class Revealed(Part):
    """After the end: what had been hidden."""

    type: Literal["revealed"] = "revealed"
    seed: str
    """The game's seed."""
    roles: Annotated[dict[SeatName, Role], AfterValidator(FrozenDict)]
    """Everybody's role, by name."""


PublicFact: TypeAlias = Annotated[PublicEvent | Revealed, Field(discriminator="type")]
PrivateFact: TypeAlias = Annotated[Seated | PrivateEvent | Whispered | AnyAnswered, Field(discriminator="type")]
"""What one seat alone learns; its own answers come back as recorded, defaults included."""


class Public(Part):
    """A numbered public fact."""

    n: Whole
    """Counts from 1 within a game, without gaps."""
    fact: PublicFact
    """What everybody learns."""


class Private(Part):
    """A private fact, numbered within its seat."""

    n: Whole
    """Counts from 1 within a seat, without gaps."""
    after: Whole
    """Number of the last public fact before it."""
    fact: PrivateFact
    """What the seat learns."""


class Ask(Part):
    """One open request to one seat."""

    id: str
    """``game/round/phase/turn/kind/seat[/about]``."""
    kind: Kind
    """What is asked for."""
    round: Whole
    """Rounds count from 1: night, then day."""
    phase: Phase
    """The part of the round."""
    turn: Whole
    """Counts from 1: turns of the debate, of the whispering at night, statements of a vote."""
    about: StatementNumber | None = None
    """The statement to assess; its text came as a public fact."""
    legal: tuple[SeatName | None, ...] | None = None
    """Names that may be answered; None stands for nobody or abstaining."""
    deadline_s: float
    """Seconds the moderator waits, from its commit."""


class SeatPart(Part):
    """What of a delivery is for one seat."""

    seat: SeatName
    """The seat's name."""
    facts: tuple[Private, ...] = ()
    """What it alone learns, in order."""
    asks: tuple[Ask, ...] = ()
    """What it is asked."""


class Delivery(WireMessage):
    """One step of a game, as far as one agent's seats may know it; or, as a `catch_up`, all steps so far.

    A `catch_up` comes when an agent has joined: everything its seats may know, from the first fact on, and the requests
    that are open. Facts and requests in it may be known already.
    """

    type: Literal["delivery", "catch_up"] = "delivery"
    game: GameId
    """The game's id."""
    facts: tuple[Public, ...] = ()
    """What everybody learns, in order."""
    seats: tuple[SeatPart, ...] = ()
    """What is for single seats of the agent."""


class TableNews(WireMessage):
    """One public fact on a game's table stream, for spectators."""

    type: Literal["news"] = "news"
    game: GameId
    """The game's id."""
    n: Whole
    """Counts from 1 within a game, without gaps."""
    fact: PublicFact
    """What everybody learns."""


class Reply(WireMessage, Generic[C]):
    """What all replies share. Either `content` is given, or `fault` says why the model's text could not be used."""

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
    consent: Consent | None = None
    """What the person who answers agreed to before it took its seat."""
    if TYPE_CHECKING:
        # each type of reply has its own
        kind: Kind


REPLY: Final[dict[Kind, type[Reply[Any]]]] = {
    kind: model_for(kind, Reply, "{}Reply", f"Answers `{kind}`.") for kind in KINDS
}
"""Reply type per kind of request."""

if TYPE_CHECKING:
    AnyReply: TypeAlias = Reply[Any]
else:
    AnyReply = Annotated[Union[tuple(REPLY.values())], Field(discriminator="kind")]  # noqa: UP007 - not known before
