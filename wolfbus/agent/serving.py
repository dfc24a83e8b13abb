"""`serve`: plays seats of a house with an agent, as a process of its own."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence

from wolfbus.agent.agent import Agent
from wolfbus.agent.membership import Membership, default_name, introduce
from wolfbus.agent.router import Seats
from wolfbus.errors import ConfigError
from wolfbus.files.environment import clean_environment
from wolfbus.service.lifecycle import DEFAULT_BUS, DEFAULT_HOUSE, Stopping, read_shared_bus
from wolfbus.service.logs import configure_logs


def serve(
    agent: type[Agent],
    url: str | None = None,
    house: str | None = None,
    *,
    name: str | None = None,
    seats: int = 1,
    places: Sequence[int] = (),
    once: bool = False,
    grace_s: float = 8.0,
    make: Callable[[], Agent] | None = None,
    stopping: Stopping | None = None,
) -> str:
    """Play in a house until it closes, or until SIGTERM or SIGINT.

    After a signal no new games are taken, and those under way are played on for `grace_s` seconds.

    Args:
        agent: what plays: every seat gets an instance of its own.
        url: the bus, ``redis://…``, ``rediss://…`` or ``unix://…``, with the user and password of a ticket where the
            house wants one. From ``WOLFBUS_BUS`` or ``REDIS_URL`` unless given.
        house: the house's name. From ``WOLFBUS_HOUSE`` unless given, or else ``main``.
        name: this process's name in the house, unique there. From ``WOLFBUS_NAME`` unless given, or else
            one that it has again when it is started again in the same way.
        seats: how many seats it plays at a time, 1 or more.
        places: seats it asks for, from 1 in seating order; empty for any.
        once: leave after the first game.
        grace_s: seconds, 0 or more.
        make: makes the instance of a seat; the class itself unless given.
        stopping: may ask to stop as well; for callers that are not in the main thread.

    Returns:
        Why it is over, in one line.

    Raises:
        ConfigError: an argument that cannot be used, the house does not take the agent, or another process has its
            name.
        WolfError: the bus cannot be reached.
    """
    clean_environment()
    url = url or os.environ.get("WOLFBUS_BUS") or os.environ.get("REDIS_URL") or DEFAULT_BUS
    try:
        read_shared_bus(url)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    label = agent.name or agent.__name__
    house = house or os.environ.get("WOLFBUS_HOUSE") or DEFAULT_HOUSE
    name = name or os.environ.get("WOLFBUS_NAME") or default_name(label)
    introduction = introduce(
        name,
        brain=f"outside:{label}",
        version=f"{label} {agent.version}",
        seats=seats,
        places=tuple(places),
        declines=agent.declines(),
    )
    if not logging.getLogger().handlers:
        configure_logs("auto", service="agent", house=house, agent=name)
    membership = Membership(url, house, introduction, once=once, grace_s=grace_s)
    new = make or agent
    with stopping or Stopping() as stop:
        return membership.run(lambda member: Seats(member, lambda _: new()), stop).reason
