"""The player service: an agent process whose brains are ours."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from players.context import BrainContext
from players.spec import build
from wolfbus.agent.membership import Membership
from wolfbus.agent.router import Seats
from wolfbus.errors import WolfError
from wolfbus.service.lifecycle import Health, Stopping

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlayerSettings:
    """What a player service plays with.

    Attributes:
        membership: where it goes, as whom, and for how long.
        brain: brain spec of every seat. What a seat is said to be played by only labels it: no
            moderator decides what runs here.
        threads: pool threads that run the actors.
    """

    membership: Membership
    brain: str
    threads: int = 2


def serve(
    settings: PlayerSettings, brain_context: BrainContext, stopping: Stopping, health: Health | None = None
) -> int:
    """Play until the house closes or somebody asks to stop; returns 0.

    Args:
        settings: what to play with.
        brain_context: what the brains share; whoever gives it closes it afterwards.
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

    brain_context.fatal = give_up
    membership = settings.membership
    left = membership.run(
        lambda member: Seats(member, lambda _: build(settings.brain, brain_context), settings.threads),
        stopping,
        health,
    )
    if fatal:
        raise fatal[0]
    logger.info("%s leaves house %s: %s", membership.introduction.name, membership.house, left.reason)
    return 0
