"""95 % intervals hold the true value about that often, however few games there are; `pytest -s` prints the shares."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.analytics.script import measured
from tests.analytics.synthetic import decided, rising
from tests.simulator import Curve, draw_agents
from tests.simulator.coverage import of_curves, of_draws, of_headlines, table

CORRELATED = {"game_sd": 1.0, "pair_sd": 0.5, "deceives_sd": 0.7, "statements": 12, "rounds": 2, "confesses": 0.7}
"""Games whose judgements hang together."""
METRICS = (
    *("accuracy", "accuracy_lift", "balanced_accuracy", "precision", "recall", "f1", "mcc", "auc", "auprc"),
    *("auc_before", "brier", "brier_skill", "suspicion_gap", "deception_rate", "lie_rate", "confession_rate"),
    *("truth_accuracy", "vote_hit_lift"),
)


def of_rate(share: float, blocks: int, size: int, likeness: float, runs: int) -> float:
    """Return the coverage of a rate of games whose chance differs between blocks."""

    def draw(rng: np.random.Generator) -> tuple[float | None, float | None]:
        chance = np.full(blocks, share)
        if likeness:
            chance = rng.beta(share * (1 / likeness - 1), (1 - share) * (1 / likeness - 1), blocks)
        row = measured("outcomes", decided(rng.binomial(size, chance), size))["winners"]["villagers"]
        return row["low"], row["high"]

    return of_draws(draw, share, runs)


def of_slopes(statistic: str, games: int, runs: int) -> float:
    """Return the coverage of the mean or median over games of a skewed number of each."""

    def draw(rng: np.random.Generator) -> tuple[float | None, float | None]:
        found = measured("trends", rising(rng.lognormal(0, 0.5, games)))
        row = found["slopes"]["Werewolf"] if statistic == "median" else found["separable"]["rounds"][-1]
        return row["low"], row["high"]

    return of_draws(draw, math.exp(0.125) if statistic == "mean" else 1.0, runs)


def test_eight_games_are_covered_and_a_rate_near_one_too():
    covered = of_headlines(draw_agents(3, 5), 8, 10, ["accuracy", "recall", "auc"], **CORRELATED)
    covered["wins in 12 games, 95 %"] = of_rate(0.95, 12, 1, 0.0, 60)
    covered["wins in 10 blocks of 4"] = of_rate(0.6, 10, 4, 0.15, 60)
    covered["median slope of 12 games"] = of_slopes("median", 12, 40)
    print(table("coverage of 95 % intervals", {name: {"": share} for name, share in covered.items()}))
    assert min(covered.values()) >= 0.87


CURVES = {
    "equal spreads": Curve(1.0),
    "sparing": Curve(1.0, criterion=2.0),
    "ready": Curve(1.0, criterion=-1.0),
    "hardly ever lets pass": Curve(1.0, criterion=-2.0),
    "wider": Curve(1.0, spread=1.6),
    "narrower, sparing": Curve(1.0, spread=0.6, criterion=1.5),
}
"""Agents that flag .84/.50 of what Werewolves and others say, and by their criteria .16/.02, .98/.84 and .999/.98; and
two whose spreads one d′ does not tell.
"""


def by_agent(found):
    """Coverages of several figures, a row an agent."""
    return {name: {what: row[name] for what, row in found.items() if name in row} for name in found["AUC"]}


def test_known_rates_and_curves_are_covered():
    found = of_curves({"equal": CURVES["equal spreads"], "wider": CURVES["wider"]}, 12, 200, statements=8, rounds=1)
    print(table("coverage of 200 studies", by_agent(found)))
    # of 200 studies, .95 is .90 to .99; d′ of few blocks is covered more often
    assert all(0.9 <= share <= 0.99 for share in found["AUC"].values())
    assert min(found["d′"].values()) >= 0.92


@pytest.mark.soak
@pytest.mark.timeout(3_000)
@pytest.mark.parametrize(
    # d′ of few blocks is covered more often; AUC less, of one agent whose games differ nearly as much as its judgements
    ("games", "game_sd", "least", "most"),
    [(8, 0.0, 0.935, 0.98), (12, 0.0, 0.935, 0.98), (40, 0.0, 0.935, 0.965), (40, 0.5, 0.92, 0.965)],
)
def test_known_rates_and_curves_are_covered_in_2000_studies(games, game_sd, least, most):
    curves = {name: replace(curve, game_sd=game_sd) for name, curve in CURVES.items()}
    found = of_curves(curves, games, 2_000, statements=24)
    print(table(f"2,000 studies of {games}, game_sd {game_sd}", by_agent(found)))
    assert all(least <= share <= 0.965 for share in found["AUC"].values())
    assert all(0.935 <= share <= most for share in found["d′"].values())


@pytest.mark.soak
@pytest.mark.timeout(3_000)
def test_headline_metrics_are_covered_from_five_blocks_on():
    sizes, studies = (5, 8, 12, 20, 50), 300
    found = {n: of_headlines(draw_agents(3, 5), n, studies, METRICS, **CORRELATED) for n in sizes}
    print(table("coverage by blocks", {name: {str(n): found[n][name] for n in sizes} for name in METRICS}))
    for n in sizes:
        # of 300 studies, .95 is .925 to .975; five blocks are the fewest, and hold a little less
        assert np.mean(list(found[n].values())) >= (0.93 if n >= 8 else 0.91), n
        assert min(found[n].values()) >= (0.91 if n >= 8 else 0.86), n


@pytest.mark.soak
@pytest.mark.timeout(3_000)
def test_rates_of_games_and_numbers_of_single_games_are_covered():
    shares = (0.5, 0.8, 0.95, 0.98)
    rates = {
        f"{blocks} blocks of {size}, likeness {likeness}": {
            str(share): of_rate(share, blocks, size, likeness, 300) for share in shares
        }
        for blocks, size, likeness in (
            *((8, 1, 0.0), (12, 1, 0.0), (40, 1, 0.0), (100, 1, 0.0)),
            *((5, 8, 0.0), (10, 8, 0.0), (10, 8, 0.1), (10, 4, 0.3), (30, 2, 0.2)),
        )
    }
    print(table("coverage of rates of games", rates))
    lengths = {name: {str(n): of_slopes(name, n, 300) for n in (5, 8, 12, 30)} for name in ("mean", "median")}
    print(table("coverage over games", lengths))
    # of eight games, a rate of .98 is 1 or 7/8: no interval of such counts covers every share alike
    assert min(share for row in rates.values() for share in row.values()) >= 0.85
    assert np.mean([share for row in rates.values() for share in row.values()]) >= 0.93
    # the mean of a skewed number is what a few games tell least of
    assert min(share for row in lengths.values() for share in row.values()) >= 0.86
