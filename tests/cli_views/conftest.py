"""Records of the sample games, in a folder where `wolfbus replay` finds them."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.cli_views.games import SEEDS, hostile, lively
from tests.golden.running import Said, wolfbus
from tests.llm.calls.woven import lines
from wolfbus.record.line import Recorded

Replay = Callable[..., Said]
"""Replays a sample game by its name, or a record that is given, under more options."""


@pytest.fixture(scope="session")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    folder: Path = tmp_path_factory.mktemp("replayed")
    samples = {**{f"lively-{seed}": lively(seed) for seed in SEEDS}, "hostile": hostile("1")}
    for name, records in samples.items():
        (folder / f"{name}.ndjson").write_bytes(lines(records))

    def replayed(game: str | Sequence[Recorded], *words: str) -> Said:
        if not isinstance(game, str):
            (folder / "given.ndjson").write_bytes(lines(game))
            game = "given"
        return wolfbus(folder, "replay", f"{game}.ndjson", *words)

    return replayed
