"""`Outbox`: the one stream that an agent writes, and what stands on it."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Final

from wolfbus.bus import streams
from wolfbus.bus.ids import parse_id
from wolfbus.bus.protocol import Bus, Entry, Unpacked
from wolfbus.bus.pump import BusWriter
from wolfbus.messages.base import PROTOCOL
from wolfbus.messages.calls import PromptText, segment_hash
from wolfbus.messages.codec import pack, plain

logger = logging.getLogger(__name__)

_SEGMENTS_BYTES: Final = 32_768
"""Prompt text that one message carries, if it can be cut so."""


class Outbox:
    """An agent's out stream, as this process writes it; safe from any thread.

    Ids are ``<start of the process in ms>-<n>``: what an older process of the same name still
    writes is refused, and a repeated append is recognised.

    Args:
        house: the house's name.
        agent: the agent's name.
        bus: where the stream is; asked once for its last id.
        writer: the process's bus writer.

    Attributes:
        stream: the stream's name.
        joined_at: when `join` was said last, on the clock of `time.monotonic`: who sends a
            `catch_up` upon it has read all that was sent before.

    Raises:
        BusDown: the bus is away.
        NotAllowed: the stream is somebody else's.
    """

    def __init__(self, house: str, agent: str, bus: Bus, writer: BusWriter) -> None:
        self.stream = streams.outbox(house, agent)
        self._agent = agent
        self._writer = writer
        # a clock that was set back must not put us behind an older process
        last = parse_id(bus.last_id(self.stream))[0]
        self._incarnation = max(int(time.time() * 1000), last + 1)
        self._sent = 0
        self.joined_at = -math.inf
        self._lock = threading.Lock()
        self._segments: dict[str, set[str]] = {}
        self._segments_lock = threading.Lock()

    def send(self, game: str, body: bytes | Unpacked, kind: str = "reply") -> None:
        """Queue a message.

        Args:
            game: id of the game it belongs to, "" for none.
            body: the message, packed or not.
            kind: its type, in the clear.

        Raises:
            BusDown: the writer was closed.
        """
        with self._lock:
            if kind == "join":
                self.joined_at = time.monotonic()
            self._sent += 1
            entry_id = f"{self._incarnation}-{self._sent}"
            entry = Entry(body, kind, self._agent, game, self._sent, entry_id)
            self._writer.append(self.stream, entry)

    def open_game(self, game: str, *, anew: bool = False) -> None:
        """Take prompt text of a game from now on; `anew` if none of it counts as sent."""
        with self._segments_lock:
            if anew or game not in self._segments:
                self._segments[game] = set()

    def leave_game(self, game: str) -> None:
        """Take no more prompt text of a game."""
        with self._segments_lock:
            self._segments.pop(game, None)

    def send_segments(self, game: str, seat: str, texts: Sequence[PromptText]) -> None:
        """Send what no seat of this agent has sent of a game's prompt text.

        It stands in the stream before anything that is sent after this returns, whoever of the
        seats sent it.
        """
        with self._segments_lock:
            known = self._segments.get(game)
            if known is None:
                logger.debug("%s has left game %s: prompt text is not sent any more", seat, game)
                return
            new = []
            for text in texts:
                name = segment_hash(text.after, text.role, text.text)
                if name not in known:
                    known.add(name)
                    new.append(plain(text))
            for some in _by_size(new):
                report = {"v": PROTOCOL, "type": "segments", "game": game, "seat": seat}
                self.send(game, pack(report | {"texts": some}), "segments")


def _by_size(pieces: Sequence[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    """Cut a list of pieces so that each part makes one message of moderate size."""
    part: list[dict[str, object]] = []
    size = 0
    for piece in pieces:
        length = len(str(piece["text"]).encode())
        if part and size + length > _SEGMENTS_BYTES:
            yield part
            part, size = [], 0
        part.append(piece)
        size += length
    if part:
        yield part
