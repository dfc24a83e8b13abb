"""What is counted of a game while it is played: `GameCounts`, for its result; `RecordFollower`, the actor that counts
records as they grow on the bus, and shows them. Measuring is done later, from the records.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from wolfbus.actors import PooledActor
from wolfbus.bus.protocol import Entry, Unpacked
from wolfbus.messages.codec import unpack
from wolfbus.record.line import Recorded, parse_flat
from wolfbus.usage import Usage
from wolfbus.vocabulary import Winner

logger = logging.getLogger(__name__)


class GameCounts:
    """Feed it the events of one game in record order.

    Attributes:
        winner: who has won; None for nobody, or not yet.
        statements: public statements.
        judgements: judgements that count.
        usage: what the model calls took; None while there are none.
        lines: number of the last event.
    """

    __slots__ = ("judgements", "lines", "statements", "usage", "winner")

    def __init__(self) -> None:
        self.winner: Winner = None
        self.statements = self.judgements = self.lines = 0
        self.usage: Usage | None = None

    def take(self, recorded: Recorded) -> None:
        """Take in the next event."""
        self.lines, event = recorded.n, recorded.event
        if event.type == "answered":
            self.judgements += event.kind == "assess_other" and event.content is not None
        elif event.type == "statement":
            self.statements += 1
        elif event.type == "model_call":
            self.usage = self.usage or Usage()
            self.usage.add(event)
        elif event.type == "ended":
            self.winner = event.winner


class RecordFollower(PooledActor):
    """Counts the games of a house as their records grow.

    Tell it lists of record entries; entries it has seen are skipped, so repeats are harmless. Tell it a game's id to
    forget a game that will not end.

    Args:
        over: called with a game's id and its counts when its record has ended; with None if it cannot be followed.
        watch: called with every event, in record order; None for nobody. If it fails, it is not called again.
    """

    def __init__(
        self, over: Callable[[str, GameCounts | None], None], watch: Callable[[Recorded], None] | None = None
    ) -> None:
        super().__init__()
        self._over = over
        self._watch = watch
        self._counts: dict[str, GameCounts] = {}
        self._lost: set[str] = set()

    def on_receive(self, message: Any) -> None:
        """Take in record entries, or forget a game; whatever goes wrong with one game leaves the others alone."""
        if isinstance(message, str):
            self._counts.pop(message, None)
            self._lost.discard(message)
            return
        entries: Sequence[Entry] = message
        for entry in entries:
            if entry.game in self._lost:
                continue
            try:
                self._take(entry.game, _recorded(entry))
            except Exception:
                logger.exception("record %s cannot be followed any further", entry.game)
                self._counts.pop(entry.game, None)
                self._lost.add(entry.game)
                self._over(entry.game, None)

    def _take(self, game: str, recorded: Recorded) -> None:
        counts = self._counts.get(game)
        if counts is None:
            counts = self._counts[game] = GameCounts()
        if recorded.n <= counts.lines:
            return
        counts.take(recorded)
        self._show(recorded)
        if recorded.event.type == "ended":
            del self._counts[game]
            self._over(game, counts)

    def _show(self, recorded: Recorded) -> None:
        if self._watch is None:
            return
        try:
            self._watch(recorded)
        except Exception:
            # a view is no part of the game
            logger.exception("showing the game failed; it goes on unseen")
            self._watch = None


def _recorded(entry: Entry) -> Recorded:
    """Return the event of a record's entry, as its moderator in this process made it or read from its bytes."""
    content = entry.content
    if isinstance(content, Unpacked) and isinstance(content.message, Recorded):
        return content.message
    return parse_flat(unpack(entry.body), entry.number)
