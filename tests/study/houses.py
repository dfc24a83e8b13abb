"""Agents in a house on a Redis, as processes of their own."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.proving import prove
from tests.study.brains import GATE
from tests.study.runs import ENVIRONMENT, WOLFBUS, manifest, without_times

HOUSE = "study-house"
GATED = "tests.study.brains:Gated"
AGENTS = (("ann", "scripted", 16), ("bea", GATED, 8), ("cleo", GATED, 8))
"""Two agents share what one brain is asked for."""
PAIR = (("ann", "scripted", 16), ("bea", GATED, 16))


@contextlib.contextmanager
def players(
    url: str, *agents: tuple[str, str, int], gate: Path | None = None, house: str = HOUSE
) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes of these names, brains and seats; they end when the house closes, or with this."""
    environment = ENVIRONMENT if gate is None else {**ENVIRONMENT, GATE: str(gate)}
    address = ["--bus", url, "--house", house]
    words = [[*address, "--name", name, "--brain", brain, "--seats", str(seats)] for name, brain, seats in agents]
    processes = [
        subprocess.Popen([*WOLFBUS, "player", *options], stderr=subprocess.DEVNULL, text=True, env=environment)
        for options in words
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def assert_like_of_house(whole: Path, out: Path, houses: str = HOUSE) -> None:
    """A house's agents played the same study as brains of our own, and every record of it proves itself."""
    played, expected = without_times(manifest(out)), without_times(manifest(whole))
    assert (played.pop("house"), played.pop("tickets")) == (houses, False)
    assert played["design"]["notes"].pop().startswith("Who plays is each agent's own word")
    assert played == expected
    assert played["complete"]
    assert {path.name for path in (out / "records").iterdir()} == {path.name for path in (whole / "records").iterdir()}
    for game in played["games"]:
        proof = prove(out / game["record"])
        assert proof.verified
        assert proof.digest == game["digest"]
