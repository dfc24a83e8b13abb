"""Plays many games in one process and proves each record."""

from __future__ import annotations

import queue
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.proving import Proof, prove
from wolfbus.bus import Bus
from wolfbus.cli.embedded import EmbeddedHouse, Game
from wolfbus.config import Deadlines, GameConfig

HASTY = GameConfig(absent_grace=0.02, deadlines=Deadlines(**dict.fromkeys(Deadlines.model_fields, 0.15)))
"""The paper's rules with deadlines that a test can wait for."""


def play_many(
    folder: Path, seeds: Sequence[int | str], brains: Sequence[str], config: GameConfig, bus: str | Bus = "memory://"
) -> list[Proof]:
    """Play a game per seed, all at once, and return the proof of every record."""
    finished: queue.SimpleQueue[Game] = queue.SimpleQueue()
    with EmbeddedHouse(bus, done=finished.put) as house:
        for seed in seeds:
            house.open(config, str(seed), brains, folder / f"{seed}.ndjson")
        for _ in seeds:
            game = finished.get(timeout=100)
            assert game.over is not None
            assert game.over.error is None, game.over.error
            assert game.over.ended is not None
    return [prove(folder / f"{seed}.ndjson") for seed in seeds]


def outcomes(proofs: Sequence[Proof]) -> Counter[str]:
    """Return how often each outcome, fault and reason of rejection stands in the records."""
    counts: Counter[str] = Counter()
    for proof in proofs:
        for recorded in proof.records:
            event = recorded.event
            counts[event.type] += 1
            if event.type == "answered":
                counts[event.outcome] += 1
                if event.fault:
                    counts[event.fault] += 1
            elif event.type == "rejected":
                counts[event.reason] += 1
    return counts
