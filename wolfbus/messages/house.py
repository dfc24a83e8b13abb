"""Messages of the house rather than of a game: how agents join and leave, and what games there are.

An agent's messages stand on its out stream and the moderator's in its mailbox, like replies and deliveries, with an
empty game beside them. News of games stand on the house's ``games`` stream, for the moderator itself and analytics.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from wolfbus.game.vocabulary import KINDS, Kind
from wolfbus.messages.base import ID_PATTERN, GameId, Whole, WireMessage

AgentName: TypeAlias = Annotated[str, Field(pattern=rf"^{ID_PATTERN}$")]
"""An agent's name, unique in its house; it stands in stream names: letters, digits, dot, dash and underscore."""

Instance: TypeAlias = Annotated[str, Field(min_length=1, max_length=64)]
"""Names one start of an agent's process; fresh on every start, and whenever the agent wants to be caught up."""

OneLine: TypeAlias = Annotated[str, Field(max_length=300)]

SEATS_AT_MOST: Final = 100_000


class Join(WireMessage):
    """An agent is here. Said when it starts, every few seconds from then on, and whenever the roll is called.

    A new `instance` makes the moderator send a welcome, and a `catch_up` for every game in which the agent has seats.
    """

    type: Literal["join"] = "join"
    agent: AgentName
    """Its name: that of the stream this stands on."""
    instance: Instance
    """Which start of it this is."""
    version: OneLine
    """Its own name and version in words, as in ``my-agent 1.2``."""
    service: Literal["player", "analytics"] = "player"
    """What it does: plays seats, or keeps records."""
    seats: Annotated[int, Field(ge=0, le=SEATS_AT_MOST)] = 1
    """How many seats it can play at a time, over all games; 0 for none now: games begun are played to their end."""
    places: Annotated[tuple[Annotated[int, Field(ge=1, le=16)], ...], Field(max_length=16)] = ()
    """Seats it asks for, counted from 1 in seating order; it is then seated in no others. Empty: any."""
    brain: OneLine
    """What answers, such as ``scripted`` or ``llm:MODEL``; it stands in the record and is part of the digest."""
    model: Annotated[str, Field(max_length=512)] | None = None
    """The language model that answers, as its server is told; it stands in the record, too, if `in_house` holds."""
    in_house: bool = False
    """Whether the moderator's own operator runs it: its brain then gets a seed of its own."""
    declines: Annotated[tuple[Kind, ...], Field(max_length=len(KINDS))] = ()
    """Kinds of request it does not answer; they are never put to it."""
    seen: str | None = None
    """Id of the last message of its mailbox that it has dealt with; what is older may be dropped."""


class Leave(WireMessage):
    """An agent goes. Its seats stay its own: it may come back and be caught up."""

    type: Literal["leave"] = "leave"
    agent: AgentName
    """Its name."""
    instance: Instance
    """Which start of it this is."""
    reason: OneLine = ""
    """Why, for the log."""
    failed: bool = Field(default=False, exclude_if=lambda failed: not failed)
    """Whether it goes because it cannot play. A house that lacks its seats then closes soon, and says why, rather than
    wait for them; of agents of the house's own operator alone."""


class Archived(WireMessage):
    """Analytics has a game's record on disk, or can say why it has not."""

    type: Literal["archived"] = "archived"
    game: GameId
    """The game's id."""
    lines: Whole
    """Lines of the record that are safe."""
    hash: str
    """Seal of the last of them, "" for none."""
    error: OneLine | None = None
    """Why the record could not be kept or proved; None if all is well."""
    closed: str = ""
    """Seal with which the game was closed, as analytics read it, "" if it read of none. A bus that came back without
    its last moments may close it anew, with another seal; what was said of the one tells nothing of the other."""


class Welcome(WireMessage):
    """The moderator has taken note of an agent."""

    type: Literal["welcome"] = "welcome"
    house: str
    """The house's name."""
    agent: AgentName
    """The agent's name."""
    instance: Instance
    """The start of it that is welcome."""
    again_s: float
    """How often the agent should say `join`, in seconds; three times as long without a word counts as gone."""


class Refused(WireMessage):
    """The moderator does not take an agent."""

    type: Literal["refused"] = "refused"
    instance: Instance
    """The start of it that is refused."""
    reason: OneLine
    """Why, in one line."""


class RollCall(WireMessage):
    """A moderator that has just come asks who is here: say `join` now."""

    type: Literal["roll_call"] = "roll_call"


class Goodbye(WireMessage):
    """The house closes: nothing more will be asked. Agents may go."""

    type: Literal["goodbye"] = "goodbye"
    reason: OneLine
    """Why, in one line."""


class Dropped(WireMessage):
    """A game was broken off or could not go on: nothing more will be asked in it, and it has no end. Its seats may be
    forgotten. Goes to every agent that has seats in it.
    """

    type: Literal["dropped"] = "dropped"
    game: GameId
    """The game's id."""
    reason: OneLine
    """Why, in one line; it tells nothing of the game."""


class HouseOpened(WireMessage):
    """A session of games begins; what stood before it on the stream belongs to earlier ones."""

    type: Literal["house_opened"] = "house_opened"
    session: str
    """Names the session."""


class SessionSoFar(WireMessage):
    """Sums up the running session's games that stood on the stream before an entry, so that all before it may be cut
    away. Every one of them is over, and its record archived or given up. Whoever has read them needs it not; who begins
    to read at the cut learns from it what session the games there belong to, and where their sums begin.
    """

    type: Literal["session_so_far"] = "session_so_far"
    session: str
    """Names the session."""
    before: str
    """Id of the first entry of the stream that is not summed up."""
    games: Whole
    """Highest number of a game begun before it."""
    ended: Whole
    """How many of these games ended by the rules."""
    stopped: Whole
    """How many were broken off."""
    failed: Whole
    """How many could not go on."""
    lost: Whole
    """How many ended, but their record could not be archived."""


class GameOpened(WireMessage):
    """A game begins; its record is on the house's record stream of that name."""

    type: Literal["game_opened"] = "game_opened"
    game: GameId
    """The game's id."""
    number: Whole
    """Games of a session count from 1."""


class GameClosed(WireMessage):
    """A game's record is complete: nothing will be added."""

    type: Literal["game_closed"] = "game_closed"
    game: GameId
    """The game's id."""
    number: Whole
    """Games of a session count from 1."""
    outcome: Literal["ended", "stopped", "failed"]
    """Whether it ended by the rules, was broken off, or could not go on."""
    lines: Whole
    """Lines of the record."""
    hash: str
    """Seal of the last one."""
    reason: OneLine = ""
    """Why it was broken off or could not go on."""


class HouseClosed(WireMessage):
    """The session is over; the services of the house leave."""

    type: Literal["house_closed"] = "house_closed"
    session: str
    """Names the session."""
    games: Whole
    """Games that were begun in it."""
    failed: Whole
    """How many of them did not end by the rules, or could not be archived."""
    reason: OneLine = ""
    """Why it closed."""


FromAgent: TypeAlias = Annotated[Join | Leave | Archived, Field(discriminator="type")]
"""What agents and analytics tell the moderator, beside replies and reports."""

ToAgent: TypeAlias = Annotated[Welcome | Refused | RollCall | Dropped | Goodbye, Field(discriminator="type")]
"""What the moderator tells agents, beside deliveries."""

News: TypeAlias = Annotated[
    HouseOpened | SessionSoFar | GameOpened | GameClosed | HouseClosed, Field(discriminator="type")
]
"""What stands on the ``games`` stream."""
