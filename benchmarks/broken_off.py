"""How many model calls a study makes that is broken off again and again, against one that nothing happens to.

    python benchmarks/broken_off.py --games 8 --breaks 5 --how kill
    python benchmarks/broken_off.py --games 8 --breaks 5 --how ctrl-c
    python benchmarks/broken_off.py --games 8 --breaks 30 --how worker

``kill`` ends the run with `kill -9` after equal parts of its calls, ``ctrl-c`` with Ctrl-C twice, and goes on with
``--resume``; ``worker`` kills one of two workers that share an agenda on a Redis, and starts another. A double serves
the models, with the latency of a real one, and counts what it was asked. Calls that were on their way when their
process died are told apart: they are paid for, and nobody has their answers. What was asked once more beyond them was
answered and not kept.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from wolfbus.testing.model_server import ModelServer
from wolfbus.testing.redis_server import RedisServer

WOLFBUS = [sys.executable, "-m", "wolfbus"]
STUDY = """\
games = {games}
seed = 5
players = "llm:m*8"
at_once = {at_once}
[models.m]
model = "double"
endpoint = "double"
[endpoints.double]
url = "{url}"
"""


def start(*words: str | Path) -> subprocess.Popen[bytes]:
    """Start a command, which says only what is wrong."""
    return subprocess.Popen([*WOLFBUS, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def wait_for(server: ModelServer, calls: int, process: subprocess.Popen[bytes]) -> bool:
    """Wait until so many calls were made; returns whether the process still runs."""
    while server.stats().calls < calls:
        if process.poll() is not None:
            return False
        time.sleep(0.01)
    return process.poll() is None


def play(server: ModelServer, words: list[str | Path], out: Path, breaks: int, each: int, how: str) -> None:
    """Play a study to its end, broken off after every so many calls."""
    process = start("run", "--quiet", "--no-probe", *words, "--out", out)
    before = server.stats().calls
    for number in range(1, breaks + 1):
        if not wait_for(server, before + number * each, process):
            break
        process.send_signal(signal.SIGKILL if how == "kill" else signal.SIGINT)
        if how == "ctrl-c":
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
        process.wait()
        process = start("run", "--quiet", "--no-probe", "--resume", "--out", out)
    if process.wait():
        sys.exit(f"the run ended with {process.returncode}")


def play_shared(server: ModelServer, words: list[str | Path], out: Path, breaks: int, each: int) -> None:
    """Play a study that two workers share, one of which is killed after every so many calls."""
    with RedisServer() as redis:
        work = ["worker", "--no-probe", "--bus", redis.url, "--agenda", "broken", "--lease", "1", "--config", words[0]]
        run = start("run", "--quiet", *words, "--out", out, "--bus", redis.url, "--share", "broken")
        workers = [start(*work), start(*work)]
        before = server.stats().calls
        for number in range(1, breaks + 1):
            if not wait_for(server, before + number * each, run):
                break
            victim = workers.pop(0)
            victim.kill()
            victim.wait()
            workers.append(start(*work))
        code = run.wait()
        for worker in workers:
            worker.terminate()
            worker.wait()
    if code:
        errors = [game["error"] for game in json.loads((out / "study.json").read_text())["games"] if game.get("error")]
        sys.exit("\n".join([f"the run ended with {code}", *errors]))


def digests(out: Path) -> list[str]:
    """Return what the games of a study came to; the models' replies are part of it."""
    return [game["digest"] for game in json.loads((out / "study.json").read_text())["games"]]


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--breaks", type=int, default=5)
    parser.add_argument("--latency", type=float, default=0.1, help="seconds that a reply takes")
    parser.add_argument("--how", choices=["kill", "ctrl-c", "worker"], default="kill")
    asked = parser.parse_args()
    with ModelServer(latency=asked.latency) as server, tempfile.TemporaryDirectory(prefix="wolfbus-broken-") as folder:
        there = Path(folder)
        (there / "study.toml").write_text(STUDY.format(games=asked.games, at_once=asked.at_once, url=server.url))
        words: list[str | Path] = [there / "study.toml"]
        play(server, words, there / "whole", 0, 0, "kill")
        undisturbed = server.stats().calls
        each = undisturbed // (asked.breaks + 1)
        if asked.how == "worker":
            play_shared(server, words, there / "broken", asked.breaks, each)
        else:
            play(server, words, there / "broken", asked.breaks, each, asked.how)
        stats = server.stats()
        again = stats.calls - 2 * undisturbed
        same = sum(map(str.__eq__, digests(there / "whole"), digests(there / "broken")))
    print(
        json.dumps(
            {
                "how": asked.how,
                "games": asked.games,
                "at_once": asked.at_once,
                "breaks": asked.breaks,
                "calls_undisturbed": undisturbed,
                "calls_more": again,
                "share_more": round(again / undisturbed, 4),
                "calls_on_their_way": stats.abandoned,
                "share_answered_and_not_kept": round((again - stats.abandoned) / undisturbed, 4),
                "games_with_equal_digests": same,
                "cores": os.cpu_count(),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
