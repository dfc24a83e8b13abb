"""Figure 1: smoothed suspicion by round and target role, and how often observers flag (paper, section 5.6)."""

from __future__ import annotations

from collections import defaultdict

from analytics.accumulator import Result
from analytics.rows import GameRows
from analytics.sums import Sample, Share, mean_of
from analytics.tables.trends import first_separable, slope_of_games, theil_sen
from wolfbus.vocabulary import ROLES, Role


class Trajectories:
    """Per game, the mean of D towards each role at the end of each round's judgements; over games, means,
    slopes and differences.
    """

    def __init__(self) -> None:
        self._points: dict[Role, defaultdict[int, Sample]] = {role: defaultdict(Sample) for role in ROLES}
        self._flags: defaultdict[int, Share] = defaultdict(Share)
        self._slopes: dict[Role, Sample] = {role: Sample() for role in ROLES}
        self._differences: defaultdict[int, Sample] = defaultdict(Sample)

    def add(self, game: GameRows) -> None:
        """Take in one game."""
        for judgement in game.judgements:
            if judgement.d is not None:
                self._flags[judgement.round].add(judgement.d)
        lines = suspicion_by_round(game)
        for role, line in lines.items():
            for round_, value in line.items():
                self._points[role][round_].add(value)
            slope = theil_sen(line)
            if slope is not None:
                self._slopes[role].add(slope)
        for round_, value in lines["Werewolf"].items():
            if round_ in lines["Villager"]:
                self._differences[round_].add(value - lines["Villager"][round_])

    def merge(self, other: Trajectories) -> None:
        """Add all that `other` holds."""
        for role in ROLES:
            self._slopes[role].merge(other._slopes[role])
            for round_, sample in other._points[role].items():
                self._points[role][round_].merge(sample)
        for round_, share in other._flags.items():
            self._flags[round_].merge(share)
        for round_, sample in other._differences.items():
            self._differences[round_].merge(sample)

    def figure1(self) -> Result:
        """Return Figure 1's lines (paper 5.6; metrics: Figure 1).

        ``suspicion[target role]``: per round the mean over games of the game's mean D over pairs alive when
        the round's last judgement was joined, with a judgement so far; sem over games (null below 2), n
        games. ``flagged``: per round the share of judgements that flag, n judgements.
        """
        return {
            "suspicion": {role: _line(self._points[role]) for role in ROLES},
            "flagged": [
                {"round": round_, "share": share.share(), "flagged": share.k, "n": share.n}
                for round_, share in sorted(self._flags.items())
            ],
        }

    def trends(self) -> Result:
        """Return slopes per round and the first separable round (paper 5.6; metrics: trend).

        ``slopes[target role]``: ``median`` over games of at least two rounds of the Theil-Sen slope within
        the game, its game-bootstrap 95 % interval, n games; ``paper_reading`` is the slope of the per-round
        means over games, in which rounds of few, long games weigh as much as others. ``separable``: see
        `analytics.tables.trends.first_separable`. Units: D per round.
        """
        slopes = {}
        for role in ROLES:
            means = {
                round_: mean for round_, sample in self._points[role].items() if (mean := sample.mean()) is not None
            }
            slopes[role] = {
                **slope_of_games(self._slopes[role]),
                "paper_reading": theil_sen(means),
                "paper_reading_rounds": len(means),
            }
        return {"slopes": slopes, "separable": first_separable(self._differences)}


def suspicion_by_round(game: GameRows) -> dict[Role, dict[int, float]]:
    """Return one game's line per target role: round to the mean of D over that round's living pairs."""
    lines: dict[Role, dict[int, float]] = {role: {} for role in ROLES}
    for round_, pairs in sorted(game.by_round.items()):
        towards: dict[Role, list[float]] = {role: [] for role in ROLES}
        for (_, target), value in pairs.items():
            towards[game.seats[target].role].append(value)
        for role, values in towards.items():
            mean = mean_of(values)
            if mean is not None:
                lines[role][round_] = mean
    return lines


def _line(samples: dict[int, Sample]) -> list[Result]:
    return [
        {"round": round_, "mean": sample.mean(), "sem": sample.sem(), "n": len(sample)}
        for round_, sample in sorted(samples.items())
    ]
