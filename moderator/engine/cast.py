"""Who plays a game by its record, and keeping out an agent that comes back as something else."""

from __future__ import annotations

import logging

from moderator.engine.deliveries import Deliveries
from moderator.engine.seating import Taker
from wolfbus.messages.events import Opened

logger = logging.getLogger(__name__)


def admit(opened: Opened, offered: Taker, deliveries: Deliveries) -> bool:
    """Send an agent what is for its seats, or nothing if it is not what the record says of them.

    A record names what answers for each seat, and stands: so that it stays true, another brain is asked nothing.

    Args:
        opened: the game's opening event.
        offered: what the agent is now.
        deliveries: the game's.

    Returns:
        Whether it plays on.
    """
    known = deliveries.is_withheld(offered.agent)
    deliveries.restore(offered.agent)
    for seat in opened.seats:
        recorded = Taker(seat.agent, seat.brain, seat.declines, seat.in_house)
        if seat.agent == offered.agent and not recorded.is_like(offered):
            deliveries.withhold(offered.agent)
            if not known:
                logger.warning(
                    "game %s: by its record seat %s is played by %s, but %s comes as %s; its seats stay silent until "
                    "it comes as recorded",
                    opened.game,
                    seat.name,
                    recorded.shown(),
                    offered.agent,
                    offered.shown(),
                    extra={"game": opened.game, "seat": seat.name, "agent": offered.agent},
                )
            return False
    return True
