"""Anything may be killed: every game still ends, every record verifies, nothing is lost or doubled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.chaos.driver import Chaos
from tests.proving import prove
from tests.whole.house import play_many
from wolfbus.game.config import GameConfig
from wolfbus.game.draws import game_seed

SAMPLE = 10
"""Games that are played once more in one process, to see that nobody could tell the difference."""


def check(chaos: Chaos, seed: int) -> None:
    assert {child.name: child.code for child in chaos.children.values()} == dict.fromkeys(chaos.children, 0)
    proofs = [prove(file) for file in sorted(chaos.runs.glob("*.ndjson"))]
    assert {proof.name: proof.problems for proof in proofs if proof.problems} == {}
    assert len(proofs) == chaos.games
    digests = {}
    for proof in proofs:
        opened = proof.records[0].event
        assert opened.type == "opened"
        digests[opened.seed] = proof.digest
    seeds = [game_seed(str(seed), number) for number in range(1, chaos.games + 1)]
    assert sorted(digests) == sorted(seeds)
    quiet = play_many(chaos.folder / "quiet", seeds[:SAMPLE], ["scripted"] * 8, GameConfig())
    assert [digests[game] for game in seeds[:SAMPLE]] == [proof.digest for proof in quiet]
    metrics = json.loads((chaos.runs / "metrics.json").read_text())
    assert metrics["games"] == chaos.games


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("games", "breaks"), [pytest.param(20, 9, id="twenty"), pytest.param(100, 18, id="hundred", marks=pytest.mark.soak)]
)
def test_games_survive_kill_9_cut_connections_doubled_messages_and_a_redis_that_forgets(
    tmp_path: Path, games: int, breaks: int
):
    with Chaos(tmp_path, games=games, at_once=games // 4, seed=7, breaks=breaks) as chaos:
        chaos.play(seconds=240)
        assert len(chaos.broken) == 9, chaos.broken
        check(chaos, 7)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_thousand_games_survive_two_hundred_breaks(tmp_path: Path, seed: int):
    with Chaos(tmp_path, games=250, at_once=25, seed=seed, breaks=50) as chaos:
        chaos.play(seconds=1800)
        check(chaos, seed)
