"""Any mix of late, doubled, reordered, malformed, oversized, forged or missing replies ends in a legal, finished
game."""

from collections import Counter
from collections.abc import Mapping

import pytest

from tests.faulty_bus import Fault, FaultyBus
from tests.whole.house import HASTY, outcomes, play_at_once
from wolfbus.bus import open_bus
from wolfbus.game.config import GameConfig

RANDOM = ("random",) * 8
MIXES = {
    "doubled": ({"doubled": 0.2}, "closed"),
    "late": ({"late": 0.05}, ""),
    "lost": ({"lost": 0.02}, "timed_out"),
    "malformed": ({"malformed": 0.05, "illegal": 0.1}, "unreadable unparseable illegal"),
    "forged": (
        dict.fromkeys(("forged", "stranger", "old_version", "oversized"), 0.02),
        "sender unknown version oversize",
    ),
    "everything": (
        {
            **dict.fromkeys(("doubled", "malformed", "illegal"), 0.03),
            **dict.fromkeys(("lost", "oversized", "forged", "stranger", "old_version"), 0.01),
            "late": 0.02,
        },
        "closed timed_out unreadable unparseable illegal sender unknown version oversize",
    ),
}  # fmt: skip
"""Shares of faults by name, and what then stands in the records."""


def all_hold(proofs):
    for proof in proofs:
        assert proof.verified, proof.problems
    return outcomes(proofs)


@pytest.fixture
def mistreat(monkeypatch):
    """Gives what lets the buses of games that follow mistreat replies; it counts the faults."""
    injected: Counter[str] = Counter()

    def begin(seed: str, faults: Mapping[Fault, float]) -> Counter[str]:
        def opened(url: str) -> FaultyBus:
            bus = FaultyBus(open_bus(url), seed, faults)
            bus.injected = injected
            return bus

        monkeypatch.setattr("wolfbus.running.house.open_bus", opened)
        return injected

    return begin


@pytest.mark.parametrize("mix", MIXES)
def test_mistreated_replies_end_in_a_verified_game(tmp_path, mix, mistreat):
    faults, expected = MIXES[mix]
    injected = mistreat(f"faults-{mix}", faults)
    counts = all_hold(play_at_once(tmp_path, 6 if mix == "everything" else 3, RANDOM, HASTY))
    assert set(injected) == set(faults)
    assert set(expected.split()) <= set(counts)


def test_mistreated_replies_end_in_a_verified_game_on_redis(tmp_path, redis_url, mistreat):
    mistreat("faults-redis", MIXES["everything"][0])
    all_hold(play_at_once(tmp_path, 2, RANDOM, HASTY, redis_url))


@pytest.mark.parametrize("silent", [1, 3, 8])
def test_silent_seats_become_absent_and_the_game_goes_on(tmp_path, silent):
    counts = all_hold(play_at_once(tmp_path, 2, ("silent",) * silent + RANDOM[silent:], HASTY))
    assert counts["timed_out"] > 0
    assert counts["absent"] > 0


@pytest.mark.parametrize("games", [6, pytest.param(1000, marks=[pytest.mark.soak, pytest.mark.timeout(1200)])])
def test_random_games_all_end_verified(tmp_path, games):
    all_hold(play_at_once(tmp_path, games, RANDOM, GameConfig()))


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("mix", ["silent", *MIXES])
def test_two_hundred_games_of_each_fault_all_end_verified(tmp_path, mix, mistreat):
    for part in range(4):
        mistreat(f"soak-{mix}-{part}", MIXES.get(mix, ({}, ""))[0])
        brains = ("silent", "silent", *RANDOM[2:]) if mix == "silent" else RANDOM
        all_hold(play_at_once(tmp_path / str(part), 50, brains, HASTY))
