"""Ratios that hold on any machine: the product over the floor beside it, and over an older checkout.

    python benchmarks/ratios.py game                     CPU of a scripted game over that of the toy in floor.py
    python benchmarks/ratios.py start                    CPU of `wolfbus play --seed 7`, over what it imports
    python benchmarks/ratios.py memory                   peak memory of 1,000 games at once
    python benchmarks/ratios.py round-trip               request to reply between processes over a bare redis-py loop
    python benchmarks/ratios.py gather                   reading records over a json.loads and SHA-256 loop
    python benchmarks/ratios.py report                   a first `wolfbus report` over that loop
    python benchmarks/ratios.py report-again             a second `wolfbus report` of the same records over the first
    python benchmarks/ratios.py compare-again            a second `wolfbus compare` of them over the first
    python benchmarks/ratios.py game --against ../old    the same, and this checkout over the old one

What is compared runs in turns, so that a machine that is busy with other things slows all of it; each round gives a
ratio, and the median of five or more is printed with all of them. CPU is user and system time of a process and its
children; a game's is what 120 games take over 20, so that starts do not count. ``--json`` prints one object.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent.parent
FEW, MANY = 20, 120
"""Games of the two runs whose difference is the cost of the games between them."""
ROUND_TRIPS: Final = 2000
AT_ONCE: Final = 1000
READ: Final = 100
"""Scripted games whose records are read."""

GATHER: Final = """
import sys, time
import numpy, analytics.findings
from analytics.gather import gather
began = time.process_time()
gather([sys.argv[1]], workers=1)
print(time.process_time() - began)
"""
LOOP: Final = """
import hashlib, json, pathlib, sys, time
began = time.process_time()
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.ndjson")):
    with path.open("rb") as lines:
        for line in lines:
            json.loads(line)
            hashlib.sha256(line).hexdigest()
print(time.process_time() - began)
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a command took: CPU seconds, peak memory in MB of its largest process, and what it printed."""

    cpu_s: float
    peak_mb: float
    printed: str


def run(checkout: Path, *words: str) -> Spent:
    """Run Python in a checkout, and measure it and whatever it starts.

    Raises:
        SystemExit: it failed.
    """
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as log:
        process = subprocess.Popen([sys.executable, *words], cwd=checkout, env=environment, stdout=out, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        printed = out.read().decode()
        if process.returncode != 0:
            log.seek(0)
            said = log.read().decode(errors="replace").strip().splitlines()[-1:]
            sys.exit(f"{' '.join(words)} failed in {checkout} with {process.returncode}: {' '.join(said)}")
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit, printed)


def bench(checkout: Path, *words: str) -> Spent:
    """Play scripted games in one process."""
    if (checkout / "wolfbus" / "cli" / "bench.py").exists():
        # of a checkout that had a command for it
        return run(checkout, "-m", "wolfbus", "bench", "--json", "--workers", "1", *words)
    return run(checkout, "benchmarks/games.py", "--json", *words)


def game_ms(checkout: Path) -> float:
    """Return CPU milliseconds of one scripted game."""
    few, many = (bench(checkout, "--games", str(games)) for games in (FEW, MANY))
    return 1000 * (many.cpu_s - few.cpu_s) / (MANY - FEW)


def floor_ms() -> float:
    """Return CPU milliseconds of one toy game."""
    few, many = (run(HERE, "benchmarks/floor.py", "--games", str(games)) for games in (FEW, MANY))
    return 1000 * (many.cpu_s - few.cpu_s) / (MANY - FEW)


def start_s(checkout: Path) -> float:
    """Return CPU seconds of one whole `wolfbus play`."""
    with tempfile.TemporaryDirectory() as folder:
        return run(checkout, "-m", "wolfbus", "play", "--seed", "7", "--quiet", "--out", folder).cpu_s


def imports_s() -> float:
    """Return CPU seconds of a Python that imports what any message needs, and ends."""
    return run(HERE, "-c", "import pydantic, msgpack, pykka, click; pydantic.BaseModel").cpu_s


def memory_mb(checkout: Path) -> float:
    """Return peak megabytes of 1,000 games at once in one process."""
    return bench(checkout, "--games", str(AT_ONCE), "--at-once", str(AT_ONCE), "--no-records").peak_mb


def round_trip_ms(checkout: Path) -> float:
    """Return the median milliseconds from a request in a mailbox to its reply."""
    told = run(checkout, "benchmarks/request_reply.py", "round-trips", "--games", "5", "--json").printed
    return float(json.loads(told)["p50_ms"])


def bare_ms() -> float:
    """Return the median milliseconds of a bare loop of redis-py."""
    told = run(HERE, "benchmarks/request_reply.py", "bare", "--count", str(ROUND_TRIPS), "--json").printed
    return float(json.loads(told)["p50_ms"])


@cache
def records() -> str:
    """Return a study of scripted games, played when it is first asked for."""
    folder = tempfile.mkdtemp(prefix="wolfbus-ratios-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    run(HERE, "-m", "wolfbus", "run", "--quiet", "--games", str(READ), "--seed", "1", "--out", f"{folder}/study")
    return f"{folder}/study"


def gather_s(checkout: Path) -> float:
    """Return CPU seconds of reading the records in one process, imports aside."""
    return float(run(checkout, "-c", GATHER, records()).printed)


def loop_s() -> float:
    """Return CPU seconds of the loop over the records' lines."""
    return float(run(HERE, "-c", LOOP, records()).printed)


def forget() -> None:
    """Remove what was kept beside the records."""
    shutil.rmtree(f"{records()}/records/.wolfbus", ignore_errors=True)


def report_s(checkout: Path) -> float:
    """Return CPU seconds of a whole `wolfbus report`; what it keeps stays for the next."""
    return run(checkout, "-m", "wolfbus", "report", records()).cpu_s


def compare_s(checkout: Path) -> float:
    """Return CPU seconds of a whole `wolfbus compare`; what it keeps stays for the next."""
    return run(checkout, "-m", "wolfbus", "compare", records(), records()).cpu_s


def first(command: Callable[[Path], float]) -> Callable[..., float]:
    """Return what measures a command that finds nothing kept beside the records."""

    def measured(checkout: Path = HERE) -> float:
        forget()
        return command(checkout)

    return measured


def second(command: Callable[[Path], float]) -> Callable[[Path], float]:
    """Return what measures a command that was run just before."""

    def measured(checkout: Path) -> float:
        command(checkout)
        return command(checkout)

    return measured


ROWS: Final[dict[str, tuple[Callable[[Path], float], Callable[[], float] | None, str]]] = {
    "game": (game_ms, floor_ms, "CPU ms a game"),
    "start": (start_s, imports_s, "CPU s"),
    "memory": (memory_mb, None, "MB"),
    "gather": (gather_s, loop_s, "CPU s"),
    "report": (first(report_s), loop_s, "CPU s"),
    "report-again": (second(report_s), first(report_s), "CPU s"),
    "compare-again": (second(compare_s), first(compare_s), "CPU s"),
    "round-trip": (round_trip_ms, bare_ms, "ms, p50"),
}
"""What can be measured: in a checkout, the floor beside it, and its unit."""


def measure(what: str, rounds: int, against: Path | None) -> dict[str, Any]:
    """Measure in turns; return medians of each and of the ratios of each round."""
    product, floor, unit = ROWS[what]
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        found.setdefault("this", []).append(product(HERE))
        if floor is not None:
            found.setdefault("floor", []).append(floor())
        if against is not None:
            found.setdefault("old", []).append(product(against))
    told: dict[str, Any] = {f"{name} ({unit})": round(statistics.median(values), 3) for name, values in found.items()}
    for over in ("floor", "old"):
        if over in found:
            ratios = [mine / other for mine, other in zip(found["this"], found[over], strict=True)]
            told[f"this / {over}"] = round(statistics.median(ratios), 2)
            told[f"this / {over}, each round"] = [round(ratio, 2) for ratio in ratios]
    return told


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=ROWS)
    parser.add_argument("--against", type=Path, metavar="PATH", help="an older checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    told = measure(given.what, given.rounds, given.against.resolve() if given.against is not None else None)
    if given.json:
        print(json.dumps(told))
        return
    for name, value in told.items():
        print(f"{name:32}{' '.join(map(str, value)) if isinstance(value, list) else value}")


if __name__ == "__main__":
    main()
