"""`Office`: what all games of a house share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from moderator.engine.cursors import Cursors
from wolfbus.actors import Timers
from wolfbus.bus.protocol import Bus
from wolfbus.bus.pump import BusWriter


@dataclass(frozen=True, slots=True)
class Office:
    """Where a house's games are moderated.

    Attributes:
        house: house name, for stream names.
        epoch: owner epoch under which to commit.
        bus: where records are read back.
        writer: the process's bus writer.
        timers: the process's timers.
        cursors: how far the agents' out streams are accounted for.
        clock: seconds that never run backwards.
        full_s: seconds after which a game ends for a bus whose memory stays full, > 0; None where
            housekeeping may still make room, for as long as an outage may last.
    """

    house: str
    epoch: int
    bus: Bus
    writer: BusWriter
    timers: Timers
    cursors: Cursors
    clock: Callable[[], float] = time.monotonic
    full_s: float | None = None
