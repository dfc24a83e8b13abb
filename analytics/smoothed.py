"""`RoundSuspicion`: smoothed suspicion of every pair, as it stood at the end of each round (paper, section 4.1)."""

from __future__ import annotations

from analytics.rows import Pair
from wolfbus.messages.base import SeatName
from wolfbus.suspicion import Suspicion


class RoundSuspicion:
    """Moves with every usable judgement, and freezes when observer or target has left.

    Args:
        alpha: weight of a new judgement in D, in [0, 1].
        prior: D before any judgement, in [0, 1].
    """

    def __init__(self, alpha: float, prior: float) -> None:
        self.now = Suspicion(alpha, prior)
        self._gone: set[SeatName] = set()
        self._rounds: dict[int, dict[Pair, float]] = {}
        self._open_round: int | None = None

    def judge(self, round_: int, observer: SeatName, target: SeatName, suspicion: float) -> float:
        """Take in a usable judgement of a statement of this round, and return D with it."""
        if observer in self._gone or target in self._gone:
            return self.now.of(observer, target)
        if self._open_round != round_:
            self._close()
            self._open_round = round_
        return self.now.judge(observer, target, suspicion)

    def leave(self, seat: SeatName) -> None:
        """Freeze all D to and from a player."""
        self._close()
        self._gone.add(seat)

    def by_round(self) -> dict[int, dict[Pair, float]]:
        """Return D of pairs that were alive when a round's last judgement was joined, by round."""
        rounds = dict(self._rounds)
        if self._open_round is not None:
            rounds[self._open_round] = self._living()
        return rounds

    def _close(self) -> None:
        # taken before whatever comes next, so it shows who was alive at the round's last judgement
        if self._open_round is not None:
            self._rounds[self._open_round] = self._living()
            self._open_round = None

    def _living(self) -> dict[Pair, float]:
        gone = self._gone
        return {pair: value for pair, value in self.now.pairs().items() if pair[0] not in gone and pair[1] not in gone}
