"""What a study that moderators share costs them, whoever runs it, and each Redis server: on one, and on a cluster.

    python benchmarks/shared_study.py --games 100 --workers 2 --servers 1
    python benchmarks/shared_study.py --games 100 --workers 2 --servers 3

With one server it is a plain Redis, with more a cluster of so many; nothing is written to disk. CPU is what counts
where few cores are shared: a core that does nothing else carries the inverse of it. ``--players`` may name any brains.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from redis_cluster import RedisClusterServers

from wolfbus.record.reader import open_lines
from wolfbus.testing.redis_server import RedisServer

CPU = ("used_cpu_user", "used_cpu_sys")
WOLFBUS = [sys.executable, "-m", "wolfbus"]


def measure(games: int, workers: int, servers: int, players: str, at_once: int) -> dict[str, float]:
    """Play a study; returns games per second, and CPU in ms per game of everybody, starts included."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wolfbus-shared-")))
        if servers == 1:
            nodes = [stack.enter_context(RedisServer())]
            url = nodes[0].url
        else:
            cluster = stack.enter_context(RedisClusterServers(servers, persist=False))
            nodes, url = cluster.masters, cluster.url
        before = [_told(node, "cpu", *CPU) for node in nodes]
        study = ["run", "--quiet", "--games", str(games), "--players", players, "--seed", "1", "--out", str(folder)]
        began = time.perf_counter()
        run = _start(*study, "--bus", url, "--share", "bench")
        agenda = ["--bus", url, "--agenda", "bench", "--at-once", str(at_once)]
        for brain in players.split(","):
            agenda += ["--allow", brain.partition("*")[0]]
        playing = [_start("worker", *agenda) for _ in range(workers)]
        spent, peaks = zip(*(_wait(process) for process in (run, *playing)), strict=True)
        seconds = time.perf_counter() - began
        served = [_told(node, "cpu", *CPU) - first for node, first in zip(nodes, before, strict=True)]
        peak = sum(_told(node, "memory", "used_memory_peak") for node in nodes)
        calls = sum(_calls(record) for record in (folder / "records").iterdir())
    ms = 1000 / games
    return {
        "games_per_s": round(games / seconds, 2),
        "model_calls_per_game": round(calls / games),
        "workers_cpu_ms_per_game": round(sum(spent[1:]) * ms, 1),
        "run_cpu_ms_per_game": round(spent[0] * ms, 1),
        "servers_cpu_ms_per_game": round(sum(served) * ms, 2),
        "busiest_server_cpu_ms_per_game": round(max(served) * ms, 2),
        "largest_worker_peak_mb": round(max(peaks[1:]) / 1e3, 1),
        "servers_peak_mb": round(peak / 1e6, 1),
    }


def _start(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*WOLFBUS, *words], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


def _wait(process: subprocess.Popen[bytes]) -> tuple[float, int]:
    """Return the CPU seconds of a process, once it has ended, and its largest resident memory in kB."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{process.args!r} failed with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def _told(node: RedisServer, section: str, *names: str) -> float:
    """Return the sum of what a server says of itself under these names."""
    lines = node.command("INFO", section).decode().splitlines()
    told = dict(line.split(":", 1) for line in lines if ":" in line)
    return sum(float(told[name]) for name in names)


def _calls(record: Path) -> int:
    """Return how many model calls stand in a record."""
    return sum(b'"type":"model_call"' in line for line in open_lines(record))


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--players", default="scripted")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    result = measure(given.games, given.workers, given.servers, given.players, given.at_once)
    print(json.dumps(result) if given.json else "\n".join(f"{name:34} {value}" for name, value in result.items()))


if __name__ == "__main__":
    main()
