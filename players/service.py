"""The player service: an agent process whose brains are ours."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from players.agent import Agent, BrainFor, Watch
from players.brain import Brain, LaterBrain
from players.spec import build
from players.venue import Venue
from wolfbus.actors import ActorPool, tell_if_alive
from wolfbus.agent.hearing import Again
from wolfbus.agent.member import Member
from wolfbus.agent.stay import Stay
from wolfbus.bus.protocol import Entry
from wolfbus.errors import WolfError
from wolfbus.service.health import Health
from wolfbus.service.stop import Stopping

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a player service plays with.

    Attributes:
        stay: where it goes, as whom, and for how long.
        brain: brain spec of every seat. What a seat is said to be played by only labels it: no moderator decides what
            runs here.
        threads: pool threads that run the actors.
    """

    stay: Stay
    brain: str
    threads: int = 2


def serve(settings: Settings, venue: Venue, stopping: Stopping, health: Health | None = None) -> int:
    """Play until the house closes or somebody asks to stop; returns 0.

    Args:
        settings: what to play with.
        venue: what the brains share; whoever gives it closes it afterwards.
        stopping: asked when this process should end.
        health: told how it goes.

    Raises:
        ConfigError: the house does not take the agent, or another process has its name.
        WolfError: the bus cannot be reached, or the brains cannot go on (a budget that is spent).
    """
    fatal: list[WolfError] = []

    def give_up(error: WolfError) -> None:
        fatal.append(error)
        stopping.ask(str(error))

    def brain_for(_label: str) -> Brain | LaterBrain:
        return build(settings.brain, venue)

    venue.fatal = give_up
    with ActorPool(settings.threads) as pool:
        parting = settings.stay.run(lambda member: _Crew(member, pool, brain_for), stopping, health)
    if fatal:
        raise fatal[0]
    logger.info("%s leaves house %s: %s", settings.stay.introduction.name, settings.stay.house, parting.reason)
    return 0


class _Crew(Watch):
    """An agent's actor, as its member and its process see it."""

    def __init__(self, member: Member, pool: ActorPool, brain_for: BrainFor) -> None:
        self.playing = 0
        self.played = 0
        self._member = member
        self._pool = pool
        self._agent = Agent.start_in(pool, member.name, member.outbox, brain_for, self)

    def deliver(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            tell_if_alive(self._agent, entry.body)

    def welcome(self) -> None:
        pass

    def again(self) -> None:
        tell_if_alive(self._agent, Again())

    def close(self) -> None:
        self._agent.stop()
        self._pool.close()

    def behind(self, why: str) -> None:
        self._member.rejoin(why)

    def caught_up(self) -> None:
        self._member.caught_up()

    def moved(self, playing: int, played: int) -> None:
        self.playing, self.played = playing, played
