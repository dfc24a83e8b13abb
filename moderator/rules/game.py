"""The game of WOLF as a pure coroutine: outcome = f(config, seed, replies).

It yields events as they happen, batches of requests as they go out (`Asked`), and `Join` where it must know the
answers; it returns how the game ended. No clock, no bus, no thread, no running random generator: whoever drives it
decides when answers come, and the same answers give the same game.
"""

from __future__ import annotations

from moderator.rules.debate import debate
from moderator.rules.joining import Script
from moderator.rules.night import night
from moderator.rules.table import Table
from moderator.rules.vote import vote
from wolfbus.messages.events import Ended, Opened


def game(opened: Opened) -> Script[Ended]:
    """Play one game from its opening to its end.

    Yields:
        Events in record order, `Asked` among them, and `Join`, upon which it must be sent the answers of the joined
        batches, one mapping per batch. The answers themselves are recorded by the driver, before what the coroutine
        makes of them.

    Returns:
        The last event.
    """
    table = Table.of(opened)
    yield opened
    ended = None
    while ended is None:
        table.round += 1
        yield from night(table)
        ended = table.verdict()
        if ended is None:
            yield from debate(table)
            yield from vote(table)
            ended = table.verdict() or _time_is_up(table)
    yield ended
    return ended


def _time_is_up(table: Table) -> Ended | None:
    if table.round < table.config.max_rounds:
        return None
    return Ended(winner=None, reason="max_rounds", rounds=table.round)
