"""What a `ModeratorActor` is told, and what it tells when its game is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from moderator.engine.seating import Taker
from wolfbus.bus.ids import Id
from wolfbus.bus.protocol import Entry
from wolfbus.errors import BusError, WolfError
from wolfbus.messages.events import Ended


@dataclass(frozen=True, slots=True)
class Begin:
    """Open the game, or go on with it."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """Messages for this game stood on an agent's out stream.

    Attributes:
        agent: whose stream.
        entries: the messages, in order.
        upto: id up to which the stream was read; none for this game are before it but those told of.
    """

    agent: str
    entries: Sequence[Entry]
    upto: Id


@dataclass(frozen=True, slots=True)
class AgentJoined:
    """An agent has come, or come back: it is to be told all that its seats may know.

    Attributes:
        agent: its name.
        offered: what it is now; None if that cannot have changed.
    """

    agent: str
    offered: Taker | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """The last step landed, or could not."""

    error: BusError | None


@dataclass(frozen=True, slots=True)
class Expired:
    """The time of these requests is up; of none, it may be time to go on."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeaveGame:
    """The game cannot go on."""

    reason: WolfError


@dataclass(frozen=True, slots=True)
class HandOver:
    """Leave the game to another moderator: after the step that is on its way, write nothing more."""


@dataclass(frozen=True, slots=True)
class GameOver:
    """How a game left its moderator.

    Attributes:
        game: its id.
        ended: the last event; None if the game could not finish.
        error: why it could not.
        digest: digest of the game, 64 hex digits; of a game that ended early it may cover a step that never landed.
        events: the events it covers.
        handed_over: whether it was left, whole, to another moderator; there is no error then.
    """

    game: str
    ended: Ended | None
    error: WolfError | None
    digest: str
    events: int
    handed_over: bool = False
