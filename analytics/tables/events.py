"""Suspicion around events: the Seer speaks up, the Doctor saves or fails to (paper, section 5.3)."""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from analytics.accumulator import Result
from analytics.game_sums import GameSums
from analytics.rows import GameRows, StatementRow
from analytics.sums import mean_of
from analytics.tables.statements import received

_CONDITIONS: Final = ("before", "after", "blocked", "killed")
_NO_CLAIM: Final = "no Seer who claims in public to be one has a judged statement of this sort"
_NO_NIGHT: Final = "no Doctor has a judged statement on a day after such a night"


class Events:
    """Suspicion of statements by Seers around their first public claim to be one, and by Doctors after nights.

    Suspicion of a statement is the mean over its observers, as in Table 1. Whoever claims while really a Seer counts;
    a Seer who never does has no "before" and is left out **[choice]**. A claim is a role claim about oneself, given by
    the speaker or extracted from its words.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[str, tuple[float, ...]]] = []
        self._nights: Counter[str] = Counter()
        self._seers: Counter[str] = Counter()

    def add(self, game: GameRows, block: str | None = None) -> None:
        """Take in one game of a block of the design; of one of its own unless given."""
        days: dict[int, str] = {}
        for night in game.nights:
            state = "without_attempt" if night.target is None else "blocked" if night.died is None else "killed"
            self._nights[state] += 1
            days[night.round] = state
        claimed: dict[str, int] = {}
        for statement in game.statements:
            if statement.role == "Seer" and _claims(statement):
                claimed.setdefault(statement.speaker, statement.number)
        seers = [name for name, seat in game.seats.items() if seat.role == "Seer"]
        self._seers["claimed"] += len(claimed)
        self._seers["silent"] += len(seers) - len(claimed)
        found: dict[str, list[float]] = {name: [] for name in _CONDITIONS}
        for statement, suspicions, _ in received(game):
            suspicion = mean_of(suspicions)
            if suspicion is None:
                continue
            if statement.speaker in claimed:
                found["before" if statement.number < claimed[statement.speaker] else "after"].append(suspicion)
            elif statement.role == "Doctor" and (sort := days.get(statement.round, "without_attempt")) in found:
                found[sort].append(suspicion)
        sums = tuple(part for name in _CONDITIONS for part in (math.fsum(found[name]), len(found[name])))
        self._rows.append((block or game.game, sums))

    def merge(self, other: Events) -> None:
        """Add all that `other` holds."""
        self._rows += list(other._rows)
        self._nights.update(other._nights)
        self._seers.update(other._seers)

    def result(self) -> Result:
        """Return suspicion around events, each an estimate with its block-bootstrap 95 % interval (paper 5.3; metrics:
        events).

        ``seer``: statements ``before``, and from, the claim (``after``), pooled over games; ``difference`` is the mean
        over the ``games`` that have both of after minus before. ``doctor``: statements of a day after a night whose
        kill was ``blocked``, and of one whose kill went through (``killed``), pooled; ``difference`` is blocked minus
        killed. n counts statements, for the Seer's difference games. Nights are counted whether or not a Doctor spoke
        on the day after; those ``without_attempt`` count for neither.
        """
        sums = GameSums(self._rows, 2 * len(_CONDITIONS))
        changes = GameSums(((block, _change(*row[:4])) for block, row in self._rows), 2)
        return {
            "seer": {
                "before": sums.rate(0, 1, _NO_CLAIM),
                "after": sums.rate(2, 3, _NO_CLAIM),
                "difference": changes.rate(
                    0, 1, "no game has judged statements of its Seer before and after the claim"
                ),
                "games": changes.count(1),
                "claimed": self._seers["claimed"],
                "silent": self._seers["silent"],
            },
            "doctor": {
                "blocked": sums.rate(4, 5, _NO_NIGHT),
                "killed": sums.rate(6, 7, _NO_NIGHT),
                "difference": sums.difference(
                    (4, 5), (6, 7), "there are no judged statements of a Doctor after nights of both sorts"
                ),
                **{f"nights_{name}": self._nights[name] for name in ("blocked", "killed", "without_attempt")},
            },
        }


def _change(before: float, n: float, after: float, m: float) -> tuple[float, float]:
    return (after / m - before / n, 1.0) if n and m else (0.0, 0.0)


def _claims(statement: StatementRow) -> bool:
    return any(
        scored.claim.claim == "role" and scored.claim.target == statement.speaker and scored.claim.role == "Seer"
        for scored in statement.claims
    )
