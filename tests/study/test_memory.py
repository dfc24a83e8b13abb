"""What a long study keeps in memory of games that are over."""

from __future__ import annotations

import gc
import os
import queue
import subprocess
from pathlib import Path

import pytest

from players.llm.budget import NOTHING
from tests.study.runs import ENVIRONMENT, WOLFBUS
from wolfbus.cli.studying.agenda_player import Orders
from wolfbus.cli.studying.workers import LocalPlayers
from wolfbus.config import GameConfig
from wolfbus.study.journal import GameResult
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import StudyNews


@pytest.fixture(params=["memory://", "redis"])
def url(request: pytest.FixtureRequest) -> str:
    return request.param if request.param == "memory://" else request.getfixturevalue("redis_url")


def test_a_game_that_is_over_is_freed_without_waiting_for_the_collector(url: str, tmp_path: Path) -> None:
    told: queue.SimpleQueue[StudyNews] = queue.SimpleQueue()
    (tmp_path / "records").mkdir()
    orders = Orders(url, GameConfig(debate_turns=2, max_rounds=2), tmp_path, ["scripted"])
    players = LocalPlayers(orders, None, NOTHING, lambda _game: None, told)

    def play(first: int, last: int) -> None:
        for number in range(first, last + 1):
            players.post([PlannedGame(number, f"g-{number}", str(number), str(number), ("scripted",) * 8)])
            assert isinstance(told.get(timeout=30), GameResult)

    try:
        play(1, 5)
        gc.collect()
        gc.disable()
        before = ours()
        play(6, 15)
        kept = ours() - before
        found = gc.collect()
    finally:
        gc.enable()
        players.close(hasty=False)
    # ten games in rings of references would be thousands
    assert found < 100
    # a line of each stays until the house's news is summed up; a game that is kept has hundreds
    assert kept <= 10


def ours() -> int:
    """Return how many objects there are that a game's moderator and analytics make."""
    return sum(str(type(each).__module__).startswith(("moderator.", "analytics.")) for each in gc.get_objects())


def resident(pid: int) -> int:
    """Return the resident bytes of a process and its children."""
    own = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(map(resident, map(int, children)))


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
