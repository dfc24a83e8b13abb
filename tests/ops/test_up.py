"""`wolfbus up`: the same game, with every actor a process of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.golden.running import wolfbus
from wolfbus.testing.redis_server import redis_installed

WOLFBUS = (sys.executable, "-m", "wolfbus")
RULES = "villagers = 3\nwerewolves = 1\ndoctors = 0\nmax_rounds = 2\n"
SEATS = 5
GAME = ("--seed", "7", "--config", "rules.toml")


@pytest.mark.skipif(not redis_installed(), reason="redis-server is not installed")
def test_a_process_for_every_actor_plays_the_game_that_one_process_plays(tmp_path):
    (tmp_path / "rules.toml").write_text(RULES)
    alone = json.loads(wolfbus(tmp_path, "play", *GAME, "--json", "--out", "alone").out)
    together = subprocess.run(
        [*WOLFBUS, "up", *GAME, "--out", "together"],
        cwd=tmp_path, capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert together.returncode == 0, together.stderr
    assert "starting it again" not in together.stderr
    assert f"Digest {alone['digest']}\n" in together.stdout
    (game,) = re.findall(r"^Game 1, (.*): ended, the werewolves won$", together.stdout, re.MULTILINE)
    names = {line.partition("│")[0].strip() for line in together.stderr.splitlines()}
    assert {"up", "moderator", "analytics", *(f"player-{place}" for place in range(1, SEATS + 1))} <= names
    assert {path.name for path in (tmp_path / "together").iterdir()} == {
        f"{game}.ndjson", "metrics.json", "report.txt",
    }  # fmt: skip
