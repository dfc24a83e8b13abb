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
EVERYTHING = {
    **dict.fromkeys(("doubled", "malformed", "illegal"), 0.03),
    **dict.fromkeys(("lost", "oversized", "forged", "stranger", "old_version"), 0.01),
    "late": 0.02,
}
"""Shares of replies that are mistreated together, by how."""
FAULTS = {
    "doubled": 0.2,
    "late": 0.05,
    "lost": 0.02,
    "malformed": 0.05,
    "illegal": 0.1,
    **dict.fromkeys(("forged", "stranger", "old_version", "oversized"), 0.02),
}
"""Shares of those that are mistreated in one way only."""


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


def test_mistreated_replies_end_in_a_verified_game(tmp_path, mistreat):
    injected = mistreat("faults-everything", EVERYTHING)
    counts = all_hold(play_at_once(tmp_path, 6, RANDOM, HASTY))
    assert set(injected) == set(EVERYTHING)
    expected = "closed timed_out unreadable unparseable illegal sender unknown version oversize"
    assert set(expected.split()) <= set(counts)


def test_mistreated_replies_end_in_a_verified_game_on_redis(tmp_path, redis_url, mistreat):
    mistreat("faults-redis", EVERYTHING)
    all_hold(play_at_once(tmp_path, 2, RANDOM, HASTY, redis_url))


@pytest.mark.parametrize("silent", [1, 8])
def test_silent_seats_become_absent_and_the_game_goes_on(tmp_path, silent):
    counts = all_hold(play_at_once(tmp_path, 2, ("silent",) * silent + RANDOM[silent:], HASTY))
    assert counts["timed_out"] > 0
    assert counts["absent"] > 0


@pytest.mark.parametrize("games", [6, pytest.param(1000, marks=[pytest.mark.soak, pytest.mark.timeout(1200)])])
def test_random_games_all_end_verified(tmp_path, games):
    all_hold(play_at_once(tmp_path, games, RANDOM, GameConfig()))


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("mix", ["silent", *FAULTS, "everything"])
def test_two_hundred_games_of_each_fault_all_end_verified(tmp_path, mix, mistreat):
    for part in range(4):
        shares = {mix: FAULTS[mix]} if mix in FAULTS else EVERYTHING if mix == "everything" else {}
        mistreat(f"soak-{mix}-{part}", shares)
        brains = ("silent", "silent", *RANDOM[2:]) if mix == "silent" else RANDOM
        all_hold(play_at_once(tmp_path / str(part), 50, brains, HASTY))
