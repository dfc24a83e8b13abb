"""Smoothed suspicion: one implementation for players (their own row), the live subscriber and batch analysis.

D₀ is the prior; after each usable judgement D ← α·s + (1−α)·D, in statement order (paper, section 4.1). Missing,
timed-out and declined judgements never move it. It freezes when observer or target leaves, simply because no judgement
of that pair follows.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import lru_cache

from wolfbus.messages.base import SeatName


def smooth(before: float, suspicion: float, alpha: float) -> float:
    """Return D after one judgement with suspicion s in [0, 1]."""
    return alpha * suspicion + (1 - alpha) * before


class Suspicion:
    """D(o, t) for every ordered pair of seats that had a usable judgement.

    Args:
        alpha: weight of a new judgement, in [0, 1].
        prior: D before any judgement, in [0, 1].
    """

    def __init__(self, alpha: float = 0.7, prior: float = 0.5) -> None:
        self.alpha = alpha
        self.prior = prior
        self._pairs: dict[tuple[SeatName, SeatName], float] = {}
        self._informed: set[tuple[SeatName, SeatName]] = set()

    def judge(self, observer: SeatName, target: SeatName, suspicion: float, *, informed: bool = False) -> float:
        """Fold in one usable judgement of a statement by `target` and return the new D.

        Args:
            observer: who judges.
            target: whose statement it is.
            suspicion: s in [0, 1].
            informed: whether the observer could tell whether the target is a Werewolf (`GameFacts.informed`); its D
                then counts in no mean.
        """
        value = smooth(self.of(observer, target), suspicion, self.alpha)
        pair = _pair(observer, target)
        self._pairs[pair] = value
        (self._informed.add if informed else self._informed.discard)(pair)
        return value

    def of(self, observer: SeatName, target: SeatName) -> float:
        """Return D(observer, target), the prior where there was no judgement."""
        return self._pairs.get((observer, target), self.prior)

    def judged(self, observer: SeatName, target: SeatName) -> bool:
        """Return whether the pair had a usable judgement."""
        return (observer, target) in self._pairs

    def mean(self, target: SeatName, observers: Iterable[SeatName], left: Container[SeatName]) -> float | None:
        """Return the mean D that `target` meets, in [0, 1]; None where nobody counts.

        Those count who have judged it at least once and, as they last did, had to find out; and of them only who has
        not left, unless `target` has.

        Args:
            target: the seat.
            observers: all seats.
            left: those that have left the game.
        """
        values = [
            self.of(observer, target)
            for observer in observers
            if (target in left or observer not in left)
            and self.judged(observer, target)
            and (observer, target) not in self._informed
        ]
        return sum(values) / len(values) if values else None

    def copy(self) -> Suspicion:
        """Return the same suspicion as it stands; judgements of the one do not change the other."""
        copied = Suspicion(self.alpha, self.prior)
        copied._pairs, copied._informed = dict(self._pairs), set(self._informed)
        return copied

    def pairs(self) -> dict[tuple[SeatName, SeatName], float]:
        """Return D for all pairs with a judgement, in the order of their first one."""
        return dict(self._pairs)


@lru_cache(maxsize=4096)
def _pair(observer: SeatName, target: SeatName) -> tuple[SeatName, SeatName]:
    """Return one object for all equal pairs: games at one time have thousands, of few names."""
    return observer, target
