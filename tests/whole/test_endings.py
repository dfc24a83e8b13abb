"""How a game ends when somebody or something ends it: Ctrl-C, kill -9, a full disk, a Redis that is gone."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
from pathlib import Path

from tests.whole.test_command_line import WOLFBUS, wolfbus
from wolfbus.testing.redis_server import RedisServer

SLOW_BRAIN = """
import threading
from wolfbus.agent import Agent


class Slow(Agent):
    def speak(self, ask, view):
        threading.Event().wait(600)
"""


def in_the_first_round(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a game of brains that never come to speak, and wait until its first night is over."""
    (tmp_path / "slow.py").write_text(SLOW_BRAIN)
    process = subprocess.Popen(
        [*WOLFBUS, "play", "--players", "slow:Slow", "--plain", *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "r1" in line:
            break
    return process


def test_ctrl_c_ends_cleanly_keeps_the_record_and_exits_130(tmp_path):
    process = in_the_first_round(tmp_path, "--game", "cut")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "cut.ndjson" in err
    assert "Traceback" not in err
    result = wolfbus("replay", "runs/cut.ndjson", "--json", cwd=tmp_path)
    value = json.loads(result.stdout)
    assert result.returncode == 1
    assert value["verified"] is False
    assert value["events"] > 3
    assert "interrupted" in value["problems"][0]


def test_kill_9_leaves_a_record_that_reads(tmp_path):
    process = in_the_first_round(tmp_path, "--game", "killed")
    process.kill()
    process.communicate(timeout=30)
    value = json.loads(wolfbus("replay", "runs/killed.ndjson", "--json", cwd=tmp_path).stdout)
    assert value["events"] > 3
    assert "stops before" in value["problems"][0]


def test_a_full_disk_is_one_line_and_loses_nothing_recorded(tmp_path):
    result = subprocess.run(
        [*WOLFBUS, "play", "--seed", "7", "--game", "full", "--quiet"],
        cwd=tmp_path,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000)),
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    text = result.stderr.decode()
    assert result.returncode == 1, text
    assert "full.ndjson" in text
    assert "Traceback" not in text
    value = json.loads(wolfbus("replay", "runs/full.ndjson", "--json", cwd=tmp_path).stdout)
    assert value["events"] > 20
    assert "stops before" in value["problems"][0]


def test_ctrl_c_does_not_wait_for_a_redis_that_is_gone(tmp_path, redis_server):
    with RedisServer() as server:
        process = in_the_first_round(tmp_path, "--game", "gone", "--bus", server.url)
        server.kill()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 130
