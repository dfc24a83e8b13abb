"""`AnalyticsActor`: watches records on the bus as they grow and folds them, with the very fold that serves files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from analytics.fold import GameFold
from analytics.rows import GameRows
from wolfbus.actors import PooledActor
from wolfbus.bus.protocol import Entry
from wolfbus.errors import MessageError, RecordError, RulesError
from wolfbus.messages.codec import unpack
from wolfbus.messages.events import Ended
from wolfbus.record.line import Recorded, parse_flat

logger = logging.getLogger(__name__)


class AnalyticsActor(PooledActor):
    """Folds the records of any number of games.

    Args:
        over: called with a game's rows when its record has ended.
        watch: called with every event, in record order, before it is folded; None for nobody.
        alpha: smoothing weight, None for the game's own.
        prior: prior suspicion, None for the game's own.
        include_defaulted: count labels and judgements that are missing as the paper's code did.

    Tell it lists of record entries; entries it has seen are skipped, so repeats are harmless.
    """

    def __init__(
        self,
        over: Callable[[GameRows], None],
        watch: Callable[[Recorded], None] | None = None,
        alpha: float | None = None,
        prior: float | None = None,
        include_defaulted: bool = False,
    ) -> None:
        super().__init__()
        self._over = over
        self._watch = watch
        self._options = (alpha, prior, include_defaulted)
        self._folds: dict[str, tuple[GameFold, int]] = {}

    def on_receive(self, message: Any) -> None:
        """Fold record entries; an entry that cannot be read is logged and left out, for the record itself stays."""
        entries: Sequence[Entry] = message
        for entry in entries:
            try:
                self._fold(entry)
            except (MessageError, RecordError, RulesError):
                logger.exception("record %s: an entry was left out", entry.game)

    def _fold(self, entry: Entry) -> None:
        recorded = parse_flat(unpack(entry.body), entry.number)
        fold, seen = self._folds.get(entry.game, (None, 0))
        if recorded.n <= seen:
            return
        if fold is None:
            alpha, prior, include_defaulted = self._options
            fold = GameFold(alpha=alpha, prior=prior, include_defaulted=include_defaulted)
        if self._watch is not None:
            self._watch(recorded)
        fold.feed(recorded.event)
        self._folds[entry.game] = (fold, recorded.n)
        if isinstance(recorded.event, Ended):
            del self._folds[entry.game]
            self._over(fold.rows())
