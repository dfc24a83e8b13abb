"""What a study costs beside its bare games: speed in one process and in several, memory over many games, resuming.

    python benchmarks/study.py speed --games 200
    python benchmarks/study.py memory --games 1500
    python benchmarks/study.py resume --games 500

``speed`` runs `wolfbus bench` and `wolfbus run` in turns, so that a machine that is busy with other things slows all of
them; read the ratios. A process's start is taken off: it is the time of the same command with one game. ``memory``
looks at the resident memory of a study's process while it plays.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

WOLFBUS = [sys.executable, "-m", "wolfbus"]


def seconds_of(*words: str) -> float:
    """Return how long a command takes."""
    began = time.perf_counter()
    subprocess.run([*WOLFBUS, *words], check=True, capture_output=True)
    return time.perf_counter() - began


def study(folder: Path, games: int, workers: int, players: str) -> list[str]:
    """Return the words of a study."""
    told = ["--games", str(games), "--players", players, "--seed", "1", "--workers", str(workers)]
    return ["run", "--quiet", "--json", *told, "--out", str(folder)]


def speed(games: int, rounds: int, players: str) -> dict[str, Any]:
    """Return games per second of the bare loop, in one process and by default, and of studies: medians of several
    rounds in turns.
    """
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="wolfbus-study-") as folder:
        for round_ in range(rounds):
            for name, more in (("bench", ["--workers", "1"]), ("bench, workers by default", [])):
                told = subprocess.run(
                    [*WOLFBUS, "bench", "--games", str(games), "--players", players, "--json", *more],
                    check=True,
                    capture_output=True,
                )
                found.setdefault(name, []).append(json.loads(told.stdout)["games_per_second"])
            for workers in (1, 2):
                out = Path(folder) / f"{round_}-{workers}"
                # with two workers both must start, so both get a game
                start = seconds_of(*study(out / "start", workers, workers, players))
                whole = seconds_of(*study(out / "whole", games + workers, workers, players))
                found.setdefault(f"study, workers {workers}", []).append(games / (whole - start))
    result: dict[str, Any] = {name: round(statistics.median(rates), 2) for name, rates in found.items()}
    for name in list(result)[1:]:
        ratios = [rate / bare for rate, bare in zip(found[name], found["bench"], strict=True)]
        result[f"{name}, against bench"] = round(statistics.median(ratios), 2)
    return result


def memory(games: int, players: str) -> dict[str, Any]:
    """Return the resident memory of a study's process at each tenth of its games."""
    with tempfile.TemporaryDirectory(prefix="wolfbus-study-") as folder:
        out = Path(folder) / "study"
        process = subprocess.Popen([*WOLFBUS, *study(out, games, 1, players)], stdout=subprocess.PIPE)
        marks = {games * tenth // 10 for tenth in range(1, 10)}
        seen: dict[int, float] = {}
        while process.poll() is None:
            threading.Event().wait(0.05)
            done = _lines(out / "journal.jsonl")
            passed = [mark for mark in marks if mark <= done]
            if passed and (resident := _resident_mb(process.pid)) is not None:
                marks -= set(passed)
                seen[done] = resident
        manifest = out / "study.json"
        return {
            **{f"MB after {done} games": round(mb, 1) for done, mb in seen.items()},
            "manifest, bytes a game": round(manifest.stat().st_size / games),
            "journal, bytes a game": round((out / "journal.jsonl").stat().st_size / games),
            "records, bytes a game": round(sum(path.stat().st_size for path in (out / "records").iterdir()) / games),
        }


def resume(games: int, players: str) -> dict[str, Any]:
    """Return how long it takes to see that nothing is missing."""
    with tempfile.TemporaryDirectory(prefix="wolfbus-study-") as folder:
        out = Path(folder) / "study"
        play = seconds_of(*study(out, games, 1, players))
        none = seconds_of(*study(Path(folder) / "one", 1, 1, players))
        again = seconds_of("run", "--quiet", "--resume", "--out", str(out))
        (out / "journal.jsonl").unlink()
        anew = seconds_of("run", "--quiet", "--resume", "--out", str(out))
    return {
        "played in, s": round(play, 2),
        "checked again, ms a game": round(1000 * max(again - none, 0) / games, 2),
        "read again without the journal, ms a game": round(1000 * max(anew - none, 0) / games, 2),
    }


def _lines(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def _resident_mb(pid: int) -> float | None:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    found = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(found[0]) / 1024 if found else None


def main() -> None:
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "memory", "resume"])
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of speed, of which the median is told")
    parser.add_argument("--players", default="scripted")
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    if told.what == "speed":
        result = speed(told.games, told.rounds, told.players)
    else:
        result = (memory if told.what == "memory" else resume)(told.games, told.players)
    if told.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:44}{value}")


if __name__ == "__main__":
    main()
