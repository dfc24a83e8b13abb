"""The rolling picture that analytics posts for those who watch: small plain values, the newest of
which is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from analytics.metrics import Metrics
from analytics.rows import GameRows
from wolfbus.messages.base import PROTOCOL

LIVE_GAMES: Final = 32
"""Running games that one picture shows at most, the newest first."""
LIVE_KEPT: Final = 200
"""Pictures that stay on the stream."""


def picture(rows: GameRows, at: tuple[int, str] | None, lines: int) -> dict[str, Any]:
    """Return how one running game stands.

    Args:
        rows: the game so far.
        at: round and phase, None if nothing was asked yet.
        lines: lines of its record so far.

    Returns: ``game``, ``round``, ``phase``, ``lines``, ``statements``, ``judgements`` (those that
        count), ``suspicion``: for each living seat the mean, over the other living seats that have
        judged it, of their smoothed suspicion in [0, 1] (None if nobody has), and ``left``: who is
        out of the game.
    """
    left = [death.seat for death in rows.deaths]
    by_target: dict[str, list[float]] = {name: [] for name in rows.seats if name not in left}
    for (observer, target), value in rows.suspicion.items():
        if observer in by_target and target in by_target:
            by_target[target].append(value)
    return {
        "game": rows.game,
        "round": at[0] if at is not None else 0,
        "phase": at[1] if at is not None else "",
        "lines": lines,
        "statements": len(rows.statements),
        "judgements": sum(judgement.usable for judgement in rows.judgements),
        "suspicion": {
            name: round(sum(values) / len(values), 4) if values else None for name, values in by_target.items()
        },
        "left": left,
    }


def rolling(metrics: Metrics, session: str, running: int, over: int, games: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the members of a message on how a session stands.

    Args:
        metrics: of the games that are over.
        session: the session's name.
        running: games under way.
        over: games that are over, whatever became of them.
        games: pictures of running games, of which there may be more.
    """
    told = metrics.sections("outcomes", "headline")
    return {
        "v": PROTOCOL,
        "type": "live",
        "session": session,
        "running": running,
        "over": over,
        "games": list(games),
        "winners": {name: row["k"] for name, row in told["outcomes"]["winners"].items()},
        "headline": told["headline"]["all"],
    }
