"""How often 95 % intervals hold what they are of, over many simulated studies."""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice

import numpy as np
import pytest

from analytics.metrics.beyond import variability
from analytics.metrics.headlines import headline_rows
from analytics.metrics.study import Study
from analytics.results import UNINFORMED, Results
from tests.analytics.arrays import tables_from
from tests.analytics.script import family, headlines
from tests.simulator.judgements import Agents, Curve, draw_agents, judged_by, simulate

ENDLESS = 80
"""How many times as many games the study has whose values stand for the true ones."""

Intervals = Mapping[str, tuple[float | None, float | None]]


def coverage(studies: Iterable[Intervals], true: Mapping[str, float]) -> dict[str, float]:
    """Return for each figure the share of its intervals that hold its true value."""
    inside: dict[str, list[bool]] = {name: [] for name in true}
    for found in studies:
        for name, (low, high) in found.items():
            if low is not None and high is not None:
                inside[name].append(low <= true[name] <= high)
    return {name: float(np.mean(held)) for name, held in inside.items()}


def of_headlines(agents: Agents, games: int, studies: int, names: Iterable[str], **setting) -> dict[str, float]:
    """Return the coverage of headline metrics in studies of so many games, each a block."""
    names = list(names)

    def rows(games: int, seed: int) -> Mapping[str, Mapping]:
        return headlines(simulate(agents, games, seed, **setting), *names)

    endless = Study(tables_from(simulate(agents, max(1_500, ENDLESS * games), 0, **setting)), with_intervals=False)
    results = Results(headline_rows(endless, names))
    true = {name: row["value"] for name, row in variability(endless, results)["metrics"].items() if name in names}
    found = (rows(games, seed) for seed in range(1, studies + 1))
    return coverage(({name: (row["low"], row["high"]) for name, row in each.items()} for each in found), true)


def of_curves(curves: Mapping[str, Curve], games: int, studies: int, **setting) -> dict[str, dict[str, float]]:
    """Return by agent the coverage of its d′, where spreads are equal, and of its AUC of suspicion against the role, in
    studies of so many games, each a block.
    """
    base = draw_agents(len(curves), 0, spread=0.0, role_spread=0.0)
    names = dict(zip(curves, base.names, strict=True))
    known = {
        "d′": {name: curve.d_prime for name, curve in curves.items() if curve.spread == 1},
        "AUC": {name: curve.auc for name, curve in curves.items()},
    }

    def ends(seed: int) -> dict[str, Intervals]:
        columns = judged_by(simulate(base, games, seed, **setting), list(curves.values()), seed)
        study = Study(tables_from(columns))
        # d′ comes first; that of each agent is all that is asked for
        found = Results(islice(family("ability_rows")(study, ["role"]), len(study.agents)))
        areas = {name: next(iter(headline_rows(study, ["role_auc"], names[name]))) for name in curves}
        flags = {name: found.row("sensitivity", UNINFORMED, ground="role", agent=names[name]) for name in known["d′"]}
        return {
            what: {name: (row.low, row.high) for name, row in rows.items()}
            for what, rows in (("d′", flags), ("AUC", areas))
        }

    every = [ends(seed) for seed in range(studies)]
    return {what: coverage((found[what] for found in every), true) for what, true in known.items()}


def of_draws(draw: Callable[[np.random.Generator], tuple[float | None, float | None]], true: float, runs: int) -> float:
    """Return the coverage of an interval of numbers that `draw` draws."""
    rng = np.random.default_rng(runs)
    return coverage(({"it": draw(rng)} for _ in range(runs)), {"it": true})["it"]


def table(title: str, rows: Mapping[str, Mapping[str, float]]) -> str:
    """Return coverages as text, a line a figure."""
    heads = list(dict.fromkeys(head for row in rows.values() for head in row))
    lines = [f"{title:<34}" + "".join(f"{head:>8}" for head in heads)]
    lines += [
        f"{name:<34}" + "".join(f"{row.get(head, float('nan')):8.3f}" for head in heads) for name, row in rows.items()
    ]
    return "\n".join(lines) + "\n"


def many(*given):
    """Return a case of a test that simulates hundreds of studies, which only a soak does."""
    return pytest.param(*given, marks=[pytest.mark.soak, pytest.mark.timeout(3_000)])
