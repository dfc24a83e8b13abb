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

if TYPE_CHECKING:
    from wolfbus.cli.embedded import Game


@click.command()
@click.option("--games", type=click.IntRange(1), default=200, show_default=True, help="Games to play.")
@click.option("--at-once", type=click.IntRange(1), default=16, show_default=True, help="Games under way at a time.")
@click.option("--bus", "url", default="memory://", show_default=True, help="Bus to play on.")
@click.option("--players", default="scripted", show_default=True, help="Who plays.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the first game; the others count on.")
@click.option(
    "--threads", type=click.IntRange(1), default=2, show_default=True, help="Pool threads that run the actors."
)
@click.option("--no-records", is_flag=True, help="Write no record files.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def bench(
    games: int, at_once: int, url: str, players: str, seed: int, threads: int, *, no_records: bool, as_json: bool
) -> None:
    """Play many games and print games per second, CPU per statement, record bytes per statement and peak memory.

    Each run is one process and one measurement; repeat it and take medians.
    """
    from players.spec import expand
    from wolfbus.cli.embedded import EmbeddedHouse, fresh_game_id, tune_garbage_collection
    from wolfbus.config import GameConfig

    tune_garbage_collection()
    config = GameConfig()
    brains = expand(players, config.seats)
    finished: queue.SimpleQueue[Game] = queue.SimpleQueue()
    statements = size = failed = 0
    wins: dict[str, int] = {}
    with (
        tempfile.TemporaryDirectory(prefix="wolfbus-bench-") as folder,
        EmbeddedHouse(url, threads=threads, done=finished.put) as house,
    ):
        prefix = fresh_game_id()

        def path_of(number: int) -> Path:
            return Path(folder) / f"{prefix}-{number}.ndjson"

        def start(number: int) -> None:
            path = None if no_records else path_of(number)
            house.open(config, str(seed + number), brains, path, f"{prefix}-{number}")

        began, cpu = time.perf_counter(), time.process_time()
        for number in range(min(at_once, games)):
            start(number)
        for number in range(games):
            game = finished.get()
            if number + at_once < games:
                start(number + at_once)
            if game.rows is None or game.over is None or game.over.error is not None:
                failed += 1
                continue
            statements += len(game.rows.statements)
            wins[str(game.rows.winner)] = wins.get(str(game.rows.winner), 0) + 1
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        if not no_records:
            size = sum(path_of(number).stat().st_size for number in range(games))
    result = {
        "bus": url.split("://", maxsplit=1)[0],
        "players": players,
        "games": games,
        "at_once": at_once,
        "failed": failed,
        "seconds": round(seconds, 3),
        "games_per_second": round(games / seconds, 2),
        "statements": statements,
        "cpu_ms_per_statement": round(1000 * cpu / statements, 3) if statements else None,
        "record_bytes_per_statement": round(size / statements) if statements and size else None,
        "peak_memory_mb": round(peak_memory_mb(), 1),
        "wins": dict(sorted(wins.items())),
    }
    if as_json:
        click.echo(json.dumps(result))
        return
    for name, value in result.items():
        click.echo(f"{name.replace('_', ' '):28}{value}")


def peak_memory_mb() -> float:
    """Return this process's peak resident memory in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
