"""`HouseContext`: what all parts of one moderated house share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from moderator.engine.cursors import Cursors
from wolfbus.actors import ActorPool, Timers
from wolfbus.bus.protocol import Bus
from wolfbus.bus.pump import BusReader, BusWriter


@dataclass(frozen=True, slots=True)
class HouseContext:
    """One moderator's term in a house: where it is, under which epoch, and by what it reads and writes.

    Attributes:
        name: the house's name, for stream names.
        epoch: owner epoch under which to commit, as `Bus.claim` gave it; it fences any moderator before.
        bus: where the house's streams are.
        reader: the process's bus reader.
        writer: the process's bus writer.
        pool: where the moderators of single games run.
        timers: the process's timers.
        cursors: how far the agents' out streams are accounted for.
        clock: seconds that never run backwards.
        full_s: seconds after which a game ends for a bus whose memory stays full, > 0; None where housekeeping may
            still make room, for as long as an outage may last.
    """

    name: str
    epoch: int
    bus: Bus
    reader: BusReader
    writer: BusWriter
    pool: ActorPool
    timers: Timers
    cursors: Cursors = field(default_factory=Cursors)
    clock: Callable[[], float] = time.monotonic
    full_s: float | None = None
