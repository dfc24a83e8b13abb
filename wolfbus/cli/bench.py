"""`wolfbus bench`: what a game costs on this machine."""

from __future__ import annotations

import json
import queue
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wolfbus.cli.options import negated_flag, processes_option
from wolfbus.errors import WolfError

if TYPE_CHECKING:
    from wolfbus.study.journal import GameResult
    from wolfbus.study.scheduler import StudyNews


@click.command()
@click.option("--games", type=click.IntRange(1), default=200, show_default=True, help="Games to play.")
@click.option("--at-once", type=click.IntRange(1), default=16, show_default=True, help="Games under way at a time.")
@processes_option
@click.option("--bus", "url", default="memory://", show_default=True, help="Bus to play on.")
@click.option("--players", default="scripted", show_default=True, help="Who plays.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the first game; the others count on.")
@click.option(
    "--threads", type=click.IntRange(1), default=2, show_default=True, help="Pool threads that run a process's actors."
)
@negated_flag("--no-records", "records", "Write no record files.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def bench(
    games: int,
    at_once: int,
    workers: int | None,
    url: str,
    players: str,
    seed: int,
    threads: int,
    *,
    records: bool,
    as_json: bool,
) -> None:
    """Play many games and print games per second, CPU per statement, record bytes per statement and peak memory.

    Each run is one measurement; repeat it and take medians. CPU is that of all its processes, without their start;
    memory is that of the largest.
    """
    from players.spec import expand
    from wolfbus.cli.embedded import fresh_game_id
    from wolfbus.cli.studying.agenda_worker import WorkerSettings
    from wolfbus.cli.studying.local_executor import LocalExecutor, workers_for
    from wolfbus.config import GameConfig
    from wolfbus.study.plan import PlannedGame

    config = GameConfig()
    brains = expand(players, config.seats)
    count = workers if workers is not None else workers_for(brains, games, at_once)
    prefix = fresh_game_id()
    planned = [
        PlannedGame(number, f"{prefix}-{number}", str(seed + number - 1), prefix, brains)
        for number in range(1, games + 1)
    ]
    news: queue.SimpleQueue[StudyNews] = queue.SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="wolfbus-bench-") as name:
        folder = Path(name)
        (folder / "records").mkdir()
        settings = WorkerSettings(
            url,
            config,
            folder if records else None,
            workers=min(count, games, at_once),
            at_once=at_once,
            threads=threads,
            brains={"brains": tuple(dict.fromkeys(brains)), "models": {}},
        )
        executor = LocalExecutor(settings, None, lambda _game: None, news)
        hasty = True
        try:
            began, cpu = time.perf_counter(), time.process_time()
            executor.submit(planned)
            results = [_result(news.get()) for _ in planned]
            seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
            hasty = False
        finally:
            executor.close(hasty=hasty)
        cpu += executor.cpu_s
        size = sum((folder / game.record).stat().st_size for game in planned) if records else 0
    statements = sum(result.statements for result in results)
    winners = sorted(result.winner or "nobody" for result in results if result.state == "ended")
    wins = {winner: winners.count(winner) for winner in dict.fromkeys(winners)}
    figures = {
        "bus": url.split("://", maxsplit=1)[0],
        "players": players,
        "games": games,
        "at_once": at_once,
        "workers": settings.workers,
        "failed": sum(result.state != "ended" for result in results),
        "seconds": round(seconds, 3),
        "games_per_second": round(games / seconds, 2),
        "statements": statements,
        "cpu_ms_per_statement": round(1000 * cpu / statements, 3) if statements else None,
        "record_bytes_per_statement": round(size / statements) if statements and size else None,
        "peak_memory_mb": round(peak_memory_mb(), 1),
        "wins": wins,
    }
    if as_json:
        click.echo(json.dumps(figures))
        return
    for name, value in (figures | {"wins": ", ".join(f"{who} {won}" for who, won in wins.items())}).items():
        click.echo(f"{name.replace('_', ' '):28}{value}")


def _result(news: StudyNews) -> GameResult:
    from wolfbus.study.scheduler import Halt

    if isinstance(news, Halt):
        raise WolfError(news.why)
    return news


def peak_memory_mb() -> float:
    """Return the peak resident memory of this process or of the largest that it started, in megabytes."""
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
