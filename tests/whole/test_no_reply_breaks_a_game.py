"""Any mix of late, doubled, reordered, malformed, oversized, forged or missing replies ends in a legal, finished
game."""

from __future__ import annotations

import pytest

from tests.faulty_bus import FaultyBus
from tests.whole.house import HASTY, outcomes, play_many
from wolfbus.bus import open_bus
from wolfbus.config import GameConfig

MIXES = {
    "doubled": {"doubled": 0.2},
    "late": {"late": 0.05},
    "lost": {"lost": 0.02},
    "malformed": {"malformed": 0.05, "illegal": 0.1},
    "forged": {"forged": 0.02, "stranger": 0.02, "old_version": 0.02, "oversized": 0.02},
    "everything": {
        "doubled": 0.03, "late": 0.02, "lost": 0.01, "malformed": 0.03, "illegal": 0.03, "oversized": 0.01,
        "forged": 0.01, "stranger": 0.01, "old_version": 0.01,
    },
}  # fmt: skip
EXPECTED = {
    "doubled": {"closed"},
    "late": set(),
    "lost": {"timed_out"},
    "malformed": {"unreadable", "unparseable", "illegal"},
    "forged": {"sender", "unknown", "version", "oversize"},
    "everything": {
        "closed",
        "timed_out",
        "unreadable",
        "unparseable",
        "illegal",
        "sender",
        "unknown",
        "version",
        "oversize",
    },
}


def all_hold(proofs):
    for proof in proofs:
        assert proof.verified, proof.problems
        assert proof.rounds


@pytest.mark.parametrize("mix", MIXES)
def test_mistreated_replies_end_in_a_verified_game(tmp_path, mix):
    bus = FaultyBus(open_bus("memory://"), f"faults-{mix}", MIXES[mix])
    proofs = play_many(tmp_path, range(8), ("random",) * 8, HASTY, bus)
    all_hold(proofs)
    assert set(bus.injected) == set(MIXES[mix])
    assert EXPECTED[mix] <= set(outcomes(proofs))


@pytest.mark.parametrize("silent", [1, 3, 8])
def test_silent_seats_become_absent_and_the_game_goes_on(tmp_path, silent):
    brains = ("silent",) * silent + ("random",) * (8 - silent)
    proofs = play_many(tmp_path, range(3), brains, HASTY)
    all_hold(proofs)
    found = outcomes(proofs)
    assert found["timed_out"] > 0
    assert found["absent"] > 0


def test_random_games_all_end_verified(tmp_path):
    all_hold(play_many(tmp_path, range(20), ("random",) * 8, GameConfig()))


def test_mistreated_replies_end_in_a_verified_game_on_redis(tmp_path, redis_url):
    bus = FaultyBus(open_bus(redis_url), "faults-redis", MIXES["everything"])
    all_hold(play_many(tmp_path, range(4), ("random",) * 8, HASTY, bus))


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_a_thousand_random_games_all_end_verified(tmp_path):
    for start in range(0, 1000, 100):
        all_hold(play_many(tmp_path, range(start, start + 100), ("random",) * 8, GameConfig()))


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("mix", ["silent", *MIXES])
def test_two_hundred_games_of_each_fault_all_end_verified(tmp_path, mix):
    for start in range(0, 200, 50):
        seeds = range(start, start + 50)
        if mix == "silent":
            proofs = play_many(tmp_path, seeds, ("silent", "silent", *("random",) * 6), HASTY)
        else:
            bus = FaultyBus(open_bus("memory://"), f"soak-{mix}-{start}", MIXES[mix])
            proofs = play_many(tmp_path, seeds, ("random",) * 8, HASTY, bus)
        all_hold(proofs)
