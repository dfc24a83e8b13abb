"""Table 2: who suspects whom in the end."""

from __future__ import annotations

import pytest

from tests.analytics.script import Script, random_game, section
from wolfbus.vocabulary import ROLES


def one_round(judged):
    """A game whose one statement per target is judged with suspicion `judged[observer, target]`."""
    script = Script(alpha=1.0).dawn()
    for target in dict.fromkeys(target for _, target in judged):
        script.said(target, False, {o: (False, s) for (o, t), s in judged.items() if t == target})
    return script.end().rows()


def test_a_cell_is_the_mean_over_pairs_within_a_game_and_then_over_games():
    many = one_round({("Vic", "Wim"): 0.2, ("Val", "Wim"): 0.4, ("Vic", "Wes"): 0.9})
    few = one_round({("Vic", "Wim"): 0.1})
    other = one_round({("Sia", "Wim"): 0.6})
    cell = section("table2")([many, few, other])["Villager"]["Werewolf"]
    assert cell == {"mean": pytest.approx((0.5 + 0.1) / 2), "n": 2, "pairs": 4}


def test_pairs_of_the_same_role_are_filled_and_cells_without_pairs_are_null():
    result = section("table2")([one_round({("Vic", "Val"): 0.3, ("Wim", "Wes"): 0.8})])
    assert result["Villager"]["Villager"] == {"mean": 0.3, "n": 1, "pairs": 1}
    assert result["Werewolf"]["Werewolf"] == {"mean": 0.8, "n": 1, "pairs": 1}
    assert result["Seer"]["Seer"] == {"mean": None, "n": 0, "pairs": 0}
    assert result["Seer"]["Doctor"]["mean"] is None


def test_suspicion_of_the_departed_counts_as_it_froze():
    script = Script().dawn()
    script.said("Wim", True, {"Vic": (True, 1.0), "Val": (False, 0.0)})
    script.exile("Vic").dawn()
    script.said("Wim", True, {"Val": (False, 0.0)})
    cell = section("table2")([script.end().rows()])["Villager"]["Werewolf"]
    assert cell["mean"] == pytest.approx((0.85 + 0.3 * 0.15) / 2)
    assert cell["pairs"] == 2


def test_fillers_make_no_pairs():
    script = Script().dawn()
    script.said("Wim", True, {"Vic": "defaulted", "Sia": (True, 0.9)})
    for rows in (script.rows(), script.rows(include_defaulted=True)):
        assert section("table2")([rows])["Villager"]["Werewolf"] == {"mean": None, "n": 0, "pairs": 0}


def test_the_matrix_agrees_with_a_plain_loop():
    games = [random_game(seed).rows(alpha=0.4, prior=0.1) for seed in range(15)]
    result = section("table2")(games)
    for observer_role in ROLES:
        for target_role in ROLES:
            means, pairs = [], 0
            for game in games:
                last = {}
                for row in game.judgements:
                    if row.usable and (row.observer_role, row.target_role) == (observer_role, target_role):
                        before = last.get((row.observer, row.target), 0.1)
                        last[row.observer, row.target] = 0.4 * row.s + 0.6 * before
                if last:
                    means.append(sum(last.values()) / len(last))
                    pairs += len(last)
            cell = result[observer_role][target_role]
            assert (cell["n"], cell["pairs"]) == (len(means), pairs)
            assert cell["mean"] == (pytest.approx(sum(means) / len(means), rel=1e-12) if means else None)
