"""Four records of games played to their end."""

import shutil
from pathlib import Path

import pytest

from tests.whole.house import play_many
from wolfbus.game.config import GameConfig

SHORT = GameConfig(debate_turns=3, max_rounds=2)
"""Their rules."""


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gathered")
    proofs = play_many(folder, [1, 2, 3, 4], ["scripted"] * 6 + ["random"] * 2, SHORT)
    assert all(proof.verified for proof in proofs)
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    """A copy of them to change."""
    return Path(shutil.copytree(played, tmp_path / "records"))
