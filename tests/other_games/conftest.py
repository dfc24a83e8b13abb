from collections.abc import Callable
from pathlib import Path

import pytest

from tests.other_games.games import files
from wolfbus.cli import run

Importing = Callable[..., tuple[int, list[Path]]]


@pytest.fixture
def file_of(tmp_path: Path) -> Callable[[str], Path]:
    """Write a file of a kind, and return it."""

    def write(kind: str) -> Path:
        name, content = files()[kind]
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return write


@pytest.fixture
def imported(tmp_path: Path) -> Importing:
    """Import files, and return the exit code and the logs that are then in the folder."""

    def bring(kind: str, *paths: Path, out: str = "logs") -> tuple[int, list[Path]]:
        folder = tmp_path / out
        code = run(["import", kind, *map(str, paths), "--out", str(folder)])
        return code, sorted(folder.glob("*")) if folder.exists() else []

    return bring
