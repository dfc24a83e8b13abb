"""What a long study keeps in memory of games that are over."""

from __future__ import annotations

import gc
import os
import subprocess
from pathlib import Path

import pytest

from tests.study.runs import ENVIRONMENT, WOLFBUS, run_here, study_file


@pytest.fixture(params=["memory://", "redis"])
def url(request: pytest.FixtureRequest) -> str:
    return request.param if request.param == "memory://" else request.getfixturevalue("redis_url")


def test_a_game_that_is_over_is_freed_without_waiting_for_the_collector(url: str, tmp_path: Path) -> None:
    def left(games: int) -> tuple[int, int]:
        """Play a study; return how many objects only the collector frees, and how many of a moderator's stay."""
        gc.collect()
        gc.disable()
        try:
            run_here(study_file(tmp_path, f"games = {games}"), "--out", tmp_path / f"{games}", "--bus", url, code=0)
            staying = sum(
                str(type(thing).__module__).startswith(("moderator.", "analytics.")) for thing in gc.get_objects()
            )
            return gc.collect(), staying
        finally:
            gc.enable()

    left(1)
    (few, few_stay), (many, many_stay) = left(2), left(12)
    # ten games in rings of references would be thousands
    assert many - few < 500
    # one that is kept has hundreds
    assert many_stay - few_stay <= 20


def resident(pid: int) -> int:
    """Return the resident bytes of a process and its children."""
    size = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return size + sum(map(resident, map(int, children)))


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("workers", [1, 2])
def test_memory_is_flat_over_two_thousand_games(workers: int, tmp_path: Path) -> None:
    words = ["run", "--quiet", "--games", "2000", "--workers", str(workers), "--out", str(tmp_path / "s")]
    journal, sizes = tmp_path / "s" / "journal.jsonl", {}
    with subprocess.Popen([*WOLFBUS, *words], env=ENVIRONMENT, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                if journal.exists():
                    sizes[journal.read_bytes().count(b"\n")] = resident(process.pid)
    assert process.returncode == 0
    late = {games: size for games, size in sizes.items() if games >= 500}
    first, last = min(late), max(late)
    # the manifest's row of a game is about a thousand bytes; a game that is kept is fifty thousand
    assert (late[last] - late[first]) / (last - first) < 3000
