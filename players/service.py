"""The player service: an agent process whose brains are ours."""

from __future__ import annotations

import logging

from players.spec import BrainContext, build
from wolfbus.agent.membership import Membership
from wolfbus.agent.router import Seats
from wolfbus.errors import WolfError
from wolfbus.service.lifecycle import Health, Stopping

logger = logging.getLogger(__name__)

_THREADS = 2
"""Pool threads that run the actors."""


def serve(
    membership: Membership,
    brain: str,
    brain_context: BrainContext,
    stopping: Stopping,
    health: Health | None = None,
) -> int:
    """Play until the house closes or somebody asks to stop; returns 0.

    Args:
        membership: where it goes, as whom, and for how long.
        brain: brain spec of every seat. What a seat is said to be played by only labels it: no moderator decides what
            runs here.
        brain_context: what the brains share; whoever gives it closes it afterwards.
        stopping: asked when this process should end.
        health: where its state is published.

    Raises:
        ConfigError: the house does not take the agent, or another process has its name.
        WolfError: the bus cannot be reached, or the brains cannot go on (a budget that is spent).
    """
    fatal: list[WolfError] = []

    def give_up(error: WolfError) -> None:
        fatal.append(error)
        stopping.ask(str(error), failed=True)

    brain_context.fatal = give_up
    ended = membership.run(
        lambda member: Seats(member, lambda _: build(brain, brain_context), _THREADS), stopping, health
    )
    if fatal:
        raise fatal[0]
    logger.info("%s leaves house %s: %s", membership.introduction.agent, membership.house, ended.reason)
    return 0
