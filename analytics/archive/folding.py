"""`AnalyticsActor`: watches records on the bus as they grow and folds them, with the very fold that serves files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from analytics.fold import GameFold
from analytics.rows import GameRows
from wolfbus.actors import PooledActor
from wolfbus.bus.protocol import Entry, Unpacked
from wolfbus.messages.codec import unpack
from wolfbus.record.line import Recorded, parse_flat

logger = logging.getLogger(__name__)


class AnalyticsActor(PooledActor):
    """Folds the records of any number of games.

    Args:
        over: called with a game's id and its rows when its record has ended; with None for rows if it cannot be folded.
        watch: called with every event, in record order, after it is folded; None for nobody. If it fails, it is not
        called again.

    Tell it lists of record entries; entries it has seen are skipped, so repeats are harmless. Tell it a game's id to
    forget a game that will not end.
    """

    def __init__(
        self, over: Callable[[str, GameRows | None], None], watch: Callable[[Recorded], None] | None = None
    ) -> None:
        super().__init__()
        self._over = over
        self._watch = watch
        self._folds: dict[str, tuple[GameFold, int]] = {}
        self._lost: set[str] = set()

    def on_receive(self, message: Any) -> None:
        """Fold record entries, or forget a game; whatever goes wrong with one game leaves the others alone."""
        if isinstance(message, str):
            self._folds.pop(message, None)
            self._lost.discard(message)
            return
        entries: Sequence[Entry] = message
        for entry in entries:
            if self._lost and entry.game in self._lost:
                continue
            try:
                self._fold(entry)
            except Exception:
                logger.exception("record %s cannot be followed any further", entry.game)
                self._folds.pop(entry.game, None)
                self._lost.add(entry.game)
                self._over(entry.game, None)

    def _fold(self, entry: Entry) -> None:
        recorded = _recorded(entry)
        number, time, _, event, _ = recorded
        fold, seen = self._folds.get(entry.game, (None, 0))
        if number <= seen:
            return
        if fold is None:
            fold = GameFold()
        fold.feed(event, time, number)
        self._folds[entry.game] = (fold, number)
        if self._watch is not None:
            self._show(recorded)
        if event.type == "ended":
            del self._folds[entry.game]
            self._over(entry.game, fold.rows())

    def _show(self, recorded: Recorded) -> None:
        if self._watch is None:
            return
        try:
            self._watch(recorded)
        except Exception:
            # a view is no part of the measurement
            logger.exception("showing the game failed; it goes on unseen")
            self._watch = None


def _recorded(entry: Entry) -> Recorded:
    """Return the event of a record's entry, as its moderator in this process made it or read from its bytes."""
    content = entry.content
    if isinstance(content, Unpacked) and isinstance(content.message, Recorded):
        return content.message
    return parse_flat(unpack(entry.body), entry.number)
