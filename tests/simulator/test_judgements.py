"""The simulator draws what it says it draws."""

from __future__ import annotations

import numpy as np
import pytest

from analytics.columns import DTYPES, LIE, NO_CLAIM, TRUE
from tests.simulator import Setting, chances, draw_agents, simulate


def test_columns_are_complete_and_of_the_right_types():
    columns = simulate(draw_agents(3, 1), 4, 1)
    for name, dtypes in DTYPES.items():
        table = getattr(columns, name)
        assert {column: str(values.dtype) for column, values in table.items()} == {
            column: str(np.dtype(dtype)) for column, dtype in dtypes.items()
        }
    assert np.array_equal(
        columns.judgements["target_agent"], columns.statements["agent"][columns.judgements["statement"]]
    )
    assert np.all(columns.judgements["observer"] != columns.judgements["target"])
    again, other = (simulate(draw_agents(3, 1), 4, seed).judgements["d"] for seed in (1, 2))
    assert np.array_equal(columns.judgements["d"], again)
    assert not np.array_equal(columns.judgements["d"], other)


def test_flags_are_as_frequent_as_the_model_says():
    agents, setting = draw_agents(4, 1), Setting(statement_sd=0.0)
    columns = simulate(agents, 1_000, 1, setting)
    judgements = columns.judgements
    logit = chances(agents, setting, columns.label() == 1, judgements)
    chance = 1 / (1 + np.exp(-logit))
    for agent in range(4):
        for label in (0, 1):
            chosen = (judgements["observer_agent"] == agent) & (columns.label() == label)
            assert judgements["d"][chosen].mean() == pytest.approx(chance[chosen].mean(), abs=0.015)


def test_suspicion_is_smoothed_as_everywhere():
    columns = simulate(draw_agents(3, 2), 3, 2)
    judgements = columns.judgements
    held: dict[tuple[int, int, int], float] = {}
    rows = zip(*(judgements[name].tolist() for name in ("game", "observer", "target", "s", "before")), strict=True)
    for game, observer, target, s, before in rows:
        pair = game, observer, target
        assert held.get(pair, 0.5) == pytest.approx(before)
        held[pair] = 0.7 * s + 0.3 * held.get(pair, 0.5)
    *pairs, smoothed = (columns.pairs[name].tolist() for name in ("game", "observer", "target", "d"))
    assert dict(zip(zip(*pairs, strict=True), smoothed, strict=True)) == pytest.approx(held)


def test_claims_tell_the_truth_about_who_confesses():
    columns = simulate(draw_agents(2, 1), 200, 1, confesses=(1.0, 0.0), checkable=0.5)
    truth, label, agent = (columns.statements[name] for name in ("truth", "d", "agent"))
    assert set(truth.tolist()) == {NO_CLAIM, TRUE, LIE}
    assert np.all(label[(agent == 0) & (truth == LIE)] == 1)
    assert np.all(label[agent == 1] == 0)
    assert (truth != NO_CLAIM).mean() == pytest.approx(0.5, abs=0.03)


def test_a_games_effect_makes_its_judgements_hang_together():
    agents = draw_agents(3, 1)

    def spread(**changes) -> float:
        columns = simulate(agents, 300, 1, **changes)
        shares = np.bincount(columns.judgements["game"], columns.judgements["d"]) / np.bincount(
            columns.judgements["game"]
        )
        return float(shares.std())

    assert spread(game_sd=1.0) > 2 * spread()
