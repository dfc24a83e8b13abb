"""How long a study of forks takes: 100 lies of scripted players, 3 arms, 2 forks of each.

    python benchmarks/forks.py

The parents are played first, and not timed. Times are wall seconds and processor seconds of this process and its
workers; on a machine that does other things only the latter tell anything.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import wolfbus


def processor_s() -> float:
    """Return the processor seconds of this process and of all children that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    """Play the parents, then their forks, and print how long these took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lies", type=int, default=100)
    parser.add_argument("--games", type=int, default=30, help="parents")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        parents = wolfbus.run_study(players="scripted", games=options.games, seed=1, out=Path(folder, "parents"))
        chosen = wolfbus.forks_of(parents.folder, lies=options.lies, times=2, arms=["silence"])
        began, before = time.monotonic(), processor_s()
        forks = wolfbus.run_study(chosen, out=Path(folder, "forks"))
        wall, processor = time.monotonic() - began, processor_s() - before
        lies, each = len(chosen["forks"]["statements"]), 1000 * processor / forks.games
        print(f"{forks.games} forks of {lies} lies: {forks.ended} ended, {forks.failed} not")
        print(f"{wall:.1f} s of wall time, {processor:.1f} s of processor time; {each:.0f} ms a fork")


if __name__ == "__main__":
    main()
