"""Deliveries: what the moderator sends to an agent; new facts and open questions for the seats it plays.

What several seats of one agent may know travels once, in the shared body. Facts are numbered, public ones per game and
private ones per seat, so that repeats are harmless; the numbers say nothing of what others received.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from wolfbus.config import GameConfig
from wolfbus.messages.base import GameId, Part, SeatName, Version, Whole
from wolfbus.messages.content import StatementNumber
from wolfbus.messages.events import AnyAnswered, Dawn, Ended, Exile, Inspection, Silence, Statement, Tally
from wolfbus.vocabulary import Kind, Phase, Role


class Seated(Part):
    """A seat's first private fact: who it is and what it knows from the start."""

    type: Literal["seated"] = "seated"
    game: GameId
    seat: SeatName
    role: Role
    partners: tuple[SeatName, ...] = ()
    """The other Werewolves, for a Werewolf."""
    names: tuple[SeatName, ...]
    """All players in seating order."""
    config: GameConfig
    brain: str
    """What this seat was asked to be played by."""
    brain_seed: str | None = None
    """Given to in-house brains only; tells nothing of the game's seed."""


class Whispered(Part):
    """A partner's proposal, as the other Werewolves hear it."""

    type: Literal["whispered"] = "whispered"
    round: Whole
    turn: Whole
    seat: SeatName
    target: SeatName | None = None
    word: str


class Revealed(Part):
    """After the end: what had been hidden."""

    type: Literal["revealed"] = "revealed"
    seed: str
    roles: dict[SeatName, Role]


PublicFact: TypeAlias = Annotated[
    Statement | Silence | Tally | Exile | Dawn | Ended | Revealed, Field(discriminator="type")
]
PrivateFact: TypeAlias = Annotated[Seated | Inspection | Whispered | AnyAnswered, Field(discriminator="type")]
"""What one seat alone learns; its own answers come back as recorded, defaults included."""


class Public(Part):
    """A numbered public fact."""

    n: Whole
    fact: PublicFact


class Private(Part):
    """A private fact, numbered within its seat."""

    n: Whole
    after: Whole
    """Number of the last public fact before it."""
    fact: PrivateFact


class Ask(Part):
    """One open request to one seat."""

    id: str
    """``game/round/phase/turn/kind/seat[/about]``."""
    kind: Kind
    round: Whole
    phase: Phase
    turn: Whole
    about: StatementNumber | None = None
    """The statement to assess; its text came as a public fact."""
    legal: tuple[SeatName | None, ...] | None = None
    """Names that may be answered; None stands for nobody or abstaining."""
    deadline_s: float
    """Seconds the moderator waits, from its commit."""


class SeatPart(Part):
    """What of a delivery is for one seat."""

    seat: SeatName
    facts: tuple[Private, ...] = ()
    asks: tuple[Ask, ...] = ()


class Delivery(Part):
    """One step of a game, as far as one agent's seats may know it."""

    v: Version = 1
    type: Literal["delivery"] = "delivery"
    game: GameId
    facts: tuple[Public, ...] = ()
    seats: tuple[SeatPart, ...] = ()


class TableNews(Part):
    """One public fact on a game's table stream, for spectators."""

    v: Version = 1
    type: Literal["news"] = "news"
    game: GameId
    n: Whole
    fact: PublicFact
