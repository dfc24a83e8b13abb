"""What statements do to suspicion of their speakers, against a plain loop over the judgements."""

import pytest

from analytics.gather import fold
from tests.analytics.script import gathered, measured
from tests.players.table import play
from wolfbus.game.config import GameConfig


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def test_changes_of_suspicion_and_of_its_distance_from_the_truth_agree_with_a_plain_loop():
    games = [fold(play(str(seed), GameConfig()).events) for seed in range(3)]
    found = measured("sway", gathered(games).tables)
    moves: dict[str, list[tuple[float, float]]] = {}
    for game in games:
        truths = {row.number: row.truth for row in game.statements}
        for row in game.judgements:
            if row.informed or row.s is None:
                continue
            wolf = float(row.target_role == "Werewolf")
            move = row.after - row.before, abs(row.after - wolf) - abs(row.before - wolf)
            for group in ("all", row.target_role, truths[row.statement]):
                moves.setdefault(str(group), []).append(move)
    for place, name in enumerate(("suspicion", "distance")):
        assert found["overall"][name]["value"] == pytest.approx(mean([move[place] for move in moves["all"]]))
        for by, groups in (("by_role", ("Werewolf", "Seer")), ("by_truth", ("true", "lie"))):
            for group in groups:
                assert found[by][group][name]["value"] == pytest.approx(mean([move[place] for move in moves[group]]))
                assert found[by][group][name]["n"] == len(moves[group])
    assert found["all_observers"]["overall"]["suspicion"]["n"] > len(moves["all"])
    assert found["overall"]["distance"]["value"] != 0
