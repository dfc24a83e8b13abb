"""What scripted games cost on this machine: games per second, CPU and record bytes per statement, peak memory.

    python benchmarks/games.py --games 200
    python benchmarks/games.py --games 200 --bus redis://localhost
    python benchmarks/games.py --games 1000 --at-once 1000 --no-records

They are played in this process. Each run is one measurement; repeat it and take medians.
"""

from __future__ import annotations

import argparse
import json
import queue
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from wolfbus.cli import tune_garbage_collection
from wolfbus.game.config import GameConfig
from wolfbus.running.house import EmbeddedHouse, Game


def peak_memory_mb() -> float:
    """Return the peak resident memory of this process or of the largest that it started, in megabytes."""
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def play(games: int, at_once: int, url: str, seed: int, threads: int, folder: Path | None) -> dict[str, Any]:
    """Play games, so many under way at a time, and return what they took.

    Args:
        games: how many.
        at_once: how many are under way at a time.
        url: the bus.
        seed: of the first game; the others count on.
        threads: pool threads that run the actors.
        folder: where records are written; None to write none.
    """
    config, brains = GameConfig(), ["scripted"] * GameConfig().seats
    finished: queue.SimpleQueue[Game] = queue.SimpleQueue()
    won: Counter[str] = Counter()
    failed = statements = size = 0
    began, cpu = time.perf_counter(), time.process_time()
    with EmbeddedHouse(url, threads=threads, done=finished.put) as house:

        def begin(number: int) -> None:
            path = None if folder is None else folder / f"{number}.ndjson"
            house.open(config, str(seed + number), brains, path)

        for number in range(min(at_once, games)):
            begin(number)
        for played in range(games):
            game = finished.get()
            if played + at_once < games:
                begin(played + at_once)
            failed += game.over is None or game.over.error is not None
            statements += game.counts.statements
            won[game.counts.winner or "nobody"] += 1
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    if folder is not None:
        size = sum(path.stat().st_size for path in folder.iterdir())
    return {
        "bus": url.split("://", maxsplit=1)[0],
        "games": games,
        "at_once": at_once,
        "failed": failed,
        "seconds": round(seconds, 3),
        "games_per_second": round(games / seconds, 2),
        "statements": statements,
        "cpu_ms_per_statement": round(1000 * cpu / statements, 3) if statements else None,
        "record_bytes_per_statement": round(size / statements) if statements and size else None,
        "peak_memory_mb": round(peak_memory_mb(), 1),
        "wins": dict(sorted(won.items())),
    }


def main() -> None:
    """Play, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--bus", default="memory://")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-records", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tune_garbage_collection()
    with tempfile.TemporaryDirectory(prefix="wolfbus-games-") as name:
        folder = None if options.no_records else Path(name)
        figures = play(options.games, options.at_once, options.bus, options.seed, options.threads, folder)
    if options.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):28}{value}")


if __name__ == "__main__":
    main()
