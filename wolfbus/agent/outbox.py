"""`Outbox`: the one stream that an agent writes, and the ids of what stands on it."""

from __future__ import annotations

import math
import threading
import time

from wolfbus.bus import streams
from wolfbus.bus.ids import parse_id
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.pump import BusWriter


class Outbox:
    """An agent's out stream, as this process writes it.

    Ids are ``<start of the process in ms>-<n>``: what an older process of the same name still writes is refused, and a
    repeated append is recognised.

    Args:
        house: the house's name.
        agent: the agent's name.
        bus: where the stream is; asked once for its last id.
        writer: the process's bus writer.

    Attributes:
        stream: the stream's name.
        joined_at: when `join` was said last, on the clock of `time.monotonic`: who sends a `catch_up` upon it has read
            all that was sent before.

    Raises:
        BusDown: the bus is away.
        NotAllowed: the stream is somebody else's.
    """

    def __init__(self, house: str, agent: str, bus: Bus, writer: BusWriter) -> None:
        self.stream = streams.outbox(house, agent)
        self._agent = agent
        self._writer = writer
        # a clock that was set back must not put us behind an older process
        self._incarnation = max(int(time.time() * 1000), parse_id(bus.last_id(self.stream))[0] + 1)
        self._sent = 0
        self.joined_at = -math.inf
        self._lock = threading.Lock()

    def send(self, game: str, body: bytes, kind: str = "reply") -> None:
        """Queue a message; safe from any thread.

        Args:
            game: id of the game it belongs to, "" for none.
            body: the message, packed.
            kind: its type, in the clear.

        Raises:
            BusDown: the writer was closed.
        """
        with self._lock:
            if kind == "join":
                self.joined_at = time.monotonic()
            self._sent += 1
            entry_id = f"{self._incarnation}-{self._sent}"
            self._writer.append(self.stream, Entry(body, kind, self._agent, game, self._sent, entry_id))
