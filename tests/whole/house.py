"""Plays games by the command, in this process, and proves each record."""

import contextlib
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import tomli_w

from tests.proving import Proof, prove
from wolfbus.cli import SPOILT, run
from wolfbus.game.config import Deadlines, GameConfig

HASTY = GameConfig(
    absent_grace=0.02, deadlines=Deadlines(**dict.fromkeys(Deadlines.model_fields, 0.15)), spoilt_above=1.0
)
"""The paper's rules with deadlines that a test can wait for, and a busy machine may miss: that spoils no game."""


@contextlib.contextmanager
def config_option(config: GameConfig, brains: Sequence[str]) -> Iterator[str]:
    """Write a config file of these rules and players, and give the option that names it."""
    with tempfile.NamedTemporaryFile("wb", suffix=".toml") as file:
        tomli_w.dump({**config.model_dump(mode="json", exclude_none=True), "players": list(brains)}, file)
        file.flush()
        yield f"--config={file.name}"


def play_many(folder: Path, seeds: Sequence[int | str], brains: Sequence[str], config: GameConfig) -> list[Proof]:
    """Play a game per seed, one after the other, and return the proof of every record."""
    proofs: list[Proof] = []
    with config_option(config, brains) as option:
        for seed in seeds:
            words = [f"--seed={seed}", f"--game={seed}", "--bus=memory://", f"--out={folder}", "--quiet", "--json"]
            code = run(["play", option, *words])
            proofs.append(prove(folder / f"{seed}.ndjson"))
            assert code == (SPOILT if proofs[-1].records[-1].event.spoilt else 0)
    return proofs


def play_at_once(
    folder: Path, games: int, brains: Sequence[str], config: GameConfig, bus: str = "memory://"
) -> list[Proof]:
    """Play the games of a study all at once in this process, and return the proof of every record."""
    words = [f"--games={games}", f"--at-once={games}", "--workers=1", "--design=fixed", "--quiet"]
    with config_option(config, brains) as option:
        assert run(["run", option, "--seed=1", f"--bus={bus}", f"--out={folder / 'study'}", *words]) == 0
    records = sorted((folder / "study" / "records").iterdir())
    assert len(records) == games
    return list(map(prove, records))


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
